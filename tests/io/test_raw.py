from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.generators import generate, generator_names
from slopewash.io import probe, read, write
from slopewash.terrain import Terrain


def test_samples_are_little_endian_rows_from_the_north(tmp_path: Path) -> None:
    path = write(Terrain([[0.0, 1.0, 256.0], [2.0, 3.0, 65535.0]]), tmp_path / "hill.r16")
    assert struct.unpack("<6H", path.read_bytes()) == (0, 1, 256, 2, 3, 65535)


def test_sidecar_reports_size_range_and_cell_size(tmp_path: Path) -> None:
    write(Terrain([[0.0, 5.0, 10.0]], cell_size=2.5), tmp_path / "hill.raw", height_range=(-10.0, 30.0))
    notes = json.loads((tmp_path / "hill.raw.json").read_text())
    assert (notes["width"], notes["height"], notes["cell_size"]) == (3, 1, 2.5)
    assert notes["height_range"] == [-10.0, 30.0]


def test_square_file_needs_no_size_and_other_files_do(tmp_path: Path) -> None:
    path = tmp_path / "foreign.r16"
    path.write_bytes(struct.pack("<4H", 0, 65535, 0, 65535))
    assert read(path, height_range=(0.0, 8.0))["elevation"].tolist() == [[0.0, 8.0], [0.0, 8.0]]
    assert read(path, height_range=(0.0, 8.0), shape=(1, 4))["elevation"].tolist() == [[0.0, 8.0, 0.0, 8.0]]
    with pytest.raises(InvalidParameter, match="--height-range"):
        read(path)
    with pytest.raises(InvalidFile, match="8 bytes; 1 rows and 3 columns of 16-bit heights need 6"):
        read(path, height_range=(0.0, 8.0), shape=(1, 3))
    path.write_bytes(bytes(6))
    with pytest.raises(InvalidFile, match=r"not a square.*shape="):
        probe(path)
    path.write_bytes(bytes(9))
    with pytest.raises(InvalidFile, match="not a square"):
        probe(path)


def test_floats_are_not_taken_for_twice_as_many_integers(tmp_path: Path) -> None:
    path, ground = tmp_path / "floats.raw", generate("dome", size=40, seed=1)
    path.write_bytes(ground["elevation"].astype("<f4").tobytes())
    for shape in (None, (40, 40)):
        with pytest.raises(InvalidFile, match="as 40 rows and 40 columns of 32-bit floats have, which are not read"):
            read(path, height_range=(0.0, 8.0), shape=shape)
    with pytest.raises(InvalidFile, match=r"has 32-bit floats, which are not read .* save it as \.npy or \.tif"):
        read(path, height_range=(0.0, 8.0), shape=(80, 40))
    for kind in generator_names():  # no heights of 16 bits are taken for floats, wherever they lie in the range
        for low, high in ((0.0, 1000.0), (-400.0, 1000.0), (-2000.0, 6000.0)):
            write(generate(kind, size=64, seed=2, relief=90.0), tmp_path / "own.raw", height_range=(low, high))
            (tmp_path / "own.raw.json").unlink()
            read(tmp_path / "own.raw", height_range=(low, high), shape=(64, 64))


def test_explicit_options_win_over_the_sidecar(tmp_path: Path) -> None:
    path = write(Terrain([[0.0, 10.0]], cell_size=4.0), tmp_path / "hill.r16")
    ground = read(path, height_range=(5.0, 6.0), cell_size=8.0, shape=(2, 1))
    assert ground["elevation"].tolist() == [[5.0], [6.0]]
    assert ground.cell_size == 8.0


def test_sidecar_of_other_heights_is_rejected(tmp_path: Path) -> None:
    path = write(Terrain([[0.0, 10.0]]), tmp_path / "hill.r16")
    path.write_bytes(struct.pack("<2H", 7, 8))
    with pytest.raises(InvalidFile, match="does not describe the heights"):
        read(path)
    assert read(path, height_range=(0.0, 65535.0), cell_size=1.0)["elevation"].tolist() == [[7.0, 8.0]]


def test_sidecar_by_hand_may_omit_optional_entries(tmp_path: Path) -> None:
    path = tmp_path / "foreign.r16"
    path.write_bytes(struct.pack("<2H", 0, 65535))
    (tmp_path / "foreign.r16.json").write_text('{"width": 2, "height": 1, "height_range": [0, 50]}')
    assert read(path)["elevation"].tolist() == [[0.0, 50.0]]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"width": 2}', '{"width": 2, "height": 1, "height_range": [9, 1]}'])
def test_damaged_sidecar_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "foreign.r16"
    path.write_bytes(bytes(4))
    (tmp_path / "foreign.r16.json").write_text(text)
    with pytest.raises((InvalidFile, InvalidParameter)):
        read(path)


def test_truncated_file_is_reported(hill: Terrain, tmp_path: Path) -> None:
    path = write(hill, tmp_path / "hill.r16")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InvalidFile, match="67 bytes; 5 rows and 7 columns of 16-bit heights"):
        read(path)


def test_a_shape_that_the_sidecar_contradicts_is_rejected(tmp_path: Path) -> None:
    path = write(Terrain(np.arange(24.0).reshape(4, 6), cell_size=3.0), tmp_path / "hill.r16")
    assert read(path, shape=(4, 6)).shape == (4, 6)
    with pytest.raises(InvalidFile, match=r"does not describe the heights .* with 6 rows and 4 columns"):
        read(path, shape=(6, 4))


def test_nothing_is_taken_from_the_sidecar_of_other_heights(tmp_path: Path) -> None:
    path = write(Terrain(np.arange(24.0).reshape(4, 6), cell_size=3.0), tmp_path / "hill.r16")
    np.arange(24, dtype="<u2")[::-1].tofile(path)
    with pytest.raises(InvalidFile, match="does not describe the heights"):
        read(path, height_range=(0.0, 9.0))
    with pytest.raises(InvalidFile, match="does not describe the heights"):
        read(path, cell_size=5.0)
    assert read(path, height_range=(0.0, 9.0), cell_size=5.0, shape=(6, 4)).cell_size == 5.0
