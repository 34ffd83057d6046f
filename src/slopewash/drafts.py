"""Files that are written under another name and renamed when they are whole."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slopewash.errors import InvalidFile
from slopewash.paths import check_confined, confined_to, new_handle, remove_file, rename

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FRESH = 10.0
"""Seconds for which a temporary file is left alone: its writer may be about to lock it."""
_ENDING = len(".0123456789ab.tmp")


@contextmanager
def staged(path: Path, *, follow: bool = True) -> Iterator[Path]:
    """Yield a temporary name in the folder of `path`; it is renamed when the block succeeds and removed when it fails.

    The data are flushed to disk before the rename, so that a crash leaves either the old file or the new one. A link in
    the place of a file that the user names keeps its target. That of a file which we name, such as one beside it, is
    not to be followed out of its folder: `follow` is False.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with staged(Path(folder, "note.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['note.txt']
    """
    try:
        target = path.resolve()  # a symbolic link keeps its target
        check_confined(path)
        if not follow:
            with confined_to(path.parent):
                check_confined(path)
        _check_target(path, target)
        name = target.name[:200]
        _remove_stale(target.parent, name)
        temporary = target.with_name(f".{name}.{secrets.token_hex(6)}.tmp")
        descriptor = new_handle(temporary)
        _lock(descriptor)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        raise _unwritable(path, error) from error
    try:
        yield temporary
        _flush(temporary)
        temporary.replace(target)
    except InvalidFile:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        os.close(descriptor)
        temporary.unlink(missing_ok=True)


@contextmanager
def written_beside(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty file of the same suffix beside a file of ours, which takes its place when the block succeeds.

    For one writer at a time, and for writers that go by the suffix.
    """
    temporary = path.with_name(f"new-{path.name}")
    remove_file(temporary)
    try:
        os.close(new_handle(temporary, private=private))
        yield temporary
        rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            remove_file(temporary)
        raise


def write_beside(path: Path, data: bytes | str, *, private: bool = False) -> None:
    """Write a file of ours, all or nothing."""
    with written_beside(path, private=private) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def draft_folder(path: Path) -> Path:
    """Hidden folder beside a file, in which all of it is made before it is written: one for each name.

    >>> draft_folder(Path("maps/dem.tif")).as_posix()
    'maps/.dem.tif.eb33e7a9.zarr'
    """
    mark = hashlib.sha256(f"draft of {path.name}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return path.with_name(f".{path.name[:200]}.{mark}.zarr")


def _remove_stale(folder: Path, name: str) -> None:
    """Remove what writers that were killed have left: nobody holds its lock."""
    if fcntl is None:
        return
    left = [entry.name for entry in os.scandir(folder) if entry.name.endswith(".tmp")]
    for temporary in (folder / file for file in left if file[:-_ENDING] == f".{name}"):
        with suppress(OSError):
            found = temporary.lstat()
            if not stat.S_ISREG(found.st_mode) or time.time() - found.st_mtime < _FRESH:
                continue
            descriptor = os.open(temporary, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe has no answer
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                temporary.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _check_target(path: Path, target: Path) -> None:
    if target.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise InvalidFile(f"cannot write {path}: it is not a regular file")
    if not target.parent.is_dir():
        raise InvalidFile(f"cannot write {path}: there is no folder {path.parent}; create it first")


def _flush(file: Path) -> None:
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError | ValueError | RuntimeError) -> InvalidFile:
    if isinstance(error, InvalidFile):
        return error
    if isinstance(error, RuntimeError):
        return InvalidFile(f"cannot write {path}: it is a symbolic link that leads to itself")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InvalidFile(f"cannot write {path}: {reason}")
