"""The cut sides of the terrain block: the terrain's own strata, or plain rock where it has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import linear, mix
from slopewash.rendering.grid import filled, mottle, resize, sample
from slopewash.terrain import Strata, Terrain

Floats = NDArray[np.float32]

PLAIN = linear("#7a6b5b")
CLAY = linear("#7d7365")
"""Of plain pictures."""
SOFT, HARD = linear("#bf9f76"), linear("#685750")
"""The softest and the hardest rock."""
LOOSE = linear("#a8946f")
"""Soil deposited on layered bedrock."""
OTHER = 0.87
"""Brightness of every second layer, so that neighbours of equal hardness can be distinguished."""
TOPSOIL = linear("#43372c")
TOPSOIL_DEPTH, NO_TOPSOIL = 0.003, 1e-6
"""Fractions of the diagonal of the block; not 0, which would be divided by."""
GRAIN_CELLS = 1024
"""Cells of the grain over one diagonal of the block."""
GRAIN_SIZE, GRAIN_STRENGTH = 24, 0.065
"""Cells of its largest patches, and the deviation of the rock's brightness."""
GRAIN_SEED = 5


@dataclass(frozen=True)
class Rock:
    """What a block is made of, on the grid of its picture; heights in exaggerated metres."""

    colours: Floats
    """One row per layer from the top, then loose soil."""
    depths: Floats
    """Where each layer begins below the top of the first."""
    top: Floats | None
    """Of the first layer; None where there is only one."""
    bedrock: Floats | None
    """Its surface, where soil lies on it."""
    grain: Floats
    """Brightness of the rock: columns along the walls, rows upwards."""

    def beneath(self, i: Floats, j: Floats) -> tuple[Floats, Floats]:
        """Tops of the layers and of the bedrock at rows and columns of the grid; infinite where no soil lies on it."""
        nothing = np.zeros_like(i)
        top = nothing if self.top is None else sample(self.top, i, j)
        return top, nothing + np.float32(np.inf) if self.bedrock is None else sample(self.bedrock, i, j)


def rock_of(terrain: Terrain, size: tuple[int, int], exaggeration: float, *, plain: bool = False) -> Rock:
    """Rock beneath a terrain, on a grid of (width, height) pixels; plain rock has neither grain nor topsoil."""
    scale = np.float32(exaggeration)
    grains = GRAIN_CELLS, 3 * GRAIN_CELLS // 2
    grain = np.ones(grains, np.float32)
    if not plain:
        grain = 1 + np.float32(GRAIN_STRENGTH) * mottle(grains, GRAIN_SIZE, 4, GRAIN_SEED)
    strata = terrain.strata
    if strata is None or strata.top is None:
        return Rock(np.stack([CLAY if plain else PLAIN, LOOSE]), np.zeros(1, np.float32), None, None, grain)
    top = resize(np.broadcast_to(strata.top, terrain.shape).astype(np.float32), size) * scale
    bedrock = resize(filled(terrain, "bedrock"), size) * scale if "bedrock" in terrain else None
    return Rock(_colours(strata), strata.depths.astype(np.float32) * scale, top, bedrock, grain)


def _colours(strata: Strata) -> Floats:
    hardness = np.array([layer.hardness for layer in strata.layers], dtype=np.float32)
    shade = np.where(np.arange(len(hardness)) % 2 == 0, 1, OTHER).astype(np.float32)
    colours = mix(np.broadcast_to(SOFT, (len(hardness), 3)), HARD, hardness) * shade[:, None]
    return np.concatenate([colours, LOOSE[None]]).astype(np.float32)
