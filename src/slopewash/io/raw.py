"""Little-endian uint16 without a header (`.r16`, `.raw`), as game engines import it, with a JSON sidecar file."""

from __future__ import annotations

import json
import math
import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.decoding import decoding
from slopewash.io.heights import as_uint16
from slopewash.io.info import FileInfo
from slopewash.io.meaning import Meaning, plain_band
from slopewash.io.options import HeightRange, ReadOptions, check_height_range
from slopewash.io.side_files import side_of_another
from slopewash.paths import read_beside
from slopewash.remedies import by_file, option
from slopewash.terrain import Terrain

_SAMPLE, _FLOAT = np.dtype("<u2"), np.dtype("<f4")
_LEAST, _MOST = 1e-4, 1e5
"""Metres between which heights are plausible, besides 0."""
_UNLIKE = 8
"""Least ratio of the difference of neighbours to that of every second sample in halves of floats."""
_LOOKED_AT, _FEWEST = 1 << 20, 64
_LONGEST_SIDE_FILE = 1 << 20
"""Bytes."""


@dataclass(frozen=True, kw_only=True)
class _Sidecar:
    shape: tuple[int, int]
    height_range: HeightRange
    cell_size: float | None
    checksum: int | None


def sidecar(path: Path) -> Path:
    """Return the file that stores the size and range of a raw file.

    >>> sidecar(Path("hill.r16")).name
    'hill.r16.json'
    """
    return path.with_name(path.name + ".json")


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Take the size from the option, the sidecar file or, for a square, the number of bytes."""
    bytes_found = path.stat().st_size
    noted = _read_sidecar(path)
    if options.shape is not None:
        rows, columns = options.shape
    elif noted is not None:
        rows, columns = noted.shape
    else:
        rows = columns = math.isqrt(bytes_found // _SAMPLE.itemsize)
        if rows * columns * _SAMPLE.itemsize != bytes_found:
            side = math.isqrt(bytes_found // _FLOAT.itemsize)
            _check_not_floats(path, (side, side), bytes_found)
            raise InvalidFile(f"{path} has {bytes_found} bytes, which is not a square of 16-bit heights; {_remedy()}")
    if rows * columns * _SAMPLE.itemsize != bytes_found:
        _check_not_floats(path, (rows, columns), bytes_found)
        raise InvalidFile(
            f"{path} has {bytes_found} bytes; {rows} rows and {columns} columns of 16-bit heights need "
            f"{rows * columns * _SAMPLE.itemsize}"
        )
    return FileInfo(
        format="RAW",
        width=columns,
        height=rows,
        bits=16,
        dtype="uint16",
        layers=("elevation",),
        height_range=None if noted is None else noted.height_range,
    )


def _check_not_floats(path: Path, shape: tuple[int, int], bytes_found: int) -> None:
    rows, columns = shape
    if rows * columns * _FLOAT.itemsize == bytes_found:
        raise InvalidFile(
            f"{path} has {bytes_found} bytes, as {rows} rows and {columns} columns of 32-bit floats have, which are "
            "not read without a header; save it as .npy or .tif"
        )


def _are_floats(samples: NDArray[np.uint16]) -> bool:
    """Whether samples are halves of floats: all pairs make plausible heights, and neighbours have little in common.

    >>> heights = np.random.default_rng(1).random(4096, np.float32) * 900
    >>> _are_floats(heights.view(_SAMPLE)), _are_floats(np.arange(16000, 18000, dtype=_SAMPLE))
    (True, False)
    """
    first = samples.ravel()[:_LOOKED_AT]
    first = first[: first.size // 2 * 2]
    if first.size < _FEWEST:
        return False
    with np.errstate(invalid="ignore"):
        sizes = np.abs(first.view(_FLOAT))
    if not np.all((sizes == 0) | ((sizes > _LEAST) & (sizes < _MOST))):
        return False
    low, high = first[::2].astype(np.int32), first[1::2].astype(np.int32)
    return bool(np.abs(high - low).mean() > _UNLIKE * max(np.abs(np.diff(high)).mean(), 1.0))


def _remedy() -> str:
    size = option("shape", "(rows, columns)", "ROWS,COLUMNS")
    return by_file(ground=f"give its size with {size}", other="save it as .png, which has rows and columns")


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read samples row by row from the north-west and scale them to metres."""
    noted = _read_sidecar(path)
    with decoding(path, "RAW"):
        samples = np.fromfile(path, dtype=_SAMPLE).reshape(info.height, info.width)
    if noted is None and _are_floats(samples):
        raise InvalidFile(f"{path} has 32-bit floats, which are not read without a header; save it as .npy or .tif")
    height_range = options.height_range
    cell_size = options.cell_size
    if noted is not None and None in (height_range, cell_size):
        if noted.shape != samples.shape or noted.checksum not in (None, zlib.crc32(samples.data)):
            raise InvalidFile(
                f"{sidecar(path)} does not describe the heights in {path} with {info.height} rows and {info.width} "
                f"columns; give {option('height_range', '(low, high)', 'LOW..HIGH')}"
                + by_file(ground=f" and {option('cell_size')}", other="")
            )
        height_range, cell_size = height_range or noted.height_range, cell_size or noted.cell_size
    meaning = Meaning(
        path=path,
        shape=samples.shape,
        bands=(plain_band(options, recorded=height_range),),
        cell_size=cell_size,
    )
    return meaning.terrain(lambda band: (samples, None))


def check(path: Path) -> None:
    """Refuse a place where a file of another program has the name of the sidecar."""
    side = sidecar(path)
    if not os.path.lexists(path) and os.path.lexists(side):
        with suppress(InvalidFile):
            if _read_sidecar(path) is not None:
                return
        raise side_of_another(side, path)


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None) -> None:
    """Write one layer in 65536 steps, and a sidecar file with their shape, range and cell size."""
    samples, height_range = as_uint16(terrain, layer, height_range)
    samples = samples.astype(_SAMPLE, copy=False)
    notes = {
        "width": terrain.shape[1],
        "height": terrain.shape[0],
        "type": "uint16, little-endian, rows from north to south",
        "height_range": height_range,
        "cell_size": terrain.cell_size,
        "crc32": zlib.crc32(samples.data),
    }
    # Two renames are not atomic: if only the first happens, the checksum shows that the files do not belong together.
    with staged(sidecar(path), follow=False) as temporary_notes:
        temporary_notes.write_text(json.dumps(notes, indent=2) + "\n", encoding="utf-8")
        with staged(path) as temporary:
            samples.tofile(temporary)


def _read_sidecar(path: Path) -> _Sidecar | None:
    side = sidecar(path)
    with decoding(side, "JSON"):
        text = read_beside(side, _LONGEST_SIDE_FILE)
        if text is None:
            return None
        notes = json.loads(text)
        low, high = map(float, notes["height_range"])
        check_height_range((low, high))
        return _Sidecar(
            shape=(int(notes["height"]), int(notes["width"])),
            height_range=(low, high),
            cell_size=float(notes["cell_size"]) if "cell_size" in notes else None,
            checksum=int(notes["crc32"]) if "crc32" in notes else None,
        )
