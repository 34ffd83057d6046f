"""Plan pictures: the landscape from above, and its grey hillshade."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from PIL import Image

from slopewash.errors import unknown_name
from slopewash.rendering.colours import display, mix
from slopewash.rendering.daylight import EXPOSURE
from slopewash.rendering.grid import coverage, filled, picture_size, resize
from slopewash.rendering.layers import WaterShown
from slopewash.rendering.light import DEFAULT_SUN, Sunlight, illuminate
from slopewash.rendering.palettes import Season
from slopewash.rendering.picture import save, to_picture
from slopewash.rendering.scene import Look, brightness, build_scene, checked_exaggeration, soft_light
from slopewash.rendering.view import render_view
from slopewash.rendering.water import from_above
from slopewash.terrain import Terrain, check_terrain

HILLSHADE_GREY = 0.26
"""Reflectance of the plaster model: open flat ground becomes a middle grey."""
NEUTRAL = np.array([0.75, 0.74, 0.72], dtype=np.float32)
"""Colour beneath fully transparent pixels, for viewers that ignore transparency."""


def render(
    terrain: Terrain,
    path: str | os.PathLike[str] | None = None,
    *,
    view: Literal["map", "perspective"] = "map",
    sun: Sunlight = DEFAULT_SUN,
    exaggeration: float = 1.0,
    width: int | None = None,
    palette: str = "alpine",
    season: Season | None = None,
    snow_line: float | Literal["auto"] | None = "auto",
    water: WaterShown = "auto",
    shore_depth: float | None = None,
) -> Image.Image:
    """Draw a terrain as a landscape: lit ground and its cover, cast shadows, water by depth.

    Parameters
    ----------
    terrain
        Terrain to draw. Its layers are used where present: `river`, `lake`, or else `water` and `suspended`, for the
        water; `deposit` or `difference` for sediment, `drainage` and `flow` for floors and damp ground, `wear` for
        fresh rock, `bedrock` for soil, strata or `erodibility` for the layers of rock.
    path
        PNG file to write, or None.
    view
        "map" looks straight down; "perspective" is `render_view` with its defaults.
    sun
        Azimuth (clockwise from north) and altitude of the sun in degrees, or "morning", "noon", "evening" or "map",
        which is north-west.
    exaggeration
        Factor on heights for light and shadow.
    width
        Width of the picture in pixels. By default, a map has one pixel per cell (small terrains are enlarged by a
        whole factor, those beyond 4096 cells reduced) and a perspective is 1600 pixels wide.
    palette
        "alpine", "autumn", "winter", "desert", "green", or "plain": clay without cover or haze, to compare shapes.
    season
        "summer", "autumn" or "winter" of the palette "alpine" or "desert"; "desert" alone is that palette.
    snow_line
        Height in metres above which snow lies on shallow slopes, less on those that face south, or None for no snow.
        By default, the palette chooses it by the relief.
    water
        "auto" draws the layers `river` and `lake` of `add_water` if the terrain has them, else the simulated `water`;
        "simulated" always draws the latter, "none" neither.
    shore_depth
        Minimum depth of water drawn, in metres. The default is 0.02 cells.

    Returns
    -------
    PIL.Image.Image
        RGB, or RGBA with nodata cells transparent.

    Examples
    --------
    >>> terrain = Terrain(np.random.default_rng(1).random((32, 48)), cell_size=10.0)
    >>> render(terrain).size, render(terrain, width=96).size
    ((768, 512), (96, 64))
    """
    check_terrain(terrain)
    if view == "perspective":
        size = (1600, 1000) if width is None else (width, max(1, round(width * 0.625)))
        return render_view(
            terrain, path, size=size, sun=sun, exaggeration=exaggeration, palette=palette, season=season,
            snow_line=snow_line, water=water, shore_depth=shore_depth,
        )  # fmt: skip
    if view != "map":
        raise unknown_name("view", view, ("map", "perspective"))
    look = Look(
        sun=sun, exaggeration=exaggeration, palette=palette, season=season, snow_line=snow_line, water=water,
        shore_depth=shore_depth,
    )  # fmt: skip
    scene = build_scene(terrain, picture_size(terrain.shape, width), look)
    colour = scene.ground
    if scene.water is not None:
        colour = from_above(colour, scene.water, brightness(scene.light), scene.light.sky)
    if scene.coverage is not None:
        colour = mix(NEUTRAL, colour, scene.coverage)
    return save(to_picture(display(colour), scene.coverage), path)


def hillshade(
    terrain: Terrain,
    path: str | os.PathLike[str] | None = None,
    *,
    sun: Sunlight = DEFAULT_SUN,
    exaggeration: float = 1.0,
    width: int | None = None,
    shadows: bool = True,
) -> Image.Image:
    """Draw the bare ground in grey, as a plaster model, to check shapes without colour or water.

    Parameters are those of `render`; with `shadows=False` no shadows are cast.

    >>> hillshade(Terrain(np.zeros((8, 8)))).getextrema()
    (165, 165)
    """
    size = picture_size(terrain.shape, width)
    ground = resize(filled(terrain, "elevation"), size) * np.float32(checked_exaggeration(exaggeration))
    native = (terrain.shape[1], terrain.shape[0])
    light = illuminate(ground, terrain.width / size[0], sun, shadows=shadows, sky_size=native, soft=True)
    shaded = np.float32(HILLSHADE_GREY * EXPOSURE) * soft_light(light)
    return save(to_picture(display(shaded), coverage(terrain, size)), path)
