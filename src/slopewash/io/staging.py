"""Write files atomically."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slopewash.errors import InvalidFile


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the folder of `path`; it is renamed when the block succeeds and removed when it fails.

    The data are flushed to disk before the rename, so that a crash leaves either the old file or the new one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with staged(Path(folder, "note.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['note.txt']
    """
    try:
        target = path.resolve()  # a symbolic link keeps its target
        _check_target(path, target)
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError) as error:
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
        temporary.unlink(missing_ok=True)


def _check_target(path: Path, target: Path) -> None:
    if target.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise InvalidFile(f"cannot write {path}: there is no folder {path.parent}; create it first")


def _flush(file: Path) -> None:
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError | ValueError) -> InvalidFile:
    if isinstance(error, InvalidFile):
        return error
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InvalidFile(f"cannot write {path}: {reason}")
