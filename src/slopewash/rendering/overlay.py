"""Layers drawn over the hillshade in perceptual colours, with title and colour bar."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from slopewash.rendering.colour_bar import Scale, bar_width, choose_scale, draw_bar
from slopewash.rendering.colours import colour_table
from slopewash.rendering.grid import coverage, filled, picture_size, resize
from slopewash.rendering.light import DEFAULT_SUN, Sunlight, illuminate
from slopewash.rendering.picture import save
from slopewash.rendering.scene import checked_exaggeration, open_light
from slopewash.rendering.text import INK, PAPER, draw_text, text_width
from slopewash.terrain import Terrain
from slopewash.terrain.fields import layer_spec

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

ABOVE_SEA = 128
"""oleron has the sea in its lower half; heights of land take the upper."""
RELIEF_STRENGTH = 0.6
"""How much the light affects the colours: enough to see the valleys, little enough to read the scale."""
TEXT_SHARE, SMALLEST_TEXT, LARGEST_TEXT = 0.022, 13, 40
NODATA_COLOUR = np.array([226, 224, 219], dtype=np.uint8)


def overlay(
    terrain: Terrain,
    layer: str,
    path: str | os.PathLike[str] | None = None,
    *,
    colours: str | None = None,
    limits: tuple[float, float] | None = None,
    log: bool | None = None,
    title: str | None = None,
    sun: Sunlight = DEFAULT_SUN,
    exaggeration: float = 1.0,
    width: int | None = None,
    framed: bool = True,
) -> Image.Image:
    """Draw a layer over the hillshade, with a title and a colour bar.

    Parameters
    ----------
    terrain, layer
        What to draw: any layer of the terrain by name.
    path
        PNG file to write, or None.
    colours
        Colour map of Crameri's collection. The default is vik for `difference`, the land half of oleron for
        `elevation` and batlow for all others.
    limits
        Values at the two ends of the bar. By default, 0.5 % of the cells lie beyond each, and the limits are
        symmetric about 0 for `difference`.
    log
        Whether the scale is logarithmic. By default, only for `flow`.
    title
        Text above the map. The default is the name of the layer.
    sun, exaggeration
        As in `render`.
    width
        Width of the map in pixels, without bar and margins.
    framed
        Whether to draw title, bar and margins; without them, the picture is the map alone.

    Examples
    --------
    >>> terrain = Terrain(np.random.default_rng(1).random((32, 32)), cell_size=10.0)
    >>> overlay(terrain, "elevation", width=200).size
    (290, 256)
    """
    values = np.asarray(terrain[layer], dtype=np.float32)
    known = values if terrain.nodata is None else values[~terrain.nodata]
    spec = layer_spec(layer)
    scale = choose_scale(
        known, limits=limits, log=spec.scale == "log" if log is None else log, symmetric=spec.scale == "diverging"
    )
    table = colour_table(colours or spec.colour_map)
    if colours is None and spec.colour_map == "oleron" and scale.low >= 0:
        table = table[ABOVE_SEA:]
    size = picture_size(terrain.shape, width)
    drawn = _draw_map(terrain, layer, scale, table, size, sun, exaggeration)
    if not framed:
        return save(Image.fromarray(drawn), path)
    return save(_framed(drawn, title or layer.replace("_", " "), table, scale, spec.units), path)


def wear_and_deposit(
    terrain: Terrain, path: str | os.PathLike[str] | None = None, *, width: int | None = None
) -> Image.Image:
    """Map erosion (blue) and deposition (red): the `difference` layer, symmetric about 0.

    Equal depths of both have equally strong colours. Deposits that are thin compared with the erosion show in
    `overlay(terrain, "deposit")`, which has its own scale.

    >>> terrain = Terrain(np.zeros((8, 8)), difference=np.eye(8))
    >>> wear_and_deposit(terrain, width=64).mode
    'RGB'
    """
    return overlay(terrain, "difference", path, title="eroded (below 0) and deposited (above 0)", width=width)


def _draw_map(
    terrain: Terrain, layer: str, scale: Scale, table: Bytes, size: tuple[int, int], sun: Sunlight, exaggeration: float
) -> Bytes:
    share = np.clip(resize(scale(filled(terrain, layer)), size), 0, 1)
    colour = table[np.rint(share * (len(table) - 1)).astype(np.intp)]
    ground = resize(filled(terrain, "elevation"), size) * np.float32(checked_exaggeration(exaggeration))
    cell_size, native = terrain.width / size[0], (terrain.shape[1], terrain.shape[0])
    light = illuminate(ground, cell_size, sun, shadows=False, sky_size=native)  # cast shadows would hide the layer
    shaded = shade(colour, open_light(light))
    cover = coverage(terrain, size)
    if cover is None:
        return shaded
    return np.where(cover[..., None] > 0.5, shaded, NODATA_COLOUR)


def shade(colour: Bytes, brightness: Floats) -> Bytes:
    """Darken and lighten colours by the light on the ground; open flat ground (1) keeps its colour exactly."""
    change = RELIEF_STRENGTH * np.tanh(brightness.astype(np.float32) - 1)[..., None]
    encoded = colour.astype(np.float32)
    shaded = np.where(change < 0, encoded * (1 + change), encoded + (255 - encoded) * 0.6 * change)
    return np.rint(shaded).astype(np.uint8)


def _framed(drawn: Bytes, title: str, table: Bytes, scale: Scale, units: str) -> Image.Image:
    height, width = drawn.shape[:2]
    text = int(np.clip(round(TEXT_SHARE * max(height, width)), SMALLEST_TEXT, LARGEST_TEXT))
    heading = round(1.3 * text)
    top = 2 * text + heading
    bar = bar_width(scale, units, text)
    across = max(text + width + text + bar + text, round(2 * text + text_width(title, heading)))
    sheet = Image.new("RGB", (across, top + max(height, 8 * text) + text), PAPER)
    sheet.paste(Image.fromarray(drawn), (text, top))
    draw_text(ImageDraw.Draw(sheet), (text, text), title, heading, INK)
    left = text + width + text
    draw_bar(sheet, (left, top, left + bar, top + max(height, 8 * text)), table, scale, units, text)
    return sheet
