"""Progress over tiles, rounds and levels, with the time left."""

from __future__ import annotations

import time
from typing import Any

LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw a bar on."""


class Watching:
    """Shows nothing; what shows something derives from it."""

    def begin(self, label: str, tasks: int) -> None:
        """Tasks begin."""

    def advance(self) -> None:
        """A task is done."""

    def moved(self, expected: float, left: float) -> None:
        """A round is done that was expected to take so many seconds; what is left is expected to take so many."""

    def say(self, text: str) -> None:
        """Something worth knowing beforehand."""

    def close(self) -> None:
        """The run ends."""


class TileProgress(Watching):
    """A bar on stderr, or a line every ten seconds where that is no terminal."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True)
        self._bar: Any = None
        self._label, self._tasks, self._done, self._left = "", 0, 0, ""
        self._printed = time.monotonic()
        self._since: float | None = None
        self._rate = 0.0

    def begin(self, label: str, tasks: int) -> None:
        """Name what is being done."""
        self._label, self._tasks, self._done = label, tasks, 0
        self._since = time.monotonic()
        if self._console.is_terminal:
            if self._bar is None:
                from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

                self._bar = Progress(
                    TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("tiles"),
                    TextColumn("{task.fields[left]}"), console=self._console,
                )  # fmt: skip
                self._bar.add_task(label, total=tasks, left="")
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], description=label, total=tasks, completed=0, left=self._left)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.out(text, highlight=False)

    def advance(self) -> None:
        """Count a tile."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)
        elif time.monotonic() - self._printed >= LINE_EVERY:
            self._printed = time.monotonic()
            left = f", {self._left}" if self._left else ""
            self._console.out(f"{self._label}: {self._done} of {self._tasks} tiles{left}", highlight=False)

    def moved(self, expected: float, left: float) -> None:
        """Estimate the time left from how the last rounds compare with what was expected."""
        if self._since is not None:
            rate = expected / max(time.monotonic() - self._since, 1e-9)
            self._rate = rate if not self._rate else 0.5 * (self._rate + rate)
            self._left = f"{words(left / self._rate)} left"

    def close(self) -> None:
        """Restore the terminal."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def words(seconds: float) -> str:
    """A duration in words.

    >>> words(0.2), words(42.0), words(600.0), words(9000.0)
    ('1 s at most', '42 s', '10 min', '2.5 h')
    """
    if seconds < 1:
        return "1 s at most"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
