"""The table of triangles, which kernels look planes and corners up in."""

from __future__ import annotations

from slopewash.models.state import Reals

X0, Y0, Z0, GX, GY, AX, AY, BX, BY, NX, NY, NZ, TILT = range(13)
"""Columns: first corner, gradient, weights of the other corners, normal, sin α."""
TABLE = 13


def height(table: Reals, x: Reals | float, y: Reals | float) -> Reals:
    """Height of each triangle's plane at a point, or at a point of its own."""
    return table[:, Z0] + table[:, GX] * (x - table[:, X0]) + table[:, GY] * (y - table[:, Y0])
