"""Folders for large results: locked while the server lives, and removed by the next one if it was killed."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from slopewash.paths import make_folder, remove_folder

PREFIX = "slopewash-finish-"
YOUNG_SECONDS = 60.0
"""A folder that changed this recently may be one that its server has not locked yet."""


class Scratch:
    """A temporary folder of this process."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX)
        self.path = Path(self._folder.name)
        make_folder(self.path, private=True)
        self._lock = _lock(self.path)

    def remove(self) -> None:
        """Remove it with all files."""
        self._folder.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_abandoned() -> None:
    """Remove folders of this user whose servers are gone; none where the system cannot lock folders."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            found = folder.lstat()
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < YOUNG_SECONDS:
                continue
            lock = _lock(folder)
        except (AttributeError, OSError):  # Windows, or it was removed meanwhile
            continue
        if lock is not None:
            remove_folder(folder)
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder until the handle is closed, or the process ends; None if another one has, or none can."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
