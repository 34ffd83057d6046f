"""What is drawn on the ground besides the landscape: a layer in its colour map, and contour lines."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.colour_bar import choose_scale
from slopewash.rendering.colours import colour_table
from slopewash.rendering.grid import filled, resize
from slopewash.terrain import Terrain
from slopewash.terrain.fields import layer_spec

Floats = NDArray[np.float32]

PAINT = 0.62
"""Reflectance of the brightest colour of a map, as of ground, so that slopes in the sun do not burn out."""
LINES = 20
"""Contour lines that "auto" aims at."""
LINE_WIDTH, INDEX_WIDTH = 0.7, 1.3
"""Half the width of a contour line in pixels, and of every fifth."""
LINE_STRENGTH = 0.62
INDEX = 5
MOST_LINES = 2000


def layer_colours(terrain: Terrain, layer: str, size: tuple[int, int]) -> Floats:
    """Linear-light colours of a layer on a grid of (width, height) pixels, with the scale of `overlay`."""
    values = filled(terrain, layer)
    known = values if terrain.nodata is None else values[~terrain.nodata]
    spec = layer_spec(layer)
    scale = choose_scale(known, limits=None, log=spec.scale == "log", symmetric=spec.scale == "diverging")
    share = np.clip(resize(scale(values), size), 0, 1)
    table = colour_table(spec.colour_map).astype(np.float32) / 255
    light = np.where(table <= 0.04045, table / 12.92, ((table + 0.055) / 1.055) ** 2.4).astype(np.float32)
    colours: Floats = light[np.rint(share * (len(light) - 1)).astype(np.intp)] * np.float32(PAINT)
    return colours


def contour_lines(elevation: Floats, interval: float | Literal["auto"]) -> Floats:
    """Darkness of each pixel by contour lines, 0 .. 1, every fifth of them bolder."""
    low, high = float(elevation.min()), float(elevation.max())
    step = round_interval((high - low) / LINES) if isinstance(interval, str) else float(interval)
    if isinstance(interval, str) and interval != "auto":
        raise InvalidParameter(f'contours is "{interval}"; it must be "auto", None or a number of metres')
    if not (math.isfinite(step) and step > 0 and (high - low) / step <= MOST_LINES):
        least = (high - low) / MOST_LINES
        raise InvalidParameter(f"contours is {step:g} m; it must be finite and above {max(least, 0):g} m here")
    level = elevation / np.float32(step)
    south, east = (
        np.gradient(level, axis=axis) if n > 1 else np.zeros_like(level) for axis, n in enumerate(level.shape)
    )
    slope = np.maximum(np.hypot(south, east), np.float32(1e-6))
    nearest = np.rint(level)
    away = np.abs(level - nearest) / slope
    width = np.where(nearest % INDEX == 0, np.float32(INDEX_WIDTH), np.float32(LINE_WIDTH))
    dark: Floats = (np.float32(LINE_STRENGTH) * np.clip(width + np.float32(0.5) - away, 0, 1)).astype(np.float32)
    # Where lines would touch, they fade: flat shading says more than a black slope.
    return np.asarray(dark * np.clip(np.float32(0.5) / slope - 1, 0, 1), dtype=np.float32)


def round_interval(metres: float) -> float:
    """Return the nearest of 1, 2, 5, 10, 20, … from above.

    >>> round_interval(37.0), round_interval(0.0)
    (50.0, 1.0)
    """
    if metres <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(metres))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= metres * (1 - 1e-9)))
