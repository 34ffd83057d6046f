"""Numba's number of threads, checked before Numba fails on it."""

from __future__ import annotations

import os

from slopewash.errors import InvalidParameter


def check_threads() -> None:
    """Refuse a number of threads in the environment that Numba cannot start.

    >>> check_threads()
    """
    threads = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
    if threads.lstrip("-").isdigit() and int(threads) < 1:
        raise InvalidParameter(f"NUMBA_NUM_THREADS is {threads} in the environment; set it to 1 or more, or unset it")
