"""The directories of a TIFF, walked without tifffile: it follows a chain that bites its own tail for ever."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

from slopewash.io.decoding import Damaged
from slopewash.io.limits import MAXIMUM_DIRECTORIES

_CLASSIC, _BIG = 42, 43
_MOST_TAGS = 4096
_SUBFILE_TYPE = 254
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
"""Bytes of a value, by type of tag."""


def subfile_types(path: Path) -> list[int]:
    """Kind of each image (tag 254): 0 for a full one, 1 for a smaller copy, 4 for a mask."""
    file_size = path.stat().st_size
    with path.open("rb") as file:
        order = {b"II": "<", b"MM": ">"}.get(file.read(2))
        version = 0 if order is None else _number(file, order + "H")
        if order is None or version not in (_CLASSIC, _BIG):
            raise Damaged("wrong file signature")
        if version == _BIG:
            file.seek(8)
        wide = version == _BIG
        offset, seen, kinds = _number(file, order + ("Q" if wide else "I")), set[int](), list[int]()
        while offset:
            if offset in seen:
                raise Damaged("its directories form a loop")
            if len(seen) == MAXIMUM_DIRECTORIES:
                raise Damaged(f"it has more than {MAXIMUM_DIRECTORIES} directories")
            seen.add(offset)
            file.seek(min(offset, file_size))
            kinds.append(_directory(file, order, wide, file_size))
            offset = _number(file, order + ("Q" if wide else "I"))
    if not kinds:
        raise Damaged("it contains no image")
    return kinds


def _directory(file: IO[bytes], order: str, wide: bool, file_size: int) -> int:
    """Read one directory up to the offset of the next, and return its tag 254."""
    count, kind = _number(file, order + ("Q" if wide else "H")), 0
    if count > _MOST_TAGS:
        raise Damaged(f"a directory has {count} tags")
    entry = struct.Struct(order + ("HHQ8s" if wide else "HHI4s"))
    for _ in range(count):
        tag, type_, length, value = entry.unpack(_exactly(file, entry.size))
        if _SIZES.get(type_, 1) * length > file_size:
            raise Damaged(f"tag {tag} is longer than the file")
        if tag == _SUBFILE_TYPE and length == 1 and type_ in (3, 4):
            (kind,) = struct.unpack_from(order + ("H" if type_ == 3 else "I"), value)
    return kind


def _number(file: IO[bytes], format: str) -> int:
    return int(struct.unpack(format, _exactly(file, struct.calcsize(format)))[0])


def _exactly(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise Damaged("it is truncated")
    return data
