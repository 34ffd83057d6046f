"""One process at a time writes to a folder of checkpoints."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

from slopewash.errors import CheckpointError
from slopewash.paths import make_folder

_held: dict[tuple[int, int], tuple[int, int]] = {}
"""Folders that this process has locked, by device and inode: the open handle, and how many hold it."""
_turn = threading.Lock()


class FolderLock:
    """Locks a folder, created if missing, for this process until `close`; the lock ends with the process too.

    Raises `CheckpointError` if another process has locked it, or it cannot be made. Within a process a folder may be
    locked many times, unless one asks to be `alone`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder)) as lock:
    ...     lock.is_open
    True
    """

    def __init__(self, folder: Path, *, alone: bool = False) -> None:
        try:
            make_folder(folder)
            status = folder.stat()
        except OSError as error:
            raise CheckpointError(f"cannot write a checkpoint to {folder}: {error.strerror or error}") from error
        self._key = (status.st_dev, status.st_ino)
        self.is_open = False
        with _turn:
            handle, holders = _held.get(self._key, (-1, 0))
            if holders and alone:
                raise in_use(folder)
            _held[self._key] = (handle if holders else _lock(folder), holders + 1)
        self.is_open = True

    def close(self) -> None:
        """Release it; a second call changes nothing."""
        with _turn:
            if not self.is_open:
                return
            self.is_open = False
            handle, holders = _held.pop(self._key)
            if holders > 1:
                _held[self._key] = (handle, holders - 1)
            elif handle >= 0:
                os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_use(folder: Path | str) -> CheckpointError:
    """Build the error for a folder that is locked already."""
    return CheckpointError(f"{folder} is in use by another run; wait until that ends, or choose another folder")


def _lock(folder: Path) -> int:
    """Lock the folder itself, which leaves no file behind; -1 where the system cannot lock folders."""
    try:
        import fcntl
    except ImportError:  # Windows
        return -1
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise in_use(folder) from None
    except OSError:  # some network file systems lock no folders
        os.close(handle)
        return -1
    return handle
