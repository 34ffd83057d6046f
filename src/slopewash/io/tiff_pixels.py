"""Pixels of a TIFF: strips and tiles, each decoded to no more bytes than the image has for it."""

from __future__ import annotations

import io
import lzma
import struct
import zlib
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import accumulate, groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.io.decoding import Damaged, quiet
from slopewash.io.limits import LARGEST_TILE
from slopewash.patience import patiently

if TYPE_CHECKING:
    from tifffile import TiffPage

_NONE, _LZW, _DEFLATE, _OLD_DEFLATE, _PACKBITS, _LZMA = 1, 5, 8, 32946, 32773, 34925
_MOST_EXPANSION = {_NONE: 1, _LZW: 1 << 12, _DEFLATE: 1032, _OLD_DEFLATE: 1032, _PACKBITS: 64, _LZMA: 1 << 14}
"""Bytes that one compressed byte can stand for."""
_HORIZONTAL, _FLOATING_POINT = 2, 3
_LONG, _TAGS = 4, 10 + 9 * 12 + 4
"""Type of a number of 32 bits, and where what follows nine tags begins."""
_AT_ONCE = 1 << 22
"""Bytes of strips or tiles that are decoded together, unless one alone has more."""
_LZMA_MEMORY = 1 << 27
_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def read_pixels(path: Path, page: TiffPage) -> NDArray[Any]:
    """Decode a page with one sample per pixel."""
    compression = int(page.compression)
    if compression not in _MOST_EXPANSION:
        name = getattr(page.compression, "name", str(compression)).lower()
        raise Damaged(f"its compression ({name}) is not supported; save it with deflate")
    if int(page.predictor) not in (1, _HORIZONTAL, _FLOATING_POINT):
        raise Damaged(f"its predictor ({int(page.predictor)}) is not supported; save it without")
    height, width = int(page.imagelength), int(page.imagewidth)
    rows, columns = _segment_shape(page, height, width)
    dtype = np.dtype(page.dtype)
    starts = [(row, column) for row in range(0, height, rows) for column in range(0, width, columns)]
    if not len(starts) == len(page.dataoffsets) == len(page.databytecounts):
        raise Damaged(f"it has {len(page.dataoffsets)} strips or tiles, where its size needs {len(starts)}")
    _check_lengths(page, compression, rows * columns * dtype.itemsize, path.stat().st_size)
    pixels = np.full((height, width), page.nodata if page.nodata is not None else 0, dtype)
    segments = [
        (place, (offset, count))
        for place, offset, count in zip(starts, page.dataoffsets, page.databytecounts, strict=True)
        if offset and count  # else left out, as GDAL does where all is nodata
    ]
    together = max(1, _AT_ONCE // (rows * columns * dtype.itemsize))
    with path.open("rb") as file, quiet() if compression == _LZW else nullcontext():
        for down, group in groupby(segments, lambda segment: min(rows, height - segment[0][0])):
            alike = list(group)
            for first in range(0, len(alike), together):
                some = alike[first : first + together]
                values = _segments(file, page, compression, [at for _, at in some], (rows, columns), down)
                for number, ((row, column), _) in enumerate(some):
                    across = min(columns, width - column)
                    here = values[number * down : (number + 1) * down, :across]
                    pixels[row : row + down, column : column + across] = here
    return pixels


def _segment_shape(page: TiffPage, height: int, width: int) -> tuple[int, int]:
    if not page.is_tiled:
        return max(1, min(int(page.rowsperstrip), height)), width
    rows, columns = int(page.tilelength), int(page.tilewidth)
    if min(rows, columns) < 1 or rows * columns > max(LARGEST_TILE, 4 * height * width):
        raise Damaged(f"its tiles are {columns} x {rows} pixels")
    return rows, columns


def _check_lengths(page: TiffPage, compression: int, segment_bytes: int, file_size: int) -> None:
    """Refuse segments beyond the end of the file, and those too short to hold their pixels, before memory is taken."""
    places = [(offset, count) for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True) if count]
    if any(offset + count > file_size for offset, count in places):
        raise Damaged("it is truncated")
    whole = places[:-1] if len(places) == len(page.dataoffsets) else places  # the last strip may be short
    if any(count * _MOST_EXPANSION[compression] < segment_bytes for _, count in whole):
        raise Damaged("a strip or tile is too short for its pixels")


def _segments(
    file: IO[bytes],
    page: TiffPage,
    compression: int,
    places: Sequence[tuple[int, int]],
    shape: tuple[int, int],
    down: int,
) -> NDArray[Any]:
    """Rows of some strips or tiles, one below the other; the last strip may be padded to the size of the others."""
    dtype = np.dtype(page.dtype).newbyteorder(page.parent.byteorder)
    row_bytes = shape[1] * dtype.itemsize
    most, needed = shape[0] * row_bytes, down * row_bytes
    stored = []
    for offset, count in places:
        file.seek(offset)
        data = file.read(min(count, 2 * most + 65536))  # compression never doubles the size
        stored.append(data.translate(_REVERSED_BITS) if int(page.fillorder) == 2 else data)
    if compression == _LZW:
        decoded = patiently(lambda: _unpack_lzw(stored, row_bytes, down), len(places) * most, "decoding")
        if len(decoded) != len(places) * needed:
            raise Damaged("it is truncated")
    else:
        each = patiently(lambda: [_expand(data, compression, most) for data in stored], len(places) * most, "decoding")
        if max(map(len, each)) > most:
            raise Damaged("a strip or tile decodes to more bytes than the image has for it")
        if min(map(len, each)) < needed:
            raise Damaged("it is truncated")
        decoded = b"".join([data[:needed] for data in each])
    rows = len(places) * down
    if int(page.predictor) == _FLOATING_POINT:
        return _undo_floating_point(decoded, rows, shape[1], dtype)
    values = np.frombuffer(decoded, dtype, rows * shape[1]).reshape(rows, shape[1])
    if int(page.predictor) == _HORIZONTAL:
        whole = np.dtype(f"u{dtype.itemsize}")
        bits = values.view(whole.newbyteorder(dtype.byteorder)).astype(whole)
        return np.cumsum(bits, axis=1, dtype=whole).view(dtype.newbyteorder("="))
    return values


def _expand(data: bytes, compression: int, most: int) -> bytes:
    """Decompress to at most one byte more than allowed."""
    if compression == _NONE:
        return data[:most]
    if compression == _LZMA:
        return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY).decompress(data, most + 1)
    if compression == _PACKBITS:
        return _unpack_bits(data, most)
    return zlib.decompressobj().decompress(data, most + 1)


def _unpack_bits(data: bytes, most: int) -> bytes:
    """Apple's PackBits: literals of 1 to 128 bytes and repeats of 2 to 128."""
    out, at = bytearray(), 0
    while at < len(data) and len(out) <= most:
        head = data[at]
        if head < 128:
            out += data[at + 1 : at + 2 + head]
            at += 2 + head
        else:
            if head > 128:
                out += data[at + 1 : at + 2] * (257 - head)
            at += 2 if head > 128 else 1
    return bytes(out)


def _undo_floating_point(decoded: bytes, down: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """TIFF Technical Note 3: differences of bytes, the most significant of all pixels of a row first."""
    differences = np.frombuffer(decoded, np.uint8).reshape(down, dtype.itemsize * columns)
    planes = np.cumsum(differences, axis=1, dtype=np.uint8).reshape(down, dtype.itemsize, columns)
    pixels = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(dtype.newbyteorder(">"))
    return pixels.reshape(down, columns)


def _unpack_lzw(strips: Sequence[bytes], row_bytes: int, rows: int) -> bytes:
    """Have libtiff, which comes with Pillow, decode strips as if their bytes were pixels: what they mean is ours."""
    from PIL import TiffImagePlugin

    lengths = [len(strip) for strip in strips]
    lists = 8 * len(strips) if len(strips) > 1 else 0  # a single number stands in the tag itself
    offsets = [_TAGS + lists + before for before in accumulate(lengths[:-1], initial=0)]
    tags = {256: [row_bytes], 257: [rows * len(strips)], 258: [8], 259: [_LZW], 262: [1], 273: offsets, 277: [1],
            278: [rows], 279: lengths}  # fmt: skip
    behind = {273: _TAGS, 279: _TAGS + lists // 2}
    directory = b"".join(
        struct.pack("<HHII", tag, _LONG, len(values), values[0] if len(values) == 1 else behind[tag])
        for tag, values in tags.items()
    )
    numbers = struct.pack(f"<{lists // 4}I", *offsets, *lengths) if lists else b""
    joined = b"".join([struct.pack("<2sHIH", b"II", 42, 8, len(tags)), directory, bytes(4), numbers, *strips])
    # The plugin itself, since Image.open has its own, lower limit on the number of pixels.
    with TiffImagePlugin.TiffImageFile(io.BytesIO(joined)) as image:
        return image.tobytes()
