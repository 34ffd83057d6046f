"""Scales for layers: robust limits, round ticks and the bar beside a map."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from slopewash.errors import InvalidParameter
from slopewash.rendering.text import INK, draw_text, text_width

Floats = NDArray[np.float32]

OUTLIERS = 0.005
"""Fraction of cells beyond either limit, so that single outliers do not wash out the map."""
LOG_DECADES = 5.0
"""A log scale spans at most this many decades, else near-zero cells would dominate it."""


@dataclass(frozen=True)
class Scale:
    """From values to 0 .. 1 along the colour map."""

    low: float
    high: float
    log: bool

    def __call__(self, values: Floats) -> Floats:
        """Map values to the scale, clipped to 0 .. 1."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            values = np.log10(np.maximum(values, np.float32(self.low)))
        else:
            low, high = self.low, self.high
        if high <= low:
            return np.full_like(values, 0.5)
        share: Floats = np.clip((values - np.float32(low)) / np.float32(high - low), 0, 1)
        return share


def choose_scale(
    values: Floats, *, limits: tuple[float, float] | None = None, log: bool = False, symmetric: bool = False
) -> Scale:
    """Scale for the values of a map (nodata left out): the given limits, or percentiles of the values.

    >>> choose_scale(np.array([-1.0, 0, 3], dtype=np.float32), symmetric=True).low
    -3.0
    """
    if limits is not None:
        low, high = float(limits[0]), float(limits[1])
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidParameter(f"limits are {low:g} .. {high:g}; the first must be below the second, both finite")
        if log and low <= 0:
            raise InvalidParameter(f"limits begin at {low:g}; a log scale needs limits above 0")
        return Scale(low, high, log)
    if log:
        values = values[values > 0]
        if not values.size:
            return Scale(0.1, 1.0, True)
    low, high = _robust(values)
    if log:
        high = max(high, 1e-30)
        return Scale(max(low, high / 10**LOG_DECADES), high * (1 if high > low else 10), True)
    if symmetric:
        reach = max(abs(low), abs(high)) or 1.0
        return Scale(-reach, reach, False)
    return Scale(low, high if high > low else low + (abs(low) * 0.1 or 1.0), False)


def _robust(values: Floats) -> tuple[float, float]:
    if values.size < 1 / OUTLIERS:
        return float(values.min()), float(values.max())
    low, high = (float(v) for v in np.quantile(values, [OUTLIERS, 1 - OUTLIERS]))
    if high <= low:  # nearly all cells are equal, such as a few lakes on dry ground
        return float(values.min()), float(values.max())
    return low, high


def ticks(scale: Scale, most: int = 8) -> list[float]:
    """Round values (1, 2 or 5 times a power of ten) within a scale.

    >>> ticks(Scale(0.0, 1280.0, False))
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0]
    >>> ticks(Scale(0.02, 300.0, True))
    [0.1, 1.0, 10.0, 100.0]
    """
    if scale.log:
        return _log_ticks(scale, most)
    span = scale.high - scale.low
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(scale.low / step - 1e-9)
    last = math.floor(scale.high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _log_ticks(scale: Scale, most: int) -> list[float]:
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [float(f"{f}e{e}") for e in range(first, last + 1) for f in factors]
        found = [v for v in found if scale.low * (1 - 1e-6) <= v <= scale.high * (1 + 1e-6)]
        if len(found) <= most:
            break
    return found or [float(f"{scale.low:.2g}"), float(f"{scale.high:.2g}")]


def label(value: float) -> str:
    """Return a tick label without trailing zeros.

    >>> label(1200.0), label(0.05), label(2e6), label(-0.0)
    ('1200', '0.05', '2e6', '0')
    """
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:.6g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def bar_width(scale: Scale, units: str, size: int) -> int:
    """Width in pixels of the bar with its labels."""
    texts = [label(v) for v in ticks(scale)] + [units]
    return math.ceil(size * 2.4 + max(text_width(t, size) for t in texts))


def draw_bar(
    image: Image.Image, box: tuple[int, int, int, int], colours: NDArray[np.uint8], scale: Scale, units: str, size: int
) -> None:
    """Draw a vertical bar with ticks into (left, top, right, bottom) of an image; units are above it."""
    left, top, _, bottom = box
    draw = ImageDraw.Draw(image)
    if units:
        draw_text(draw, (left, top), units, size, INK)
        top += round(1.6 * size)
    height = max(bottom - top, 2)
    index = np.rint(np.linspace(len(colours) - 1, 0, height)).astype(int)
    width = round(1.3 * size)
    strip = np.repeat(colours[index][:, None, :], width, axis=1)
    image.paste(Image.fromarray(strip), (left, top))
    for value in ticks(scale, most=max(2, min(8, height // (2 * size)))):
        share = float(scale(np.array([value], dtype=np.float32))[0])
        y = top + (1 - share) * (height - 1)
        draw.line([(left + width, y), (left + width + size // 3, y)], fill=INK, width=max(1, size // 14))
        draw_text(draw, (left + width + 0.6 * size, y), label(value), size, INK, anchor="lm")
