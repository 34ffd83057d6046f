"""Earlier runs of a session: those that can be restored, as long as there is room for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from slopewash.studio.keyframes import keep_together
from slopewash.studio.run import Run

MOST_LEFT = 6
"""Earlier runs that can be restored."""
MOST_LEFT_CELLS = 2 * 1024**2
"""Limit on their cells, about 300 MB besides their undo histories. One is always kept."""


class EarlierRuns:
    """The runs before the one that is shown, the oldest first."""

    def __init__(self) -> None:
        self._runs: deque[Run] = deque()

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @property
    def last(self) -> Run | None:
        """The one that is restored next."""
        return self._runs[-1] if self._runs else None

    def take_last(self) -> Run:
        """Take out the one that is restored next."""
        return self._runs.pop()

    def put(self, run: Run) -> None:
        """Keep a run, whatever is in it."""
        self._runs.append(run)

    def add(self, run: Run, *, oldest: bool = False) -> None:
        """Keep a run if there is anything in it, and forget others, the oldest first, until they fit."""
        if oldest:
            self._runs.appendleft(run)
        else:
            self._runs.append(run)
        if not run.is_worth_keeping:
            self._forget(run)
        while len(self._runs) > 1 and self._keeps_too_much():
            self._forget(next(other for other in self._runs if other is not run))

    def trim_keyframes(self, shown: Run) -> None:
        """Limit the keyframes of all runs together; those of the run that is shown go last."""
        keep_together([run.timeline for run in self._runs], shown.timeline)

    def _forget(self, run: Run) -> None:
        self._runs.remove(run)
        run.close()

    def _keeps_too_much(self) -> bool:
        return len(self._runs) > MOST_LEFT or sum(run.cells for run in self._runs) > MOST_LEFT_CELLS
