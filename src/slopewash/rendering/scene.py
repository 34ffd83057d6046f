"""A terrain lit and coloured on the grid of a picture, for both the map and the perspective view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.colours import linear
from slopewash.rendering.grid import coverage, filled, resize
from slopewash.rendering.ground import Shape, cover, shape_of
from slopewash.rendering.layers import WaterShown, materials_of, shown_water
from slopewash.rendering.light import Light, Sun, illuminate, normals
from slopewash.rendering.palettes import Palette, find_palette
from slopewash.rendering.water import Water
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]

SUN_SHARE = 0.70
"""Fraction of the light on open flat ground; the rest comes from the sky."""
SUN_COLOUR = linear("#fff3e0") / linear("#fff3e0").mean()
SKY_COLOUR = linear("#c6daf4") / linear("#c6daf4").mean()
BOUNCE = 0.11
"""Light reflected by neighbouring slopes into hollows the sky does not reach: no shadow is pure black."""
EXPOSURE = 1.5


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


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a terrain is to look, as users give it to `render` and `render_view`."""

    sun: Sun
    exaggeration: float = 1.0
    palette: str = "alpine"
    snow_line: float | Literal["auto"] | None = "auto"
    water: WaterShown = "auto"
    shore_depth: float | None = None


def build_scene(terrain: Terrain, size: tuple[int, int], look: Look) -> Scene:
    """Light and colour a terrain on a grid of (width, height) pixels."""
    scale = np.float32(checked_exaggeration(look.exaggeration))
    palette = find_palette(look.palette)
    elevation = resize(filled(terrain, "elevation"), size)
    cell_size = terrain.width / size[0]
    bed = elevation * scale
    water = shown_water(terrain, size, look.water, look.shore_depth)
    surface = bed if water is None else bed + water.raised * scale
    shape = shape_of(elevation, cell_size, normals(elevation, cell_size)[2])
    covered = cover(shape, palette, materials_of(terrain, size), _snow_level(look.snow_line, palette, shape))
    rough = covered.roughness * np.float32(cell_size)
    if water is not None:
        rough *= 1 - water.shown
    light = illuminate(surface, cell_size, look.sun, sky_size=(terrain.shape[1], terrain.shape[0]), roughness=rough)
    return Scene(bed, surface, cell_size, light, covered.colour * lit(light), water, coverage(terrain, size))


def _snow_level(snow_line: float | str | None, palette: Palette, shape: Shape) -> float | None:
    """Height of the snow line as a fraction of the relief; None for no snow."""
    if snow_line is None:
        return None
    if isinstance(snow_line, str):
        if snow_line != "auto":
            raise InvalidParameter(f'snow_line is "{snow_line}"; it must be "auto", None or a height in metres')
        if palette.snow_line is None:
            return None
        # Hills have their line above their summits.
        return palette.snow_line + (0.4 * (1 - shape.snowiness) if palette.snow_needs_relief else 0.0)
    if not np.isfinite(snow_line):
        raise InvalidParameter(f"snow_line is {snow_line} m; it must be finite")
    return (snow_line - shape.low) / max(shape.relief, 1e-6)


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
