"""The shape of the ground: slope, height, hollows and gullies, on which its cover depends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import smoothstep
from slopewash.rendering.grid import blur

Floats = NDArray[np.float32]

HILLS, MOUNTAINS, ALPS = 0.03, 0.10, 0.17
"""Relief over extent: a plain below the first, fully textured at the second, snow between the second and the third."""
RIDGE_REACH = 0.004
"""Fraction of the picture: scale at which fine ridges and gullies are separated from their surroundings."""


@dataclass(frozen=True)
class Shape:
    """What the cover of a cell depends on."""

    slope: Floats
    """Degrees."""
    level: Floats
    """0 at the lowest ground, 1 at the highest."""
    hollow: Floats
    """Above 0 in valleys, below on ridges; about -1 .. 1."""
    gully: Floats
    """The same at the scale of single ridges."""
    southward: Floats
    """How far the ground faces south, the sunny side: -1 .. 1."""
    ruggedness: float
    """0 on plains, 1 in mountains."""
    snowiness: float
    """0 in hills, 1 in high mountains."""
    low: float
    relief: float
    """Metres; `level` counts from the one in units of the other."""
    cell_size: float


def shape_of(height: Floats, cell_size: float, normal: Floats) -> Shape:
    """Measure the ground, whose unit normals (east, north, up) are given."""
    low, high = (float(v) for v in np.quantile(height[::2, ::2], [0.002, 0.998]))
    relief = high - low
    longest = max(height.shape)
    steepness = np.array(relief / (cell_size * longest), dtype=np.float32)
    level = np.clip((height - np.float32(low)) / np.float32(max(relief, 1e-6)), 0, 1)
    slope = np.degrees(np.arccos(np.clip(normal[2], -1, 1))).astype(np.float32)
    return Shape(
        slope=0.5 * slope + 0.5 * blur(slope, longest * RIDGE_REACH),
        level=level if relief > 0 else np.zeros_like(height),
        hollow=_below_surroundings(height, longest / 40),
        gully=_below_surroundings(height, max(longest * RIDGE_REACH, 1.0)),
        southward=-normal[1],
        ruggedness=float(smoothstep(HILLS, MOUNTAINS, steepness)),
        snowiness=float(smoothstep(MOUNTAINS, ALPS, steepness)),
        low=low,
        relief=relief,
        cell_size=cell_size,
    )


def _below_surroundings(height: Floats, radius: float) -> Floats:
    away = blur(height, radius) - height
    hollow: Floats = np.tanh(away / np.float32(max(1.5 * float(away.std()), 1e-6)))
    return hollow
