"""Random numbers of lattice points: a hash of (seed, level, row, column) in 32-bit integers.

Integer arithmetic gives the same numbers on every platform, and a point's number does not depend on which other points
are evaluated, so that a larger or finer grid repeats the smaller one.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint32]

BLOCK = 1 << 16
"""Points drawn at a time: what they need stays in the cache."""

ROW_STEP = 0x9E3779B1
"""Distance of two rows in the numbering of points: 2^32 over the golden ratio.

Points are numbered `column + ROW_STEP * row` modulo 2^32. The shortest vector between two points of the same number is
51,851 points long, beyond the largest grid.
"""

_MASK = 0xFFFFFFFF


def key(seed: int, level: int, stream: int = 0) -> int:
    """Return the 32-bit key of a seed, level and stream (there are several numbers per point)."""
    word = 0
    # All bits of the seed count, 32 at a time; `sign` distinguishes -1 from 2^32 - 1.
    magnitude, sign = abs(seed), int(seed < 0)
    parts = [sign, level, stream]
    while True:
        parts.append(magnitude & _MASK)
        magnitude >>= 32
        if not magnitude:
            break
    for part in parts:
        word = (word + part + ROW_STEP) & _MASK
        word = ((word ^ (word >> 16)) * 0x7FEB352D) & _MASK
        word = ((word ^ (word >> 15)) * 0x846CA68B) & _MASK
        word ^= word >> 16
    return word


def scramble(numbers: Words, key: int, scratch: Words | None = None) -> Words:
    """Hash the numbers of points, in place; every bit of the result depends on every bit of number and key."""
    shifted = np.right_shift(numbers, 16, out=scratch)
    numbers ^= shifted
    # The key goes in after a shift: added to the number itself, it would only shift the same pattern.
    numbers ^= np.uint32(key)
    numbers *= np.uint32(0x7FEB352D)
    np.right_shift(numbers, 15, out=shifted)
    numbers ^= shifted
    numbers *= np.uint32(0x846CA68B)
    np.right_shift(numbers, 16, out=shifted)
    numbers ^= shifted
    return numbers


def point_numbers(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Words:
    """Numbers of the points of a grid of rows and columns."""
    # Masked in 64 bits first: some versions of NumPy do not cast negative numbers to unsigned silently.
    return (rows * ROW_STEP & _MASK).astype(np.uint32)[:, None] + (columns & _MASK).astype(np.uint32)[None, :]


def uniform(rows: NDArray[np.int64], columns: NDArray[np.int64], seed: int, level: int) -> NDArray[np.float32]:
    """Draw uniform numbers in [-1, 1) for the points of a grid of rows and columns."""
    words = scramble(point_numbers(rows, columns), key(seed, level)) >> 8
    return words.astype(np.float32) * np.float32(2.0**-23) - np.float32(1.0)


def normal(rows: NDArray[np.int64], columns: NDArray[np.int64], seed: int, level: int) -> NDArray[np.float32]:
    """Draw normal numbers of variance 1 for the points of a grid of rows and columns.

    Each is the sum of twelve uniform numbers of ten bits, so it lies within six standard deviations. Unlike the
    Box-Muller transform this needs no logarithm or cosine, whose last bits differ between platforms.
    """
    result = np.empty((len(rows), len(columns)), np.float32)
    height = max(1, BLOCK // max(len(columns), 1))
    for top in range(0, len(rows), height):
        numbers = point_numbers(rows[top : top + height], columns)
        total = np.zeros(numbers.shape, dtype=np.int32)
        for stream in range(4):
            words = scramble(numbers.copy(), key(seed, level, stream))
            for shift in (2, 12, 22):
                total += (words >> shift & 0x3FF).astype(np.int32)
        # Twelve numbers 0 .. 1023 have the mean 12 * 1023 / 2 and the variance 12 * (1024² - 1) / 12.
        block = result[top : top + height]
        np.subtract(total.astype(np.float32), np.float32(6138.0), out=block)
        block *= np.float32(1.0 / np.sqrt(1024.0**2 - 1.0))
    return result
