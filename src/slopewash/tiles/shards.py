"""Shards of Zarr on a local disk, read and written without copies in between.

A shard is a file of chunks, then an index of their offsets and lengths as pairs of 64-bit numbers, then the index's
CRC-32C. Zarr's own code reads whole chunks and copies them several times. Where chunks are not compressed, which is so
for the state of a run, a window is read from the file itself: of a neighbour's tile no more than its rim.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Window

Array = NDArray[Any]
MISSING = np.iinfo(np.uint64).max
"""Offset and length of a chunk that is not there: all of it has the fill value."""


def write_shard(path: Path, planes: Sequence[Array], chunk: tuple[int, int], tile: tuple[int, int], fill: Any) -> int:
    """Write one shard, all or nothing, and return its bytes; each plane is a component."""
    import google_crc32c

    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    index = np.full((len(planes), rows, columns, 2), MISSING, "<u8")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    offset, length = 0, chunk[0] * chunk[1] * planes[0].dtype.itemsize
    try:
        with temporary.open("wb", buffering=0) as file:
            for k, plane in enumerate(planes):
                for y in range(-(-plane.shape[0] // chunk[0])):
                    for x in range(-(-plane.shape[1] // chunk[1])):
                        _write_all(file.fileno(), memoryview(_chunk_of(plane, y, x, chunk, fill)).cast("B"))
                        index[k, y, x] = offset, length
                        offset += length
            table = index.tobytes()
            _write_all(file.fileno(), memoryview(table + int(google_crc32c.value(table)).to_bytes(4, "little")))
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return offset + len(table) + 4


def _chunk_of(plane: Array, y: int, x: int, chunk: tuple[int, int], fill: Any) -> Any:
    block = plane[y * chunk[0] : (y + 1) * chunk[0], x * chunk[1] : (x + 1) * chunk[1]]
    if block.shape == chunk:
        return np.ascontiguousarray(block)
    padded = np.full(chunk, fill, plane.dtype)
    padded[: block.shape[0], : block.shape[1]] = block
    return padded


def _write_all(handle: int, data: memoryview) -> None:
    while data:
        data = data[os.write(handle, data) :]


def read_shard(path: Path, window: Window, chunk: tuple[int, int], tile: tuple[int, int], out: Array) -> None:
    """Read a window of one shard, counted from its corner, into the planes of `out`; without a shard, it stays."""
    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = len(data) - 4
            table = data[end - len(out) * rows * columns * 16 : end]
            index = np.frombuffer(table, "<u8").reshape(len(out), rows, columns, 2)
            for k, plane in enumerate(out):
                for y in range(window[0].start // chunk[0], -(-window[0].stop // chunk[0])):
                    for x in range(window[1].start // chunk[1], -(-window[1].stop // chunk[1])):
                        offset = int(index[k, y, x, 0])
                        if offset != MISSING:
                            _copy_chunk(data, offset, (y, x), window, chunk, plane)
    except FileNotFoundError:
        return


def _copy_chunk(
    data: Any, offset: int, place: tuple[int, int], window: Window, chunk: tuple[int, int], out: Array
) -> None:
    """Copy the part of a chunk that lies in a window."""
    block = np.frombuffer(data, out.dtype, chunk[0] * chunk[1], offset).reshape(chunk)
    (rows, to_rows), (columns, to_columns) = (
        overlap(span, k * cells, cells) for span, k, cells in zip(window, place, chunk, strict=True)
    )
    out[to_rows, to_columns] = block[rows, columns]


def overlap(span: slice, begin: int, length: int) -> tuple[slice, slice]:
    """Part of a span that lies in a block: counted from the block's corner, and from the span's.

    >>> overlap(slice(3, 9), 5, 10)
    (slice(0, 4, None), slice(2, 6, None))
    """
    low, high = max(span.start, begin), min(span.stop, begin + length)
    return slice(low - begin, high - begin), slice(low - span.start, high - span.start)


def as_window(components: int | None, window: Window) -> tuple[slice, ...]:
    """Window of an array that may have components."""
    return window if components is None else (slice(0, components), *window)
