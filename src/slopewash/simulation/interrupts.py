"""Ctrl-C only between whole steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def whole_steps() -> Iterator[None]:
    """Hold Ctrl-C back until the block is over: inside a step it would leave half of one, and books that are off."""
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if usual is None else usual)
    if held and callable(usual):
        usual(*held[0])
