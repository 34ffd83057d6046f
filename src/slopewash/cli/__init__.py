"""The `slopewash` command: one file per sub-command, imported when it runs."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 2 invalid input, 130 interrupted, 143 terminated.

    Unexpected errors are raised: a traceback and exit code 1. A run that does not conserve mass has that code too, and
    one sentence.

    >>> main(["info", "no-such-file.exr"])
    2
    """
    with _exit_on_interrupt():
        from slopewash.cli.app import run_command
        from slopewash.cli.console import note
        from slopewash.cli.streams import make_streams_usable
    make_streams_usable()
    try:
        return run_command(arguments)
    except KeyboardInterrupt as interrupt:
        note(f"interrupted; {interrupt}" if str(interrupt) else "interrupted")
        return int(getattr(interrupt, "code", INTERRUPTED))


@contextmanager
def _exit_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process without a traceback while modules are loaded: there are no results to lose yet."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield  # ignored, or handled by the caller
        return

    def end(*_: object) -> None:
        os.write(2, b"interrupted\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


__all__ = ["main"]
