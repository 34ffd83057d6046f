"""A terrain lit and coloured on the grid of a picture, for both the map and the perspective view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.colours import linear, smoothstep
from slopewash.rendering.grid import blur, coverage, filled, resize
from slopewash.rendering.ground import cover, shape_of
from slopewash.rendering.light import Light, Sun, illuminate, normals
from slopewash.rendering.water import Water, water_of
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]

SUN_SHARE = 0.72
"""Fraction of the light on open flat ground; the rest comes from the sky."""
SUN_COLOUR = linear("#fff3e0") / linear("#fff3e0").mean()
SKY_COLOUR = linear("#cfe0f5") / linear("#cfe0f5").mean()
BOUNCE = 0.07
"""Light reflected by neighbouring slopes into hollows the sky does not reach: no shadow is pure black."""
EXPOSURE = 1.5
DEPOSIT_SHOWN = 0.1
"""Cells of deposit that look like fresh sand; a thinner cover shows in proportion."""


@dataclass(frozen=True)
class Scene:
    """Fields on the picture's grid."""

    bed: Floats
    """Exaggerated ground in metres."""
    surface: Floats
    """Exaggerated ground, or the water surface where water is drawn."""
    cell_size: float
    """Metres between neighbouring pixels."""
    light: Light
    ground: Floats
    """Linear-light colour of the lit ground."""
    water: Water | None
    coverage: Floats | None


def build_scene(
    terrain: Terrain, size: tuple[int, int], sun: Sun, exaggeration: float, shore_depth: float | None = None
) -> Scene:
    """Light and colour a terrain on a grid of (width, height) pixels."""
    scale = checked_exaggeration(exaggeration)
    elevation = resize(filled(terrain, "elevation"), size)
    cell_size = terrain.width / size[0]
    bed = elevation * np.float32(scale)
    water = _water(terrain, size, shore_depth)
    surface = bed if water is None else bed + np.maximum(water.depth, 0) * water.shown * np.float32(scale)
    light = illuminate(surface, cell_size, sun, sky_size=(terrain.shape[1], terrain.shape[0]))
    shape = shape_of(elevation, cell_size, normals(elevation, cell_size)[2])
    colour = cover(shape, _fresh_sand(terrain, size)) * lit(light)
    return Scene(bed, surface, cell_size, light, colour, water, coverage(terrain, size))


def lit(light: Light) -> Floats:
    """Linear-light colour of white ground under this light."""
    sun = light.sun[..., None] * (SUN_SHARE * SUN_COLOUR)
    sky = light.sky[..., None] * ((1 - SUN_SHARE) * SKY_COLOUR)
    bounce = np.float32(BOUNCE) * (1 - np.minimum(light.sky, 1))[..., None] * SUN_COLOUR
    colour: Floats = (EXPOSURE * (sun + sky + bounce)).astype(np.float32)
    return colour


def brightness(light: Light) -> Floats:
    """Linear light on white ground, without colour or bounce."""
    total: Floats = np.float32(EXPOSURE) * open_light(light)
    return total


def open_light(light: Light) -> Floats:
    """Light relative to open flat ground, which has 1."""
    total: Floats = np.float32(SUN_SHARE) * light.sun + np.float32(1 - SUN_SHARE) * light.sky
    return total


def checked_exaggeration(exaggeration: float) -> float:
    """Return the factor on heights, or raise."""
    if not (np.isfinite(exaggeration) and exaggeration > 0):
        raise InvalidParameter(f"exaggeration is {exaggeration}; it must be positive and finite")
    return float(exaggeration)


def _water(terrain: Terrain, size: tuple[int, int], shore_depth: float | None) -> Water | None:
    if "river" in terrain:
        return water_of(np.maximum(resize(terrain["river"]+terrain["lake"], size),0), None, terrain.cell_size, shore_depth)
    if "water" not in terrain or not terrain["water"].any():
        return None
    suspended = resize(filled(terrain, "suspended"), size) if "suspended" in terrain else None
    return water_of(resize(filled(terrain, "water"), size), suspended, terrain.cell_size, shore_depth)


def _fresh_sand(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "deposit" not in terrain:
        return None
    thickness = resize(filled(terrain, "deposit"), size)
    share = smoothstep(0.1 * DEPOSIT_SHOWN, DEPOSIT_SHOWN, thickness / np.float32(terrain.cell_size))
    return np.float32(0.5) * blur(share, 0.003 * max(size))
