"""Columns of the table of triangles, which kernels look planes and corners up in."""

X0, Y0, Z0, GX, GY, AX, AY, BX, BY, NX, NY, NZ, TILT = range(13)
"""First corner, gradient, weights of the other corners, normal, sin α."""
TABLE = 13
