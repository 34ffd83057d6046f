"""What covers the ground: forest and grass low and gentle, soil and rock high and steep, snow on high summits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.render.colours import linear, mix, smoothstep
from slopewash.render.grid import blur, mottle

Floats = NDArray[np.float32]

FOREST = linear("#46532f")
GRASS = linear("#7d8650")
MEADOW = linear("#a19a68")
SOIL = linear("#9c8463")
ROCK = linear("#8b8175")
DARK_ROCK = linear("#6b635b")
SAND = linear("#c0ab86")
SNOW = linear("#eef1f4")

ROCK_SLOPE = 34.0
"""Degrees at which loose soil gives way to bare rock: the angle of repose of scree."""
ROCK_QUANTILE = 0.8
"""Steep terrains keep their gentler ground green: half of the rock limit follows this quantile of their slopes."""
TREE_LINE = 0.5
SNOW_LINE = 0.84
"""Shares of the relief above the lowest ground."""
HILLS, MOUNTAINS = 0.03, 0.10
"""Relief over extent: below the first a terrain is drawn as a plain, above the second with alpine heights."""
PATTERN_SEED = 20
"""The unevenness of the cover is the same in every picture, so that frames of a film do not flicker."""


@dataclass(frozen=True)
class Shape:
    """What the cover of a cell depends on."""

    slope: Floats
    """Degrees."""
    level: Floats
    """0 at the lowest ground, 1 at the highest."""
    hollow: Floats
    """Above 0 in valleys, below on ridges; about -1 .. 1."""
    ruggedness: float
    """0 on plains, 1 in mountains."""


def shape_of(height: Floats, cell_size: float, up: Floats) -> Shape:
    """Measure the ground; `up` is the upward part of its normals."""
    low, high = (float(v) for v in np.quantile(height, [0.002, 0.998]))
    relief = high - low
    extent = cell_size * max(height.shape)
    level = np.clip((height - np.float32(low)) / np.float32(max(relief, 1e-6)), 0, 1)
    away = blur(height, max(height.shape) / 40) - height
    spread = float(away.std())
    return Shape(
        slope=np.degrees(np.arccos(np.clip(up, -1, 1))).astype(np.float32),
        level=level if relief > 0 else np.zeros_like(height),
        hollow=np.tanh(away / np.float32(max(1.5 * spread, 1e-6))),
        ruggedness=float(smoothstep(HILLS, MOUNTAINS, np.float32(relief / extent))),
    )


def cover(shape: Shape, deposit: Floats | None = None) -> Floats:
    """Linear-light colour of the ground in even white light."""
    longest = max(shape.slope.shape)
    patches = mottle(shape.slope.shape, longest / 18, 5, PATTERN_SEED) * np.float32(shape.ruggedness)
    grain = mottle(shape.slope.shape, longest / 250, 3, PATTERN_SEED + 1) * np.float32(shape.ruggedness)

    wooded = smoothstep(-0.5, 0.9, shape.hollow + 0.35 * patches + 0.2 * grain - 1.2 * (shape.level - 0.3))
    plants = mix(np.broadcast_to(GRASS, (*shape.slope.shape, 3)), FOREST, wooded * np.float32(0.9))
    heights = smoothstep(TREE_LINE - 0.25, TREE_LINE + 0.2, shape.level - 0.12 * shape.hollow + 0.05 * patches)
    plants = mix(plants, MEADOW, heights * np.float32(0.85))
    colour = mix(plants, SOIL, np.clip(0.12 + 0.1 * patches - 0.12 * shape.hollow, 0, 0.5).astype(np.float32))
    if deposit is not None:
        colour = mix(colour, SAND, deposit)

    limit = 0.5 * ROCK_SLOPE + 0.5 * max(float(np.quantile(shape.slope, ROCK_QUANTILE)), 15.0)
    steep = shape.slope + 2.0 * grain + 2.5 * patches + 9.0 * (shape.level - 0.5) - 4.0 * shape.hollow
    bare = smoothstep(limit - 9, limit + 5, steep)
    stone = mix(np.broadcast_to(ROCK, colour.shape), DARK_ROCK, smoothstep(-1.5, 1.5, grain + 0.8 * patches))
    earth = mix(np.broadcast_to(SOIL, colour.shape), stone, smoothstep(0.25, 0.8, bare))
    colour = mix(colour, earth, bare)
    alpine = smoothstep(0.55, 0.9, shape.level + 0.04 * patches) * np.float32(0.8 * shape.ruggedness)
    colour = mix(colour, stone, alpine)

    snow = smoothstep(SNOW_LINE, SNOW_LINE + 0.1, shape.level + 0.05 * shape.hollow + 0.012 * patches)
    clinging = 1 - smoothstep(limit + 2, limit + 14, shape.slope + 1.5 * grain)
    colour = mix(colour, SNOW, snow * clinging * np.float32(0.92 * shape.ruggedness))
    return (colour * (1 + 0.045 * grain + 0.03 * patches)[..., None]).astype(np.float32)
