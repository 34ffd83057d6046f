"""Bands of rows, distributed over threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

from slopewash.backends.compiled import CHECKED

_HOME_PROCESS = os.getpid()
NUMBA_THREADS = threading.Lock()
"""For whoever runs parallel kernels: Numba's threads serve one caller at a time."""


def at_home() -> bool:
    """Whether this process has Numba's threads, which do not survive a fork."""
    return os.getpid() == _HOME_PROCESS


def sweep_in_bands(
    kernels: Any,
    rows: int,
    depth: int,
    source: Any,
    target: Any,
    room: Sequence[Any],
    *rest: Any,
    only: tuple[int, int] | None = None,
) -> None:
    """Advance a grid by `depth` iterations, one band of rows per thread.

    `kernels.sweep` runs all bands in parallel, `kernels.sweep_band` runs one; `room` is the scratch memory per band.
    Numba's threads serve one caller at a time and do not survive a fork: in a forked process the bands are
    processed one after another, with a bit-identical result; so they are where indices are checked, because Numba drops
    what its threads raise. A single band may do `only` some of the rows.
    """
    bands = len(room[0])
    if bands > 1 and at_home() and not CHECKED:
        with NUMBA_THREADS:
            kernels.sweep(depth, source, target, *room, *rest)
        return
    for i in range(bands):
        y0, y1 = only or (i * rows // bands, (i + 1) * rows // bands)
        kernels.sweep_band(y0, y1, depth, source, target, *(a[i] for a in room), *rest)
