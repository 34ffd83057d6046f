"""Which layers of a terrain are drawn as water."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import unknown_name
from slopewash.rendering.grid import blur, filled, resize, rounded
from slopewash.rendering.water import Water, water_of
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
WaterShown = Literal["auto", "simulated", "none"]
"""Rivers and lakes if the terrain has them, else simulated water; only the latter; or none."""

RIVER_BLUR = 0.34
"""Cells of the terrain over which rivers are smoothed in a picture with smaller pixels."""


def shown_water(terrain: Terrain, size: tuple[int, int], which: WaterShown, shore_depth: float | None) -> Water | None:
    """Water to draw on a grid of (width, height) pixels, or None."""
    if which not in get_args(WaterShown):
        raise unknown_name("water", which, get_args(WaterShown))
    if which == "none":
        return None
    if which == "auto" and ("river" in terrain or "lake" in terrain):
        return _rivers_and_lakes(terrain, size, shore_depth)
    if "water" not in terrain or not terrain["water"].any():
        return None
    suspended = resize(filled(terrain, "suspended"), size) if "suspended" in terrain else None
    depth = resize(filled(terrain, "water"), size)
    # Smoothed as the ground below it is: only then does their sum have no relief of the floor.
    standing = rounded(depth, size[0] / terrain.shape[1])
    return water_of(depth, suspended, terrain.cell_size, shore_depth, standing=standing)


def _rivers_and_lakes(terrain: Terrain, size: tuple[int, int], shore_depth: float | None) -> Water | None:
    depths = [resize(filled(terrain, name), size) if name in terrain else None for name in ("river", "lake")]
    given = [depth for depth in depths if depth is not None and depth.any()]
    if not given:
        return None
    # The cells of a narrow line must not show as a row of beads.
    enlarged = size[0] / terrain.shape[1]
    depth = np.maximum.reduce([*given, np.zeros_like(given[0])])
    if enlarged >= 2:
        depth = blur(depth, enlarged * RIVER_BLUR)
    # Rivers lie in their beds, which are too narrow for the grid: only lakes rise above the ground.
    lake = np.zeros_like(depth) if depths[1] is None else depths[1]
    return water_of(depth, None, terrain.cell_size, shore_depth, standing=rounded(lake, enlarged))
