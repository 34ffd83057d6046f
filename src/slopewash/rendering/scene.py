"""A terrain lit and coloured on the grid of a picture, for both the map and the perspective view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.daylight import EXPOSURE, SUN_SHARE, Daylight, daylight
from slopewash.rendering.draped import contour_lines, layer_colours
from slopewash.rendering.grid import coverage, filled, resize, rounded, rows_of
from slopewash.rendering.ground import cover
from slopewash.rendering.layers import WaterShown, shown_water
from slopewash.rendering.light import Light, Sunlight, checked_sun, illuminate, normals
from slopewash.rendering.materials import materials_of
from slopewash.rendering.palettes import Palette, Season, find_palette
from slopewash.rendering.shape import Shape, shape_of
from slopewash.rendering.threads import in_bands
from slopewash.rendering.water import Water
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
Contours = float | Literal["auto"] | None
"""Metres between contour lines; "auto" for about twenty; or none."""

FILL = 0.10
"""Hazy light from the side opposite the sun, as a fraction of the light on open flat ground."""
BOUNCE = 0.26
"""Light of sunny slopes that reaches hollows the sky does not: no shadow is pure black."""
AMBIENT = 0.06
"""The same where no slope around is sunny."""
PLAIN_AMBIENT = 0.45
"""The same in a plain picture, where deep valleys are to show their shape and not to look like black holes."""
SOFT_SUN, SOFT_FILL, SOFT_BOUNCE = 0.60, 0.10, 0.34
"""Shares of sun, fill and bounce in the light of a plaster model, in whose shade everything can be seen."""


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
    day: Daylight
    ground: Floats
    """Linear-light colour of the lit ground."""
    coarseness: Floats
    """Typical height of boulders and trees, in cells."""
    water: Water | None
    coverage: Floats | None
    plain: bool = False
    """Without haze, before a plain backdrop."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a terrain is to look, as users give it to `render` and `render_view`."""

    sun: Sunlight
    exaggeration: float = 1.0
    palette: str = "alpine"
    season: Season | None = None
    snow_line: float | Literal["auto"] | None = "auto"
    water: WaterShown = "auto"
    shore_depth: float | None = None
    layer: str | None = None
    contours: Contours = None


def build_scene(terrain: Terrain, size: tuple[int, int], look: Look) -> Scene:
    """Light and colour a terrain on a grid of (width, height) pixels."""
    scale = np.float32(checked_exaggeration(look.exaggeration))
    palette = find_palette(look.palette, look.season)
    sun = checked_sun(look.sun)
    day = daylight(sun[1])
    elevation = rounded(resize(filled(terrain, "elevation"), size), size[0] / terrain.shape[1])
    cell_size = terrain.width / size[0]
    bed = elevation * scale
    water = None if look.layer else shown_water(terrain, size, look.water, look.shore_depth)
    surface = bed if water is None else bed + water.raised * scale
    shape = shape_of(elevation, cell_size, normals(elevation, cell_size))
    materials = materials_of(terrain, size, elevation, shape.slope)
    covered = cover(shape, palette, materials, snow_level(look.snow_line, palette, shape))
    rough = covered.roughness * np.float32(0 if look.layer else cell_size)  # trees would disturb the scale of a layer
    if water is not None:
        rough *= 1 - water.shown
    native = (terrain.shape[1], terrain.shape[0])
    light = illuminate(surface, cell_size, sun, sky_size=native, roughness=rough, soft=palette.plain)
    colour = covered.colour if look.layer is None else layer_colours(terrain, look.layer, size)
    if look.contours is not None:
        colour = colour * (1 - contour_lines(elevation, look.contours))[..., None]
    ground = np.empty_like(colour)
    ambient = PLAIN_AMBIENT if palette.plain else AMBIENT

    def shine(a: int, b: int) -> None:
        for k, shining in enumerate(lit(rows_of(light, a, b), day, ambient)):
            np.multiply(colour[a:b, :, k], shining, out=ground[a:b, :, k])

    in_bands(len(ground), shine)
    return Scene(
        bed, surface, cell_size, light, day, ground, covered.coarseness, water, coverage(terrain, size), palette.plain
    )


def snow_level(snow_line: float | str | None, palette: Palette, shape: Shape) -> float | None:
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


def lit(light: Light, day: Daylight, ambient: float = AMBIENT) -> Iterator[Floats]:
    """Linear-light red, green and blue of white ground under this light; `ambient` reaches what the sky does not."""
    sun = np.float32(day.sun_share) * light.sun + np.float32(BOUNCE * day.sun_share) * light.bounce
    sun += np.float32(ambient) * (1 - np.minimum(light.sky, 1))
    sky = np.float32(1 - SUN_SHARE) * light.sky + np.float32(FILL) * (light.fill - 1)
    exposure = np.float32(day.exposure)
    for sun_colour, sky_colour in zip(exposure * day.sun, exposure * day.sky, strict=True):
        yield np.maximum(sun * sun_colour + sky * sky_colour, 0)


def brightness(light: Light) -> Floats:
    """Linear light on white ground under a high sun, without colour or bounce."""
    total: Floats = np.float32(EXPOSURE) * open_light(light)
    return total


def soft_light(light: Light) -> Floats:
    """Light of a hazy day relative to open flat ground, which has 1: flanks in the shade keep their shape."""
    hidden = 1 - np.minimum(light.sky, 1)
    total: Floats = np.float32(SOFT_SUN) * light.sun + np.float32(SOFT_FILL) * light.fill
    total += np.float32(1 - SOFT_SUN - SOFT_FILL) * light.sky
    return total + np.float32(SOFT_BOUNCE) * light.bounce + np.float32(AMBIENT) * hidden


def open_light(light: Light) -> Floats:
    """Light relative to open flat ground, which has 1."""
    total: Floats = np.float32(SUN_SHARE) * light.sun + np.float32(1 - SUN_SHARE) * light.sky
    return total


def checked_exaggeration(exaggeration: float) -> float:
    """Return the factor on heights, or raise."""
    if not (np.isfinite(exaggeration) and exaggeration > 0):
        raise InvalidParameter(f"exaggeration is {exaggeration}; it must be positive and finite")
    return float(exaggeration)
