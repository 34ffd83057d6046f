"""One plain look for the figures of all papers: bare clay and water, one camera for all panels of a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image, ImageDraw

import slopewash as sw
from slopewash.rendering.colour_bar import Scale, bar_width, draw_bar
from slopewash.rendering.colours import colour_table
from slopewash.rendering.text import INK, PAPER, draw_text, text_width
from slopewash.terrain.fields import layer_spec

SUN = (250.0, 34.0)
"""Beside the camera, so that valleys have a lit side and a shaded one."""
CAMERA: dict[str, Any] = {"azimuth": 165.0, "pitch": 36.0, "sun": SUN, "palette": "plain"}
"""From the south, and a little from the east."""
HIGH: dict[str, Any] = {"pitch": 50.0, "sun": (250.0, 45.0)}
"""For deep valleys: a higher camera sees their floors, and a higher sun reaches them."""
SHALLOW = 0.2
"""Cells of depth below which water is not drawn: what rain has just left, which says nothing about the shape."""
POND = 20
"""Cells that water must cover to be drawn: smaller ponds hide the ground as confetti would."""
FADE = 0.5
"""Fraction of `SHALLOW` from which shores fade in."""
TITLE = 1 / 66
"""Height of a caption, as a fraction of the width of the sheet: that of the text beside it on the page."""
QUALITY = 84


def views(
    terrains: Sequence[sw.Terrain], size: tuple[int, int], *, water: bool = True, **options: Any
) -> list[Image.Image]:
    """Draw terrains as blocks, all with the camera that suits the highest and the lowest ground of all of them."""
    frame = enveloping(terrains)
    look = {**CAMERA, **waters(terrains[0], water), **options}
    return [sw.render_view(without_ponds(t), size=size, frame=frame, **look) for t in terrains]


def enveloping(terrains: Sequence[sw.Terrain]) -> sw.Terrain:
    """The highest ground anywhere, but the lowest where that is: whatever the panels show fits around it."""
    heights = np.stack([terrain["elevation"] for terrain in terrains])
    around = heights.max(axis=0)
    lowest = np.unravel_index(int(heights.min(axis=0).argmin()), around.shape)
    around[lowest] = heights.min()
    return sw.Terrain(around, cell_size=terrains[0].cell_size)


def plan(terrain: sw.Terrain, width: int, *, water: bool = True, **options: Any) -> Image.Image:
    """Draw a terrain from above."""
    return sw.render(without_ponds(terrain), width=width, palette="plain", **waters(terrain, water), **options)


def waters(terrain: sw.Terrain, shown: bool) -> dict[str, Any]:
    """Options that draw the simulated water where it is deep enough, or none."""
    if not shown:
        return {"water": "none"}
    return {"water": "simulated", "shore_depth": FADE * SHALLOW * terrain.cell_size}


def without_ponds(terrain: sw.Terrain) -> sw.Terrain:
    """Leave out water that is deep enough to be drawn on fewer than `POND` connected cells, sides or corners."""
    if "water" not in terrain:
        return terrain
    deep = terrain["water"] >= SHALLOW * terrain.cell_size
    number = np.where(deep, np.arange(1, deep.size + 1).reshape(deep.shape), 0)
    spread = np.zeros_like(number)
    while (number != spread).any():  # the largest number of each body of water spreads over it
        spread = number
        number = np.where(deep, greatest_around(number), 0)
    large = deep & (np.bincount(number.ravel())[number] >= POND)
    near = greatest_around(greatest_around(large))  # so that the shores of what stays fade out as they did
    return terrain.replace(water=np.where(near, terrain["water"], np.float32(0)))


def greatest_around(field: NDArray[Any]) -> NDArray[Any]:
    """Greatest value of each cell and its eight neighbours."""
    for axis in (0, 1):
        padded = np.pad(field, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        field = sliding_window_view(padded, 3, axis=axis).max(axis=-1)
    return field


def box_mean(field: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Mean over the square of `reach` cells around every cell."""
    for axis in (0, 1):
        padding = [(reach, reach) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(field, padding, mode="edge")
        field = np.mean([np.roll(padded, -k, axis) for k in range(2 * reach + 1)], axis=0)
        field = field[: padded.shape[0] - padding[0][1] * 2, : padded.shape[1] - padding[1][1] * 2]
    return field


def sheet(
    images: Sequence[Image.Image],
    titles: Sequence[str],
    file: Path,
    *,
    columns: int | None = None,
    key: Callable[[int, int], Image.Image] | None = None,
) -> None:
    """Put pictures side by side into one JPEG, with captions that can be read at the width of a page.

    `key` draws what explains the colours, beside all of them, from the height of the sheet and that of its letters.
    """
    across = sum(image.width for image in images[: columns or len(images)])
    letters = max(18, round(TITLE * across))
    made = sw.side_by_side(list(images), list(titles), columns=columns, title_size=letters)
    if key is not None:
        beside = key(made.height, letters)
        wide = Image.new("RGB", (made.width + beside.width, made.height), PAPER)
        wide.paste(made, (0, 0))
        wide.paste(beside, (made.width, 0))
        made = wide
    made.convert("RGB").save(file, quality=QUALITY, optimize=True)


def colour_bar(height: int, letters: int, *, layer: str, limits: tuple[float, float]) -> Image.Image:
    """The colour bar of a layer, for all maps of a sheet."""
    spec = layer_spec(layer)
    scale = Scale(*limits, log=spec.scale == "log")
    bar = Image.new("RGB", (bar_width(scale, spec.units, letters) + letters, height), PAPER)
    box = (letters // 2, 2 * letters, bar.width, height - letters)
    draw_bar(bar, box, colour_table(spec.colour_map), scale, spec.units, letters)
    return bar


def legend(height: int, letters: int, *, colours: Mapping[str, tuple[int, ...]]) -> Image.Image:
    """One square with a name for each colour, from the top."""
    side = round(1.4 * letters)
    across = round(2 * side + max(text_width(name, letters) for name in colours))
    key = Image.new("RGB", (across, height), PAPER)
    draw = ImageDraw.Draw(key)
    for k, (name, colour) in enumerate(colours.items()):
        top = round(2.5 * letters + 1.7 * side * k)
        draw.rectangle((letters // 2, top, letters // 2 + side, top + side), fill=colour, outline=INK)
        draw_text(draw, (letters + side, top + side / 2), name, letters, INK, anchor="lm")
    return key


def gradient(height: int, letters: int, *, table: NDArray[np.uint8], first: str, last: str) -> Image.Image:
    """A strip of colours with a name at either end, from the top."""
    side = round(1.4 * letters)
    across = round(2 * side + max(text_width(name, letters) for name in (first, last)))
    key = Image.new("RGB", (across, height), PAPER)
    draw = ImageDraw.Draw(key)
    left, top, bottom = letters // 2, round(2.5 * letters), height - round(1.5 * letters)
    strip = Image.fromarray(table[:, None, :3].astype(np.uint8)).resize((side, bottom - top))
    key.paste(strip, (left, top))
    draw.rectangle((left, top, left + side, bottom), outline=INK)
    for name, at in ((first, top + letters / 2), (last, bottom - letters / 2)):
        draw_text(draw, (letters + side, at), name, letters, INK, anchor="lm")
    return key
