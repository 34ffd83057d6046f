"""Ground cover: forest and grass on low and gentle ground, soil and rock on high and steep ground, snow on summits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import linear, mix, smoothstep
from slopewash.rendering.grid import blur, mottle

Floats = NDArray[np.float32]

FOREST = linear("#38442c")
GRASS = linear("#666c45")
MEADOW = linear("#8b8160")
SOIL = linear("#8b7760")
ROCK = linear("#80766a")
DARK_ROCK = linear("#625a51")
SAND = linear("#b3a184")
SNOW = linear("#cfd4da")

ROCK_SLOPE = 34.0
"""Slope in degrees above which rock is bare: the angle of repose of scree."""
ROCK_QUANTILE = 0.8
"""Keeps the gentler ground of steep terrains green: half of the rock limit follows this quantile of the slopes."""
TREE_LINE = 0.5
SNOW_LINE = 0.83
"""Fractions of the relief above the lowest ground."""
HILLS, MOUNTAINS, ALPS = 0.03, 0.10, 0.22
"""Relief over extent: a plain below the first, fully textured at the second, snow between the second and the third."""
RIDGE_REACH = 0.004
"""Fraction of the picture: scale at which fine ridges and gullies are separated from their surroundings."""
GULLY_TINT = 0.20
"""Gullies are damp and overgrown, crests are dry and eroded: darkening of the former, lightening of the latter."""
PATTERN_SEED = 20
"""The variation of the cover is the same in every picture, so that animations do not flicker."""


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
    ruggedness: float
    """0 on plains, 1 in mountains."""
    snowiness: float
    """0 in hills, 1 in high mountains."""


def shape_of(height: Floats, cell_size: float, up: Floats) -> Shape:
    """Measure the ground; `up` is the upward part of its normals."""
    low, high = (float(v) for v in np.quantile(height, [0.002, 0.998]))
    relief = high - low
    longest = max(height.shape)
    steepness = np.array(relief / (cell_size * longest), dtype=np.float32)
    level = np.clip((height - np.float32(low)) / np.float32(max(relief, 1e-6)), 0, 1)
    slope = np.degrees(np.arccos(np.clip(up, -1, 1))).astype(np.float32)
    return Shape(
        slope=0.5 * slope + 0.5 * blur(slope, longest * RIDGE_REACH),
        level=level if relief > 0 else np.zeros_like(height),
        hollow=_below_surroundings(height, longest / 40),
        gully=_below_surroundings(height, max(longest * RIDGE_REACH, 1.0)),
        ruggedness=float(smoothstep(HILLS, MOUNTAINS, steepness)),
        snowiness=float(smoothstep(MOUNTAINS, ALPS, steepness)),
    )


def _below_surroundings(height: Floats, radius: float) -> Floats:
    away = blur(height, radius) - height
    hollow: Floats = np.tanh(away / np.float32(max(1.5 * float(away.std()), 1e-6)))
    return hollow


def cover(shape: Shape, deposit: Floats | None = None) -> Floats:
    """Linear-light colour of the ground in uniform white light."""
    longest = max(shape.slope.shape)
    patches = mottle(shape.slope.shape, longest / 18, 5, PATTERN_SEED) * np.float32(shape.ruggedness)
    grain = mottle(shape.slope.shape, longest / 250, 3, PATTERN_SEED + 1) * np.float32(shape.ruggedness)
    limit = 0.5 * ROCK_SLOPE + 0.5 * max(float(np.quantile(shape.slope, ROCK_QUANTILE)), 15.0)
    colour = _plants(shape, patches, grain)
    if deposit is not None:
        colour = mix(colour, SAND, deposit)
    steep = shape.slope + 1.5 * grain + 2.5 * patches + 8.0 * (shape.level - 0.5) - 4.0 * shape.hollow
    bare = smoothstep(limit - 14, limit + 8, steep)
    stone = mix(np.broadcast_to(ROCK, colour.shape), DARK_ROCK, smoothstep(-2.2, 2.2, 0.6 * grain + patches))
    colour = mix(colour, mix(np.broadcast_to(SOIL, colour.shape), stone, smoothstep(0.2, 0.9, bare)), bare)
    alpine = smoothstep(0.5, 0.95, shape.level + 0.05 * patches) * np.float32(0.75 * shape.ruggedness)
    colour = mix(colour, stone, alpine)
    tinted = 1 - GULLY_TINT * shape.gully + 0.035 * grain + 0.04 * patches
    colour = colour * np.asarray(tinted, dtype=np.float32)[..., None]
    return mix(colour, SNOW, _snow(shape, patches, grain, limit))


def _plants(shape: Shape, patches: Floats, grain: Floats) -> Floats:
    damp = shape.hollow + 0.5 * shape.gully + 0.35 * patches + 0.15 * grain - 1.3 * (shape.level - 0.35)
    wooded = smoothstep(-1.0, 1.0, damp) * np.float32(0.95)
    plants = mix(np.broadcast_to(GRASS, (*shape.slope.shape, 3)), FOREST, wooded)
    high = smoothstep(TREE_LINE - 0.35, TREE_LINE + 0.25, shape.level - 0.15 * shape.hollow + 0.05 * patches)
    plants = mix(plants, MEADOW, high * np.float32(0.85))
    dry = np.clip(0.12 + 0.08 * patches - 0.15 * shape.hollow - 0.1 * shape.gully, 0, 0.5).astype(np.float32)
    return mix(plants, SOIL, dry)


def _snow(shape: Shape, patches: Floats, grain: Floats, limit: float) -> Floats:
    fallen = smoothstep(
        SNOW_LINE - 0.06,
        SNOW_LINE + 0.07,
        shape.level + 0.05 * shape.hollow + 0.07 * shape.gully + 0.025 * patches + 0.006 * grain,
    )
    lying = 1 - smoothstep(limit - 8, limit + 10, shape.slope - 6 * shape.gully + 1.5 * grain)
    share: Floats = fallen * lying * np.float32(0.95 * shape.snowiness)
    return share
