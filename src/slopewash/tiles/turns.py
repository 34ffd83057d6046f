"""Turns of the tasks in a process: one computes, and while it does another may read or write.

Kernels use every thread that a worker has and serve one caller at a time; who reads or writes only waits for the disk.
So a worker is given two tasks, of which the one that leaves the processor to the other is at its files.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

TASKS = 2
"""Tasks of a worker at the same time."""
_turn = threading.Lock()
_aside, _counting = 0.0, threading.Lock()


@dataclass
class Spent:
    """CPU time of one stay aside."""

    seconds: float = 0.0


def in_turn(task: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task that has the process for itself, but where it steps aside."""
    with _turn:
        return task(*arguments)


@contextmanager
def aside() -> Iterator[Spent]:
    """Let another task compute meanwhile; for reading and writing, on this thread alone."""
    global _aside
    spent = Spent()
    _turn.release()
    begin = time.thread_time()
    try:
        yield spent
    finally:
        spent.seconds = time.thread_time() - begin
        with _counting:  # before it waits: whoever computes now must not be charged with it
            _aside += spent.seconds
        _turn.acquire()


def computing_seconds() -> float:
    """CPU time of this process so far, all its threads together, without what was spent aside."""
    return time.process_time() - _aside
