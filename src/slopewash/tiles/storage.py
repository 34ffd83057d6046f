"""Where the bytes of a store are: in a folder, or at a URL that fsspec knows.

Names are relative to the store, with slashes. Only regular files are read, and of each no more than it may have.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError, InvalidFile
from slopewash.flushing import flush_file, flush_folder
from slopewash.io.decoding import Damaged
from slopewash.paths import check_name, inside, make_folder, move, new_file, remove_file, remove_tree, rename
from slopewash.tiles.direct import open_direct, read_at
from slopewash.tiles.shards import Source

NO_FILE = "it is not a regular file"


class Storage(Protocol):
    """Files by their names."""

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""

    def size(self, name: str) -> int | None:
        """Bytes of a file; None if there is none."""

    def sizes(self, folder: str) -> Callable[[str], int | None]:
        """What gives the bytes of each of many files in a folder, as `size` does."""

    def read(self, name: str, most: int) -> bytes | None:
        """A whole file; None if there is none."""

    def opened(self, name: str, *, aligned: bool) -> Any:
        """Context in which a file is read in parts."""

    def write(self, name: str, data: bytes, *, flush: bool) -> None:
        """Write a file, all or nothing."""

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it."""

    def remove_all(self) -> None:
        """Remove everything, which this process has made."""

    def move(self, name: str, to: str) -> None:
        """Give a file or folder another name, of which there is none."""

    def names(self, folder: str) -> Iterator[str]:
        """Names of all files in a folder, and in those below."""


@dataclass(frozen=True)
class InFolder:
    """Files in a folder of this machine."""

    folder: Path
    follow: bool = False
    """Whether files are read that links lead to, out of the folder too; none is written or removed through a link."""

    def path(self, name: str) -> Path:
        """Path of a name; it never leads out of the folder."""
        try:
            return inside(self.folder, name)
        except InvalidFile as error:
            raise CheckpointError(str(error)) from None

    def _to_read(self, name: str) -> Path:
        if not self.follow:
            return self.path(name)
        check_name(name, self.folder)
        try:
            return (self.folder / name).resolve()
        except RuntimeError:  # a link that leads to itself
            raise Damaged(NO_FILE) from None

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""
        return os.path.lexists(self.folder / name)

    def size(self, name: str) -> int | None:
        """Bytes of a file; None if there is none."""
        try:
            found = self._to_read(name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Damaged(NO_FILE)
        return found.st_size

    def sizes(self, folder: str) -> Callable[[str], int | None]:
        """What gives the bytes of each of many files in a folder."""
        return self.size

    def read(self, name: str, most: int) -> bytes | None:
        """A whole file; None if there is none."""
        try:
            with self.opened(name, aligned=False) as source:
                if source.size > most:
                    raise Damaged(f"it has {source.size} bytes, and {most} is the most that it may have")
                return source.part(0, source.size).tobytes() if source.size else b""
        except (FileNotFoundError, NotADirectoryError):
            return None

    @contextmanager
    def opened(self, name: str, *, aligned: bool) -> Iterator[Source]:
        """Context in which a file is read in parts."""
        try:
            handle = open_direct(self._to_read(name), os.O_RDONLY, aligned=aligned)
        except (IsADirectoryError, PermissionError) as error:
            if (self.folder / name).is_dir():  # Windows has no permission for it
                raise Damaged(NO_FILE) from error
            raise
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise Damaged(NO_FILE)
            yield LocalFile(handle, found.st_size)
        finally:
            os.close(handle)

    def write(self, name: str, data: bytes, *, flush: bool) -> None:
        """Write a file, all or nothing."""
        path = self.path(name)
        make_folder(path.parent)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
        try:
            with new_file(temporary) as file:
                file.write(data)
                if flush:
                    flush_file(file)
            rename(temporary, path)
        except BaseException:
            remove_file(temporary)
            raise
        if flush:
            flush_folder(path.parent)

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        self.path(name)
        with suppress(OSError):  # what is left takes room, and is never read
            remove_tree(self.folder, name)

    def remove_all(self) -> None:
        """Remove everything, which this process has made."""
        with suppress(OSError):
            remove_tree(self.folder.parent, self.folder.name)

    def move(self, name: str, to: str) -> None:
        """Give a file or folder another name, of which there is none."""
        self.path(name)
        self.path(to)
        move(self.folder, name, to)

    def names(self, folder: str) -> Iterator[str]:
        """Names of all files in a folder, and in those below; links are not followed."""
        for where, _, files in os.walk(self.folder / folder, followlinks=False):
            for file in files:
                yield (Path(where) / file).relative_to(self.folder).as_posix()


@dataclass
class LocalFile:
    """An open file of this machine."""

    handle: int
    size: int

    def part(self, begin: int, end: int) -> NDArray[np.uint8]:
        """Some of its bytes, in memory that counts until the next call."""
        held, first = read_at(self.handle, begin, end)
        return np.frombuffer(held, np.uint8, end - begin, first)


@dataclass(frozen=True)
class AtUrl:
    """Files at a URL."""

    url: str

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        import fsspec  # type: ignore[import-untyped]

        try:
            files, root = fsspec.core.url_to_fs(self.url)
        except Exception as error:  # of a file system that needs more than a URL, anything
            raise InvalidFile(
                f"{self.url} is in a place that fsspec does not know here ({error}); give a folder, or install what "
                "it needs"
            ) from error
        return files, root

    def _at(self, name: str) -> tuple[Any, str]:
        files, root = self._opened
        if name:
            try:
                check_name(name, self.url)
            except InvalidFile as error:
                raise CheckpointError(str(error)) from None
        return files, f"{root}/{name}" if name else root

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""
        files, path = self._at(name)
        return bool(files.exists(path))

    def size(self, name: str) -> int | None:
        """Bytes of a file; None if there is none."""
        files, path = self._at(name)
        try:
            found = files.info(path)
        except FileNotFoundError:
            return None
        if found.get("type") != "file":
            raise Damaged(NO_FILE)
        return int(found["size"])

    def sizes(self, folder: str) -> Callable[[str], int | None]:
        """What gives the bytes of each of many files in a folder; all are asked for at once, where that is possible."""
        files, root = self._at("")
        try:
            found = files.find(self._at(folder)[1], detail=True)
        except (FileNotFoundError, NotImplementedError):
            found = {}
        known = {path[len(root) :].lstrip("/"): int(facts["size"]) for path, facts in found.items()}
        return known.get if known else self.size

    def read(self, name: str, most: int) -> bytes | None:
        """A whole file; None if there is none."""
        size = self.size(name)
        if size is None:
            return None
        if size > most:
            raise Damaged(f"it has {size} bytes, and {most} is the most that it may have")
        files, path = self._at(name)
        return bytes(files.cat_file(path))

    @contextmanager
    def opened(self, name: str, *, aligned: bool) -> Iterator[Source]:
        """Context in which a file is read in parts."""
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        yield RemoteFile(*self._at(name), size)

    def write(self, name: str, data: bytes, *, flush: bool) -> None:
        """Write a file, all or nothing."""
        files, path = self._at(name)
        files.pipe_file(path, data)

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        files, path = self._at(name)
        if files.exists(path):
            files.rm(path, recursive=True)

    def remove_all(self) -> None:
        """Remove everything, which this process has made."""
        self.remove("")

    def move(self, name: str, to: str) -> None:
        """Give a file or folder another name, of which there is none."""
        files, path = self._at(name)
        files.mv(path, self._at(to)[1], recursive=True)

    def names(self, folder: str) -> Iterator[str]:
        """Names of all files in a folder, and in those below."""
        files, root = self._at("")
        for path in files.find(self._at(folder)[1]):
            yield path[len(root) :].lstrip("/")


@dataclass
class RemoteFile:
    """A file at a URL."""

    files: Any
    path: str
    size: int

    def part(self, begin: int, end: int) -> NDArray[np.uint8]:
        """Some of its bytes."""
        return np.frombuffer(self.files.cat_file(self.path, start=begin, end=end), np.uint8)
