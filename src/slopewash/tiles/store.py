"""The store of a tiled run: a Zarr group of arrays whose shards are tiles, and facts in JSON.

Everything is written under another name and renamed, so that a process may end at any moment.
"""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter
from slopewash.flushing import flush_file, flush_folder
from slopewash.models.state import Window
from slopewash.paths import check_name, inside, make_folder, move, remove_tree
from slopewash.plain import plain
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.shards import as_window, overlap, read_shard, write_shard
from slopewash.urls import is_local, plain_url

if TYPE_CHECKING:
    import zarr

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Field:
    """An array of the store."""

    path: str
    dtype: str
    components: int | None = None
    fill: float = 0.0
    raw: bool = True
    """Whether chunks are stored as they are; else they are compressed."""


def require_zarr() -> Any:
    """Import Zarr, or say which extra it comes with."""
    try:
        import zarr
    except ImportError:
        raise InvalidParameter('tiles need the tiles extra: pip install "slopewash[tiles]"') from None
    return zarr


@dataclass(frozen=True)
class Store:
    """A store by its path or fsspec URL; it holds no handles, so that it can be sent to workers."""

    url: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", plain_url(self.url))

    @cached_property
    def folder(self) -> Path | None:
        """Its folder, if it is one."""
        return Path(self.url) if is_local(self.url) else None

    def place(self, path: str) -> Path:
        """Path of what the store holds under a name; the name may come from its own manifest, which may be anyone's."""
        assert self.folder is not None
        try:
            return inside(self.folder, path)
        except InvalidFile as error:
            raise CheckpointError(str(error)) from None

    def _check_name(self, path: str) -> None:
        """Refuse a name that leads out of the store, in a folder or behind a URL."""
        if self.folder is not None:
            self.place(path)
            return
        try:
            check_name(path, self.url)
        except InvalidFile as error:
            raise CheckpointError(str(error)) from None

    # Arrays

    def create(self, field: Field, grid: TileGrid) -> None:
        """Make an array without values, in the place of one that was there."""
        self._check_name(field.path)
        shape, shard, chunk = (_with(field.components, part) for part in (grid.shape, grid.tile, grid.chunk))
        with reported(self.url):
            require_zarr().create_array(
                store=self.url, name=field.path, shape=shape, dtype=field.dtype, shards=shard,
                chunks=chunk if field.components is None else (1, *chunk[1:]),
                fill_value=np.dtype(field.dtype).type(field.fill).item(),
                compressors=None if field.raw else _compressor(), overwrite=True,
                dimension_names=("component", "y", "x")[-len(shape) :],
            )  # fmt: skip

    def create_group(self, path: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Make a group, or change its attributes; the empty path is the store itself."""
        if path:
            self._check_name(path)
        with reported(self.url):
            group = require_zarr().open_group(store=self.url, path=path, mode="a", zarr_format=3)
            if attributes:
                group.attrs.update(plain(attributes))

    def array(self, path: str) -> zarr.Array[Any]:
        """Open an array."""
        self._check_name(path)
        array: zarr.Array[Any] = require_zarr().open_array(store=self.url, path=path, mode="r+", zarr_format=3)
        return array

    def write(self, field: Field, grid: TileGrid, number: int, values: Array) -> int:
        """Write one tile, and return the bytes; a tile of nothing but the fill value is left out."""
        planes = values if field.components is not None else values[None]
        if planes[0, 0, 0] == field.fill and (values == values.dtype.type(field.fill)).all():
            return 0
        return self.write_planes(field, grid, number, list(planes))

    def write_planes(self, field: Field, grid: TileGrid, number: int, planes: Sequence[Array]) -> int:
        """Write one tile of all components."""
        place = divmod(number, grid.counts[1])
        if self.folder is not None:
            self._shard(field, place)  # nor may a link of its folders lead out
        with reported(self.url):
            if self.folder is None or not field.raw:
                window = as_window(field.components, grid.window(number))
                self.array(field.path)[window] = planes[0] if field.components is None else np.stack(planes)
                return sum(plane.nbytes for plane in planes)
            dtype = np.dtype(field.dtype)
            path = self._shard(field, place)
            typed = [plane.astype(dtype, copy=False) for plane in planes]
            return write_shard(path, typed, grid.chunk, grid.tile, dtype.type(field.fill))

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
        return self.folder is None or self.place(f"{field.path}/c").exists()

    def _read(self, out: Sequence[Array], field: Field, grid: TileGrid, window: Window) -> None:
        height, width = grid.tile
        if self.folder is None or not field.raw:
            if self.folder is not None:  # no link among the tiles may lead out
                for i in range(window[0].start // height, -(-window[0].stop // height)):
                    for j in range(window[1].start // width, -(-window[1].stop // width)):
                        self._shard(field, (i, j))
            values = np.asarray(self.array(field.path)[as_window(field.components, window)])
            for plane, part in zip(out, values if values.ndim == 3 else values[None], strict=True):
                plane[...] = part
            return
        for i in range(window[0].start // height, -(-window[0].stop // height)):
            for j in range(window[1].start // width, -(-window[1].stop // width)):
                rows, to_rows = overlap(window[0], i * height, height)
                columns, to_columns = overlap(window[1], j * width, width)
                target = [plane[to_rows, to_columns] for plane in out]
                path = self._shard(field, (i, j))
                if not read_shard(path, (rows, columns), grid.chunk, grid.tile, target, field.fill):
                    for plane in target:
                        plane[...] = field.fill

    def _shard(self, field: Field, place: tuple[int, int]) -> Path:
        middle = "c" if field.components is None else "c/0"
        return self.place(f"{field.path}/{middle}/{place[0]}/{place[1]}")

    # Lines: a value for each row or column

    def write_line(self, path: str, values: Array) -> None:
        """Write an array of one dimension."""
        self._check_name(f"{path}/c/0")
        with reported(self.url):
            array = require_zarr().create_array(
                store=self.url, name=path, shape=values.shape, dtype=values.dtype, overwrite=True, chunks=values.shape,
                compressors=None, fill_value=0,
            )  # fmt: skip
            array[:] = values

    def read_line(self, path: str, dtype: str) -> Array:
        """Read an array of one dimension."""
        if self.folder is not None and (values := self.place(f"{path}/c/0")).exists():
            return np.fromfile(values, dtype)
        return np.asarray(self.array(path)[:])

    # Facts

    def write_json(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write facts, all or nothing, with a seal."""
        sealed = _dump({**plain(facts), "sha256": _seal(plain(facts))})
        with reported(self.url):
            if self.folder is None:
                import fsspec  # type: ignore[import-untyped]

                self._check_name(name)
                files, path = fsspec.core.url_to_fs(self.url)
                files.pipe_file(f"{path}/{name}", sealed)
                return
            path = self.place(name)
            make_folder(path.parent)
            temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
            with temporary.open("wb") as file:
                file.write(sealed)
                flush_file(file)
            temporary.replace(path)
            flush_folder(path.parent)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Facts as they were written; None if there are none."""
        data = self._bytes(name)
        if data is None:
            return None
        try:
            facts: dict[str, Any] = json.loads(data)
            intact = facts.pop("sha256", None) == _seal(facts)
        except (ValueError, AttributeError):
            intact = False
        if not intact:
            raise CheckpointError(f"{self.url}/{name} is not what was written; start the run again")
        return facts

    def attributes(self) -> dict[str, Any]:
        """Attributes of the group; none where there is no group."""
        data = self._bytes("zarr.json")
        return {} if data is None else dict(json.loads(data).get("attributes", {}))

    def _bytes(self, name: str) -> bytes | None:
        try:
            if self.folder is not None:
                return self.place(name).read_bytes()
            import fsspec

            self._check_name(name)
            files, path = fsspec.core.url_to_fs(self.url)
            return bytes(files.cat_file(f"{path}/{name}"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def remove(self, path: str) -> None:
        """Remove an array or a group with all that is in it; never the whole store."""
        self._check_name(path)
        if self.folder is None:
            import fsspec

            files, root = fsspec.core.url_to_fs(self.url)
            if files.exists(f"{root}/{path}"):
                files.rm(f"{root}/{path}", recursive=True)
            return
        with suppress(OSError):  # what is left takes room, and is never read
            remove_tree(self.folder, path)

    def remove_all(self) -> None:
        """Remove the whole store, which this process has made."""
        if self.folder is None:
            import fsspec

            files, root = fsspec.core.url_to_fs(self.url)
            files.rm(root, recursive=True)
            return
        with suppress(OSError):
            remove_tree(self.folder.parent, self.folder.name)

    def move(self, path: str, to: str) -> None:
        """Move an array or a group, in the place of what was there."""
        self._check_name(path)
        self.remove(to)
        with reported(self.url):
            if self.folder is None:
                import fsspec

                files, root = fsspec.core.url_to_fs(self.url)
                files.mv(f"{root}/{path}", f"{root}/{to}", recursive=True)
                return
            move(self.folder, path, to)

    def tidy(self) -> None:
        """Remove what killed processes have not finished."""
        if self.folder is not None:
            for leftover in self.folder.rglob("*.partial"):  # which follows no links
                remove_tree(self.folder, str(leftover.relative_to(self.folder)))


@contextmanager
def reported(url: str) -> Iterator[None]:
    """Report what goes wrong with the disk in one sentence."""
    try:
        yield
    except CheckpointError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        room = ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and is_local(url):
            known = next(parent for parent in (Path(url), *Path(url).absolute().parents) if parent.exists())
            room = f" ({shutil.disk_usage(known).free / 1e9:.2f} GB are free); make room, and continue with resume"
        raise CheckpointError(f"cannot write to {url}: {why}{room}") from error


def _compressor() -> Any:
    from zarr.codecs import BloscCodec

    return BloscCodec(cname="zstd", clevel=1, shuffle="shuffle")


def _with(components: int | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape if components is None else (components, *shape)


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


def _seal(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
