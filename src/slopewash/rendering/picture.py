"""Pictures on disk and side by side."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, PngImagePlugin

from slopewash.drafts import staged
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.rendering.text import INK, PAPER, draw_text

Picture = Image.Image
TITLE_SIZE = 20
GAP = 12


def to_picture(colour: NDArray[np.uint8], coverage: NDArray[np.float32] | None = None) -> Picture:
    """Make an image of 8-bit colours or greys; nodata pixels become transparent."""
    if coverage is None:
        return Image.fromarray(colour)
    if colour.ndim == 2:
        colour = np.repeat(colour[..., None], 3, axis=2)
    alpha = np.rint(coverage * 255).astype(np.uint8)
    return Image.fromarray(np.concatenate([colour, alpha[..., None]], axis=2))


def save(picture: Picture, path: str | os.PathLike[str] | None, texts: Mapping[str, str] | None = None) -> Picture:
    """Write a PNG atomically; `texts` are kept in it by name."""
    if path is None:
        return picture
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise InvalidFile(f'cannot write "{target}": pictures are written as .png')
    info = PngImagePlugin.PngInfo()
    for name, text in (texts or {}).items():
        info.add_text(name, text)
    with staged(target) as temporary, temporary.open("wb") as file:
        picture.save(file, format="PNG", pnginfo=info)
    return picture


def png_bytes(picture: Picture) -> bytes:
    """Return the picture as a PNG in memory."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()


def side_by_side(
    images: Sequence[Picture],
    titles: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    columns: int | None = None,
    height: int | None = None,
    title_size: int = TITLE_SIZE,
) -> Picture:
    """Arrange pictures in rows of a common height, with titles above; `contact_sheet` has thumbnails of one size.

    Parameters
    ----------
    images
        Pictures, drawn at a common height.
    titles
        One line of text above each, or none.
    path
        PNG to write.
    columns
        Pictures per row. By default, all are in one row.
    height
        Height of every picture in pixels. The default is the smallest height among them.
    title_size
        Height of the titles in pixels.

    Examples
    --------
    >>> tile = Image.new("RGB", (40, 30), "green")
    >>> side_by_side([tile, tile], ["before", "after"]).size
    (116, 86)
    """
    if not images:
        raise InvalidParameter("side_by_side got no images; give it at least one")
    if titles is not None and len(titles) != len(images):
        raise InvalidParameter(f"side_by_side got {len(titles)} titles for {len(images)} images; give one for each")
    if title_size < 1:
        raise InvalidParameter(f"title_size is {title_size} pixels; it must be at least 1")
    common = height or min(image.height for image in images)
    tiles = [_at_height(image, common) for image in images]
    across = columns or len(tiles)
    rows = [range(start, min(start + across, len(tiles))) for start in range(0, len(tiles), across)]
    header = title_size + GAP if titles is not None else 0
    width = max(sum(tiles[i].width + GAP for i in row) for row in rows) + GAP
    sheet = Image.new("RGB", (width, GAP + len(rows) * (header + common + GAP)), PAPER)
    draw = ImageDraw.Draw(sheet)
    y = GAP
    for row in rows:
        x = GAP
        for i in row:
            if titles is not None:
                draw_text(draw, (x, y), titles[i], title_size, INK)
            sheet.paste(tiles[i], (x, y + header), tiles[i] if tiles[i].mode == "RGBA" else None)
            x += tiles[i].width + GAP
        y += header + common + GAP
    return save(sheet, path)


def _at_height(image: Picture, height: int) -> Picture:
    mode = "RGBA" if "A" in image.getbands() else "RGB"
    image = image.convert(mode)
    if image.height == height:
        return image
    return image.resize((max(1, round(image.width * height / image.height)), height), Image.Resampling.LANCZOS)
