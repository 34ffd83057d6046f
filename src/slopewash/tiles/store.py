"""The store of a tiled run: a Zarr group of arrays whose shards are tiles, and facts in JSON.

Everything is written under another name and renamed, so that a process may end at any moment. What is read is checked
against the table of digests (`digests.py`) that is in use.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError, InvalidFile, SlopewashError
from slopewash.io.decoding import Damaged
from slopewash.models.state import Window
from slopewash.plain import plain
from slopewash.seals import is_sealed, seal, warn_if_unkept
from slopewash.tiles.arrays import Field, decoded, encoded, line_metadata, metadata, shard_name
from slopewash.tiles.digests import LEFT_OUT, Digest, current
from slopewash.tiles.direct import BLOCK
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.shards import digest_of, overlap, read_shard, same_bits, write_shard
from slopewash.tiles.storage import AtUrl, InFolder, Storage
from slopewash.urls import is_local, plain_url

Array = NDArray[Any]
LARGEST_JSON = 2**25
"""Bytes of a manifest, or of attributes."""
LARGEST_SHARD = 2**34
SEALED_FOR = "store"
_NONE_WRITTEN = "there is a file where none was written"


@dataclass(frozen=True)
class Sealed:
    """Facts that were read."""

    facts: dict[str, Any]
    own: bool
    """Whether this user wrote them; else they may be anyone's."""


@dataclass(frozen=True)
class Store:
    """A store by its path or fsspec URL; it holds no handles, so that it can be sent to workers."""

    url: str
    is_source: bool = False
    """Whether it is only read, as what the user named: links in it are followed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", plain_url(self.url))

    def __reduce__(self) -> Any:
        return Store, (self.url, self.is_source)

    @cached_property
    def folder(self) -> Path | None:
        """Its folder, if it is one."""
        return Path(self.url) if is_local(self.url) else None

    @cached_property
    def storage(self) -> Storage:
        """Where its bytes are."""
        return AtUrl(self.url) if self.folder is None else InFolder(self.folder, follow=self.is_source)

    # Arrays

    def create(self, field: Field, grid: TileGrid) -> None:
        """Make an array without values, in the place of one that was there."""
        with reported(self.url):
            self.storage.remove(field.path)
            self._write_metadata(field.path, metadata(field, grid))
        current().begin(field.path, len(grid))

    def describe(self, field: Field, grid: TileGrid, attributes: Mapping[str, Any]) -> None:
        """Give an array attributes."""
        with reported(self.url):
            facts = {**metadata(field, grid), "attributes": plain(attributes)}
            self.storage.write(f"{field.path}/zarr.json", _dump(facts), flush=False)

    def create_group(self, path: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Make a group, or change its attributes."""
        before = self.attributes(path)
        with reported(self.url):
            facts = {"attributes": {**before, **plain(attributes or {})}, "zarr_format": 3, "node_type": "group"}
            self._write_metadata(path, facts)

    def _write_metadata(self, path: str, facts: Mapping[str, Any]) -> None:
        name = f"{path}/zarr.json" if path else "zarr.json"
        self.storage.write(name, _dump(facts), flush=not path)

    def write(self, field: Field, grid: TileGrid, number: int, values: Array) -> int:
        """Write one tile, and return the bytes; a tile of nothing but the fill value is left out."""
        planes = values if field.components is not None else values[None]
        typed = np.dtype(field.dtype).type(field.fill)
        if values.dtype == typed.dtype and all(same_bits(plane, typed) for plane in planes):
            with reported(self.url):
                self.storage.remove(shard_name(field, grid, number))
            current().note(field.path, number, LEFT_OUT)
            return 0
        return self.write_planes(field, grid, number, list(planes))

    def write_planes(self, field: Field, grid: TileGrid, number: int, planes: Sequence[Array]) -> int:
        """Write one tile of all components."""
        name = shard_name(field, grid, number)
        with reported(self.url):
            if isinstance(self.storage, InFolder) and field.raw:
                dtype = np.dtype(field.dtype)
                typed = [plane.astype(dtype, copy=False) for plane in planes]
                path = self.storage.path(name)
                digest = write_shard(path, typed, grid.chunk, grid.tile, dtype.type(field.fill))
            else:
                data = encoded(field, grid, number, planes[0] if field.components is None else np.stack(planes))
                digest = LEFT_OUT if data is None else digest_of(data)
                if data is None:
                    self.storage.remove(name)
                else:
                    self.storage.write(name, data, flush=True)
        current().note(field.path, number, digest)
        return digest.length

    def read(self, field: Field, grid: TileGrid, window: Window) -> Array:
        """Read a window; what lies beyond the grid is taken from the far side."""
        shape = (window[0].stop - window[0].start, window[1].stop - window[1].start)
        out = np.empty((field.components or 1, *shape), field.dtype)
        self.read_into(list(out), field, grid, window)
        return out[0] if field.components is None else out

    def read_into(self, out: Sequence[Array], field: Field, grid: TileGrid, window: Window) -> None:
        """Read a window into the planes of all components."""
        for rows, to_rows in _wrapped(window[0], grid.shape[0]):
            for columns, to_columns in _wrapped(window[1], grid.shape[1]):
                self._read([plane[to_rows, to_columns] for plane in out], field, grid, (rows, columns))

    def holds(self, field: Field) -> bool:
        """Whether any tile of an array was written; the others have the fill value."""
        return current().holds(field.path)

    def _read(self, out: Sequence[Array], field: Field, grid: TileGrid, window: Window) -> None:
        for number in grid.touched(window):
            core = grid.window(number)
            spans = [overlap(w, c.start, c.stop - c.start) for w, c in zip(window, core, strict=True)]
            target = [plane[spans[0][1], spans[1][1]] for plane in out]
            with self.checked(field.path, f"tile {number} of {field.path}"):
                self._read_tile(target, field, grid, number, (spans[0][0], spans[1][0]))

    def _read_tile(self, out: Sequence[Array], field: Field, grid: TileGrid, number: int, window: Window) -> None:
        """Read a window of one tile, counted from its corner."""
        digest, name, core = self._digest(field, grid, number), shard_name(field, grid, number), grid.window(number)
        if digest is None:
            for plane in out:
                plane[...] = field.fill
        elif field.raw:
            whole = all(w.start == 0 and w.stop == c.stop - c.start for w, c in zip(window, core, strict=True))
            length = grid.chunk[0] * grid.chunk[1] * out[0].itemsize
            with self.storage.opened(name, aligned=length % BLOCK == 0) as source:
                read_shard(source, digest, window, grid.chunk, grid.tile, out, field.fill, whole=whole)
        else:
            data = self._verified(name, digest)
            here = tuple(slice(w.start + c.start, w.stop + c.start) for w, c in zip(window, core, strict=True))
            values = decoded(field, grid, number, data, (here[0], here[1]))
            for plane, part in zip(out, values if values.ndim == 3 else values[None], strict=True):
                plane[...] = part

    def _digest(self, field: Field, grid: TileGrid, number: int) -> Digest | None:
        """Digest of a tile; None if it was left out."""
        digest = self._noted(field, grid, number)
        if digest != LEFT_OUT:
            return digest
        if self.storage.exists(shard_name(field, grid, number)):
            raise Damaged(_NONE_WRITTEN)
        return None

    def _noted(self, field: Field, grid: TileGrid, number: int) -> Digest:
        """Digest of a tile, whether it was left out or not."""
        if current().count(field.path) != len(grid):
            raise Damaged("the table of tiles does not know it")
        return current().of(field.path, number)

    def _verified(self, name: str, digest: Digest) -> bytes:
        if digest.length > LARGEST_SHARD:
            raise Damaged("the table of tiles is damaged")
        data = self.storage.read(name, digest.length)
        if data is None:
            raise Damaged("it is missing")
        if digest_of(data) != digest:
            raise Damaged("its checksum differs")
        return data

    def check(self, field: Field, grid: TileGrid, window: Window) -> None:
        """Check all of every tile that a window touches, for who reads no tile as a whole."""
        for rows, _ in _wrapped(window[0], grid.shape[0]):
            for columns, _ in _wrapped(window[1], grid.shape[1]):
                for number in grid.touched((rows, columns)):
                    with self.checked(field.path, f"tile {number} of {field.path}"):
                        self.check_tile(field, grid, number)

    def check_tile(self, field: Field, grid: TileGrid, number: int) -> None:
        """Check all of one tile."""
        digest = self._digest(field, grid, number)
        if digest is not None:
            self._verified(shard_name(field, grid, number), digest)

    def check_present(self, field: Field, grid: TileGrid) -> None:
        """Check that every tile is there, and as long as it was written."""
        with self.checked(field.path, field.path):
            size_of = self.storage.sizes(field.path)
        for number in range(len(grid)):
            with self.checked(field.path, f"tile {number} of {field.path}"):
                digest, size = self._noted(field, grid, number), size_of(shard_name(field, grid, number))
                if digest == LEFT_OUT and size is not None:
                    raise Damaged(_NONE_WRITTEN)
                if digest != LEFT_OUT and size != digest.length:
                    raise Damaged("it is missing" if size is None else f"it has {size} bytes, not {digest.length}")

    # Lines: a value for each row or column

    def write_line(self, path: str, values: Array) -> None:
        """Write an array of one dimension."""
        data = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        with reported(self.url):
            self.storage.remove(path)
            self._write_metadata(path, line_metadata(str(values.dtype), len(values)))
            self.storage.write(f"{path}/c/0", data, flush=True)
        current().begin(path, 1)
        current().note(path, 0, digest_of(data))

    def read_line(self, path: str, dtype: str, length: int) -> Array:
        """Read an array of one dimension."""
        with self.checked(path, path):
            data = self._verified(f"{path}/c/0", current().of(path, 0))
            values = np.frombuffer(data, dtype)
            if len(values) != length:
                raise Damaged(f"it has {len(values)} values, and {length} are needed")
            return values

    # Facts

    def write_json(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write facts, all or nothing, with a checksum and the user's seal."""
        made = plain(facts)
        text = _canonical(made)
        warn_if_unkept()
        marks = {"sha256": hashlib.sha256(text).hexdigest(), "seal": seal(text, SEALED_FOR)}
        self.write_file(name, _dump({**made, **marks}))

    def read_json(self, name: str) -> Sealed | None:
        """Facts as they were written; None if there are none."""
        facts = self._json(name)
        if facts is None:
            return None
        mark, own = facts.pop("sha256", None), facts.pop("seal", None)
        text = _canonical(facts)
        if mark != hashlib.sha256(text).hexdigest():
            raise CheckpointError(f"{self.url}/{name} is not what was written; start the run again")
        return Sealed(facts, is_sealed(text, SEALED_FOR, own))

    def attributes(self, path: str = "") -> dict[str, Any]:
        """Attributes of a group; none where there is no group."""
        name = f"{path}/zarr.json" if path else "zarr.json"
        found = (self._json(name) or {}).get("attributes", {})
        if not isinstance(found, dict):
            raise InvalidFile(f"{self.url}/{name} is damaged: its attributes are not a table; restore it from a copy")
        return found

    def array(self, path: str) -> dict[str, Any]:
        """What is said of an array; nothing where there is none."""
        return self._json(f"{path}/zarr.json") or {}

    def _json(self, name: str) -> dict[str, Any] | None:
        with self.checked(name, name):
            data = self.read_file(name, LARGEST_JSON)
            if data is None:
                return None
            try:
                facts = json.loads(data)
            except (ValueError, RecursionError):
                raise Damaged("it is no JSON") from None
            if not isinstance(facts, dict):
                raise Damaged("it is not a table of facts")
            return facts

    # Files

    def write_file(self, name: str, data: bytes, *, flush: bool = True) -> None:
        """Write a file, all or nothing."""
        with reported(self.url):
            self.storage.write(name, data, flush=flush)

    def read_file(self, name: str, most: int) -> bytes | None:
        """A whole file; None if there is none."""
        return self.storage.read(name, most)

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""
        return self.storage.exists(name)

    def remove(self, path: str) -> None:
        """Remove an array or a group with all that is in it."""
        self.storage.remove(path)
        current().drop(path)

    def remove_all(self) -> None:
        """Remove the whole store, which this process has made."""
        self.storage.remove_all()
        current().drop("")

    def remove_file(self, name: str) -> None:
        """Remove a file that is no tile."""
        self.storage.remove(name)

    def move(self, path: str, to: str) -> None:
        """Move an array or a group, in the place of what was there."""
        self.remove(to)
        with reported(self.url):
            self.storage.move(path, to)
        current().move(path, to)

    def tidy(self) -> None:
        """Remove what killed processes have not finished."""
        for name in [name for name in self.storage.names("") if name.endswith(".partial")]:
            self.storage.remove(name)

    @contextmanager
    def checked(self, path: str, what: str) -> Iterator[None]:
        """Say in one sentence what is damaged, and what to do."""
        try:
            yield
        except Damaged as error:
            raise self._damaged(path, what, str(error)) from error
        except SlopewashError:
            raise
        except FileNotFoundError as error:
            raise self._damaged(path, what, "it is missing") from error
        except OSError as error:
            raise self._damaged(path, what, error.strerror or str(error)) from error

    def _damaged(self, path: str, what: str, why: str) -> SlopewashError:
        if path.startswith("state"):
            return CheckpointError(
                f"{what} in {self.url} is damaged: {why}; restore the store from a copy, or remove it and start the "
                "run again"
            )
        return InvalidFile(f"{what} in {self.url} is not what slopewash wrote: {why}; restore it from a copy")


@contextmanager
def reported(url: str) -> Iterator[None]:
    """Report what goes wrong with the disk in one sentence."""
    try:
        yield
    except SlopewashError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        room = ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and is_local(url):
            known = next(parent for parent in (Path(url), *Path(url).absolute().parents) if parent.exists())
            room = (
                f" ({shutil.disk_usage(known).free / 1e9:.2f} GB are free); make room, and repeat the command or resume"
            )
        raise CheckpointError(f"cannot write to {url}: {why}{room}") from error


def _wrapped(span: slice, cells: int) -> Iterator[tuple[slice, slice]]:
    """Pieces of a span within the grid, and where they go; what lies beyond comes from the far side.

    >>> list(_wrapped(slice(-2, 3), 4))
    [(slice(2, 4, None), slice(0, 2, None)), (slice(0, 3, None), slice(2, 5, None))]
    """
    at = span.start
    while at < span.stop:
        first = at % cells
        length = min(cells - first, span.stop - at)
        yield slice(first, first + length), slice(at - span.start, at - span.start + length)
        at += length


def _dump(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _canonical(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
