"""Work that takes long and is no run of steps: it reports how far it is, and Ctrl-C ends it soon."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

LARGE = 1 << 22
"""Cells from which on work in C, which signals wait for, is done on a thread of its own."""
LOOK_EVERY = 0.1
"""Seconds between two looks at such work."""


class Listener(Protocol):
    """Shows what takes long."""

    def __call__(self, doing: str, share: float | None, seconds: float) -> None:
        """Show what is done since so many seconds, and which share of it is over where that is known."""


_listener: contextvars.ContextVar[Listener | None] = contextvars.ContextVar("listener", default=None)


@contextmanager
def shown_by(listener: Listener) -> Iterator[None]:
    """Let a listener show what takes long within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def _show(doing: str, share: float | None, begin: float) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(doing, share, time.monotonic() - begin)


def in_parts(parts: Sequence[Part], doing: str) -> Iterator[Part]:
    """Yield the parts of some work; between them signals arrive, and its progress is shown.

    >>> list(in_parts([1, 2], "counting"))
    [1, 2]
    """
    begin = time.monotonic()
    for done, part in enumerate(parts, 1):
        yield part
        _show(doing, done / len(parts), begin)


def patiently(work: Callable[[], Result], cells: int, doing: str) -> Result:
    """Return the result of work that may stay in C for long; an interrupt leaves it at once, and it is abandoned.

    Nothing may depend on it then: use it for what only reads, and whose result would be thrown away.

    >>> patiently(lambda: 3, 1 << 24, "counting")
    3
    """
    if cells < LARGE or threading.current_thread() is not threading.main_thread():
        return work()
    results: list[Result] = []
    errors: list[BaseException] = []
    over = threading.Event()

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised where the work was asked for
            errors.append(error)
        finally:
            over.set()

    # A daemon: the process may end without it.
    threading.Thread(target=contextvars.copy_context().run, args=(do,), daemon=True, name=f"slopewash {doing}").start()
    begin = time.monotonic()
    while not over.wait(LOOK_EVERY):
        _show(doing, None, begin)
    if errors:
        raise errors[0]
    return results[0]
