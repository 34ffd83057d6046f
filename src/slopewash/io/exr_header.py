"""The header of an OpenEXR file, read without the OpenEXR library.

The library reports a truncated file directly on the process's stdout and stderr, so such files are detected here first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from slopewash.io.decoding import Damaged

_MAGIC = b"\x76\x2f\x31\x01"
_TILED, _DEEP, _MULTIPART = 0x200, 0x800, 0x1000
_DTYPES = ("uint32", "float16", "float32")
_ROWS_PER_CHUNK = (1, 1, 1, 16, 32, 16, 32, 32, 32, 256)
"""Indexed by compression code: none, RLE, ZIPS, ZIP, PIZ, PXR24, B44, B44A, DWAA, DWAB."""


@dataclass(frozen=True, kw_only=True)
class ExrHeader:
    """Size, channels (name to NumPy type name) and text attributes of a single-part image."""

    width: int
    height: int
    channels: dict[str, str]
    texts: dict[str, str]


def read_header(path: Path) -> ExrHeader:
    """Read the attributes; raises `Damaged` or `struct.error` on anything but a complete, flat, single-part image."""
    with path.open("rb") as file:
        if file.read(4) != _MAGIC:
            raise Damaged("wrong file signature")
        flags = struct.unpack("<I", file.read(4))[0]
        if flags & (_DEEP | _MULTIPART):
            raise Damaged("it has several parts or deep pixels; a height field needs a single flat image")
        attributes = _attributes(file, path.stat().st_size)
        west, north, east, south = struct.unpack("<4i", attributes["dataWindow"])
        width, height = east - west + 1, south - north + 1
        if width < 1 or height < 1:
            raise Damaged("its header is damaged")
        compression = attributes["compression"][0]
        if not flags & _TILED and compression < len(_ROWS_PER_CHUNK):
            _check_chunks(file, path.stat().st_size, -(-height // _ROWS_PER_CHUNK[compression]))
    texts = {name: value.decode("utf-8", "replace") for name, value in attributes.items() if ":" in name}
    return ExrHeader(width=width, height=height, channels=_channels(attributes["channels"]), texts=texts)


def _attributes(file: IO[bytes], file_size: int) -> dict[str, bytes]:
    attributes = {}
    while name := _text(file):
        _text(file)  # the type's name
        (size,) = struct.unpack("<I", file.read(4))
        if size > file_size:
            raise Damaged("it is truncated")
        attributes[name] = file.read(size)
    for name in ("channels", "dataWindow", "compression"):
        if not attributes.get(name):
            raise Damaged("its header is damaged")
    return attributes


def _text(file: IO[bytes]) -> str:
    text = b""
    while (byte := file.read(1)) != b"\0":
        text += byte
        if not byte or len(text) > 255:
            raise Damaged("its header is damaged")
    return text.decode("utf-8", "replace")


def _channels(value: bytes) -> dict[str, str]:
    channels = {}
    while value[:1] != b"\0":
        name, _, value = value.partition(b"\0")
        (kind,) = struct.unpack("<I", value[:4])
        channels[name.decode("utf-8", "replace")] = _DTYPES[kind]
        value = value[16:]  # type, linearity and padding, sampling in x and y
    return channels


def _check_chunks(file: IO[bytes], file_size: int, count: int) -> None:
    """Check that the last chunk of rows ends within the file."""
    if file.tell() + 8 * count > file_size:
        raise Damaged("it is truncated")
    offsets = struct.unpack(f"<{count}Q", file.read(8 * count))
    last = max(offsets)
    if min(offsets) == 0 or last + 8 > file_size:
        raise Damaged("it is truncated")
    file.seek(last + 4)  # past the number of its first row
    (size,) = struct.unpack("<I", file.read(4))
    if last + 8 + size > file_size:
        raise Damaged("it is truncated")
