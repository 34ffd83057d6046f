"""Bare rock in layers: the beds of the terrain's strata, its hardness, or bands that dip and bend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import blend, smoothstep
from slopewash.rendering.materials import Beds, Materials
from slopewash.rendering.palettes import Palette
from slopewash.rendering.shape import Shape

Floats = NDArray[np.float32]

BAND_HEIGHT, BAND_WARP = 1 / 22, 0.45
"""Thickness of a pair of rock layers as a fraction of the relief, and how far it bends, in thicknesses."""
THINNEST_BAND = 8.0
"""The same in cells of the picture, at least: thinner ones look like contour lines."""
BAND_DIP = (0.10, -0.06)
"""Rise of the layers to the south and to the east: level ones would look like contour lines."""
FRESH_TINT = 0.30
"""How much paler rock is that was laid bare last."""
OTHER_BED = 0.84
"""Brightness of every second bed, so that neighbours of equal hardness can be distinguished."""


def stone(
    shape: Shape, palette: Palette, materials: Materials, patches: Floats, grain: Floats, first_row: int = 0
) -> Floats:
    """Colour of bare rock as three planes, on rows of a picture of which the first has that number."""
    bands = _bands(shape, palette, materials, patches, first_row)
    mixed = 0.35 * grain + 0.6 * patches
    dark = smoothstep(-1.6, 2.4, mixed - bands) * np.float32(0.9)
    pale = smoothstep(0.1, 2.2, bands + 0.2 * grain - 0.4 * patches)
    if materials.fresh is not None:
        pale = np.maximum(pale, np.float32(FRESH_TINT) * materials.fresh)
    rock = palette.colour("rock")
    if materials.beds is not None:
        # Weathering darkens all beds alike; their own colours tell them apart.
        return bed_colours(materials.beds, palette) * (1 + 0.10 * bands - 0.12 * dark).astype(np.float32)
    rocky = blend(rock, palette.colour("dark_rock"), dark)
    return blend(rocky, palette.colour("pale_rock"), pale)


def _bands(shape: Shape, palette: Palette, materials: Materials, patches: Floats, first_row: int) -> Floats:
    rows, columns = shape.slope.shape
    thickness = np.float32(max(BAND_HEIGHT * shape.relief, THINNEST_BAND * shape.cell_size))
    dip = np.float32(shape.cell_size) * (
        np.arange(first_row, first_row + rows, dtype=np.float32)[:, None] * np.float32(BAND_DIP[0])
        + np.arange(columns, dtype=np.float32)[None, :] * np.float32(BAND_DIP[1])
    )
    height = (shape.level * np.float32(shape.relief) + dip) / thickness + np.float32(BAND_WARP) * patches
    bands = np.sin(np.float32(2 * np.pi) * height)
    bands += np.float32(0.4) * np.sin(np.float32(2 * np.pi * 2.7) * height + np.float32(1))
    bands *= np.float32(0.32 * palette.bands)
    if materials.hardness is not None:
        bands = np.float32(0.5) * bands + np.float32(0.8 * palette.bands) * materials.hardness
    return bands


def bed_colours(beds: Beds, palette: Palette) -> Floats:
    """Soft beds pale, hard ones dark, every second one darker."""
    soft, hard = palette.colour("pale_rock"), palette.colour("dark_rock")
    table = blend(soft, hard, beds.hardness)
    table *= np.where(np.arange(table.shape[1]) % 2 == 0, 1, OTHER_BED).astype(np.float32)
    return blend(table[:, beds.bed], table[:, beds.other], beds.share)
