"""Files beside a map that say what it means are not read, and that is said, whichever way it is read."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.io.tiffs import ASCII, Tag, tiff
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.errors import GeoreferenceWarning

HEIGHTS = np.linspace(100, 400, 63, dtype=np.float32).reshape(7, 9)
PLACED: dict[int, Tag] = {
    33550: (12, [30.0, 30.0, 0.0]), 33922: (12, [0.0, 0.0, 0.0, 500.0, 9000.0, 0.0]),
    34735: (3, [1, 1, 0, 4, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32611, 3076, 0, 1, 9001]),
    42113: (ASCII, "-9999"),
}  # fmt: skip
WORLD = "30\n0\n0\n-30\n515\n8985\n"


def notes(inside: str) -> str:
    return f'<PAMDataset><SRS>EPSG:32611</SRS><PAMRasterBand band="1">{inside}</PAMRasterBand></PAMDataset>'


@pytest.mark.parametrize("read", [sw.read, by_tiles])
@pytest.mark.parametrize(
    ("name", "text", "placed", "said"),
    [
        ("dem.tfw", WORLD, False, "place"),
        ("dem.TFW", WORLD, False, "place"),
        ("dem.tifw", WORLD, False, "place"),
        ("dem.wld", WORLD, False, "place"),
        ("dem.tfw", WORLD, True, None),
        ("dem.tif.msk", "mask", True, "cells without data"),
        ("dem.tif.aux.xml", notes(""), False, "CRS"),
        ("dem.tif.aux.xml", notes(""), True, None),
        ("dem.tif.aux.xml", notes("<NoDataValue>0</NoDataValue>"), True, "nodata"),
        ("dem.tif.aux.xml", notes("<NoDataValue>-9.999E+03</NoDataValue><Scale>1</Scale>"), True, None),
        ("dem.tif.aux.xml", notes("<UnitType>ft</UnitType><Scale>0.1</Scale>"), True, "scale and unit"),
        ("dem.tif.aux.xml", notes("<UnitType>m</UnitType><Metadata><MDI>9</MDI></Metadata>"), True, None),
        ("dem.tif.ovr", "overviews", True, None),
        ("other.tfw", WORLD, False, None),
    ],
)
def test_what_stands_beside_a_tiff_is_questioned(
    tmp_path: Path, name: str, text: str, said: str | None, read: Any, *, placed: bool
) -> None:
    path = tmp_path / "dem.tif"
    path.write_bytes(tiff(HEIGHTS[None], tags=PLACED if placed else None))
    (tmp_path / name).write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(path, {}) if read is by_tiles else read(path)
    messages = [str(warning.message) for warning in caught if warning.category is GeoreferenceWarning]
    assert len(messages) == (said is not None)
    if said is not None:
        assert f"{tmp_path / name} gives the {said} of dem.tif" in messages[0]


def test_what_was_given_as_an_option_is_not_questioned(tmp_path: Path) -> None:
    path = tmp_path / "dem.tif"
    path.write_bytes(tiff(HEIGHTS[None], tags=PLACED))
    (tmp_path / "dem.tif.aux.xml").write_text(notes("<NoDataValue>100</NoDataValue><UnitType>ft</UnitType>"))
    terrain = sw.read(path, nodata=100, height_unit="ft")
    assert terrain.nodata is not None
    assert terrain.nodata[0, 0]


def test_a_picture_has_a_world_file_and_a_transparent_grey(tmp_path: Path) -> None:
    path = tmp_path / "dem.png"
    samples = np.arange(63, dtype=np.uint16).reshape(7, 9) * 1000
    Image.fromarray(samples).save(path)
    data, chunk = path.read_bytes(), b"tRNS" + struct.pack(">H", 5000)
    at = data.index(b"IDAT") - 4
    whole = struct.pack(">I", 2) + chunk + struct.pack(">I", zlib.crc32(chunk))
    path.write_bytes(data[:at] + whole + data[at:])
    terrain = sw.read(path, height_range=(0, 65535))
    assert terrain.nodata is not None
    assert np.argwhere(terrain.nodata).tolist() == [[0, 5]]
    (tmp_path / "dem.pgw").write_text(WORLD)
    with pytest.warns(GeoreferenceWarning, match=r"dem\.pgw gives the place of dem\.png"):
        sw.read(path, height_range=(0, 65535))
