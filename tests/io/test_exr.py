from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import OpenEXR
import pytest

from slopewash.errors import InvalidFile, InvalidParameter, InvalidTerrain
from slopewash.io import probe, read, write
from slopewash.terrain import Terrain


def save(path: Path, channels: dict[str, np.ndarray], **header: object) -> Path:
    with OpenEXR.File(header, channels) as file:
        file.write(str(path))
    return path


def test_library_reads_every_layer_in_metres_with_nan_in_nodata_cells(terrain: Terrain, tmp_path: Path) -> None:
    path = write(terrain, tmp_path / "out.exr")
    with OpenEXR.File(str(path), separate_channels=True) as file:
        assert sorted(file.channels()) == ["elevation", "erodibility", "water"]
        for name, channel in file.channels().items():
            assert channel.pixels.dtype == np.float32
            expected = np.where(terrain.nodata, np.nan, terrain[name])  # type: ignore[arg-type]
            assert np.array_equal(channel.pixels, expected, equal_nan=True)
        header = dict(file.header())  # emptied when the file closes
    assert float(header["slopewash:cell_size"]) == 3.3
    assert header["slopewash:crs"] == "EPSG:32611"


def test_header_by_the_letter_of_the_format(hill: Terrain, tmp_path: Path) -> None:
    data = write(hill, tmp_path / "out.exr").read_bytes()
    assert struct.unpack("<II", data[:8]) == (20000630, 2)
    one_float_channel = b"elevation\0" + struct.pack("<I4xII", 2, 1, 1) + b"\0"
    assert b"channels\0chlist\0" + struct.pack("<I", len(one_float_channel)) + one_float_channel in data
    assert b"dataWindow\0box2i\0" + struct.pack("<I4i", 16, 0, 0, 6, 4) in data


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_single_channel_of_any_name_is_the_elevation(tmp_path: Path, dtype: str) -> None:
    samples = np.arange(12, dtype=dtype).reshape(3, 4)
    path = save(tmp_path / "depth.exr", {"Y": samples})
    assert np.array_equal(read(path, cell_size=2.0)["elevation"], samples)
    assert (probe(path).layers, probe(path).bits) == (("Y",), samples.itemsize * 8)


def test_tiled_file_is_read(tmp_path: Path) -> None:
    samples = np.arange(12, dtype=np.float32).reshape(3, 4)
    path = save(tmp_path / "tiled.exr", {"Z": samples}, type=OpenEXR.tiledimage, tiles=OpenEXR.TileDescription())
    assert np.array_equal(read(path)["elevation"], samples)


def test_channels_without_elevation_are_rejected(tmp_path: Path) -> None:
    grid = np.zeros((3, 4), dtype=np.float32)
    with pytest.raises(InvalidFile, match="channels B, G, R; heights need a single channel, or one called elevation"):
        read(save(tmp_path / "colour.exr", {"R": grid, "G": grid, "B": grid}))


def test_channel_with_a_taken_name_is_rejected(tmp_path: Path) -> None:
    grid = np.zeros((3, 4), dtype=np.float32)
    with pytest.raises(InvalidFile, match='"nodata", which is a reserved name'):
        read(save(tmp_path / "odd.exr", {"elevation": grid, "nodata": grid}))


def test_whole_numbers_need_a_range(tmp_path: Path) -> None:
    path = save(tmp_path / "whole.exr", {"elevation": np.array([[0, 2**32 - 1]], dtype=np.uint32)})
    with pytest.raises(InvalidParameter, match="--height-range"):
        read(path)
    assert read(path, height_range=(1.0, 2.0))["elevation"].tolist() == [[1.0, 2.0]]


def test_foreign_nan_names_file_and_cell(tmp_path: Path) -> None:
    path = save(tmp_path / "hole.exr", {"Y": np.array([[1.0, np.nan]], dtype=np.float32)})
    with pytest.raises(InvalidTerrain, match=r"hole\.exr: layer elevation is nan.* at row 0, column 1"):
        read(path)


def test_several_parts_are_rejected(tmp_path: Path) -> None:
    grid = np.zeros((3, 4), dtype=np.float32)
    parts = [OpenEXR.Part({}, {"Z": grid}, name=name) for name in "ab"]
    with OpenEXR.File(parts) as file:
        file.write(str(tmp_path / "parts.exr"))
    with pytest.raises(InvalidFile, match="several parts"):
        read(tmp_path / "parts.exr")


def test_every_truncation_is_reported_once(hill: Terrain, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = write(hill, tmp_path / "whole.exr").read_bytes()
    path = tmp_path / "broken.exr"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidFile, match=r"broken\.exr is not a readable OpenEXR file: "):
            read(path)
    assert capfd.readouterr() == ("", "")


def test_huge_header_is_rejected_before_decoding(hill: Terrain, tmp_path: Path) -> None:
    path = write(hill, tmp_path / "bomb.exr")
    window = b"dataWindow\0box2i\0" + struct.pack("<I", 16)
    data = path.read_bytes().replace(
        window + struct.pack("<4i", 0, 0, 6, 4), window + struct.pack("<4i", 0, 0, 2**30, 4)
    )
    path.write_bytes(data)
    with pytest.raises(InvalidFile, match="1073741825 x 5 cells"):
        read(path)


def test_layers_with_names_too_long_for_channels_are_refused(tmp_path: Path) -> None:
    terrain = Terrain([[0.0, 1.0]], own_layers={"ö" * 128: np.ones((1, 2), np.float32)})
    with pytest.raises(InvalidParameter, match="a name of 256 bytes"):
        write(terrain, tmp_path / "out.exr")
