"""Colour and normal maps of a terrain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.quantities import SnowLine
from slopewash.rendering.albedo import albedo
from slopewash.rendering.grid import filled
from slopewash.rendering.light import normals
from slopewash.rendering.palettes import Season
from slopewash.terrain import Terrain

Bytes = NDArray[np.uint8]

LARGEST_COLOURED = 4096
"""Cells a side up to which colours are worked out cell by cell; they are enlarged beyond, which limits memory."""


def colour_map(terrain: Terrain, *, palette: str, season: Season | None, snow_line: SnowLine) -> Bytes:
    """Colours (sRGB) of the ground without light and shadow, one pixel per cell."""
    rows, columns = terrain.shape
    factor = min(1.0, LARGEST_COLOURED / max(rows, columns))
    size = max(1, round(columns * factor)), max(1, round(rows * factor))
    colours = albedo(terrain, size, palette=palette, season=season, snow_line=snow_line)
    if size == (columns, rows):
        return colours
    from PIL import Image

    return np.asarray(Image.fromarray(colours).resize((columns, rows), Image.Resampling.BICUBIC))


def normal_map(terrain: Terrain, *, green_up: bool = True) -> Bytes:
    """Normals as colours: red to the east, green to the north (or south, as DirectX has it), blue up."""
    east, north, up = normals(filled(terrain, "elevation"), terrain.cell_size)
    vector = np.stack([east, north if green_up else -north, up], axis=-1)
    return np.rint((vector * 0.5 + 0.5) * 255).astype(np.uint8)


def mean_of_four(colours: Bytes) -> Bytes:
    """Colours of the cells between vertices."""
    wide = colours.astype(np.uint16)
    total = wide[1:, 1:] + wide[1:, :-1] + wide[:-1, 1:] + wide[:-1, :-1]
    return ((total + 2) // 4).astype(np.uint8)
