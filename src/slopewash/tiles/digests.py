"""Digests of the files of a store: what was written, by which what is read is checked.

The process that runs the tiles keeps the table: length and CRC-32C of every tile and line. Tasks return what they have
written. The table lies in the store as a file that is named by its own SHA-256, which the manifest records; workers
load it from there. A tile that is not in the table, a table that has none of it, and a file that differs are errors: a
file that is missing never counts as nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from slopewash.io.decoding import Damaged

if TYPE_CHECKING:
    from slopewash.tiles.store import Store

RECORD = np.dtype([("length", "<u8"), ("crc", "<u4")])
UNWRITTEN = np.iinfo(np.uint64).max
"""Length of a tile that no task has written."""
LARGEST = 2**28
"""Bytes of a table: far more than any grid that is computed has."""
MOST_TILES = 2**24


@dataclass(frozen=True, slots=True)
class Digest:
    """What is known of a file; a tile that was left out, because all of it is the fill value, has no bytes."""

    length: int
    crc: int


LEFT_OUT = Digest(0, 0)
Change = tuple[str, int, int, int]
"""Path and tile, length and CRC-32C; a tile of -1 begins an array of so many tiles."""


class Digests:
    """The table of a store, by the path of each array.

    >>> digests = Digests()
    >>> digests.begin("state/source/elevation", 2)
    >>> digests.note("state/source/elevation", 1, Digest(8, 3))
    >>> digests.of("state/source/elevation", 1)
    Digest(length=8, crc=3)
    >>> Digests.load(digests.dump()).of("state/source/elevation", 0)
    Traceback (most recent call last):
        ...
    slopewash.io.decoding.Damaged: it was never written
    """

    def __init__(self, arrays: dict[str, NDArray[Any]] | None = None) -> None:
        self._arrays = {} if arrays is None else arrays

    def begin(self, path: str, count: int) -> None:
        """An array of so many tiles, none of which is written."""
        self._arrays[path] = np.full(count, np.array((UNWRITTEN, 0), RECORD))

    def note(self, path: str, number: int, digest: Digest) -> None:
        """A tile was written."""
        self._arrays[path][number] = digest.length, digest.crc

    def apply(self, changes: Iterable[Change]) -> None:
        """Note what a task has written."""
        for path, number, length, crc in changes:
            if number < 0:
                self.begin(path, length)
            else:
                self.note(path, number, Digest(length, crc))

    def of(self, path: str, number: int) -> Digest:
        """What was written."""
        array = self._arrays.get(path)
        if array is None or number >= len(array) or array[number]["length"] == UNWRITTEN:
            raise Damaged("it was never written")
        return Digest(int(array[number]["length"]), int(array[number]["crc"]))

    def count(self, path: str) -> int:
        """Tiles of an array; 0 if it is not known."""
        return len(self._arrays.get(path, ()))

    def holds(self, path: str) -> bool:
        """Whether any tile of an array was written; the others have the fill value."""
        lengths = self._arrays[path]["length"]
        return bool(((lengths > 0) & (lengths != UNWRITTEN)).any())

    def size(self, path: str) -> int:
        """Bytes of all tiles of an array."""
        lengths = self._arrays[path]["length"]
        return int(lengths[lengths != UNWRITTEN].sum())

    def paths(self) -> list[str]:
        """Every array."""
        return list(self._arrays)

    def drop(self, path: str) -> None:
        """An array or a group was removed."""
        for name in self._below(path):
            del self._arrays[name]

    def move(self, path: str, to: str) -> None:
        """An array or a group was moved, in the place of what was there."""
        self.drop(to)
        for name in self._below(path):
            self._arrays[to + name[len(path) :]] = self._arrays.pop(name)

    def _below(self, path: str) -> list[str]:
        return [name for name in self._arrays if not path or name == path or name.startswith(f"{path}/")]

    def copy(self) -> Digests:
        """A table that may be changed."""
        return Digests({path: array.copy() for path, array in self._arrays.items()})

    def but(self, path: str) -> Digests:
        """The table without a group."""
        left = Digests(dict(self._arrays))
        left.drop(path)
        return left

    def dump(self) -> bytes:
        """The table as a file: a line of JSON with the tiles of each array, and their records."""
        head = {path: len(array) for path, array in self._arrays.items()}
        return b"".join(
            [json.dumps(head, ensure_ascii=True).encode(), b"\n", *(a.tobytes() for a in self._arrays.values())]
        )

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return what `dump` gave."""
        line, _, records = data.partition(b"\n")
        try:
            head = json.loads(line)
        except (ValueError, RecursionError):
            raise Damaged("it is damaged") from None
        if not isinstance(head, dict) or not all(
            type(count) is int and 1 <= count <= MOST_TILES for count in head.values()
        ):
            raise Damaged("it is damaged")
        if sum(head.values()) * RECORD.itemsize != len(records):
            raise Damaged("it is truncated")
        arrays, first = {}, 0
        whole = np.frombuffer(records, RECORD)
        for path, count in head.items():
            arrays[path] = whole[first : first + count].copy()
            first += count
        return cls(arrays)


class OfTask(Digests):
    """The table as a task sees it: what it reads was written before, and what it writes is returned with its result."""

    def __init__(self, known: Digests) -> None:
        super().__init__(known._arrays)
        self.changes: list[Change] = []

    def begin(self, path: str, count: int) -> None:
        """An array of so many tiles, none of which is written."""
        self.changes.append((path, -1, count, 0))

    def note(self, path: str, number: int, digest: Digest) -> None:
        """A tile was written."""
        self.changes.append((path, number, digest.length, digest.crc))

    def drop(self, path: str) -> None:
        """Tasks remove nothing."""
        raise AssertionError(path)


# Which table counts here

_current: ContextVar[Digests] = ContextVar("digests")


def current() -> Digests:
    """The table by which this thread reads and writes; whoever has none cannot read."""
    return _current.get()


@contextmanager
def using(digests: Digests) -> Iterator[Digests]:
    """Read and write by a table."""
    token = _current.set(digests)
    try:
        yield digests
    finally:
        _current.reset(token)


# In the store

NAME = re.compile(r"[0-9a-f]{64}")


def file_of(prefix: str, sha: str) -> str:
    """Name of the file that holds the table with that SHA-256."""
    return f"{prefix}digests-{sha[:32]}"


def saved(digests: Digests, store: Store, prefix: str, *, flush: bool = False) -> str:
    """Write the table to a store, if it is not there yet; returns its SHA-256."""
    data = digests.dump()
    sha = hashlib.sha256(data).hexdigest()
    store.write_file(file_of(prefix, sha), data, flush=flush)
    return sha


@lru_cache(maxsize=8)
def loaded(store: Store, prefix: str, sha: str) -> Digests:
    """The table in a store with that SHA-256, not to be changed."""
    if not isinstance(sha, str) or NAME.fullmatch(sha) is None:
        raise Damaged("it has no name")
    data = store.read_file(file_of(prefix, sha), LARGEST)
    if data is None:
        raise Damaged("it is missing")
    if hashlib.sha256(data).hexdigest() != sha:
        raise Damaged("it is not what was written")
    return Digests.load(data)


@dataclass(frozen=True)
class Recorded:
    """A task that reads by the table in the store, and returns what it wrote beside its result."""

    store: Store
    sha: str
    task: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return getattr(self.task, "__name__", "task")

    def __call__(self, *arguments: Any) -> tuple[Any, list[Change]]:
        """Run the task."""
        with self.store.checked("state", "the table of tiles"):
            known = loaded(self.store, "state/", self.sha)
        with using(OfTask(known)) as digests:
            result = self.task(*arguments)
        assert isinstance(digests, OfTask)
        return result, digests.changes
