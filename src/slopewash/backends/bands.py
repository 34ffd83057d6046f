"""Bands of rows, shared out to threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_HOME_PROCESS = os.getpid()
_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def threads_to_itself() -> Iterator[None]:
    """Keep other callers of Numba's threads out for as long as the block lasts."""
    with _ONE_AT_A_TIME:
        yield


def sweep_in_bands(
    kernels: Any, rows: int, depth: int, source: Any, target: Any, room: Sequence[Any], *rest: Any
) -> None:
    """Take a grid through `depth` iterations, a band of rows per thread.

    `kernels.sweep` shares all bands out, `kernels.sweep_band` takes one; `room` is what each band has for itself.
    Numba's threads serve one caller at a time and do not survive a fork: in a forked process the bands are taken one
    after another, which gives the same bits.
    """
    bands = len(room[0])
    if bands > 1 and os.getpid() == _HOME_PROCESS:
        with _ONE_AT_A_TIME:
            kernels.sweep(depth, source, target, *room, *rest)
        return
    for i in range(bands):
        y0, y1 = i * rows // bands, (i + 1) * rows // bands
        kernels.sweep_band(y0, y1, depth, source, target, *(a[i] for a in room), *rest)
