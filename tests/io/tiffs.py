"""TIFFs written by hand, byte by byte, so that no library that reads them has a say in what they mean."""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

SHORT, LONG, DOUBLE, ASCII, LONG8 = 3, 4, 12, 2, 16
_LETTERS = {SHORT: "H", LONG: "I", DOUBLE: "d", ASCII: "s", LONG8: "Q"}
_FORMATS = {"u": 1, "i": 2, "f": 3}
COMPRESSIONS = {"none": 1, "lzw": 5, "deflate": 8, "packbits": 32773, "lzma": 34925}

Order = Literal["<", ">"]
Tag = tuple[int, Sequence[Any] | str]


def tiff(
    bands: NDArray[Any],
    *,
    order: Order = "<",
    big: bool = False,
    compression: str = "none",
    predictor: bool = False,
    side: int | None = None,
    separate: bool = False,
    photometric: int = 1,
    tags: Mapping[int, Tag] | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> bytes:
    """Bands by rows by columns as a file: in strips of three rows, or in tiles with that `side`.

    `tags` are more of them, by code: type and values. `mask` becomes an image of its own, true where there is data.
    """
    file = _File(order, big)
    images = [file.image(bands, compression, predictor, side, separate, {262: (SHORT, [photometric]), **(tags or {})})]
    if mask is not None:
        packed = np.packbits(mask, axis=1)[None]
        more: dict[int, Tag] = {254: (LONG, [4]), 262: (SHORT, [4]), 258: (SHORT, [1]), 256: (LONG, [mask.shape[1]])}
        images.append(file.image(packed, "none", False, None, False, more))
    return file.closed(images)


class _File:
    def __init__(self, order: Order, big: bool) -> None:
        self.order, self.big = order, big
        self.data = bytearray(16 if big else 8)

    def image(
        self, bands: NDArray[Any], compression: str, predictor: bool, side: int | None, separate: bool,
        more: Mapping[int, Tag],
    ) -> dict[int, Tag]:  # fmt: skip
        """Append the pixels, and return the tags that describe them."""
        count, height, width = bands.shape
        planes = [bands[band : band + 1] for band in range(count)] if separate else [bands]
        pieces = [piece for plane in planes for piece in _pieces(plane, side)]
        places = [self.append(_compressed(_encoded(piece, self.order, predictor), compression)) for piece in pieces]
        dtype = bands.dtype
        tags: dict[int, Tag] = {
            256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [8 * dtype.itemsize] * count),
            259: (SHORT, [COMPRESSIONS[compression]]), 277: (SHORT, [count]),
            284: (SHORT, [2 if separate else 1]), 339: (SHORT, [_FORMATS[dtype.kind]] * count),
        }  # fmt: skip
        if predictor:
            tags[317] = (SHORT, [3 if dtype.kind == "f" else 2])
        offsets, lengths = [place for place, _ in places], [length for _, length in places]
        if side is None:
            tags |= {278: (LONG, [3]), 273: (LONG, offsets), 279: (LONG, lengths)}
        else:
            tags |= {322: (LONG, [side]), 323: (LONG, [side]), 324: (LONG, offsets), 325: (LONG, lengths)}
        return tags | dict(more)

    def append(self, data: bytes) -> tuple[int, int]:
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return len(self.data) - len(data), len(data)

    def closed(self, images: Sequence[Mapping[int, Tag]]) -> bytes:
        """Append the directories, each with the offset of the next, and write the header."""
        word, entry, places = ("Q", "HHQ", []) if self.big else ("I", "HHI", [])
        room = 8 if self.big else 4
        directories = []
        for tags in images:
            directory = struct.pack(self.order + ("Q" if self.big else "H"), len(tags))
            for code, (kind, values) in sorted(tags.items()):
                packed, count = self.values(kind, values)
                if len(packed) > room:
                    packed = struct.pack(self.order + word, self.append(packed)[0])
                directory += struct.pack(self.order + entry, code, kind, count) + packed.ljust(room, b"\0")
            directories.append(directory)
        for directory in directories:
            places.append(self.append(directory + bytes(room))[0])
        for place, directory, following in zip(places, directories, [*places[1:], 0], strict=True):
            struct.pack_into(self.order + word, self.data, place + len(directory), following)
        head = (b"II" if self.order == "<" else b"MM") + struct.pack(self.order + "H", 43 if self.big else 42)
        head += struct.pack(self.order + ("HHQ" if self.big else "I"), *([8, 0] if self.big else []), places[0])
        self.data[: len(head)] = head
        return bytes(self.data)

    def values(self, kind: int, values: Sequence[Any] | str) -> tuple[bytes, int]:
        if isinstance(values, str):
            data = values.encode("ascii") + b"\0"
            return data, len(data)
        return struct.pack(f"{self.order}{len(values)}{_LETTERS[kind]}", *values), len(values)


def _pieces(bands: NDArray[Any], side: int | None) -> list[NDArray[Any]]:
    _, height, width = bands.shape
    if side is None:
        return [bands[:, row : row + 3] for row in range(0, height, 3)]
    padded = np.pad(bands, ((0, 0), (0, -height % side), (0, -width % side)))
    return [
        padded[:, row : row + side, column : column + side]
        for row in range(0, height, side)
        for column in range(0, width, side)
    ]


def _encoded(piece: NDArray[Any], order: Order, predictor: bool) -> bytes:
    """Rows of pixels, each with the samples of all bands."""
    pixels = np.ascontiguousarray(piece.transpose(1, 2, 0))
    rows, columns, count = pixels.shape
    if not predictor:
        return pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    if pixels.dtype.kind == "f":  # bytes by significance, then differences
        size = pixels.dtype.itemsize
        high_first = pixels.astype(pixels.dtype.newbyteorder(">")).view(np.uint8).reshape(rows, columns * count, size)
        planes = high_first.transpose(0, 2, 1).reshape(rows, -1).astype(np.int16)
        planes[:, count:] -= planes[:, :-count].copy()
        return planes.astype(np.uint8).tobytes()
    whole = pixels.view(f"u{pixels.dtype.itemsize}").copy()
    whole[:, 1:] -= pixels.view(whole.dtype)[:, :-1]
    return whole.astype(whole.dtype.newbyteorder(order)).tobytes()


def _compressed(data: bytes, compression: str) -> bytes:
    if compression == "deflate":
        return zlib.compress(data)
    if compression == "lzma":
        return lzma.compress(data)
    if compression == "packbits":
        runs = [data[at : at + 128] for at in range(0, len(data), 128)]
        return b"".join(bytes([len(run) - 1]) + run for run in runs)
    return _lzw(data) if compression == "lzw" else data


def _lzw(data: bytes) -> bytes:
    """Literals of nine bits, and a new table before there would be ten."""
    codes = [code for at in range(0, len(data), 200) for code in (256, *data[at : at + 200])] + [257]
    bits = "".join(f"{code:09b}" for code in codes)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")
