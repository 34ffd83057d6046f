"""Fresh memory near the threads that work on it.

A machine with several processors, or several parts of one, has memory near each. A page comes to lie near the thread
that first writes to it: fields that one thread fills would all lie near that one, and the others would wait for them.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import NUMBA_THREADS, at_home
from slopewash.backends.compiled import parallel_kernel

LARGE = 16 << 20
"""Bytes of a field worth the trouble: pages may have 2 MB, and those at the border of two bands lie near either."""
PAGE = 4096
"""Bytes of the smallest page."""
NODES = Path("/sys/devices/system/node")


@functools.cache
def memories() -> int:
    """How many memories the machine has, as far as it says."""
    return max(1, len(list(NODES.glob("node[0-9]*"))))


@parallel_kernel
def touch(rows: Any, starts: Any, height: Any, step: Any, by: Any) -> None:
    """Write a zero to every page of each band's rows, from the thread that will work on it; `by` gets its number."""
    for i in numba.prange(by.size):
        by[i] = numba.get_thread_id()  # type: ignore[attr-defined]
        for start in starts:
            for y in range(i * height // by.size, (i + 1) * height // by.size):
                for x in range(0, rows.shape[1], step):
                    rows[start + y, x] = 0


def touch_in_bands(rows: NDArray[Any], starts: list[int], height: int, bands: int) -> NDArray[np.int64]:
    """Let the threads of all bands write to fields of fresh memory first: `height` rows each, from `starts` on.

    Returns which thread it was for each band.
    """
    by = np.zeros(bands, np.int64)
    with NUMBA_THREADS:
        touch(rows, np.array(starts), height, PAGE // rows.itemsize, by)
    return by


def matters(rows: NDArray[Any], height: int, bands: int) -> bool:
    """Whether it makes a difference where fields of so many rows lie."""
    return bands > 1 and memories() > 1 and height * rows.strides[0] >= LARGE and at_home()
