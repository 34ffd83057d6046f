"""Ctrl-C and SIGTERM only between whole steps and whole files."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def whole_steps() -> Iterator[None]:
    """Hold signals back until the block is over: inside a step they would leave half of one, and a wrong budget.

    Checkpoints and results are written in such a block too: NumPy turns an interrupt of its writing into other errors.

    SIGTERM is held only where somebody handles it: otherwise it ends the process at once, as it should.
    """
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    usual = {number: handler for number, handler in usual.items() if number == signal.SIGINT or callable(handler)}
    for number in usual:
        signal.signal(number, lambda received, frame: held.append((received, frame)))
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for received, frame in held[:1]:  # also where the block failed: a signal is never lost
            handler = usual[signal.Signals(received)]
            if callable(handler):
                handler(received, frame)
