"""Contact sheets: labelled thumbnails of pictures or terrains on one picture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw, UnidentifiedImageError

from slopewash.errors import InvalidFile, InvalidParameter, unknown_name
from slopewash.rendering.map import render
from slopewash.rendering.picture import save
from slopewash.rendering.text import INK, PAPER, draw_text, text_width
from slopewash.terrain import Terrain

Shown = Image.Image | Terrain | str | os.PathLike[str]

GAP_SHARE, TEXT_SHARE = 0.03, 0.042
"""Of the width of a thumbnail: space between them, and height of the letters."""
SMALLEST_GAP, SMALLEST_TEXT = 6, 11


def contact_sheet(
    pictures: Sequence[Shown],
    path: str | os.PathLike[str] | None = None,
    *,
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    width: int = 480,
    view: Literal["map", "perspective"] = "perspective",
) -> Image.Image:
    """Lay out labelled thumbnails, all of one size, on one picture.

    Parameters
    ----------
    pictures
        Pictures, files of pictures, or terrains, which are drawn with the defaults of `render`.
    path
        PNG to write, or None.
    titles
        One line below each, shortened if it is too long for its thumbnail.
    columns
        Thumbnails per row. By default, the sheet is about as many rows high as columns wide.
    width
        Width of a thumbnail in pixels; its height follows the first picture. Others are fitted into it.
    view
        How terrains are drawn: "perspective" or "map".

    Examples
    --------
    >>> tile = Image.new("RGB", (200, 100), "green")
    >>> contact_sheet([tile, tile, tile], titles=["before", "after", "later"], columns=3, width=100).size
    (324, 82)
    """
    if not pictures:
        raise InvalidParameter("contact_sheet got no pictures; give it at least one")
    if titles is not None and len(titles) != len(pictures):
        raise InvalidParameter(
            f"contact_sheet got {len(titles)} titles for {len(pictures)} pictures; give one for each"
        )
    if width < 16:
        raise InvalidParameter(f"width is {width} pixels; a thumbnail must have at least 16")
    if columns is not None and columns < 1:
        raise InvalidParameter(f"columns is {columns}; there must be at least 1")
    if view not in ("map", "perspective"):
        raise unknown_name("view", view, ("map", "perspective"))
    opened = [_open(shown, width, view) for shown in pictures]
    height = max(1, round(width * opened[0].height / opened[0].width))
    across = min(columns or math.ceil(math.sqrt(len(opened))), len(opened))
    down = math.ceil(len(opened) / across)
    gap, text = max(SMALLEST_GAP, round(GAP_SHARE * width)), max(SMALLEST_TEXT, round(TEXT_SHARE * width))
    label = round(1.8 * text) if titles is not None else 0
    sheet = Image.new("RGB", (gap + across * (width + gap), gap + down * (height + label + gap)), PAPER)
    draw = ImageDraw.Draw(sheet)
    for place, picture in enumerate(opened):
        x, y = gap + place % across * (width + gap), gap + place // across * (height + label + gap)
        thumbnail = _fitted(picture, width, height)
        left, top = x + (width - thumbnail.width) // 2, y + (height - thumbnail.height) // 2
        sheet.paste(thumbnail, (left, top), thumbnail if thumbnail.mode == "RGBA" else None)
        if titles is not None:
            draw_text(draw, (x, y + height + label / 2), _shortened(titles[place], text, width), text, INK, anchor="lm")
    return save(sheet, path)


def _open(shown: Shown, width: int, view: Literal["map", "perspective"]) -> Image.Image:
    if isinstance(shown, Image.Image):
        return shown
    if isinstance(shown, Terrain):
        return render(shown, view=view, width=width)
    try:
        with Image.open(Path(shown)) as picture:
            picture.load()
            return picture
    except (OSError, UnidentifiedImageError) as error:
        raise InvalidFile(f'cannot read the picture "{shown}": {error}') from error


def _fitted(picture: Image.Image, width: int, height: int) -> Image.Image:
    factor = min(width / picture.width, height / picture.height)
    size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
    mode = "RGBA" if "A" in picture.getbands() else "RGB"
    return picture.convert(mode).resize(size, Image.Resampling.LANCZOS)


def _shortened(title: str, size: int, width: int) -> str:
    if text_width(title, size) <= width:
        return title
    while title and text_width(title + "...", size) > width:
        title = title[:-1]
    return title.rstrip() + "..."
