"""Heights in 65536 steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.exports.files import write_bytes
from slopewash.io.notes import MADE_BY, Notes, notes_text
from slopewash.io.options import HeightRange, check_height_range
from slopewash.io.png import RANGE, write_samples

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

    def texts(self, notes: Notes | None) -> dict[str, str]:
        """What a PNG records: the heights of its first and last step, and what made the terrain."""
        made_by = {MADE_BY: notes_text(notes)} if notes else {}
        return {RANGE: f"{self.low!r},{self.high!r}"} | made_by


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


def write_png(samples: NDArray[np.uint16], path: Path, cell_size: float, texts: Mapping[str, str]) -> Path:
    """Write 16-bit grey with texts by name, which `slopewash.read` and `slopewash info` know."""
    write_samples(np.ascontiguousarray(samples), path, cell_size, texts)
    return path


def write_raw(samples: NDArray[np.uint16], path: Path) -> Path:
    """Write little-endian samples without a header."""
    return write_bytes(np.ascontiguousarray(samples, dtype="<u2").tobytes(), path)
