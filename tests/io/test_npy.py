from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from slopewash.errors import InvalidFile, InvalidParameter, InvalidTerrain
from slopewash.io import read, write
from slopewash.terrain import Terrain


def save(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def test_numpy_reads_what_is_written(terrain: Terrain, tmp_path: Path) -> None:
    with np.load(write(terrain, tmp_path / "all.npz"), allow_pickle=False) as file:
        assert set(file.files) == {*terrain, "cell_size", "nodata", "crs", "transform", "sources", "emitters"}
        assert np.array_equal(file["water"], terrain["water"])
        assert (float(file["cell_size"]), str(file["crs"])) == (3.3, "EPSG:32611")
    bare = terrain.replace(elevation=terrain["elevation"], nodata=None)
    assert np.array_equal(np.load(write(bare, tmp_path / "bare.npy")), bare["elevation"])


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_of_any_depth_and_order_are_metres(tmp_path: Path, dtype: str, order: str) -> None:
    samples = np.asarray(np.arange(6.0).reshape(2, 3), dtype=dtype, order=order)  # type: ignore[call-overload]
    assert np.array_equal(read(save(tmp_path / "hill.npy", samples))["elevation"], samples)


def test_whole_numbers_need_a_range(tmp_path: Path) -> None:
    path = save(tmp_path / "whole.npy", np.array([[0, 65535]], dtype=np.uint16))
    with pytest.raises(InvalidParameter, match="--height-range"):
        read(path)
    assert read(path, height_range=(0.0, 9.0))["elevation"].tolist() == [[0.0, 9.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_value_that_is_no_height_names_file_and_cell(tmp_path: Path, value: float) -> None:
    with pytest.raises(InvalidTerrain, match=r"hole\.npy: layer elevation is .* at row 0, column 1"):
        read(save(tmp_path / "hole.npy", np.array([[1.0, value]])))


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 4)), np.array(1.0)])
def test_arrays_that_are_no_grid_are_rejected(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(InvalidFile, match="heights need two dimensions"):
        read(save(tmp_path / "odd.npy", array))


@pytest.mark.parametrize("array", [np.zeros((2, 2), dtype=bool), np.zeros((2, 2), dtype="c8"), np.array([["a", "b"]])])
def test_values_that_are_no_numbers_are_rejected(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(InvalidFile, match="heights must be real numbers"):
        read(save(tmp_path / "odd.npy", array))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "object.npy", np.array([[{}]]), allow_pickle=True)
    np.savez(tmp_path / "object.npz", elevation=np.array([[{}]]))
    for name in ("object.npy", "object.npz"):
        with pytest.raises(InvalidFile):
            read(tmp_path / name)


def test_nodata_is_not_written_as_ground(terrain: Terrain, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"\.npy cannot mark the 2 nodata cells"):
        write(terrain, tmp_path / "gaps.npy")


def test_layer_of_any_name_survives(tmp_path: Path) -> None:
    odd = Terrain(np.zeros((2, 2)), own_layers={"file": 1.0, "wear/deep": 2.0, "mañana": 3.0})
    again = read(write(odd, tmp_path / "odd.npz"))
    assert sorted(again) == sorted(odd)
    assert again.own_layers == odd.own_layers


def test_archive_without_elevation_is_rejected(tmp_path: Path) -> None:
    np.savez(tmp_path / "foreign.npz", np.zeros((2, 2)))
    with pytest.raises(InvalidFile, match="contains arr_0; one layer must be called elevation"):
        read(tmp_path / "foreign.npz")


@pytest.mark.parametrize(
    "odd",
    [
        {"water": np.zeros((3, 2))},
        {"cell_size": np.zeros(5)},
        {"transform": np.zeros(5)},
        {"sources": np.zeros(4)},
        {"emitters": np.zeros((1, 4))},
        {"emitters": np.array(0.0)},
        {"crs": np.array(["a", "b"])},
        {"water": np.array([["a", "b"]] * 2)},
    ],
)
def test_archive_with_a_misfit_names_it(tmp_path: Path, odd: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "odd.npz", elevation=np.zeros((2, 2)), **odd)  # type: ignore[arg-type]
    with pytest.raises(InvalidFile, match=f"odd.npz: {next(iter(odd))} has shape"):
        read(tmp_path / "odd.npz")


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_every_truncation_is_reported(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    whole = write(hill, tmp_path / f"whole{suffix}").read_bytes()
    path = tmp_path / f"broken{suffix}"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidFile, match="is not a readable NP"):
            read(path)


def test_huge_header_is_rejected_before_decoding(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000), }"
    header = header.ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "bomb.npy").write_bytes(array)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("elevation.npy", array)
    for name in ("bomb.npy", "bomb.npz"):
        with pytest.raises(InvalidFile, match="100000 x 100000 cells"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("crs", "cell_size"), [("EPSG:32611", 10.0), (None, 10.0), ("EPSG:4326", None), ("a local grid", None)]
)
def test_a_place_gives_the_cell_size_where_nothing_else_does(
    tmp_path: Path, crs: str | None, cell_size: float | None
) -> None:
    arrays = {"elevation": np.ones((3, 4), np.float32), "transform": np.array([10.0, 0, 5e5, 0, -10, 4e6])}
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive:
        for name, array in (arrays | ({} if crs is None else {"crs": np.array(crs)})).items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)
    if cell_size is None:
        with pytest.raises(InvalidFile, match=r"degrees, not metres|the unknown CRS"):
            read(tmp_path / "in.npz")
        cell_size = read(tmp_path / "in.npz", cell_size=10.0).cell_size
    else:
        assert read(tmp_path / "in.npz").cell_size == cell_size
