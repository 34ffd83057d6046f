"""A map of the streams on the shaded ground."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from slopewash.analysis.flow import Flow
from slopewash.rendering import hillshade
from slopewash.terrain import Terrain

WIDTH = 1060
"""Pixels across, about: as wide as the page."""
STREAM = (24, 92, 150)
OFFSETS = {1: (1, 0), 2: (1, 1), 4: (0, 1), 8: (-1, 1), 16: (-1, 0), 32: (-1, -1), 64: (0, -1), 128: (1, -1)}
"""Columns to the right and rows down of each direction."""


def stream_map(terrain: Terrain, channel_area: float, *, gather: bool = True) -> Image.Image:
    """Draw the streams on the shaded ground, the wider the higher their order.

    >>> stream_map(Terrain(np.zeros((8, 8))), 10.0).size
    (1060, 1060)
    """
    rows, columns = terrain.shape
    ground = terrain if columns <= WIDTH else terrain.resampled(max(1, round(max(rows, columns) * WIDTH / columns)))
    shade = hillshade(ground, width=min(WIDTH, ground.shape[1]), shadows=False).convert("RGB")
    height = max(1, round(WIDTH * rows / columns))
    picture = shade.resize((WIDTH, height), Image.Resampling.BICUBIC)
    flow = Flow(terrain, gather=gather)
    rank, _ = flow.stream_orders(channel_area)
    _draw_streams(picture, flow.directions, rank)
    return picture


def _draw_streams(picture: Image.Image, directions: NDArray[np.uint8], rank: NDArray[np.uint8]) -> None:
    """Draw each step of a stream as a line, on a finer picture, so that lines have smooth edges."""
    fine = 2
    layer = Image.new("L", (picture.width * fine, picture.height * fine))
    pen = ImageDraw.Draw(layer)
    scale = layer.width / rank.shape[1]
    for order in range(1, int(rank.max(initial=0)) + 1):
        width = max(2, round(fine * (1.0 + 0.9 * (order - 1))))
        for row, column in np.argwhere((rank == order) & (directions > 0)):
            right, down = OFFSETS[int(directions[row, column])]
            begin, end = (column + 0.5, row + 0.5), (column + 0.5 + right, row + 0.5 + down)
            pen.line([(x * scale, y * scale) for x, y in (begin, end)], fill=min(255, 180 + 25 * order), width=width)
    mask = layer.resize(picture.size, Image.Resampling.LANCZOS)
    picture.paste(STREAM, (0, 0), mask)


def as_data(picture: Image.Image) -> str:
    """Return a picture as an address that holds it.

    >>> as_data(Image.new("L", (1, 1)))[:22]
    'data:image/jpeg;base64'
    """
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=85)
    return "data:image/jpeg;base64," + base64.b64encode(data.getvalue()).decode("ascii")
