"""What the layers of a terrain say about its picture: where water is drawn, and what the ground is made of."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import unknown_name
from slopewash.rendering.colours import smoothstep
from slopewash.rendering.grid import blur, filled, resize
from slopewash.rendering.ground import Materials
from slopewash.rendering.water import Water, water_of
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
WaterShown = Literal["auto", "simulated", "none"]
"""Rivers and lakes if the terrain has them, else simulated water; only the latter; or none."""

SEDIMENT_SHOWN = (0.05, 2.0)
"""Cells of deposit from which, and up to which, the ground takes its colour."""
DRY, WET = 3e-5, 1e-2
"""Drainage areas, as fractions of the terrain, of ordinary and of the dampest ground."""
BANK_REACH = 0.004
"""Fraction of the terrain's side over which large rivers leave gravel."""
BANK_DEPTH = 0.12
"""Cells of depth, on average over that reach, at which all of the bank is gravel."""
UNIFORM_ROCK = 0.01
"""Deviation of the erodibility within its surroundings below which it shows nothing of the rock."""


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
    return water_of(resize(filled(terrain, "water"), size), suspended, terrain.cell_size, shore_depth)


def _rivers_and_lakes(terrain: Terrain, size: tuple[int, int], shore_depth: float | None) -> Water | None:
    depths = [resize(filled(terrain, name), size) if name in terrain else None for name in ("river", "lake")]
    given = [depth for depth in depths if depth is not None and depth.any()]
    if not given:
        return None
    depth = np.maximum.reduce([*given, np.zeros_like(given[0])])
    lake = depths[1]
    # Rivers lie in their beds, which are too narrow for the grid: only lakes rise above the ground.
    return water_of(
        depth, None, terrain.cell_size, shore_depth, standing=np.zeros_like(depth) if lake is None else lake
    )


def materials_of(terrain: Terrain, size: tuple[int, int]) -> Materials:
    """What is known of the ground, on a grid of (width, height) pixels."""
    return Materials(_sediment(terrain, size), _moisture(terrain, size), _bank(terrain, size), _hardness(terrain, size))


def _sediment(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    name = next((name for name in ("deposit", "difference") if name in terrain), None)
    if name is None:
        return None
    thickness = (np.maximum(filled(terrain, name), 0) / np.float32(terrain.cell_size)).astype(np.float32)
    return resize(blur(smoothstep(*SEDIMENT_SHOWN, thickness), 0.002 * max(terrain.shape)), size)


def _moisture(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "drainage" in terrain:
        share = filled(terrain, "drainage") / np.float32(terrain.width * terrain.height)
        low, high = np.log(DRY), np.log(WET)
    elif "flow" in terrain and terrain["flow"].any():
        share = filled(terrain, "flow")
        low, high = (float(v) for v in np.log(np.maximum(np.quantile(share, [0.5, 0.995]), 1e-12)))
    else:
        return None
    wet = np.log(np.maximum(share, np.float32(1e-12)))
    rising = np.clip((wet - np.float32(low)) / np.float32(max(high - low, 1e-6)), 0, 1)
    return resize(blur(rising, max(1.0, 0.003 * max(terrain.shape))), size)


def _bank(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "river" not in terrain:
        return None
    near = blur(filled(terrain, "river"), max(1.0, BANK_REACH * max(terrain.shape)))
    return resize(
        smoothstep(0.1 * BANK_DEPTH, BANK_DEPTH, (near / np.float32(terrain.cell_size)).astype(np.float32)), size
    )


def _hardness(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "erodibility" not in terrain:
        return None
    soft = filled(terrain, "erodibility")
    relative = blur(soft, 0.03 * max(terrain.shape)) - soft
    spread = float(relative.std())
    if spread < UNIFORM_ROCK:
        return None
    return resize(np.clip(blur(relative, 1) / np.float32(2 * spread), -1, 1).astype(np.float32), size)
