"""Ground cover: floors and fans, meadow, forest on flanks, scree below layered rock, snow on summits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import blend, mix, smoothstep
from slopewash.rendering.floors import floors
from slopewash.rendering.grid import blur, mottle, rows_of
from slopewash.rendering.materials import Materials
from slopewash.rendering.palettes import Palette
from slopewash.rendering.shape import RIDGE_REACH, Shape
from slopewash.rendering.stone import bed_colours, stone
from slopewash.rendering.threads import in_bands

Floats = NDArray[np.float32]

ROCK_SLOPE = 40.0
"""Slope in degrees above which rock is bare: a little more than the angle of repose, which soil keeps."""
ROCK_QUANTILE = 0.82
"""Keeps the gentler ground of steep terrains green: half of the rock limit follows this quantile of the slopes."""
FRESH_ROCK, SOIL_HOLDS, NO_SOIL = 5.0, 10.0, 12.0
"""Degrees by which ground is bare sooner where it was just eroded, later below soil, and sooner where none is left."""
GULLY_TINT = 0.20
"""Gullies are damp and overgrown, crests are dry and eroded: darkening of the former, lightening of the latter."""
SUNNY_LINE, SUNNY_SLOPE = 0.09, 7.0
"""How much higher the snow line is on ground that faces south, of the relief, and how many degrees sooner it slides."""
PATTERN_SEED = 20
"""The variation of the cover is the same in every picture, so that animations do not flicker."""


@dataclass(frozen=True)
class Cover:
    """Colour of the ground in uniform white light, and how rough it is."""

    colour: Floats
    coarseness: Floats
    """Typical height of boulders and trees, in cells of the picture."""
    roughness: Floats
    """That height with its variation."""


def cover(shape: Shape, palette: Palette, materials: Materials, snow_line: float | None) -> Cover:
    """Cover the ground; snow lies above `snow_line`, a fraction of the relief."""
    size = shape.slope.shape
    if palette.plain:
        smooth = np.zeros(size, np.float32)
        return Cover(_clay(size, palette, materials), smooth, smooth)
    longest = max(size)
    rugged = np.float32(shape.ruggedness)
    patches = mottle(size, longest / 18, 5, PATTERN_SEED) * rugged
    grain = mottle(size, max(longest / 320, 3.0), 3, PATTERN_SEED + 1) * rugged
    steep = max(float(np.quantile(shape.slope[::4, ::4], ROCK_QUANTILE)), 15.0)
    limit = 0.5 * (ROCK_SLOPE + palette.rock_slope) + 0.5 * steep
    bare, damp = np.empty(size, np.float32), np.empty(size, np.float32)

    def lay_bare(a: int, b: int) -> None:
        here, known = rows_of(shape, a, b), rows_of(materials, a, b)
        damp[a:b] = _damp(here, known, patches[a:b])
        bare[a:b] = _bare(here, palette, known, damp[a:b], patches[a:b], grain[a:b], limit)

    in_bands(size[0], lay_bare)
    bare_around = blur(bare, longest * 2 * RIDGE_REACH)
    colour = np.empty((*size, 3), np.float32)
    coarse, rough = np.empty(size, np.float32), np.empty(size, np.float32)

    def grow(a: int, b: int) -> None:
        here, known = rows_of(shape, a, b), rows_of(materials, a, b)
        varied = Varied(damp[a:b], patches[a:b], grain[a:b])
        planes, coarse[a:b] = _covered(here, palette, known, varied, bare[a:b], bare_around[a:b], limit, snow_line, a)
        colour[a:b] = np.moveaxis(planes, 0, -1)
        rough[a:b] = coarse[a:b] * grain[a:b]

    in_bands(size[0], grow)
    return Cover(colour, coarse, rough)


def _clay(size: tuple[int, ...], palette: Palette, materials: Materials) -> Floats:
    """One colour, or the beds of strata where no soil hides them."""
    colour = np.empty((*size, 3), np.float32)
    colour[:] = palette.colour("soil")
    if materials.beds is None:
        return colour
    beds = np.moveaxis(bed_colours(materials.beds, palette), 0, -1)
    return beds if materials.soil is None else mix(beds, colour, materials.soil)


@dataclass(frozen=True)
class Varied:
    """What varies from place to place, about -1 .. 1: how damp it is, and patterns of large patches and fine grain."""

    damp: Floats
    patches: Floats
    grain: Floats


def _bare(
    shape: Shape, palette: Palette, materials: Materials, damp: Floats, patches: Floats, grain: Floats, limit: float
) -> Floats:
    """Share of bare rock."""
    return smoothstep(
        limit - 9, limit + 5,
        shape.slope + 1.6 * grain + 3.0 * patches + 18.0 * (shape.level - palette.bare_line + 0.2)
        - 5.0 * shape.gully - 3.0 * damp + _uncovered(shape, materials),
    )  # fmt: skip


def _covered(
    shape: Shape,
    palette: Palette,
    materials: Materials,
    varied: Varied,
    bare: Floats,
    bare_around: Floats,
    limit: float,
    snow_line: float | None,
    first_row: int,
) -> tuple[Floats, Floats]:
    """Colour (three planes) and coarseness of some rows, the first of which has that number."""
    damp, patches, grain = varied.damp, varied.patches, varied.grain
    wooded = _wooded(shape, palette, damp, patches, grain, limit) * (1 - bare)
    colour = _plants(shape, palette, damp, wooded, patches)
    colour, floor = floors(colour, shape, palette, materials, damp, patches, grain)
    wooded *= 1 - floor
    # Debris lies below bare rock, in hollows, where it is just not too steep to stay.
    debris = smoothstep(0.15, 0.6, bare_around) * smoothstep(-0.3, 0.5, shape.gully)
    debris *= smoothstep(20, 29, shape.slope) * (1 - bare) * smoothstep(0.25, 0.6, shape.level + 0.1 * patches)
    colour = blend(colour, palette.colour("scree"), debris * np.float32(0.75))
    high = smoothstep(palette.bare_line, palette.bare_line + 0.36, shape.level + 0.05 * patches)
    bare = np.maximum(bare, high * np.float32(0.8 * shape.ruggedness))
    colour = blend(colour, stone(shape, palette, materials, patches, grain, first_row), bare)
    tinted = 1 - GULLY_TINT * shape.gully + 0.05 * grain * (bare + wooded) + 0.04 * patches
    colour *= np.asarray(tinted, dtype=np.float32)
    snow = _snow(shape, patches, grain, limit, snow_line) * (1 - np.float32(0.45) * wooded)
    coarse = ((0.26 * bare + 0.6 * wooded + 0.2 * debris + 0.04) * (1 - np.float32(0.85) * snow)).astype(np.float32)
    return blend(colour, palette.colour("snow"), snow), coarse


def _uncovered(shape: Shape, materials: Materials) -> Floats:
    """Degrees by which ground is bare sooner, by what is known of its soil and its erosion."""
    sooner = np.zeros_like(shape.slope)
    if materials.fresh is not None:
        sooner += np.float32(FRESH_ROCK) * materials.fresh
    if materials.soil is not None:
        open_rock = (1 - materials.soil) * smoothstep(12, 28, shape.slope)
        sooner += np.float32(NO_SOIL) * open_rock - np.float32(SOIL_HOLDS) * materials.soil
    return sooner


def _damp(shape: Shape, materials: Materials, patches: Floats) -> Floats:
    damp = 0.6 * shape.hollow + 0.5 * shape.gully + 0.3 * patches
    if materials.moisture is not None:
        damp = damp + 0.9 * (materials.moisture - np.float32(0.3))
    return np.clip(damp, -1.5, 1.5).astype(np.float32)


def _wooded(shape: Shape, palette: Palette, damp: Floats, patches: Floats, grain: Floats, limit: float) -> Floats:
    """Share of trees: on damp flanks below the tree line, in clumps, thinning out upwards."""
    line = palette.tree_line + 0.07 * patches + 0.12 * damp
    below = 1 - smoothstep(-0.16, 0.05, shape.level - line)
    clumps = smoothstep(-0.55, 0.45, damp + 0.25 * grain + 0.35 * patches + 0.55 - 0.9 * shape.level)
    slopes = smoothstep(3, 14, shape.slope + 3 * patches) * (1 - smoothstep(limit - 2, limit + 8, shape.slope))
    flat = np.float32(1 - shape.ruggedness) * np.float32(0.5)  # plains have no slopes to grow on
    share: Floats = below * clumps * np.maximum(slopes, flat) * np.float32(palette.wooded)
    return share


def _plants(shape: Shape, palette: Palette, damp: Floats, wooded: Floats, patches: Floats) -> Floats:
    grass = palette.colour("grass")
    high = smoothstep(palette.tree_line - 0.3, palette.tree_line + 0.15, shape.level - 0.1 * damp)
    dry = np.clip(high + np.float32(0.25) * smoothstep(0.1, 1.2, -damp), 0, 1) * np.float32(0.9)
    plants = blend(grass, palette.colour("heath"), dry)
    worn = np.clip(0.10 + 0.08 * patches - 0.15 * damp, 0, 0.45).astype(np.float32)
    plants = blend(plants, palette.colour("soil"), worn)
    kinds = smoothstep(-0.5, 1.6, patches - 0.5 * damp)
    forest = blend(palette.colour("forest"), palette.colour("forest_mixed"), kinds)
    return blend(plants, forest, wooded)


def _snow(shape: Shape, patches: Floats, grain: Floats, limit: float, line: float | None) -> Floats:
    if line is None:
        return np.zeros_like(shape.slope)
    sunny = shape.southward
    fallen = smoothstep(
        line - 0.06,
        line + 0.07,
        shape.level + 0.05 * shape.hollow + 0.07 * shape.gully + 0.025 * patches + 0.006 * grain
        - np.float32(SUNNY_LINE) * sunny,
    )  # fmt: skip
    lying = 1 - smoothstep(
        limit - 12, limit + 6, shape.slope - 6 * shape.gully + 2.0 * grain + np.float32(SUNNY_SLOPE) * sunny
    )
    share: Floats = fallen * lying * np.float32(0.95)
    return share
