"""Ctrl-C and SIGTERM only between whole sub-steps and whole files, and soon."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_local = threading.local()
"""Of this thread: `held`, the signals that wait, and `stop`, which whoever advances a run may ask."""


class Stopped(Exception):
    """Raised at a safe point because somebody waits; `done` iterations were completed before it."""

    done = 0


@contextmanager
def whole_steps() -> Iterator[None]:
    """Hold signals back until the block is over: inside a step they would leave half of one, and a wrong budget.

    Checkpoints and results are written in such a block too: NumPy turns an interrupt of its writing into other errors.

    Signals are held only where somebody handles them: otherwise they end the process at once, or are ignored, as they
    should.
    """
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    usual = {number: handler for number, handler in handlers.items() if callable(handler)}
    before, _local.held = getattr(_local, "held", None), held
    for number in usual:
        signal.signal(number, lambda received, frame: held.append((received, frame)))
    try:
        yield
    finally:
        _local.held = before
        for number, handler in usual.items():
            signal.signal(number, handler)
        for received, frame in held[:1]:  # also where the block failed: a signal is never lost
            usual[signal.Signals(received)](received, frame)


@contextmanager
def stopping(stop: Callable[[], bool] | None) -> Iterator[None]:
    """Let `stop` be asked at safe points and between iterations of the block."""
    before, _local.stop = getattr(_local, "stop", None), stop
    try:
        yield
    finally:
        _local.stop = before


def should_stop() -> bool:
    """Whether a signal waits, or whoever advances the run wants it to stop."""
    stop = getattr(_local, "stop", None)
    return bool(getattr(_local, "held", None)) or (stop is not None and bool(stop()))


def safe_point() -> None:
    """Leave an iteration that takes long, for kernels that have not written anything of it yet: raises `Stopped`."""
    if should_stop():
        raise Stopped
