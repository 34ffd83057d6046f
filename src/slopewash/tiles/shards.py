"""Shards of Zarr on a local disk, read and written without copies in between.

A shard is a file of chunks, then an index of their offsets and lengths as pairs of 64-bit numbers, then the index's
CRC-32C. Zarr's own code reads whole chunks and copies them several times. Where chunks are not compressed, which is so
for the state of a run, a window is read from the file itself: of a neighbour's tile no more than its rim.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Window
from slopewash.tiles.direct import BLOCK, open_direct, read_at, scratch, use_cache, write_all

Array = NDArray[Any]
AT_ONCE = 2**23
"""Bytes that are written at once."""
MISSING = np.iinfo(np.uint64).max
"""Offset and length of a chunk that is not there: all of it has the fill value."""


def write_shard(path: Path, planes: Sequence[Array], chunk: tuple[int, int], tile: tuple[int, int], fill: Any) -> int:
    """Write one shard, all or nothing, and return its bytes; each plane is a component."""
    import google_crc32c

    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    index = np.full((len(planes), rows, columns, 2), MISSING, "<u8")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    dtype = planes[0].dtype
    length = chunk[0] * chunk[1] * dtype.itemsize
    at_once = max(1, AT_ONCE // length)
    held = scratch(at_once * length)
    blocks = np.frombuffer(held, dtype, at_once * chunk[0] * chunk[1]).reshape(at_once, *chunk)
    written = waiting = 0
    handle = open_direct(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, aligned=length % BLOCK == 0)
    try:
        for k, plane in enumerate(planes):
            for y in range(-(-plane.shape[0] // chunk[0])):
                for x in range(-(-plane.shape[1] // chunk[1])):
                    _fill_chunk(blocks[waiting], plane, y, x, fill)
                    if _same(blocks[waiting], fill):  # which needs no place
                        continue
                    index[k, y, x] = (written + waiting) * length, length
                    waiting += 1
                    if waiting == at_once:
                        write_all(handle, memoryview(held)[: waiting * length])
                        written, waiting = written + waiting, 0
        write_all(handle, memoryview(held)[: waiting * length])
        table = index.tobytes()
        use_cache(handle)
        write_all(handle, memoryview(table + int(google_crc32c.value(table)).to_bytes(4, "little")))
        os.fsync(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    return (written + waiting) * length + len(table) + 4


def _fill_chunk(block: Array, plane: Array, y: int, x: int, fill: Any) -> None:
    part = plane[y * block.shape[0] : (y + 1) * block.shape[0], x * block.shape[1] : (x + 1) * block.shape[1]]
    if part.shape != block.shape:
        block[...] = fill
    block[: part.shape[0], : part.shape[1]] = part


def _same(block: Array, fill: Any) -> bool:
    """Whether every value has the bits of the fill value: 0 is not -0."""
    bits = block.view(f"u{block.itemsize}")
    wanted = np.array(fill, block.dtype).view(bits.dtype)
    return bool(bits[0, 0] == wanted and bits[-1, -1] == wanted and (bits == wanted).all())


def read_shard(
    path: Path, window: Window, chunk: tuple[int, int], tile: tuple[int, int], out: Sequence[Array], fill: Any
) -> bool:
    """Read a window of one shard, counted from its corner, into the planes of `out`; False if there is no shard."""
    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    try:
        index = _index(path, len(out) * rows * columns * 16).reshape(len(out), rows, columns, 2)
    except FileNotFoundError:
        return False
    handle = open_direct(path, os.O_RDONLY, aligned=chunk[0] * chunk[1] * out[0].itemsize % BLOCK == 0)
    try:
        for k, plane in enumerate(out):
            for y in range(window[0].start // chunk[0], -(-window[0].stop // chunk[0])):
                for x in range(window[1].start // chunk[1], -(-window[1].stop // chunk[1])):
                    offset = int(index[k, y, x, 0])
                    if offset == MISSING:
                        _, (to_rows, to_columns) = _overlaps(window, (y, x), chunk)
                        plane[to_rows, to_columns] = fill
                    else:
                        _copy_chunk(handle, offset, (y, x), window, chunk, plane)
    finally:
        os.close(handle)
    return True


def _index(path: Path, length: int) -> NDArray[np.uint64]:
    with path.open("rb") as file:
        file.seek(-length - 4, os.SEEK_END)
        return np.frombuffer(file.read(length), "<u8")


def _copy_chunk(
    handle: int, offset: int, place: tuple[int, int], window: Window, chunk: tuple[int, int], out: Array
) -> None:
    """Copy the part of a chunk that lies in a window; no more rows are read than that."""
    (rows, columns), (to_rows, to_columns) = _overlaps(window, place, chunk)
    row = chunk[1] * out.itemsize
    held, begin = read_at(handle, offset + rows.start * row, offset + rows.stop * row)
    count = (rows.stop - rows.start) * chunk[1]
    block = np.frombuffer(held, np.uint8, count * out.itemsize, begin).view(out.dtype).reshape(-1, chunk[1])
    out[to_rows, to_columns] = block[:, columns]


def _overlaps(window: Window, place: tuple[int, int], chunk: tuple[int, int]) -> tuple[Window, Window]:
    """Part of a window that lies in a chunk: counted from the chunk's corner, and from the window's."""
    (rows, to_rows), (columns, to_columns) = (
        overlap(span, k * cells, cells) for span, k, cells in zip(window, place, chunk, strict=True)
    )
    return (rows, columns), (to_rows, to_columns)


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
