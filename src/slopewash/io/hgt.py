"""SRTM tiles (`.hgt`): one degree of heights in whole metres, big-endian, named after their south-west corner."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.cells import cannot_measure, metres_per_cell
from slopewash.io.decoding import decoding
from slopewash.io.info import FileInfo
from slopewash.io.meaning import Meaning, plain_band
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.remedies import option
from slopewash.terrain import Terrain

_SAMPLE = np.dtype(">i2")
_VOID = -32768.0
_SIDES = (1201, 3601)
"""Samples along a side: every 3 or 1 seconds of arc, with the edges shared by neighbouring tiles."""
_NAME = re.compile(r"([NS])(\d{2})([EW])(\d{3})", re.IGNORECASE)
_CRS = "EPSG:4326"


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Take the size from the number of bytes."""
    side = math.isqrt(path.stat().st_size // _SAMPLE.itemsize)
    if side not in _SIDES or side * side * _SAMPLE.itemsize != path.stat().st_size:
        raise InvalidFile(
            f"{path} is not a readable SRTM file: it has {path.stat().st_size} bytes, and a tile of 1201 or 3601 "
            "samples a side has 2884802 or 25934402"
        )
    _corner(path)
    return FileInfo(format="HGT", width=side, height=side, bits=16, dtype="int16", layers=("elevation",))


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read heights in metres; cells are in degrees, so that a CRS or a cell size must be given."""
    if options.height_range is not None:
        raise InvalidParameter(f"{path} contains heights that need no range; leave out {option('height_range')}")
    place = _place(*_corner(path), info.width)
    if options.cell_size is None:
        _, obstacle = metres_per_cell((place[0], -place[4]), geographic=True)
        raise InvalidFile(cannot_measure(path, str(obstacle)))
    with decoding(path, "SRTM"):
        samples = np.fromfile(path, dtype=_SAMPLE).reshape(info.height, info.width)
    meaning = Meaning(
        path=path,
        shape=samples.shape,
        bands=(plain_band(options, nodata=(_VOID,), numbers=True),),
        cell_size=options.cell_size,
        crs=_CRS,
        transform=place,
    )
    return meaning.terrain(lambda band: (samples, None))


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None) -> None:
    """Write a tile as it was read, in whole metres."""
    place = _place(*_corner(path), terrain.shape[1])
    side = terrain.shape[0]
    if terrain.shape != (side, side) or side not in _SIDES or terrain.crs != _CRS:
        raise InvalidParameter(
            f"{path} holds one degree in {_CRS} with 1201 or 3601 samples a side; write .tif instead"
        )
    if terrain.transform is None or not np.allclose(terrain.transform, place, rtol=0, atol=1e-6):
        raise InvalidParameter(f"{path} is not the name of the tile where this terrain lies; write .tif instead")
    low, high = terrain.range(layer)
    if low <= _VOID or high > -_VOID - 1:
        raise InvalidParameter(f"layer {layer} spans {low:g} .. {high:g}; {path} holds whole numbers to 32767")
    samples = np.rint(terrain[layer]).astype(_SAMPLE)
    if terrain.nodata is not None:
        samples[terrain.nodata] = _VOID
    with staged(path) as temporary:
        samples.tofile(temporary)


def _corner(path: Path) -> tuple[int, int]:
    """Latitude and longitude of the south-west corner, from the name."""
    found = _NAME.match(path.name)
    if found is None:
        raise InvalidFile(f"{path} has no place in its name; an SRTM tile is called N37W119.hgt, after its corner")
    north, latitude, east, longitude = found.groups()
    return (
        int(latitude) * (1 if north.upper() == "N" else -1),
        int(longitude) * (1 if east.upper() == "E" else -1),
    )


def _place(latitude: int, longitude: int, side: int) -> tuple[float, ...]:
    step = 1 / (side - 1)
    return step, 0.0, longitude - step / 2, 0.0, -step, latitude + 1 + step / 2
