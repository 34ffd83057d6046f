"""Keeps the run of a studio on disk, so that a server which is started again goes on where it was."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import IO

import slopewash as sw

AT_REST = 2.0
"""Seconds after the last change at which a paused run is saved."""
WHILE_RUNNING = 60.0
"""Seconds between two checkpoints of a run that plays."""


def default_folder() -> Path:
    """Where a studio keeps its run unless told otherwise."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    return base / "slopewash" / "studio"


class Keeper:
    """When to save, and where; only one server at a time keeps its run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = _locked(folder)
        self._version = 1  # a run that has just begun needs no checkpoint
        self._changed = self._saved = time.monotonic()
        self._seen = 1

    @property
    def holds_folder(self) -> bool:
        """Whether no other server keeps its run there."""
        return self._lock is not None

    @property
    def has_run(self) -> bool:
        """Whether there is a run to go on with."""
        return sw.newest_manifest(self.folder) is not None

    def is_behind(self, version: int) -> bool:
        """Whether something changed since the last checkpoint."""
        return version != self._version

    def due_in(self, version: int, *, running: bool) -> float:
        """Seconds until the next checkpoint."""
        now = time.monotonic()
        if version != self._seen:
            self._seen, self._changed = version, now
        if not self.is_behind(version):
            return WHILE_RUNNING
        return (self._saved + WHILE_RUNNING if running else self._changed + AT_REST) - now

    def is_due(self, version: int, *, running: bool) -> bool:
        """Whether it is time to save."""
        return self.is_behind(version) and self.due_in(version, running=running) <= 0

    def saved(self, version: int) -> None:
        """Remember that this version is on disk."""
        self._version, self._saved = version, time.monotonic()

    def close(self) -> None:
        """Let other servers have the folder."""
        if self._lock is not None:
            self._lock.close()


def _locked(folder: Path) -> IO[bytes] | None:
    """Lock a folder for this process until the file is closed; None if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows: the second server's run replaces the first's
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / "lock").open("wb")
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
