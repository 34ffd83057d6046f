"""Strata as the walls of the block show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import slopewash as sw
from slopewash.plain import plain
from slopewash.studio.frames import Block, field_block

Field = NDArray[np.float64]

SAMPLES = 512
"""Most points along a wall."""
TOP_RESOLUTION = 256
"""Most cells per side of the top: beds are smooth."""


def strata_block(terrain: sw.Terrain) -> Block:
    """Tops of the layers along the north, east, south and west wall, each from west to east or north to south."""
    strata = terrain.strata
    if strata is None or strata.top is None:
        raise ValueError("the terrain has no strata")
    top = np.broadcast_to(strata.top, terrain.shape)
    n = min(SAMPLES, max(terrain.shape))
    walls = np.stack([_along(wall, n) for wall in (top[0], top[:, -1], top[-1], top[:, 0])])
    depths = np.cumsum([0.0] + [layer.thickness for layer in strata.layers[:-1]])
    tops = (walls[None] - depths[:, None, None]).astype(np.float32)
    hardness = [float(layer.hardness) for layer in strata.layers]
    facts = {"unit": "m", "depths": plain(depths), "hardness": hardness}
    return Block("strata", tops, facts)


def strata_top_block(terrain: sw.Terrain) -> Block:
    """Top of the first layer everywhere, for the beds that come to light on slopes."""
    strata = terrain.strata
    if strata is None or strata.top is None:
        raise ValueError("the terrain has no strata")
    top = np.broadcast_to(strata.top, terrain.shape).astype(np.float32)
    return field_block("strata_top", top, TOP_RESOLUTION, unit="m")


def _along(wall: Field, n: int) -> Field:
    places = (np.arange(n) + 0.5) * len(wall) / n - 0.5
    return np.interp(places, np.arange(len(wall)), wall)
