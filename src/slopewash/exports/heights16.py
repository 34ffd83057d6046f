"""Heights in 65536 steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.exports.files import write_bytes, write_image
from slopewash.io.options import HeightRange, check_height_range

TOP = 65535
BAND = 256
"""Rows converted at a time, so that float64 intermediates stay small compared with the grid."""


@dataclass(frozen=True)
class Heights16:
    """Whole steps from `low`, each `step` metres high."""

    samples: NDArray[np.uint16]
    low: float
    step: float

    @property
    def high(self) -> float:
        """Height of the last step."""
        return self.low + TOP * self.step


def as_steps(heights: NDArray[np.float32], height_range: HeightRange | None) -> Heights16:
    """Round heights to the steps of a range, or of their own.

    >>> as_steps(np.array([[0.0, 5.0, 10.0]], np.float32), None).samples.tolist()
    [[0, 32768, 65535]]
    """
    lowest, highest = float(heights.min()), float(heights.max())
    low, high = (lowest, highest if highest > lowest else lowest + 1.0) if height_range is None else height_range
    check_height_range((low, high))
    if lowest < low or highest > high:
        raise InvalidParameter(
            f"the heights span {lowest:g} .. {highest:g} m, outside the range of {low:g} .. {high:g} m; widen it, or "
            "leave it out to use their own"
        )
    step = (float(high) - float(low)) / TOP
    samples = np.empty(heights.shape, dtype=np.uint16)
    for top in range(0, len(heights), BAND):
        band = slice(top, top + BAND)
        samples[band] = np.rint((heights[band].astype(np.float64) - low) / step).clip(0, TOP)
    return Heights16(samples, float(low), step)


def write_png(samples: NDArray[np.uint16], path: Path) -> Path:
    """Write 16-bit grey."""
    return write_image(np.ascontiguousarray(samples), path)


def write_raw(samples: NDArray[np.uint16], path: Path) -> Path:
    """Write little-endian samples without a header."""
    return write_bytes(np.ascontiguousarray(samples, dtype="<u2").tobytes(), path)
