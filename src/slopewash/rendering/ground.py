"""Ground cover: sediment and meadow on floors, forest on flanks, scree below layered rock, snow on summits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import mix, smoothstep
from slopewash.rendering.grid import blur, mottle
from slopewash.rendering.palettes import Palette

Floats = NDArray[np.float32]

ROCK_SLOPE = 40.0
"""Slope in degrees above which rock is bare: a little more than the angle of repose, which soil keeps."""
ROCK_QUANTILE = 0.82
"""Keeps the gentler ground of steep terrains green: half of the rock limit follows this quantile of the slopes."""
FLOOR_SLOPE = 9.0
"""Degrees up to which sediment is a floor and not a slope of debris."""
HILLS, MOUNTAINS, ALPS = 0.03, 0.10, 0.17
"""Relief over extent: a plain below the first, fully textured at the second, snow between the second and the third."""
RIDGE_REACH = 0.004
"""Fraction of the picture: scale at which fine ridges and gullies are separated from their surroundings."""
GULLY_TINT = 0.20
"""Gullies are damp and overgrown, crests are dry and eroded: darkening of the former, lightening of the latter."""
BAND_HEIGHT, BAND_WARP = 1 / 22, 0.45
"""Thickness of a pair of rock layers as a fraction of the relief, and how far it bends, in thicknesses."""
THINNEST_BAND = 8.0
"""The same in cells of the picture, at least: thinner ones look like contour lines."""
BAND_DIP = (0.10, -0.06)
"""Rise of the layers to the south and to the east: level ones would look like contour lines."""
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
    low: float
    relief: float
    """Metres; `level` counts from the one in units of the other."""
    cell_size: float


@dataclass(frozen=True)
class Materials:
    """What layers of the terrain know about the cover; None where there is no such layer."""

    sediment: Floats | None = None
    """0 on ground that was there before, 1 on a thick deposit."""
    moisture: Floats | None = None
    """0 on divides, 1 along rivers."""
    bank: Floats | None = None
    """1 beside large rivers, where floods leave gravel."""
    hardness: Floats | None = None
    """Of the rock relative to its surroundings, about -1 .. 1."""


@dataclass(frozen=True)
class Cover:
    """Colour of the ground in uniform white light, and how rough it is."""

    colour: Floats
    roughness: Floats
    """Height of boulders and trees, in cells of the picture."""


def shape_of(height: Floats, cell_size: float, up: Floats) -> Shape:
    """Measure the ground; `up` is the upward part of its normals."""
    low, high = (float(v) for v in np.quantile(height[::2, ::2], [0.002, 0.998]))
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
        low=low,
        relief=relief,
        cell_size=cell_size,
    )


def _below_surroundings(height: Floats, radius: float) -> Floats:
    away = blur(height, radius) - height
    hollow: Floats = np.tanh(away / np.float32(max(1.5 * float(away.std()), 1e-6)))
    return hollow


def cover(shape: Shape, palette: Palette, materials: Materials, snow_line: float | None) -> Cover:
    """Cover the ground; snow lies above `snow_line`, a fraction of the relief."""
    longest = max(shape.slope.shape)
    rugged = np.float32(shape.ruggedness)
    patches = mottle(shape.slope.shape, longest / 18, 5, PATTERN_SEED) * rugged
    grain = mottle(shape.slope.shape, max(longest / 320, 3.0), 3, PATTERN_SEED + 1) * rugged
    steep = max(float(np.quantile(shape.slope[::4, ::4], ROCK_QUANTILE)), 15.0)
    limit = 0.5 * (ROCK_SLOPE + palette.rock_slope) + 0.5 * steep
    damp = _damp(shape, materials, patches)

    bare = smoothstep(
        limit - 9, limit + 5,
        shape.slope + 1.6 * grain + 3.0 * patches + 18.0 * (shape.level - 0.42) - 5.0 * shape.gully - 3.0 * damp,
    )  # fmt: skip
    wooded = _wooded(shape, palette, damp, patches, grain, limit) * (1 - bare)
    colour = _plants(shape, palette, damp, wooded, patches)
    colour, floor = _floors(colour, shape, palette, materials, damp, patches)
    wooded *= 1 - floor
    # Debris lies below bare rock, in hollows, where it is just not too steep to stay.
    debris = smoothstep(0.15, 0.6, blur(bare, longest * 2 * RIDGE_REACH)) * smoothstep(-0.3, 0.5, shape.gully)
    debris *= smoothstep(20, 29, shape.slope) * (1 - bare) * smoothstep(0.25, 0.6, shape.level + 0.1 * patches)
    colour = mix(colour, palette.colour("scree"), debris * np.float32(0.75))
    alpine = smoothstep(0.62, 0.98, shape.level + 0.05 * patches) * np.float32(0.8 * shape.ruggedness)
    bare = np.maximum(bare, alpine)
    colour = mix(colour, _stone(shape, palette, materials, patches, grain), bare)
    tinted = 1 - GULLY_TINT * shape.gully + 0.05 * grain * (bare + wooded) + 0.04 * patches
    colour = colour * np.asarray(tinted, dtype=np.float32)[..., None]
    snow = _snow(shape, patches, grain, limit, snow_line) * (1 - np.float32(0.45) * wooded)
    rough = (0.26 * bare + 0.6 * wooded + 0.2 * debris + 0.04) * (1 - np.float32(0.85) * snow) * grain
    return Cover(mix(colour, palette.colour("snow"), snow), rough.astype(np.float32))


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
    grass = np.broadcast_to(palette.colour("grass"), (*shape.slope.shape, 3))
    high = smoothstep(palette.tree_line - 0.3, palette.tree_line + 0.15, shape.level - 0.1 * damp)
    dry = np.clip(high + np.float32(0.25) * smoothstep(0.1, 1.2, -damp), 0, 1) * np.float32(0.9)
    plants = mix(grass, palette.colour("heath"), dry)
    worn = np.clip(0.10 + 0.08 * patches - 0.15 * damp, 0, 0.45).astype(np.float32)
    plants = mix(plants, palette.colour("soil"), worn)
    kinds = smoothstep(-0.5, 1.6, patches - 0.5 * damp)
    forest = mix(np.broadcast_to(palette.colour("forest"), plants.shape), palette.colour("forest_mixed"), kinds)
    return mix(plants, forest, wooded)


def _floors(
    colour: Floats, shape: Shape, palette: Palette, materials: Materials, damp: Floats, patches: Floats
) -> tuple[Floats, Floats]:
    """Cover valley floors and fans: meadow, and sand where streams spread it."""
    flat = 1 - smoothstep(0.6 * FLOOR_SLOPE, 1.6 * FLOOR_SLOPE, shape.slope)
    if materials.sediment is None:
        floor = flat * smoothstep(-0.2, 0.6, shape.hollow) * np.float32(0.6 * shape.ruggedness)
    else:
        # Fans are steeper than floors.
        floor = np.maximum(flat, 1 - smoothstep(12, 20, shape.slope)) * materials.sediment
    fan = smoothstep(1.5, 6.0, shape.slope) * np.float32(0.35)
    sandy = np.clip(1 - palette.green_floors + fan - 0.12 * damp + 0.04 * patches, 0, 1)
    if materials.bank is not None:
        sandy = np.maximum(sandy, materials.bank * np.float32(0.8))
        floor = np.maximum(floor, materials.bank * flat)
    ground = mix(np.broadcast_to(palette.colour("meadow"), colour.shape), palette.colour("sand"), sandy)
    return mix(colour, ground, (floor * np.float32(0.9)).astype(np.float32)), floor.astype(np.float32)


def _stone(shape: Shape, palette: Palette, materials: Materials, patches: Floats, grain: Floats) -> Floats:
    """Rock in layers: by the hardness the terrain has, or by bands that dip and bend."""
    rows, columns = shape.slope.shape
    thickness = np.float32(max(BAND_HEIGHT * shape.relief, THINNEST_BAND * shape.cell_size))
    dip = np.float32(shape.cell_size) * (
        np.arange(rows, dtype=np.float32)[:, None] * np.float32(BAND_DIP[0])
        + np.arange(columns, dtype=np.float32)[None, :] * np.float32(BAND_DIP[1])
    )
    height = (shape.level * np.float32(shape.relief) + dip) / thickness + np.float32(BAND_WARP) * patches
    bands = np.sin(np.float32(2 * np.pi) * height)
    bands += np.float32(0.4) * np.sin(np.float32(2 * np.pi * 2.7) * height + np.float32(1))
    bands *= np.float32(0.32 * palette.bands)
    if materials.hardness is not None:
        bands = np.float32(0.5) * bands + np.float32(0.8 * palette.bands) * materials.hardness
    mixed = 0.35 * grain + 0.6 * patches
    stone = mix(
        np.broadcast_to(palette.colour("rock"), (rows, columns, 3)),
        palette.colour("dark_rock"),
        smoothstep(-1.6, 2.4, mixed - bands) * np.float32(0.9),
    )
    return mix(stone, palette.colour("pale_rock"), smoothstep(0.1, 2.2, bands + 0.2 * grain - 0.4 * patches))


def _snow(shape: Shape, patches: Floats, grain: Floats, limit: float, line: float | None) -> Floats:
    if line is None:
        return np.zeros_like(shape.slope)
    fallen = smoothstep(
        line - 0.06,
        line + 0.07,
        shape.level + 0.05 * shape.hollow + 0.07 * shape.gully + 0.025 * patches + 0.006 * grain,
    )
    lying = 1 - smoothstep(limit - 8, limit + 10, shape.slope - 6 * shape.gully + 2.0 * grain)
    share: Floats = fallen * lying * np.float32(0.95)
    return share
