"""Colours of the ground without light and shadow, as textures need them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import encoded, mix
from slopewash.rendering.grid import filled, resize
from slopewash.rendering.ground import cover
from slopewash.rendering.layers import WaterShown, shown_water
from slopewash.rendering.light import normals
from slopewash.rendering.materials import materials_of
from slopewash.rendering.palettes import Season, find_palette
from slopewash.rendering.scene import snow_level
from slopewash.rendering.shape import shape_of
from slopewash.rendering.water import CLEAR, DEEP
from slopewash.terrain import Terrain


def albedo(
    terrain: Terrain,
    size: tuple[int, int],
    *,
    palette: str = "alpine",
    season: Season | None = None,
    snow_line: float | Literal["auto"] | None = "auto",
    water: WaterShown = "auto",
) -> NDArray[np.uint8]:
    """Colours (sRGB) of the ground and its water in uniform white light, on a grid of (width, height) pixels.

    >>> albedo(Terrain(np.zeros((8, 8))), (16, 16)).shape
    (16, 16, 3)
    """
    chosen = find_palette(palette, season)
    elevation = resize(filled(terrain, "elevation"), size)
    cell_size = terrain.width / size[0]
    shape = shape_of(elevation, cell_size, normals(elevation, cell_size))
    materials = materials_of(terrain, size, elevation, shape.slope)
    colour = cover(shape, chosen, materials, snow_level(snow_line, chosen, shape)).colour
    wet = shown_water(terrain, size, water, None)
    if wet is not None:
        deep = 1 - np.exp(-np.maximum(wet.depth, 0) / np.float32(3 * wet.absorption_depth))
        colour = mix(colour, mix(CLEAR, DEEP, deep), wet.shown)
    return encoded(colour)
