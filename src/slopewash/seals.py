"""Seals that only this user can make: what carries one was written by the user, on this machine or with this home.

A checksum shows that a file is whole; anyone can make one. A seal is an HMAC with a secret in a file that only the
user can read, so it shows whose a file is. Each purpose has its own key: what is sealed for one is not for another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from slopewash.errors import SealWarning
from slopewash.paths import make_folder, name_new, remove_file, write_new

FILE = "studio-secret"
"""Named after the studio, whose secret was the first: what was sealed with it stays the user's own."""
LENGTH = 32
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_unkept: dict[Path, bytes] = {}
"""Secrets of this process, for state folders that cannot hold one."""
_warned: set[Path | None] = set()


def state_folder() -> Path:
    r"""The user's folder for what programs keep between runs; it need not exist.

    `$XDG_STATE_HOME/slopewash` or `~/.local/state/slopewash`; `%LOCALAPPDATA%\slopewash` on Windows.
    """
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        named = Path(os.environ.get("XDG_STATE_HOME", ""))  # which counts only if it is absolute, as its standard says
        base = named if named.is_absolute() else Path.home() / ".local" / "state"
    return base / "slopewash"


def seal(data: bytes | Iterable[bytes], purpose: str) -> str:
    """Seal of data, given whole or in pieces, for one purpose.

    >>> mark = seal(b"step 20", "checkpoint")
    >>> is_sealed(b"step 20", "checkpoint", mark), is_sealed(b"step 20", "store", mark)
    (True, False)
    """
    return seal_with(secret(), data, purpose)


def is_sealed(data: bytes | Iterable[bytes], purpose: str, found: object) -> bool:
    """Whether this is the user's own seal of data; anything that is no seal is none.

    >>> is_sealed(b"step 20", "checkpoint", None)
    False
    """
    return is_sealed_with(secret(), data, purpose, found)


def seal_with(key: bytes, data: bytes | Iterable[bytes], purpose: str) -> str:
    """Seal with a given secret."""
    signature = hmac.new(hmac.digest(key, f"slopewash {purpose}".encode(), "sha256"), digestmod=hashlib.sha256)
    for piece in (data,) if isinstance(data, bytes) else data:
        signature.update(piece)
    return signature.hexdigest()


def is_sealed_with(key: bytes, data: bytes | Iterable[bytes], purpose: str, found: object) -> bool:
    """Whether this is the seal of data with a given secret."""
    if not isinstance(found, str) or not found.isascii():
        return False
    return hmac.compare_digest(found.encode(), seal_with(key, data, purpose).encode())


def secret() -> bytes:
    """The user's secret; one of this process alone where none can be kept (see `is_kept`)."""
    file = _file()
    kept = None if file is None else _kept(file)
    return _unkept.setdefault(file or Path(), secrets.token_bytes(LENGTH)) if kept is None else kept


def is_kept() -> bool:
    """Whether seals made now are known in another process; else each process is a stranger to the others."""
    file = _file()
    return file is not None and _kept(file) is not None


def warn_if_unkept() -> None:
    """Warn, once per process and folder, that what is sealed now will not be recognised later."""
    if is_kept():
        return
    file = _file()
    first = file not in _warned
    _warned.add(file)
    if first:
        where = "the home folder" if file is None else str(file)
        warnings.warn(
            f"no secret can be kept in {where}, so later runs treat files of this one as another user's; set "
            "XDG_STATE_HOME to a folder of your own that can be written",
            SealWarning, stacklevel=3,
        )  # fmt: skip


def _file() -> Path | None:
    try:
        return state_folder() / FILE
    except RuntimeError:  # a user without a home
        return None


def _kept(file: Path) -> bytes | None:
    """The secret in a file, which is made if it is missing; None unless it is the user's alone."""
    try:
        if not file.exists():
            _make(file)
        handle = os.open(file, _READ)
        try:
            found, data = os.fstat(handle), os.read(handle, LENGTH + 1)
        finally:
            os.close(handle)
    except OSError:
        return None
    whole = len(data) == LENGTH and stat.S_ISREG(found.st_mode)
    if sys.platform == "win32":  # whose profile is the user's alone
        return data if whole else None
    return data if whole and found.st_uid == os.getuid() and found.st_mode & 0o077 == 0 else None


def _make(file: Path) -> None:
    """Make the secret: of several processes that do so at once, one wins."""
    make_folder(file.parent, private=True)
    part = file.with_name(f".{secrets.token_hex(8)}")
    try:
        write_new(part, secrets.token_bytes(LENGTH), private=True)
        name_new(part, file)
    finally:
        remove_file(part)
