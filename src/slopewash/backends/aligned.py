"""Memory for rows that kernels walk along."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Bytes in a line of the cache."""


def row_stride(width: int, itemsize: int) -> int:
    """Values from one row to the next: an odd number of cache lines, or rows would compete for the same few of them."""
    lines = -(-width * itemsize // LINE)
    return (lines | 1) * LINE // itemsize


def aligned_rows(
    *rows: int, width: int, dtype: Any = np.float32, memory: Callable[[int], NDArray[np.uint8]] | None = None
) -> NDArray[Any]:
    """Rows of `row_stride` values, of which `width` count; the first cell after the ghost begins a cache line.

    Vectors of cells would otherwise straddle two lines every other time. All are 0, unless there is someone to ask for
    so many bytes of `memory`: then they are what was there.
    """
    kind = np.dtype(dtype)
    stride = row_stride(width, kind.itemsize)
    count = math.prod(rows) * stride
    length = count + LINE // kind.itemsize
    room = np.zeros(length, kind) if memory is None else memory(length * kind.itemsize).view(kind)
    begin = -(room.ctypes.data // kind.itemsize + 1) % (LINE // kind.itemsize)
    return room[begin : begin + count].reshape(*rows, stride)
