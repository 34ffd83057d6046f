"""Layers and maps that lie elsewhere than the terrain, in other cells or another CRS: in their place, or refused."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import slopewash as sw
from slopewash.errors import GeoreferenceWarning, SlopewashError
from slopewash.io.placement import SAME, Raster
from slopewash.recipes.layers import with_layers
from slopewash.recipes.maps import place_maps
from slopewash.tiles import inputs
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.files import same_cells
from slopewash.tiles.fill import keep
from slopewash.tiles.store import Store

rasterio = pytest.importorskip("rasterio")
from rasterio.warp import transform as transformed  # noqa: E402

Array = NDArray[Any]
SHAPE = (20, 28)
CELL = 10.0
PLACE = (CELL, 0.0, 690_000.0, 0.0, -CELL, 5_200_000.0)
HOME = "EPSG:32632"
SYSTEMS = {
    "no CRS": None,
    "same CRS": HOME,
    "same CRS in full": rasterio.crs.CRS.from_epsg(32632).to_wkt(),
    "same CRS with heights": rasterio.crs.CRS.from_user_input("EPSG:32632+8228").to_wkt(),
    "next zone": "EPSG:32633",
    "degrees": "EPSG:4326",
    "equal areas": "EPSG:3035",
}
EXTENTS = {"same": (0, 0, 0, 0), "larger": (35, 45, 35, 45), "shifted": (0, 50, 0, -50), "half": (0, 0, 0, -140)}
"""Metres beyond the north, west, south and east side of the terrain."""
SIDES = {"same cells": CELL, "finer": 4.0, "much finer": 2.5, "many in a cell": 0.9, "coarser": 35.0}
KINDS = ("rainfall", "mask", "rain_rate")
CASES = list(itertools.product(SYSTEMS, EXTENTS, SIDES, KINDS))[:: int(os.environ.get("PLACEMENTS_STEP", "7"))]
"""`make fuzz` tries all: by sevens, every value of each comes with most of the others."""


def value_at(x: Any, y: Any) -> Array:
    """Value that belongs to a place: it tells a shift by half a cell, and east from north."""
    return np.asarray(1 + (x - PLACE[2]) / 500 + ((y - PLACE[5]) / 400) ** 2 / 3)


def class_at(x: Any, y: Any) -> Array:
    return np.where(np.asarray(x) - PLACE[2] > 2 * (PLACE[5] - np.asarray(y)), 1.0, 0.0)


def centres(shape: tuple[int, int], place: Sequence[float]) -> tuple[Array, Array]:
    a, b, c, d, e, f = place
    row, column = (axis + 0.5 for axis in np.mgrid[: shape[0], : shape[1]])
    return a * column + b * row + c, d * column + e * row + f


def terrain(**facts: Any) -> sw.Terrain:
    given: dict[str, Any] = {"crs": HOME, "transform": PLACE, "cell_size": CELL} | facts
    return sw.Terrain(np.add.outer(np.arange(20.0), np.arange(28.0)), **given)


def write(path: Path, system: str, extent: str, side: float, kind: str, *, nodata: bool = False) -> tuple[int, int]:
    """Write a raster that holds what belongs to each place, whatever its grid; returns its rows and columns."""
    north, west, south, east = EXTENTS[extent]
    rows, columns = SHAPE
    left, right = PLACE[2] - west, PLACE[2] + columns * CELL + east
    top, bottom = PLACE[5] + north, PLACE[5] - rows * CELL - south
    crs = SYSTEMS[system]
    across = down = side
    if crs is not None and "same" not in system:
        xs, ys = transformed(HOME, crs, [left, left, right, right], [top, bottom, top, bottom])
        margin = side if extent == "larger" else 0.0
        if crs == "EPSG:4326":
            across, down, margin = side / 75_000, side / 111_000, margin / 75_000
        left, right, top, bottom = min(xs) - margin, max(xs) + margin, max(ys) + margin, min(ys) - margin
    shape = max(1, round((top - bottom) / down)), max(1, round((right - left) / across))
    place = (across, 0.0, left, 0.0, -down, top)
    x, y = centres(shape, place)
    if crs is not None and "same" not in system:
        x, y = (np.reshape(axis, shape) for axis in transformed(crs, HOME, x.ravel(), y.ravel())[:2])
    values = (class_at if kind == "mask" else value_at)(x, y).astype(np.float32)
    if nodata:
        values[shape[0] // 2, shape[1] // 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with rasterio.open(
            path, "w", driver="GTiff", height=shape[0], width=shape[1], count=1, dtype="float32", nodata=np.nan,
            crs=crs, transform=rasterio.Affine(*place),
        ) as file:  # fmt: skip
            file.write(values, 1)
            file.units = ("cm",)  # no unit of height has a part in it
    return shape


def in_memory(ground: sw.Terrain, path: Path, kind: str, folder: Path) -> Array:
    if kind == "rain_rate":
        stages = (sw.Stage(model=sw.VirtualPipes(rain_rate=sw.Map(path)), steps=1),)
        _, with_map = place_maps(stages, ground)
        return with_map["map of rain_rate of stage 1"]
    return with_layers(ground, {kind: sw.LayerFile(path=path)})[kind]


def on_tiles(ground: sw.Terrain, path: Path, kind: str, folder: Path) -> Array:
    with using(Digests()):  # as a run does
        start, _ = keep(Store(str(folder / "store.zarr")), ground, 16)
        name = kind
        if kind == "rain_rate":
            stages = (sw.Stage(model=sw.VirtualPipes(rain_rate=sw.Map(path)), steps=1),)
            start, _ = inputs.with_maps(start, stages, each)
            name = "map of rain_rate of stage 1"
        else:
            start = inputs.with_layers(start, {kind: sw.LayerFile(path=path)}, each)
        return start.part((slice(0, SHAPE[0]), slice(0, SHAPE[1])))[name]


def each(task: Callable[..., Any], calls: Sequence[tuple[Any, ...]], label: str) -> list[Any]:
    return [task(*call) for call in calls]


@pytest.mark.product
@pytest.mark.filterwarnings("ignore::slopewash.errors.GeoreferenceWarning")
@pytest.mark.parametrize(("system", "extent", "side", "kind"), CASES)
def test_a_raster_lies_in_its_place_or_is_refused(
    tmp_path: Path, system: str, extent: str, side: str, kind: str
) -> None:
    path = tmp_path / "layer.tif"
    write(path, system, extent, SIDES[side], kind)
    found: list[Array | str] = []
    for read in (in_memory, on_tiles):
        try:
            found.append(read(terrain(), path, kind, tmp_path))
        except SlopewashError as error:
            found.append(str(error))
    whole, tiled = found
    if isinstance(whole, str):
        assert tiled == whole
        assert extent in ("shifted", "half") or (extent == "same" and SHAPE[0] * CELL % SIDES[side])
        assert f"{path} covers" in whole
        return
    assert_array_equal(tiled, whole)
    assert extent not in ("shifted", "half")
    x, y = centres(SHAPE, PLACE)
    if kind == "mask":
        reach = 0.71 * max(SIDES[side], CELL)
        steady = np.ones(SHAPE, bool)
        for east, north in ((reach, 0), (-reach, 0), (0, reach), (0, -reach)):
            steady &= class_at(x + east, y + north) == class_at(x, y)
        assert np.mean(steady) > 0
        assert_array_equal(whole[steady], class_at(x, y)[steady])
    else:  # half a pixel is extrapolated at the border; means over cells and straight lines miss a curve by a little
        inside = np.s_[2:-2, 2:-2]
        assert_allclose(whole[inside], value_at(x, y)[inside], atol=2e-3)
        assert_allclose(whole, value_at(x, y), atol=0.02 if extent == "larger" else 0.06)


def fine(path: Path, values: Array, side: float) -> Path:
    """Write a raster of small pixels from the north-west corner of the terrain."""
    place = (side, 0.0, PLACE[2], 0.0, -side, PLACE[5])
    with rasterio.open(
        path, "w", driver="GTiff", height=values.shape[0], width=values.shape[1], count=1, dtype="float32",
        nodata=np.nan, crs=HOME, transform=rasterio.Affine(*place),
    ) as file:  # fmt: skip
        file.write(values.astype(np.float32), 1)
    return path


@pytest.mark.parametrize("pixels", [2, 4, 9, 16, 50])
def test_a_cell_has_the_mean_of_its_pixels_at_the_cost_of_a_few(
    tmp_path: Path, pixels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).random((SHAPE[0] * pixels, SHAPE[1] * pixels))
    values[:pixels, : pixels // 3] = np.nan  # less than half of a cell
    path = fine(tmp_path / "rain.tif", values, CELL / pixels)
    add, points = Raster._add, []

    def counted(*given: Any) -> None:
        points.append(1)
        add(*given)

    monkeypatch.setattr(Raster, "_add", counted)
    found = in_memory(terrain(), path, "rainfall", tmp_path)
    assert len(points) <= 9
    means = np.nanmean(values.reshape(SHAPE[0], pixels, SHAPE[1], pixels), axis=(1, 3))
    assert_allclose(found, means, atol=2e-7)  # sums of float32 in another order
    assert_array_equal(on_tiles(terrain(), path, "rainfall", tmp_path), found)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_a_cell_of_which_most_pixels_are_missing_has_no_value(tmp_path: Path, read: Callable[..., Array]) -> None:
    values = np.ones((SHAPE[0] * 16, SHAPE[1] * 16))
    values[32:48, 64:74] = np.nan
    with pytest.raises(sw.InvalidFile, match="has no data in 1 cells of the terrain"):
        read(terrain(), fine(tmp_path / "rain.tif", values, CELL / 16), "rainfall", tmp_path)


@pytest.mark.parametrize("pixels", [7, 13])
def test_a_slope_of_small_pixels_is_one_up_to_its_last_row_and_column(tmp_path: Path, pixels: int) -> None:
    """The last block of pixels is a part of one, whose middle is not where that of a whole one would be."""

    def slope(x: Array, y: Array) -> Array:
        return np.asarray(x - PLACE[2] + 2 * (PLACE[5] - y))

    side = CELL / pixels
    x, y = centres((SHAPE[0] * pixels, SHAPE[1] * pixels), (side, 0.0, PLACE[2], 0.0, -side, PLACE[5]))
    path = fine(tmp_path / "rain.tif", slope(x, y), side)
    found = in_memory(terrain(), path, "rainfall", tmp_path)
    expected = slope(*centres(SHAPE, PLACE))
    assert_allclose(found[1:, 1:], expected[1:, 1:], atol=1e-3)
    assert_allclose(found, expected, atol=0.7)  # of 30 a cell: what lies beyond the first middle is like it
    assert_array_equal(on_tiles(terrain(), path, "rainfall", tmp_path), found)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_the_same_grid_is_taken_as_it_is(tmp_path: Path, read: Callable[..., Array]) -> None:
    path = tmp_path / "layer.tif"
    for system in ("same CRS", "same CRS in full", "same CRS with heights"):
        write(path, system, "same", CELL, "rainfall")
        x, y = centres(SHAPE, PLACE)
        assert_array_equal(read(terrain(), path, "rainfall", tmp_path), value_at(x, y).astype(np.float32))


def test_the_same_grid_but_for_rounding_is_read_by_windows(tmp_path: Path) -> None:
    """Coordinates are rounded in files, and a CRS has several texts."""
    path = tmp_path / "layer.tif"
    for system in ("same CRS", "same CRS in full", "same CRS with heights"):
        for metres, fits in ((0.0, True), (0.1 * SAME * CELL, True), (2 * SAME * CELL, False)):
            write(path, system, "same", CELL, "rainfall")
            with rasterio.open(path, "r+") as file:
                file.transform = rasterio.Affine(*PLACE[:2], PLACE[2] + metres, *PLACE[3:])
            assert (same_cells(path, "rainfall", terrain()) is not None) == fits, (system, metres)
            whole, tiled = (read(terrain(), path, "rainfall", tmp_path) for read in (in_memory, on_tiles))
            assert_array_equal(tiled, whole)


BEDROCK = np.add.outer(np.arange(20.0), np.arange(28.0)) - 1
"""One metre below the ground."""


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_bedrock_above_the_ground_is_refused(tmp_path: Path, read: Callable[..., Array]) -> None:
    for wrong, where in (
        (BEDROCK + 851, "560 cells, most at row 0, column 0, by 850 m"),
        (BEDROCK / 0.3048, "557 cells, most at row 19, column 27, by 101.638 m"),
    ):
        path = sw.write(terrain(bedrock=wrong), tmp_path / "rock.tif", layer="bedrock")
        with pytest.raises(sw.InvalidTerrain, match=f"{path}: layer bedrock lies above the ground in {where}; give"):
            read(terrain(), path, "bedrock", tmp_path)
    peak = BEDROCK.copy()
    peak[17, 19] += 3.5
    path = sw.write(terrain(bedrock=peak), tmp_path / "rock.tif", layer="bedrock")
    with pytest.raises(sw.InvalidTerrain, match=r"in 1 cell, most at row 17, column 19, by 2\.5 m; give"):
        read(terrain(), path, "bedrock", tmp_path)
    hole = np.zeros(SHAPE, bool)
    hole[17, 19] = True
    assert_array_equal(read(terrain(nodata=hole), path, "bedrock", tmp_path)[~hole], BEDROCK[~hole])


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_bedrock_may_lie_above_the_ground_by_what_rounding_and_resampling_do(
    tmp_path: Path, read: Callable[..., Array]
) -> None:
    bare = sw.write(terrain(bedrock=BEDROCK + 1), tmp_path / "bare.png", layer="bedrock")
    assert (read(terrain(), bare, "bedrock", tmp_path) > BEDROCK + 1).any()
    coarse = sw.Terrain(BEDROCK[::4, ::4] + 4, crs=HOME, transform=(40.0, *PLACE[1:4], -40.0, PLACE[5]), cell_size=40.0)
    path = sw.write(coarse, tmp_path / "coarse.tif")
    assert (read(terrain(), path, "bedrock", tmp_path) > BEDROCK + 1).any()
    path = sw.write(coarse.replace(elevation=coarse["elevation"] + 5), tmp_path / "high.tif")
    with pytest.raises(sw.InvalidTerrain, match="lies above the ground in"):
        read(terrain(), path, "bedrock", tmp_path)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_bedrock_is_looked_at_for_what_marks_missing_data(tmp_path: Path, read: Callable[..., Array]) -> None:
    deep = BEDROCK.copy()
    deep[3, 4] = -9999
    path = sw.write(terrain(bedrock=deep), tmp_path / "rock.tif", layer="bedrock")
    with pytest.warns(sw.NodataWarning, match="1 cell of .*rock.tif is -9999"):
        read(terrain(), path, "bedrock", tmp_path)


def test_a_number_for_bedrock_above_the_ground_is_refused_too(tmp_path: Path) -> None:
    for tiled in (False, True):
        recipe = sw.Recipe(
            source=sw.FromTerrain(terrain=terrain()), layers={"bedrock": 12.5}, backend="reference",
            stages=(sw.Stage(model=sw.VirtualPipes(), steps=1),),
        )  # fmt: skip
        with pytest.raises(sw.InvalidTerrain, match="layer bedrock lies above the ground in 91 cells, most at row 0"):
            sw.erode_tiled(None, recipe, out=tmp_path / "out.zarr", tile=16, workers=0) if tiled else recipe.run()


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_a_raster_in_feet_is_not_a_height(tmp_path: Path, read: Callable[..., Array]) -> None:
    """Neither the unit of a band nor that of a CRS with heights is applied; the unit of the ground is."""
    path = tmp_path / "layer.tif"
    values = np.full(SHAPE, 0.5, np.float32)
    for unit, crs in (("cm", HOME), ("ft", HOME), ("", SYSTEMS["same CRS with heights"]), ("km", None)):
        with rasterio.open(
            path, "w", driver="GTiff", height=20, width=28, count=1, dtype="float32", crs=crs,
            transform=rasterio.Affine(*PLACE),
        ) as file:  # fmt: skip
            file.write(values, 1)
            if unit:
                file.units = (unit,)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GeoreferenceWarning)
            assert_array_equal(read(terrain(), path, "rainfall", tmp_path), values)
            assert_array_equal(read(terrain(), path, "rain_rate", tmp_path), values)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_gaps_matter_only_where_there_is_ground(tmp_path: Path, read: Callable[..., Array]) -> None:
    path = tmp_path / "layer.tif"
    write(path, "same CRS", "same", CELL, "rainfall", nodata=True)
    with pytest.raises(sw.InvalidFile, match="has no data in 1 cells of the terrain; fill them first"):
        read(terrain(), path, "rainfall", tmp_path)
    hole = np.zeros(SHAPE, bool)
    hole[SHAPE[0] // 2, SHAPE[1] // 2] = True
    assert read(terrain(nodata=hole), path, "rainfall", tmp_path)[hole] == 0
    beyond = np.zeros(SHAPE, bool)
    beyond[:, 14:] = True
    write(path, "same CRS", "half", CELL, "rainfall")
    with pytest.raises(sw.InvalidFile, match="covers 50 % of the terrain; give one that covers all of it"):
        read(terrain(), path, "rainfall", tmp_path)
    read(terrain(nodata=beyond), path, "rainfall", tmp_path)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_what_has_no_place_is_matched_by_its_shape(tmp_path: Path, read: Callable[..., Array]) -> None:
    values = np.random.default_rng(1).random(SHAPE).astype(np.float32)
    for suffix in (".npy", ".exr", ".tif"):  # .tif and .asc count from the corner
        path = sw.write(sw.Terrain(values, cell_size=3.0), tmp_path / f"layer{suffix}")
        assert_array_equal(read(terrain(), path, "rainfall", tmp_path), values)
        assert_array_equal(read(terrain(crs=None, transform=None), path, "rainfall", tmp_path), values)
    halved = sw.write(sw.Terrain(values[::2, ::2]), tmp_path / "half.npy")
    with pytest.warns(GeoreferenceWarning, match="has no coordinates, and the terrain has: .* from 14 x 10 to 28 x 20"):
        assert read(terrain(), halved, "rainfall", tmp_path).shape == SHAPE
    assert read(terrain(crs=None, transform=None), halved, "rainfall", tmp_path).shape == SHAPE  # neither has a place
    square = sw.write(sw.Terrain(values[:, :20]), tmp_path / "square.npy")
    with pytest.raises(sw.InvalidTerrain, match="needs the proportions of 28 x 20 cells"):
        read(terrain(), square, "rainfall", tmp_path)


@pytest.mark.parametrize("read", [in_memory, on_tiles], ids=["memory", "tiles"])
def test_of_several_layers_the_named_one_is_taken(tmp_path: Path, read: Callable[..., Array]) -> None:
    values = np.random.default_rng(1).random(SHAPE).astype(np.float32)
    path = sw.write(terrain(rainfall=values), tmp_path / "both.npz")
    assert_array_equal(read(terrain(), path, "rainfall", tmp_path), values)
    with pytest.raises(sw.InvalidFile, match="has layers elevation, rainfall, and none called mask; keep one"):
        read(terrain(), path, "mask", tmp_path)


def test_another_crs_needs_gdal_and_the_same_needs_none(tmp_path: Path) -> None:
    from slopewash.io.gdal import without_gdal

    values = np.random.default_rng(1).random(SHAPE).astype(np.float32)
    for crs in (HOME, "EPSG:32633"):
        sw.write(sw.Terrain(values, cell_size=CELL, crs=crs, transform=PLACE), tmp_path / f"{crs[-2:]}.npz")
    with without_gdal():
        assert_array_equal(in_memory(terrain(), tmp_path / "32.npz", "rainfall", tmp_path), values)
        with pytest.raises(sw.InvalidFile, match="lies in another CRS than the terrain, which needs GDAL"):
            in_memory(terrain(), tmp_path / "33.npz", "rainfall", tmp_path)
    with pytest.raises(sw.InvalidFile, match=r"lies beside the terrain: at x .* in EPSG:32633, and the .*32632;"):
        in_memory(terrain(), tmp_path / "33.npz", "rainfall", tmp_path)


def test_a_placed_layer_gives_the_same_bits_in_memory_and_on_tiles(tmp_path: Path) -> None:
    write(tmp_path / "rain.tif", "next zone", "larger", 35.0, "rainfall")
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=terrain()), layers={"rainfall": sw.LayerFile(path=tmp_path / "rain.tif")},
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=3),), backend="reference",
    )  # fmt: skip
    whole = recipe.run().terrain
    sw.erode_tiled(None, recipe, tile=16, out=tmp_path / "out.zarr", workers=0, backend="reference")
    tiled = sw.read_tiled(tmp_path / "out.zarr")
    for name in whole:
        assert_array_equal(tiled[name], whole[name], err_msg=name)
    x, y = centres(SHAPE, PLACE)
    assert_allclose(whole["rainfall"][2:-2, 2:-2], value_at(x, y)[2:-2, 2:-2], atol=2e-3)
