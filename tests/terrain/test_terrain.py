from __future__ import annotations

import copy
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidFile, InvalidTerrain, UnknownName
from slopewash.io import read, write
from slopewash.terrain import Terrain, WaterSource
from slopewash.terrain.arrays import handed_over
from slopewash.terrain.fields import ATTRIBUTES, RESERVED, STRATA_TOP

FLAT = np.zeros((3, 4))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12, dtype=np.float64).reshape(3, 4),
        np.arange(12, dtype=np.float16).reshape(3, 4),
        np.arange(12, dtype=np.uint8).reshape(3, 4),
        np.arange(12, dtype=np.int32).reshape(3, 4),
        np.arange(12, dtype=np.uint64).reshape(3, 4),
        np.arange(12, dtype=">f4").reshape(3, 4),
        np.arange(12, dtype=">i2").reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.repeat(np.repeat(np.arange(12.0).reshape(3, 4), 2, axis=0), 2, axis=1)[::2, ::2],
        np.arange(11.0, -1.0, -1.0).reshape(3, 4)[::-1, ::-1],
        np.arange(12).reshape(3, 4).tolist(),
    ],
    ids=["f8", "f2", "u1", "i4", "u8", "big-endian f4", "big-endian i2", "fortran", "strided", "reversed", "lists"],
)
def test_any_real_array_becomes_native_contiguous_float32(values: Any) -> None:
    layer = Terrain(values)["elevation"]
    assert layer.dtype == np.dtype(np.float32)
    assert layer.dtype.isnative
    assert layer.flags.c_contiguous
    np.testing.assert_array_equal(layer, np.arange(12).reshape(3, 4))


def test_layers_are_copies_that_nobody_can_write_to() -> None:
    mine = np.zeros((3, 4), dtype=np.float32)
    terrain = Terrain(mine)
    mine[0, 0] = 5.0
    assert terrain["elevation"][0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        terrain["elevation"][0, 0] = 1.0


@pytest.mark.parametrize("name", ["elevation", "water"])
def test_no_view_of_what_was_given_reaches_the_terrain(name: str) -> None:
    mine = np.ones((3, 4), dtype=np.float32)
    view = mine[:]
    mine.setflags(write=False)
    layers: dict[str, Any] = {"elevation": FLAT, name: mine}
    terrain = Terrain(**layers)
    view[:] = np.nan
    mine.setflags(write=True)
    mine[0, 0] = -1e9
    assert (terrain[name] == 1).all()


def everything_of(terrain: Terrain) -> list[Any]:
    return [*terrain.values(), *(() if terrain.nodata is None else (terrain.nodata,))]


@pytest.mark.parametrize("nodata", [None, np.eye(3, 4, dtype=bool)], ids=["whole", "voids"])
def test_nothing_of_a_terrain_or_its_copies_can_be_made_writeable(nodata: Any) -> None:
    terrain = Terrain(np.arange(12.0).reshape(3, 4), water=1.0, own_layers={"mood": FLAT}, nodata=nodata)
    pickles = [pickle.loads(pickle.dumps(terrain, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in (terrain, terrain.replace(water=2.0), copy.copy(terrain), copy.deepcopy(terrain), *pickles):
        for array in everything_of(other):
            for part in (array, array[:2], array.view()):
                assert not part.flags.writeable
                with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                    part.setflags(write=True)


def test_layers_of_a_terrain_are_shared_and_not_copied() -> None:
    terrain = Terrain(np.arange(12.0).reshape(3, 4), water=1.0, own_layers={"mood": FLAT})
    for other in (terrain.replace(suspended=0.5), Terrain(terrain["elevation"], water=terrain["water"])):
        for name in ("elevation", "water"):
            assert other[name] is terrain[name]
    part = Terrain(terrain["elevation"][:2])
    assert not np.shares_memory(part["elevation"], terrain["elevation"])  # which would live on for a part


def test_what_is_handed_over_is_kept_without_a_copy() -> None:
    made = np.ones((3, 4), np.float32)
    assert np.shares_memory(Terrain(FLAT, water=handed_over(made))["water"], made)
    assert Terrain(FLAT, water=handed_over(made.astype(">f4")))["water"].dtype.isnative
    assert Terrain(FLAT, water=handed_over(made[:, ::2].repeat(2, axis=1).T).T).range("water") == (1.0, 1.0)


@pytest.mark.parametrize("name", [*ATTRIBUTES, "shape", "own_layers", "anything"])
def test_a_terrain_cannot_be_changed_in_place(name: str) -> None:
    terrain = Terrain(FLAT, cell_size=2.0)
    for changed in (terrain, copy.deepcopy(terrain), pickle.loads(pickle.dumps(terrain))):
        with pytest.raises(AttributeError, match=rf"{name} of a terrain cannot be set; .*terrain.replace\({name}="):
            setattr(changed, name, -3)
        with pytest.raises(AttributeError, match=f"{name} of a terrain cannot be set"):
            delattr(changed, name)
    assert (terrain.cell_size, terrain.shape) == (2.0, (3, 4))


def test_read_only_arrays_and_masks_are_accepted() -> None:
    ground = np.ones((3, 4))
    ground.setflags(write=False)
    mask = np.eye(3, 4, dtype=bool)
    mask.setflags(write=False)
    terrain = Terrain(ground, nodata=mask)
    assert terrain.range("elevation") == (1.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elevation": np.zeros(4)}, "elevation has 1 dimensions; it must have two, rows and columns"),
        ({"elevation": 3.0}, "elevation has 0 dimensions; it must have two, rows and columns"),
        ({"elevation": np.zeros((2, 3, 4))}, "elevation has 3 dimensions; it must have two, rows and columns"),
        ({"elevation": np.zeros((0, 4))}, "elevation has shape (0, 4); it needs at least one cell"),
        ({"elevation": FLAT + 1j}, "layer elevation has dtype complex128; it must hold real numbers"),
        ({"elevation": None}, "layer elevation has dtype object; it must hold real numbers"),
        ({"elevation": [["high", "low"]]}, "layer elevation has dtype <U4; it must hold real numbers"),
        ({"elevation": [[1.0, 2.0], [3.0]]}, "layer elevation is ragged; all its rows must be equally long"),
        (
            {"elevation": np.where(np.eye(3, 4) > 0, np.nan, 0.0)},
            "layer elevation is nan as float32 at row 0, column 0 (3 such cells); fill them or mark them with nodata=",
        ),
        (
            {"elevation": np.full((1, 1), 1e39)},
            "layer elevation is inf as float32 at row 0, column 0 (1 such cell); fill them or mark them with nodata=",
        ),
        (
            {"elevation": FLAT, "water": np.nan},
            "layer water is nan as float32 at row 0, column 0 (12 such cells); fill them or mark them with nodata=",
        ),
        (
            {"elevation": FLAT, "water": np.zeros((4, 3))},
            "layer water has shape (4, 3); it must be (3, 4), as elevation is, or a single number",
        ),
        ({"elevation": FLAT, "water": -1.0}, "layer water has a value of -1; it must not be negative"),
        (
            {"elevation": FLAT, "erodibility": 1.5},
            "layer erodibility spans 1.5 .. 1.5; it must lie within 0 .. 1: "
            "How easily the ground erodes: 0 hard, 1 soft.",
        ),
        ({"elevation": FLAT, "cell_size": 0}, "cell_size is 0.0 m; it must be positive and finite"),
        ({"elevation": FLAT, "cell_size": -2.0}, "cell_size is -2.0 m; it must be positive and finite"),
        ({"elevation": FLAT, "cell_size": np.inf}, "cell_size is inf m; it must be positive and finite"),
        ({"elevation": FLAT, "cell_size": np.nan}, "cell_size is nan m; it must be positive and finite"),
        ({"elevation": FLAT, "cell_size": "ten"}, "cell_size is 'ten'; it must be a number of metres"),
        ({"elevation": FLAT, "cell_size": None}, "cell_size is None; it must be a number of metres"),
        (
            {"elevation": FLAT, "nodata": np.zeros((3, 3), bool)},
            "nodata has shape (3, 3); it must be a mask of (3, 4), as elevation is",
        ),
        (
            {"elevation": FLAT, "nodata": -9999.0},
            "nodata has shape (); it must be a mask of (3, 4), as elevation is",
        ),
        (
            {"elevation": FLAT, "nodata": np.ones((3, 4), bool)},
            "every cell is nodata; a terrain needs at least one cell of ground",
        ),
        ({"elevation": FLAT, "transform": (1, 2, 3)}, "transform is (1, 2, 3); it must be six finite numbers"),
        ({"elevation": FLAT, "transform": 5}, "transform is 5; it must be six finite numbers"),
        ({"elevation": FLAT, "sources": ["spring"]}, "sources holds 'spring'; each must be of type WaterSource"),
    ],
)
def test_what_cannot_be_a_terrain_is_refused_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidTerrain) as caught:
        Terrain(**arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_layers_of_one_s_own_take_no_reserved_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidTerrain, match=f'own_layers holds "{name}", which is a reserved name; rename it'):
        Terrain(FLAT, own_layers={name: 1.0})
    np.savez(tmp_path / "odd.npz", elevation=FLAT, odd=FLAT)
    with zipfile.ZipFile(tmp_path / "odd.npz") as odd, zipfile.ZipFile(tmp_path / "taken.npz", "w") as taken:
        for entry in odd.namelist():
            taken.writestr(entry.replace("odd", name), odd.read(entry))
    if name not in (*ATTRIBUTES, STRATA_TOP):
        with pytest.raises(InvalidFile, match=f'a layer called "{name}", which is a reserved name'):
            read(tmp_path / "taken.npz")


@pytest.mark.parametrize("name", ["layers", "name", "changes", "file", "arrays", "É", "soil/depth"])
def test_layers_of_one_s_own_keep_any_other_name(name: str, tmp_path: Path) -> None:
    terrain = Terrain(FLAT, own_layers={name: 2.0})
    write(terrain, tmp_path / "own.npz")
    for kept in (terrain.resampled(2), terrain.replace(water=1.0), read(tmp_path / "own.npz")):
        assert kept.own_layers == {name}
        assert (kept[name] == 2).all()


def test_a_lone_source_is_refused_rather_than_iterated() -> None:
    with pytest.raises(InvalidTerrain, match="sequence of WaterSource"):
        Terrain(FLAT, sources=WaterSource(x=1, y=1, radius=1, rate=1))  # type: ignore[arg-type]


def test_cells_without_data_are_left_out_of_ranges_and_may_hold_anything() -> None:
    ground = np.array([[1.0, np.nan], [3.0, 2.0]])
    terrain = Terrain(ground, nodata=np.isnan(ground), water=ground)
    assert terrain.range("elevation") == (1.0, 3.0)
    assert terrain.relief == 2.0
    assert np.isfinite(terrain["water"]).all()


def test_an_empty_mask_is_no_mask() -> None:
    assert Terrain(FLAT, nodata=np.zeros((3, 4), bool)).nodata is None


def test_a_masked_array_brings_its_mask_along() -> None:
    ground = np.ma.masked_equal([[1.0, -9999.0], [3.0, 2.0]], -9999.0)
    terrain = Terrain(ground)
    assert terrain.nodata is not None
    assert terrain.nodata.tolist() == [[False, True], [False, False]]
    assert terrain.range("elevation") == (1.0, 3.0)


@pytest.mark.parametrize(
    "ground",
    [
        np.ma.masked_equal([[1.0, -9999.0], [3.0, 2.0]], -9999.0),
        [np.ma.masked_equal([1.0, -9999.0], -9999.0), np.ma.array([3.0, 2.0])],
    ],
    ids=["array", "rows"],
)
def test_a_masked_array_s_mask_counts_beside_another(ground: Any) -> None:
    for terrain in (
        Terrain(ground, nodata=[[False, False], [True, False]]),
        Terrain(np.zeros((2, 2)), nodata=[[False, False], [True, False]]).replace(elevation=ground),
    ):
        assert terrain.nodata is not None
        assert terrain.nodata.tolist() == [[False, True], [True, False]]
        assert terrain.range("elevation") == (1.0, 2.0)
    with pytest.raises(InvalidTerrain, match="every cell is nodata"):
        Terrain(ground, nodata=[[True, False], [True, True]])


def test_a_layer_may_be_masked_only_where_there_is_no_ground() -> None:
    rain = np.ma.masked_equal([[0.1, 9999.0], [0.2, 0.3]], 9999.0)
    with pytest.raises(InvalidTerrain) as caught:
        Terrain(np.zeros((2, 2)), rainfall=rain)
    assert str(caught.value) == (
        "layer rainfall is masked at row 0, column 1 (1 such cell); fill them or mark them with nodata="
    )
    for arguments in ({"own_layers": {"mood": rain}}, {"rainfall": np.ma.masked}, {"rainfall": list(rain)}):
        with pytest.raises(InvalidTerrain, match="masked at row 0, column"):
            Terrain(np.zeros((2, 2)), **arguments)
    terrain = Terrain(np.zeros((2, 2)), rainfall=rain, nodata=[[False, True], [False, False]])
    assert terrain.range("rainfall") == pytest.approx((0.1, 0.3))
    with pytest.raises(InvalidTerrain, match=r"nodata is itself masked in places; fill it with .filled\(True\)"):
        Terrain(np.zeros((2, 2)), nodata=rain)


def test_a_data_array_with_coordinates_is_refused() -> None:
    xarray = pytest.importorskip("xarray")
    heights = np.arange(12.0).reshape(3, 4)
    placed = xarray.DataArray(heights, dims=("y", "x"), coords={"y": [0.0, 30.0, 60.0], "x": 30.0 * np.arange(4)})
    for name in ("elevation", "water", "nodata"):
        with pytest.raises(InvalidTerrain) as caught:
            Terrain(**{"elevation": FLAT, name: placed})
        what = name if name == "nodata" else f"layer {name}"
        assert str(caught.value) == (
            f"{what} is a DataArray with coordinates, which are not read; pass "
            'its .values, row 0 in the north, with cell_size=, or write it with .rio.to_raster("dem.tif") and read that'
        )
    bare = xarray.DataArray(heights, dims=("y", "x"))
    np.testing.assert_array_equal(Terrain(bare, water=placed.mean())["elevation"], heights)


def test_a_terrain_or_a_dataset_in_the_place_of_a_layer_is_told_from_one() -> None:
    pytest.importorskip("xarray")
    for given in (Terrain(FLAT), Terrain(FLAT).to_xarray()):
        with pytest.raises(InvalidTerrain, match=r'is a (Terrain|Dataset); pass one of its layers, .*\["elevation"\]'):
            Terrain(given)  # type: ignore[arg-type]


def test_voids_become_ground_only_with_heights() -> None:
    ground = np.array([[1000.0, np.nan], [np.nan, 1002.0]])
    terrain = Terrain(ground, nodata=np.isnan(ground))
    for nodata, bare in ((None, "2 cells"), ([[False, True], [False, False]], "1 cell")):
        with pytest.raises(InvalidTerrain) as caught:
            terrain.replace(nodata=nodata)
        assert str(caught.value) == (
            f"{bare} without data would become ground, and no height is known there; give elevation=, too, with them "
            "filled"
        )
    assert terrain.replace(nodata=None, elevation=np.full((2, 2), 1001.0)).range("elevation") == (1001.0, 1001.0)
    assert terrain.replace(nodata=terrain.nodata, water=1.0).range("elevation") == (1000.0, 1002.0)
    with pytest.raises(InvalidTerrain, match="nodata has shape"):
        terrain.replace(nodata=[[True]])


def test_a_terrain_is_a_mapping_of_its_layers() -> None:
    terrain = Terrain(FLAT, water=1.0, suspended=None)
    assert list(terrain) == ["elevation", "water"]
    assert len(terrain) == 2
    assert "water" in terrain
    assert "suspended" not in terrain
    assert terrain.get("suspended") is None
    assert terrain.get("suspended", 0) == 0
    assert terrain.get("water") is terrain["water"]
    with pytest.raises(UnknownName, match=r'unknown layer "watr"; did you mean "water"\?'):
        terrain["watr"]


def test_repr_tells_size_range_and_units() -> None:
    terrain = Terrain(
        [[0.0, 10.0], [20.0, 30.0]],
        cell_size=2.5,
        water=0.25,
        own_layers={"mood": 7},
        crs="EPSG:32611",
        nodata=[[True, False], [False, False]],
        sources=[WaterSource(x=1, y=1, radius=1, rate=1)],
    )
    assert repr(terrain) == (
        "Terrain 2 x 2 cells of 2.5 m (5 x 5 m), EPSG:32611, 1 cells without data, 1 water source\n"
        "  elevation   10 .. 30 m\n"
        "  water       0.25 .. 0.25 m\n"
        "  mood        7 .. 7"
    )


def test_replace_changes_what_is_named_and_keeps_the_rest() -> None:
    spring = WaterSource(x=1, y=1, radius=1, rate=1)
    terrain = Terrain(FLAT, cell_size=2.0, water=1.0, crs="EPSG:4326", transform=range(6), sources=[spring])
    changed = terrain.replace(elevation=FLAT + 5, water=None, rainfall=0.5)
    assert list(changed) == ["elevation", "rainfall"]
    assert changed.range("elevation") == (5.0, 5.0)
    assert (changed.cell_size, changed.crs, changed.transform) == (2.0, "EPSG:4326", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    assert changed.sources == (spring,)
    assert list(terrain) == ["elevation", "water"]
    with pytest.raises(InvalidTerrain, match="layer water has shape"):
        terrain.replace(elevation=np.zeros((5, 5)))


def test_pickle_and_deepcopy_keep_every_layer() -> None:
    terrain = Terrain(np.arange(12.0).reshape(3, 4), water=1.0, nodata=np.eye(3, 4, dtype=bool))
    for other in (pickle.loads(pickle.dumps(terrain)), copy.deepcopy(terrain)):
        assert repr(other) == repr(terrain)


def test_to_xarray_has_units_centres_and_gaps() -> None:
    pytest.importorskip("xarray")
    ground = np.array([[1.0, np.nan], [3.0, 2.0]])
    terrain = Terrain(ground, cell_size=10.0, nodata=np.isnan(ground), water=1.0)
    data = terrain.to_xarray()
    assert data["elevation"].dims == ("y", "x")
    assert data["elevation"].attrs["units"] == "m"
    assert data["x"].values.tolist() == [5.0, 15.0]
    assert data["y"].values.tolist() == [15.0, 5.0]  # row 0 lies in the north
    assert data["x"].attrs["units"] == data["y"].attrs["units"] == "m"
    np.testing.assert_array_equal(data["elevation"].values, ground)
    assert np.isnan(data["water"].values[0, 1])
    assert data.attrs["cell_size"] == 10.0
    assert "crs" not in data.attrs
    assert data.attrs["transform"] == (10.0, 0.0, 0.0, 0.0, -10.0, 20.0)


def test_to_xarray_without_xarray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r'pip install "slopewash\[xarray\]"'):
        Terrain(FLAT).to_xarray()
