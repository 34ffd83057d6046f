"""Seals that only this user can make: what carries one was written by the user, on this machine or with this home.

A checksum shows that a file is whole; anyone can make one. A seal is an HMAC with a secret in a file that only the
user can read, so it shows whose a file is. Each purpose has its own key: what is sealed for one is not for another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shlex
import stat
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from slopewash.errors import SealWarning
from slopewash.paths import make_folder, name_new, open_regular, remove_file, write_new

FILE = "studio-secret"
"""Named after the studio, whose secret was the first: what was sealed with it stays the user's own."""
LENGTH = 32
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
    """The user's secret; one of this process alone where none can be kept (see `problem`)."""
    found = _look()
    return _unkept.setdefault(_file() or Path(), secrets.token_bytes(LENGTH)) if isinstance(found, Problem) else found


def adopt(given: bytes) -> None:
    """Where no secret can be kept, go by that of the process that started this one, which has warned of it."""
    _unkept[_file() or Path()] = given
    _warned.add(_file())


@dataclass(frozen=True)
class Problem:
    """Why no secret can be kept, and what to do."""

    why: str
    remedy: str


def problem() -> Problem | None:
    """Why seals made now are not known in another process; None if they are."""
    found = _look()
    return found if isinstance(found, Problem) else None


def warn_if_unkept() -> None:
    """Warn, once per process and folder, that what is sealed now will not be recognised later."""
    found, file = problem(), _file()
    if found is None or file in _warned:
        return
    _warned.add(file)
    warnings.warn(
        f"{found.why}, so later runs treat files of this one as another user's; {found.remedy}",
        SealWarning, stacklevel=3,
    )  # fmt: skip


def _file() -> Path | None:
    try:
        file = state_folder() / FILE
    except RuntimeError:  # a user without a home
        return None
    return file if file.is_absolute() else None


def variable() -> str:
    """Variable of the environment that names the folder in which programs keep their state, the secret among it."""
    return "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"


def _look() -> bytes | Problem:
    """The secret in its file, which is made if it is missing, if it is the user's alone."""
    elsewhere = f"set {variable()} to a folder of your own that can be written"
    file = _file()
    if file is None:
        return Problem("there is no home folder to keep your secret in", elsewhere)
    try:
        if not os.path.lexists(file):
            _make(file)
    except OSError as error:
        why = f"your secret cannot be kept in {file.parent} ({error.strerror or error})"
        return Problem(why, f"make that folder writable, or {elsewhere}")
    try:
        with open_regular(file) as opened:
            found, data = os.fstat(opened.fileno()), opened.read(LENGTH + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Problem(f"your secret {file} cannot be read ({why})", f"remove it, or {elsewhere}")
    return _fault(file, found, data, elsewhere) or data


def _fault(file: Path, found: os.stat_result, data: bytes, elsewhere: str) -> Problem | None:
    """What is wrong with a secret, if anything."""
    if len(data) != LENGTH:
        more = "more than " if len(data) > LENGTH else ""
        why = f"your secret {file} has {more}{min(len(data), LENGTH)} bytes instead of {LENGTH}"
        return Problem(why, "remove it, and another one is made")
    if sys.platform == "win32":  # whose profile is the user's alone
        return None
    if found.st_uid != os.getuid():
        return Problem(f"the secret {file} belongs to another user (number {found.st_uid})", elsewhere)
    if found.st_mode & 0o077:
        why = f"your secret {file} is open to other users (mode {stat.S_IMODE(found.st_mode):o})"
        return Problem(why, f"if none of them has read it, chmod 600 {shlex.quote(str(file))}; else remove it")
    return None


def _make(file: Path) -> None:
    """Make the secret: of several processes that do so at once, one wins."""
    make_folder(file.parent, private=True)
    part = file.with_name(f".{secrets.token_hex(8)}")
    try:
        write_new(part, secrets.token_bytes(LENGTH), private=True)
        name_new(part, file)
    finally:
        remove_file(part)
