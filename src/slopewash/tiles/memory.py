"""Memory that the tasks of a process use one after another.

Every tile needs as much as the one before. Pages that are new to a process cost as much as copying to them several
times over, so what a task has used is kept for the next, in the large pages that the system may give.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

_free: list[mmap.mmap] = []
_lock = threading.Lock()


@contextmanager
def lent(reserve: float = 1.0) -> Iterator[Callable[[int], NDArray[np.uint8]]]:
    """Lend memory until a task is over: so many bytes, which may hold anything.

    What is new is so many times larger, for tasks to come that need more: pages that nobody touches cost nothing.
    """
    taken: list[mmap.mmap] = []

    def take(length: int) -> NDArray[np.uint8]:
        taken.append(_take(length, max(length, int(reserve * length))))
        return np.frombuffer(taken[-1], np.uint8, length)

    try:
        yield take
    finally:
        with _lock:
            _free.extend(taken)


def _take(length: int, reserved: int) -> mmap.mmap:
    """The smallest that is free and large enough, or new memory in the place of one that is too small."""
    with _lock:
        enough = sorted((held for held in _free if len(held) >= length), key=len)
        if enough or _free:
            chosen = enough[0] if enough else _free[0]
            _free[:] = [held for held in _free if held is not chosen]
            if enough:
                return chosen
            del chosen
    if os.name != "posix":
        return mmap.mmap(-1, reserved)
    # Private: memory that processes share has no large pages, by the defaults of Linux.
    made = mmap.mmap(-1, reserved, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system built without them
            made.madvise(mmap.MADV_HUGEPAGE)
    return made


def release() -> None:
    """Give everything back that no task has at the moment."""
    with _lock:
        _free.clear()
