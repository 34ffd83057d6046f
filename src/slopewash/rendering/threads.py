"""Run the pieces of a picture on threads: kernels hold no lock of Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

BAND = 16
"""Rows of a band."""

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers(), thread_name_prefix="slopewash-picture")


def each(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> list[Result]:
    """Results of the pieces, in their order.

    >>> each(lambda n: n * n, range(3))
    [0, 1, 4]
    """
    return list(_pool(os.getpid()).map(work, pieces))  # a forked process has no threads of its parent's pool


def in_bands(count: int, work: Callable[[int, int], object]) -> None:
    """Do the work for bands of a few rows, given their first and the row after their last, on all threads.

    Arithmetic on whole layers is bound by memory: what a band needs stays in the cache.
    """
    each(lambda band: work(*band), spans(count, max(1, count // BAND)))


def spans(count: int, parts: int) -> list[tuple[int, int]]:
    """Split a range into about equal spans.

    >>> spans(10, 3)
    [(0, 4), (4, 8), (8, 10)]
    """
    size = max(1, -(-count // max(parts, 1)))
    return [(start, min(start + size, count)) for start in range(0, count, size)]
