"""The sea of a terrain: level water that stands at its border."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.drainage import Drainage
from slopewash.terrain import Layer, Terrain

LEVEL = 1e-3
"""Cells within which water at the border counts as level."""
UNEVEN = 0.5
"""Cells by which the ground below it must vary at least: on a plain, rain is as level as the sea."""
SHORTEST = 0.01
"""Share of the border that a sea takes up at least."""


def find_sea_level(terrain: Terrain) -> float | None:
    """Elevation at which water stands level along part of the border, or None.

    >>> ground = np.arange(20.0)[:, None].repeat(20, axis=1)
    >>> bay = Terrain(ground, water=np.maximum(8 - ground, 0))
    >>> find_sea_level(bay)
    8.0
    """
    if "water" not in terrain:
        return None
    ring = np.ones(terrain.shape, bool)
    ring[1:-1, 1:-1] = False
    if terrain.nodata is not None:
        ring &= ~terrain.nodata
    return level_along(terrain["elevation"][ring], terrain["water"][ring], terrain.cell_size)


def level_along(heights: Layer, water: Layer, cell_size: float) -> float | None:
    """Elevation at which the water of border cells stands level, or None."""
    ground, depth = heights.astype(np.float64), water.astype(np.float64)
    wet = depth > LEVEL * cell_size
    surface = np.sort((ground + depth)[wet])
    if surface.size < max(2, SHORTEST * ground.size):
        return None
    # The level that most cells share.
    width = LEVEL * cell_size
    count = np.searchsorted(surface, surface + width, side="right") - np.arange(surface.size)
    most = int(count.argmax())
    level = float(np.median(surface[most : most + count[most]]))
    below = ground[wet & (np.abs(ground + depth - level) <= width)]
    if below.size < SHORTEST * ground.size or np.ptp(below) < UNEVEN * cell_size:
        return None
    return level


def sea_of(terrain: Terrain, level: float, drainage: Drainage) -> NDArray[np.bool_]:
    """Ground below sea level from which a way leads to the border that is nowhere above it."""
    sea: NDArray[np.bool_] = (terrain["elevation"] < level) & (drainage.filled <= level)
    return sea if terrain.nodata is None else sea & ~terrain.nodata
