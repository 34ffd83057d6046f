"""Grains: what vertices lose, carried by particles for a while [Bezin10, Sec. 3.2]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.state import Reals


def diameter(volume: ArrayLike) -> Reals:
    """Diameter of a ball: s = (6V/π)^⅓."""
    return np.cbrt(6 * np.asarray(volume, dtype=np.float64) / np.pi)


def ball(size: float) -> float:
    """Volume of a ball of that diameter: V = π s³ / 6.

    >>> round(ball(2.0), 4)
    4.1888
    """
    return np.pi / 6 * size**3


def transport_steps(size: ArrayLike, longest: float, largest: float) -> NDArray[np.int32]:
    """Steps for which a grain is carried: ε = max(1, ⌈ε_M (1 − s^x / s_M^x)⌉), x = 1/s_M (Eq. 2).

    Sizes are relative to the shortest edge of the mesh: the exponent has a unit.

    >>> transport_steps([1e-9, 0.25, 0.5, 0.99, 1.0, 7.0], 100, 1.0).tolist()
    [100, 75, 50, 1, 1, 1]
    """
    # Both powers as one, of a number up to 1: apart they overflow for tiny s_M.
    share = np.minimum(np.asarray(size, dtype=np.float64) / largest, 1.0) ** (1 / largest)
    # A hair less, so that rounding does not lift 50.00000000001 to 51.
    return np.maximum(1, np.ceil(longest * (1 - share) - 1e-9)).astype(np.int32)


def fall(surface: Surface, triangle: NDArray[np.int32], volume: Reals) -> tuple[Reals, float]:
    """Share volumes out over the corners of triangles: what each vertex gets, and what leaves over the border."""
    parts = surface.fall_shares[triangle] * volume[:, None]
    corners = surface.triangles[triangle]
    # Without any volumes counts would be whole numbers.
    per_vertex = np.bincount(corners.ravel(), weights=parts.ravel(), minlength=len(surface.z)).astype(np.float64)
    return per_vertex, float(volume[parts.sum(axis=1) == 0].sum())


@dataclass
class Grains:
    """Grains on their way, in the order in which they were taken up."""

    fields: ClassVar = ("grain_carrier", "grain_steps", "grain_volume")

    carrier: NDArray[np.int32]
    """place of the particle that carries it"""
    left: NDArray[np.int32]
    """steps left until it falls"""
    volume: Reals

    def take_up(self, carrier: NDArray[np.int32], steps: NDArray[np.int32], volume: Reals) -> None:
        """Add grains."""
        self.carrier = np.concatenate([self.carrier, carrier])
        self.left = np.concatenate([self.left, steps])
        self.volume = np.concatenate([self.volume, volume])

    def take_out(self, which: NDArray[np.bool_]) -> tuple[NDArray[np.int32], Reals]:
        """Remove grains and return their carriers and volumes."""
        out = self.carrier[which], self.volume[which]
        if len(out[0]):
            keep = ~which
            self.carrier, self.left, self.volume = self.carrier[keep], self.left[keep], self.volume[keep]
        return out
