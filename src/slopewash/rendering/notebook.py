"""What a notebook shows for a terrain."""

from __future__ import annotations

from slopewash.rendering.map import render
from slopewash.rendering.picture import png_bytes
from slopewash.terrain import Terrain

LONG_SIDE = 512
"""Pixels: readable in a cell, and drawn in one or two seconds."""


def picture(terrain: Terrain) -> bytes:
    """PNG of the terrain from above, of a modest size."""
    rows, columns = terrain.shape
    return png_bytes(render(terrain, width=max(1, round(LONG_SIDE * columns / max(rows, columns)))))
