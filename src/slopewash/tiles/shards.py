"""Shards of Zarr on a local disk, read and written without copies in between.

A shard is a file of chunks, then an index of their offsets and lengths as pairs of 64-bit numbers, then the index's
CRC-32C. Zarr's own code reads whole chunks and copies them several times. Where chunks are not compressed, which is so
for the state of a run, a window is read from the file itself: of a neighbour's tile no more than its rim.

Whoever reads all of a shard checks the CRC-32C of the file as it goes. Of a rim, the length of the file and the index
are checked: every shard that gives a rim is read as a whole by the task of its own tile in the same round, and a round
counts only when all its tasks are done.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from slopewash.io.decoding import Damaged
from slopewash.models.state import Window
from slopewash.paths import make_folder, remove_file, rename
from slopewash.tiles.digests import Digest
from slopewash.tiles.direct import BLOCK, open_direct, scratch, use_cache, write_all

Array = NDArray[Any]
AT_ONCE = 2**23
"""Bytes that are written at once."""
MISSING = np.iinfo(np.uint64).max
"""Offset and length of a chunk that is not there: all of it has the fill value."""


class Source(Protocol):
    """A file that is read in parts."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    def part(self, begin: int, end: int) -> NDArray[np.uint8]:
        """Some of its bytes, in memory that counts until the next call."""


def digest_of(data: bytes) -> Digest:
    """Digest of what is in memory."""
    import google_crc32c

    return Digest(len(data), int(google_crc32c.value(data)))


def write_shard(
    path: Path, planes: Sequence[Array], chunk: tuple[int, int], tile: tuple[int, int], fill: Any
) -> Digest:
    """Write one shard, all or nothing, and return its digest; each plane is a component."""
    import google_crc32c

    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    index = np.full((len(planes), rows, columns, 2), MISSING, "<u8")
    make_folder(path.parent)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    dtype = planes[0].dtype
    length = chunk[0] * chunk[1] * dtype.itemsize
    at_once = max(1, AT_ONCE // length)
    held = scratch(at_once * length)
    blocks = np.frombuffer(held, dtype, at_once * chunk[0] * chunk[1]).reshape(at_once, *chunk)
    written = waiting = crc = 0
    handle = open_direct(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, aligned=length % BLOCK == 0)
    try:
        for k, plane in enumerate(planes):
            for y in range(-(-plane.shape[0] // chunk[0])):
                for x in range(-(-plane.shape[1] // chunk[1])):
                    _fill_chunk(blocks[waiting], plane, y, x, fill)
                    if same_bits(blocks[waiting], fill):  # which needs no place
                        continue
                    crc = google_crc32c.extend(crc, blocks[waiting])  # while it is in the cache
                    index[k, y, x] = (written + waiting) * length, length
                    waiting += 1
                    if waiting == at_once:
                        write_all(handle, memoryview(held)[: waiting * length])
                        written, waiting = written + waiting, 0
        write_all(handle, memoryview(held)[: waiting * length])
        end = with_crc(index.tobytes())
        use_cache(handle)
        write_all(handle, memoryview(end))
        os.fsync(handle)
        rename(temporary, path)
    except BaseException:
        remove_file(temporary)
        raise
    finally:
        os.close(handle)
    return Digest((written + waiting) * length + len(end), int(google_crc32c.extend(crc, end)))


def with_crc(table: bytes) -> bytes:
    """An index, and after it its CRC-32C, as Zarr stores it."""
    import google_crc32c

    return table + int(google_crc32c.value(table)).to_bytes(4, "little")


def _fill_chunk(block: Array, plane: Array, y: int, x: int, fill: Any) -> None:
    part = plane[y * block.shape[0] : (y + 1) * block.shape[0], x * block.shape[1] : (x + 1) * block.shape[1]]
    if part.shape != block.shape:
        block[...] = fill
    block[: part.shape[0], : part.shape[1]] = part


def same_bits(block: Array, fill: Any) -> bool:
    """Whether every value has the bits of the fill value: 0 is not -0."""
    bits = block.view(f"u{block.itemsize}")
    wanted = np.array(fill, block.dtype).view(bits.dtype)
    return bool(bits[0, 0] == wanted and bits[-1, -1] == wanted and (bits == wanted).all())


def read_shard(
    source: Source, digest: Digest, window: Window, chunk: tuple[int, int], tile: tuple[int, int],
    out: Sequence[Array], fill: Any, *, whole: bool,
) -> None:  # fmt: skip
    """Read a window of one shard, counted from its corner, into the planes of `out`.

    Where the window is the `whole` tile, every byte is read and checked.
    """
    import google_crc32c

    if source.size != digest.length:
        raise Damaged(f"it has {source.size} bytes and not {digest.length}")
    rows, columns = tile[0] // chunk[0], tile[1] // chunk[1]
    length = chunk[0] * chunk[1] * out[0].itemsize
    end = source.size - (len(out) * rows * columns * 16 + 4)
    if end < 0 or end % length:
        raise Damaged("its index does not fit")
    tail = source.part(end, source.size).tobytes()
    if with_crc(tail[:-4]) != tail:
        raise Damaged("its index is damaged")
    index = np.frombuffer(tail[:-4], "<u8").reshape(len(out), rows, columns, 2)
    begin = crc = 0
    for k, plane in enumerate(out):
        for y in range(window[0].start // chunk[0], -(-window[0].stop // chunk[0])):
            for x in range(window[1].start // chunk[1], -(-window[1].stop // chunk[1])):
                offset, stored = index[k, y, x].tolist()
                inner, target = _overlaps(window, (y, x), chunk)
                if offset == MISSING:
                    plane[target] = fill
                    continue
                if stored != length or offset % length or offset >= end:
                    raise Damaged("its index is damaged")
                if whole and offset != begin:  # we write chunks in order
                    raise Damaged("its checksum differs")
                begin += length
                if whole:
                    bytes_read = source.part(offset, offset + length)
                    crc = google_crc32c.extend(crc, bytes_read)
                    plane[target] = bytes_read.view(plane.dtype).reshape(chunk)[inner]
                else:
                    plane[target] = _part_of_chunk(source, offset, inner, chunk[1], plane.dtype)
    if whole and (begin != end or google_crc32c.extend(crc, tail) != digest.crc):
        raise Damaged("its checksum differs")


def _part_of_chunk(source: Source, offset: int, inner: Window, width: int, dtype: Any) -> Array:
    """The part of a chunk that lies in a window; no more rows are read than that."""
    rows, columns = inner
    row = width * dtype.itemsize
    return source.part(offset + rows.start * row, offset + rows.stop * row).view(dtype).reshape(-1, width)[:, columns]


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
