"""Names that come from files, kept in their folder: for reading, writing, moving and removing.

A manifest, checkpoint, recipe, project or archive may be anyone's. What it names is looked up by `inside`, which
follows links and refuses what is not in the folder. Between the check and the use somebody who may write to the folder
could still put a link there; so what removes and moves opens the folder first, step by step without following links,
and works from that handle (where the system can; Windows cannot). Reading and writing by the resolved path keep that
small gap: it takes somebody who may change the user's folder while the user works in it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from slopewash.errors import InvalidFile

DEVICES = frozenset({"con", "prn", "aux", "nul", "conin$", "conout$"}) | {
    f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"
}
"""Names that Windows takes for devices in every folder, with any suffix."""
LONGEST_SHOWN = 80
LONGEST_PART = 255
"""Bytes of a name between two slashes, as most file systems have it."""
_private: set[Path] = set()
"""Folders of this process that only the user may enter."""
_limits: ContextVar[tuple[Path, ...]] = ContextVar("limits", default=())
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_HANDLE = shutil.rmtree.avoids_symlink_attacks and {os.rename, os.unlink, os.stat, os.open} <= os.supports_dir_fd


def inside(folder: str | os.PathLike[str], name: str, origin: str | None = None) -> Path:
    """Resolved path of what a file names in a folder; it need not exist.

    Refused are empty and absolute names, `..`, drives, names of devices, NUL, the folder itself, and links out of it,
    whether or not anything is there: no answer depends on what lies outside.

    Parameters
    ----------
    folder
        The folder, named by the user or by us; it may be a link itself.
    name
        A name from a file, with slashes.
    origin
        Where the name is from, for the message.

    Raises
    ------
    InvalidFile
        If the name does not lie in the folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     inside(folder, "maps/rain.png").relative_to(Path(folder).resolve()).as_posix()
    'maps/rain.png'
    >>> inside("my.zarr", "../home")
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidFile: "../home" leads out of the folder my.zarr; name something inside it
    """
    check_name(name, folder, origin)
    root = _resolved(Path(folder), name, folder, origin)
    path = _resolved(root / name, name, folder, origin)
    if path == root or root not in path.parents:
        raise _refused(name, folder, origin, "leads out of", "; remove the link")
    return path


def check_name(name: object, folder: str | os.PathLike[str], origin: str | None = None) -> None:
    """Refuse a name that no folder has inside; `inside` also looks at links.

    >>> check_name("a/b.npy", "my.zarr")
    >>> check_name("nul.txt", "my.zarr")
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidFile: "nul.txt" has the name of a device; name something inside the folder my.zarr
    """
    if not isinstance(name, str):
        raise _refused(name, folder, origin, "is not a plain name in")
    windows, posix = PureWindowsPath(name), PurePosixPath(name)
    if windows.anchor or posix.anchor:
        raise _refused(name, folder, origin, "is absolute, and not in")
    if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in name) or (os.name == "nt" and ":" in name):
        raise _refused(name, folder, origin, "is not a plain name in")
    if not windows.parts:
        raise _refused(name, folder, origin, "names nothing in")
    if any(not part.rstrip(". ") for part in windows.parts):  # Windows takes ".. " for ".."
        raise _refused(name, folder, origin, "leads out of")
    if any(len(part.encode()) > LONGEST_PART for part in windows.parts):
        raise _refused(name, folder, origin, "is too long for")
    if any(part.partition(".")[0].rstrip(" ").lower() in DEVICES for part in windows.parts):
        raise InvalidFile(f"{_shown(name, origin)} has the name of a device; name something inside the folder {folder}")


def file_in(folder: Path, name: str, origin: str | None = None) -> Path:
    """Path of a file in a folder that is named after something from a file, such as a layer: one part, and no more.

    >>> file_in(Path("masks"), "wear.png").as_posix()
    'masks/wear.png'
    >>> file_in(Path("masks"), "../home.png", "layer")
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidFile: layer: "../home.png" leads out of the folder masks; name something inside it
    """
    check_name(name, folder, origin)
    if len(PureWindowsPath(name).parts) != 1:
        raise _refused(name, folder, origin, "names no file in", "; give it a name without slashes")
    return folder / name


@contextmanager
def confined_to(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Until the block ends, let nothing be written or removed outside a folder, even by a link; None is no limit.

    For what writes several files under names of its own into a folder that may hold anyone's links.
    """
    limit = None if folder is None else Path(folder).resolve()
    before = _limits.set((*_limits.get(), limit)) if limit is not None else None
    try:
        yield
    finally:
        if before is not None:
            _limits.reset(before)


def check_confined(path: Path) -> None:
    """Refuse to write to a path outside the folders that `confined_to` names."""
    for limit in _limits.get():
        real = path.resolve()
        if real != limit and limit not in real.parents:
            raise InvalidFile(f"{path} leads out of the folder {limit} by a link; remove the link")


def remove_tree(folder: str | os.PathLike[str], name: str, *, missing_ok: bool = True) -> None:
    """Remove a file, or a folder with all that is in it; of a link the link itself, never what it leads to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_folder(Path(folder) / "run")
    ...     remove_tree(folder, "run")
    ...     list(Path(folder).iterdir())
    []
    """
    try:
        with _parent(folder, name) as (parent, handle, last):
            target = last if handle is not None else parent / last
            if stat.S_ISDIR(os.stat(target, dir_fd=handle, follow_symlinks=False).st_mode):
                shutil.rmtree(target, dir_fd=handle)
            else:
                os.unlink(target, dir_fd=handle)
    except FileNotFoundError:
        if not missing_ok:
            raise


def remove_folder(path: Path) -> None:
    """Remove a folder of ours with all that is in it, as far as that is possible; of a link the link itself."""
    with suppress(OSError):
        remove_tree(path.parent, path.name)


def remove_if_empty(path: Path) -> None:
    """Remove a folder, unless something is in it."""
    check_confined(path)
    with suppress(OSError):
        path.rmdir()


def remove_file(path: Path) -> None:
    """Remove a file, or a link; nothing happens where there is none."""
    check_confined(path)
    path.unlink(missing_ok=True)


def move(folder: str | os.PathLike[str], name: str, to: str) -> None:
    """Give what a folder holds another name in it; a file that has this name already is replaced."""
    with _parent(folder, name) as (before, from_handle, last), _parent(folder, to) as (after, to_handle, new):
        if from_handle is None or to_handle is None:
            (before / last).replace(after / new)
        else:
            os.replace(last, new, src_dir_fd=from_handle, dst_dir_fd=to_handle)


def rename(path: Path, to: Path) -> None:
    """Give a file or a folder of ours another place; a file that is there already is replaced."""
    check_confined(path)
    check_confined(to)
    path.replace(to)


def name_new(path: Path, to: Path) -> None:
    """Give a file another name in its folder, unless there is one of that name: then both stay as they are."""
    check_confined(to)
    try:
        os.link(path, to)
        path.unlink()
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        path.rename(to)


def make_folder(path: Path, *, private: bool = False, new: bool = False, mode: int = 0o777) -> None:
    """Make a folder, and those above it, if they are not there; a private one only its owner may enter.

    What this process makes in a private folder later is private too. Folders above it that are not there yet only the
    user may change, whatever the umask. A private folder that is there already is closed to others. On Windows, folders
    of a profile are the user's anyway. With `new`, `FileExistsError` if something is
    there.
    """
    check_confined(path)
    if not path.parent.exists():
        make_folder(path.parent, mode=0o755 if private else mode)
    private = private or is_private(path.parent)
    path.mkdir(mode=0o700 if private else mode, exist_ok=not new)
    if not private:
        return
    if os.name != "nt" and path.stat().st_mode & 0o077:
        path.chmod(0o700)
    if not is_private(path):
        _private.add(path.absolute())


def new_file(path: Path, *, private: bool = False) -> IO[bytes]:
    """Open a new file to write; only its owner may read a private one. `FileExistsError` if something is there."""
    return os.fdopen(new_handle(path, private=private), "wb")


def new_handle(path: Path, *, private: bool = False) -> int:
    """Open a new file to write, in a private folder a private one, and return its handle (see `make_folder`)."""
    check_confined(path)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags, 0o600 if private or is_private(path.parent) else 0o666)


def write_new(path: Path, data: bytes | str, *, private: bool = False) -> None:
    """Write a new file."""
    with new_file(path, private=private) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def to_change(path: Path) -> IO[bytes]:
    """Open a file of ours to change some of its bytes."""
    check_confined(path)
    return path.open("r+b")


def copy_file(path: Path, to: Path) -> None:
    """Copy a file to a new one."""
    with path.open("rb") as source, new_file(to) as target:
        shutil.copyfileobj(source, target, 1 << 20)


def is_private(folder: Path) -> bool:
    """Whether a folder is one that this process has made private, or in one."""
    return bool(_private) and any(place in _private for place in (folder.absolute(), *folder.absolute().parents))


def read_beside(path: Path, most: int) -> bytes | None:
    """A file of somebody's beside one that the user names; None if there is none, or it is not a regular file.

    `ValueError` if it has more bytes than it may have. A link in its place is followed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_new(Path(folder, "dem.prj"), "EPSG:32611")
    ...     read_beside(Path(folder, "dem.prj"), 100), read_beside(Path(folder, "dem.prj.json"), 100)
    (b'EPSG:32611', None)
    """
    try:
        with open_regular(path.resolve()) as file:
            if os.fstat(file.fileno()).st_size <= most:
                return file.read(most)
    except (OSError, RuntimeError, ValueError):
        return None
    raise ValueError(f"{path.name} has more than {most} bytes")


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file to read: no link, no pipe and no device, which may have no end."""
    if path.is_symlink():  # for systems that cannot refuse one when it is opened
        raise ValueError(f"{path.name} is a link")
    handle = os.open(path, _READ)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError(f"{path.name} is not a file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


@contextmanager
def _parent(folder: str | os.PathLike[str], name: str) -> Iterator[tuple[Path, int | None, str]]:
    """The folder that holds a name, a handle of it where the system has such, and the last part of the name."""
    check_name(name, folder)
    parts = Path(name).parts
    root = Path(folder).resolve()
    check_confined(root)
    parent = inside(root, str(Path(*parts[:-1]))) if len(parts) > 1 else root
    if not _BY_HANDLE:
        yield parent, None, parts[-1]
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(root, flags)
    try:
        for part in parent.relative_to(root).parts:
            above, handle = handle, os.open(part, flags, dir_fd=handle)
            os.close(above)
        yield parent, handle, parts[-1]
    finally:
        os.close(handle)


def _resolved(path: Path, name: object, folder: str | os.PathLike[str], origin: str | None) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a link that leads to itself
        raise _refused(name, folder, origin, "cannot be looked up in") from None


def _refused(
    name: object, folder: str | os.PathLike[str], origin: str | None, why: str, remedy: str = ""
) -> InvalidFile:
    return InvalidFile(
        f"{_shown(name, origin)} {why} the folder {os.fspath(folder)}{remedy or '; name something inside it'}"
    )


def _shown(name: object, origin: str | None) -> str:
    text = name if isinstance(name, str) else repr(name)
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
    quoted = '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text) + '"'
    return quoted if origin is None else f"{origin}: {quoted}"
