"""Tasks of a run for all its tiles, and what they have written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from slopewash.tiles.digests import Digests, Recorded, file_of, saved
from slopewash.tiles.executors import Executor
from slopewash.tiles.store import Store
from slopewash.tiles.watching import Watching


class Tasks:
    """Runs tasks by the table of digests of a store, and keeps the table.

    Before tasks begin the table is in the store, for workers to read by.
    """

    def __init__(
        self, store: Store, digests: Digests, *, committed: str = "", where: Callable[[], str] = lambda: ""
    ) -> None:
        self.store, self.digests, self.where = store, digests, where
        self.executor: Executor | None = None
        self.watching = Watching()
        self._committed = self._known = committed

    def __call__(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]], label: str) -> list[Any]:
        """Run a task for each tile; results are in the order of the tiles, whoever was first."""
        assert self.executor is not None
        results: list[Any] = [None] * len(calls)
        recorded = Recorded(self.store, self._save(flush=False), task)
        self.watching.begin(f"{self.where()}{label}", len(calls))
        for number, (result, changes) in self.executor.run(recorded, calls):
            self.digests.apply(changes)
            results[number] = result
            self.watching.advance()
        return results

    def save(self) -> str:
        """Bring the table to the disk for a manifest that is to be written; returns its SHA-256."""
        return self._save(flush=True)

    def committed(self, sha: str) -> None:
        """A manifest with this table counts from now on: the one before is not needed any more."""
        before, self._committed = self._committed, sha
        if before not in ("", sha, self._known):
            self.store.remove_file(file_of("state/", before))

    def _save(self, *, flush: bool) -> str:
        sha = saved(self.digests, self.store, "state/", flush=flush)
        before, self._known = self._known, sha
        if before not in ("", sha, self._committed):
            self.store.remove_file(file_of("state/", before))
        return sha
