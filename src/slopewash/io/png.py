"""PNG: 16-bit grey, with the range of heights and the cell size in text chunks."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.heights import as_uint16
from slopewash.io.info import FileInfo, not_grey
from slopewash.io.meaning import Meaning, plain_band
from slopewash.io.notes import MADE_BY, Notes, notes_from, notes_text
from slopewash.io.options import HeightRange, ReadOptions, check_height_range
from slopewash.io.side_files import question_side_files
from slopewash.terrain import Terrain

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _PALETTE = 0, 3
_CHANNELS = {_GREY: 1, 2: 3, _PALETTE: 1, 4: 2, 6: 4}
_COMPRESSION = 3  # under half the time of the default 6 for at most 2 % more bytes on real and noisy ground
_DEFLATE_RATIO = 1032  # the most that deflate can expand
_LONGEST_NOTE = 1 << 20
RANGE, _CELL_SIZE = "slopewash:height_range", "slopewash:cell_size"


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the IHDR chunk; Pillow is not used for this, since it opens 16-bit colour as 8-bit."""
    width, height, bits, colour = _image_header(path)
    notes = _first_notes(path)
    recorded = None
    with suppress(ValueError):  # `read` reports it
        recorded = _recorded_range(notes)
    channels = _CHANNELS[colour]
    layers = {1: ("elevation",), 2: ("grey", "alpha"), 3: ("red", "green", "blue")}
    return FileInfo(
        format="PNG",
        width=width,
        height=height,
        bits=bits,
        dtype="uint16" if bits == 16 else "uint8",
        channels=channels,
        made_by=notes_from(notes.get(MADE_BY)),
        height_range=recorded,
        layers=("palette",) if colour == _PALETTE else layers.get(channels, ("red", "green", "blue", "alpha")),
    )


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read grey samples and scale them to metres."""
    if info.layers != ("elevation",):
        raise not_grey(path, info)
    from PIL import PngImagePlugin

    notes = _notes(path)
    with decoding(path, "PNG"), path.open("rb") as file:
        if info.width * info.height * info.bits // 8 > _DEFLATE_RATIO * path.stat().st_size:
            raise Damaged(f"it is truncated: {info.width} x {info.height} pixels need more bytes")
        recorded = _recorded_range(notes)
        cell_size = float(notes[_CELL_SIZE]) if _CELL_SIZE in notes else None
        # The plugin itself, since Image.open has its own, lower limit on the number of pixels.
        with PngImagePlugin.PngImageFile(file) as image:
            samples = np.asarray(image).astype(info.dtype, copy=False)
            clear = image.info.get("transparency")
    meaning = Meaning(
        path=path,
        shape=samples.shape,
        bands=(plain_band(options, recorded=recorded, nodata=() if clear is None else (float(clear),)),),
        cell_size=options.cell_size or cell_size,
    )
    question_side_files(meaning)
    return meaning.terrain(lambda band: (samples, None))


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write one layer in 65536 steps and record their range."""
    samples, (low, high) = as_uint16(terrain, layer, height_range)
    made_by = {MADE_BY: notes_text(notes)} if notes else {}
    write_samples(samples, path, terrain.cell_size, {RANGE: f"{low!r},{high!r}"} | made_by)


def write_samples(samples: NDArray[np.uint16], path: Path, cell_size: float, notes: Mapping[str, str]) -> None:
    """Write 16-bit grey with texts by name."""
    from PIL import Image, PngImagePlugin

    texts = PngImagePlugin.PngInfo()
    for name, text in {_CELL_SIZE: repr(cell_size), **notes}.items():
        texts.add_text(name, text)
    with staged(path) as temporary, temporary.open("wb") as file:
        Image.fromarray(samples).save(file, format="PNG", pnginfo=texts, compress_level=_COMPRESSION)


def _image_header(path: Path) -> tuple[int, int, int, int]:
    with decoding(path, "PNG"), path.open("rb") as file:
        if file.read(8) != SIGNATURE:
            raise Damaged("wrong file signature")
        kind, data = next(_chunks(file))
        width, height, bits, colour = struct.unpack(">IIBB", data[:10])
        if kind != b"IHDR" or not (width and height) or bits not in (1, 2, 4, 8, 16) or colour not in _CHANNELS:
            raise Damaged("its header is damaged")
    return width, height, bits, colour


def _notes(path: Path) -> dict[str, str]:
    """Return the text chunks, after checking that every chunk is complete."""
    notes = {}
    with decoding(path, "PNG"), path.open("rb") as file:
        file.seek(len(SIGNATURE))
        for kind, data in _chunks(file):
            if kind == b"tEXt":
                key, _, text = data.partition(b"\0")
                notes[key.decode("latin-1")] = text.decode("latin-1")
    return notes


def _first_notes(path: Path) -> dict[str, str]:
    """Return the text chunks before the picture, which is not read: it may be damaged, or larger than it seems."""
    notes = {}
    with path.open("rb") as file:
        file.seek(len(SIGNATURE))
        while len(head := file.read(8)) == 8:
            length, kind = struct.unpack(">I4s", head)
            if kind == b"IDAT" or length > _LONGEST_NOTE:
                break
            data, check = file.read(length), file.read(4)
            if zlib.crc32(kind + data) != int.from_bytes(check, "big"):
                break
            if kind == b"tEXt":
                key, _, text = data.partition(b"\0")
                notes[key.decode("latin-1")] = text.decode("latin-1")
    return notes


def _chunks(file: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    file_size, kind = os.fstat(file.fileno()).st_size, b""
    while kind != b"IEND":
        head = file.read(8)
        if len(head) < 8:
            raise Damaged("it is truncated")
        length, kind = struct.unpack(">I4s", head)
        data, check = file.read(min(length, file_size)), file.read(4)
        if len(check) < 4:
            raise Damaged("it is truncated")
        if zlib.crc32(kind + data) != int.from_bytes(check, "big"):
            raise Damaged(f"its chunk {kind!r} is damaged")
        yield kind, data


def _recorded_range(notes: dict[str, str]) -> HeightRange | None:
    if RANGE not in notes:
        return None
    low, high = map(float, notes[RANGE].split(","))
    check_height_range((low, high))
    return low, high
