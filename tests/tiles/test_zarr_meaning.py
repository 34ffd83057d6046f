"""What a Zarr group means is the same with and without GDAL, in tiles of any size, and refused by every other path.

Cases combine levels of many factors. The expected terrain is worked out here, from what was written. `ZARR_CASES` asks
for more of them than fit an ordinary run.
"""

from __future__ import annotations

import base64
import os
import shutil
import struct
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from tests.io.expected import US_FOOT, Expected, told
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.errors import SlopewashError
from slopewash.io.gdal_raster import well_known_text

CRS = pytest.importorskip("rasterio.crs").CRS
CASES = int(os.environ.get("ZARR_CASES", "80"))
SEED = int(os.environ.get("ZARR_SEED", "29"))
SHAPE = (6, 9)
SIZE, WEST, NORTH = 30.0, 5e5, 4e6

FACTORS: Mapping[str, tuple[str, ...]] = {
    "dtype": ("f4", "f8", "f2", "i2", "u2", "i4", "i8", "u1"),
    "order": ("<", ">"),
    "version": ("3", "2"),
    "chunks": ("whole", "small", "odd", "one", "shards"),
    "compression": ("auto", "none"),
    "rows": ("north", "south"),
    "columns": ("west", "east"),
    "axes": ("named", "transposed", "unnamed", "lat lon"),
    "place": (
        "coordinates", "nowhere", "size", "spatial", "node", "geotransform", "gdal", "no crs", "wkt", "feet",
        "kilometres", "compound", "compound in text", "xarray", "degrees", "projjson", "uneven", "coarse", "half",
        "short", "two places", "two crs", "two units", "bad crs", "bad size", "bad transform", "crs alone",
        "parameters", "depths", "depths by name",
    ),
    "unit": ("none", "metre", "ft", "US_survey_foot", "km", "", "furlong", "number"),
    "holes": (
        "none", "attribute", "base64", "missing_value", "list", "fill", "fill nan", "fill 0", "mask", "valid_range",
        "valid_min", "untagged nan", "option", "both", "unused", "text",
    ),
    "scale": ("none", "0.5 100", "2 -10", "text", "0"),
    "layers": (
        "one", "water", "water in cm", "own", "results", "coordinates", "small water", "complex", "3-D", "empty",
        "none",
    ),
    "option": (
        "none", "cell_size", "height_range", "height_unit", "allow_8bit", "band", "reproject", "shape", "shape wrong",
        "max_pixels",
    ),
}  # fmt: skip
Case = dict[str, str]
USUAL: Case = {name: levels[0] for name, levels in FACTORS.items()}
METRES = {"metre": 1.0, "ft": 0.3048, "US_survey_foot": US_FOOT, "km": 1000.0}
SIZES = {"nowhere": 1.0, "size": 7.5, "feet": SIZE * US_FOOT, "kilometres": 1000 * SIZE}
CODES = {
    "feet": "EPSG:2227", "compound": "EPSG:32611+8228", "compound in text": "EPSG:32611+8228",
    "depths": "EPSG:32611+5715", "bad crs": "EPSG:999999",
}  # fmt: skip
WITHOUT_CRS = ("nowhere", "size", "no crs", "kilometres")
REFUSED = (
    "degrees", "uneven", "coarse", "half", "short", "two places", "two crs", "two units", "bad crs", "bad size",
    "bad transform", "crs alone", "parameters", "depths", "depths by name",
)  # fmt: skip
MEASURED = ("degrees", "crs alone")
"""Refused for their size alone."""
ONLY_GDAL = ("feet", "compound", "projjson", "xarray")
"""Places whose CRS only a library of them knows, or knows to be one and the same."""


def wkt_of(code: str) -> str:
    return str(well_known_text(CRS.from_user_input(code)))


def written(case: Case, folder: Path) -> tuple[Path, dict[str, Any], Expected]:
    """A group, the options to read it with, and what it means."""
    random = np.random.default_rng([SEED, *"".join(case.values()).encode()])
    path = folder / "dem.zarr"
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.open_group(str(path), mode="w", zarr_format=2 if case["version"] == "2" else 3)
    dtype = np.dtype(case["dtype"])
    whole, place = dtype.kind in "iu", case["place"]
    ground = random.integers(1, 100, SHAPE).astype(dtype)
    other = random.integers(1, 100, SHAPE).astype(np.float32)
    attributes, options, refused = dict[str, Any](), dict[str, Any](), False

    # Cells without data
    holes, fill = case["holes"], 0.0
    marks_fill = case["version"] == "2" and case["axes"] != "unnamed"  # as xarray and GDAL have it
    hole = random.random(SHAPE) < 0.2
    hole[0, 0], hole[3, 5] = False, True
    second = (random.random(SHAPE) < 0.1) & ~hole
    second[2, 3] = True
    missing, mask = np.zeros(SHAPE, bool), None
    if holes in ("attribute", "base64", "missing_value", "list", "fill", "both"):
        ground[hole], missing = 111, hole
    if holes in ("list", "option", "both"):
        ground[second], missing = 113, missing | second
    if holes in ("option", "both"):
        options["nodata"] = 113
    if holes in ("fill nan", "untagged nan") and not whole:
        ground[hole], missing, refused = np.nan, hole, holes == "untagged nan" and not marks_fill
    if holes == "fill 0":
        ground[hole] = 0
        missing = hole if marks_fill else missing
    if holes == "valid_range":
        ground[hole], missing = 120, hole
    if holes == "valid_min":
        ground[hole], missing = 0, hole
    if holes == "mask":
        mask, missing = hole, hole
    encoded = base64.b64encode(struct.pack("<d", 111.0)).decode()
    marks: dict[str, dict[str, Any]] = {
        "attribute": {"_FillValue": 111}, "base64": {"_FillValue": encoded}, "missing_value": {"missing_value": 111},
        "list": {"missing_value": [111, 113.0]}, "both": {"_FillValue": "111"}, "unused": {"_FillValue": -7},
        "valid_range": {"valid_range": [1, 115]}, "valid_min": {"valid_min": 1}, "text": {"_FillValue": "none!"},
    }  # fmt: skip
    attributes |= marks.get(holes, {})
    fill = {"fill": 111, "fill nan": 0 if whole else np.nan}.get(holes, 0)
    refused |= holes == "text"

    # Numbers
    scale, offset = 1.0, 0.0
    if case["scale"] in ("text", "0"):
        attributes["scale_factor"], refused = {"text": "half", "0": 0}[case["scale"]], True
    elif case["scale"] != "none":
        scale, offset = map(float, case["scale"].split())
        attributes |= {"scale_factor": scale, "add_offset": offset}
    if case["unit"] != "none":
        attributes["units"] = 3 if case["unit"] == "number" else case["unit"]

    if place == "depths by name":
        attributes["standard_name"] = "sea_floor_depth_below_geoid"

    # Place: what a terrain has, and what is written of the arrays as they are stored
    turnable = place not in ("nowhere", "size", "crs alone", "bad size")
    south, east = turnable and case["rows"] == "south", turnable and case["columns"] == "east"
    transform = (SIZE, 0.0, WEST, 0.0, -SIZE, NORTH)
    stored = (
        -SIZE if east else SIZE, 0.0, WEST + SIZE * SHAPE[1] * east,
        0.0, SIZE if south else -SIZE, NORTH - SIZE * SHAPE[0] * south,
    )  # fmt: skip
    code = CODES.get(place, "EPSG:32611")
    names = ("lat", "lon") if case["axes"] == "lat lon" else ("y", "x")
    y = stored[5] + stored[4] * (np.arange(SHAPE[0]) + 0.5)
    x = stored[2] + stored[0] * (np.arange(SHAPE[1]) + 0.5)
    of_axes: dict[str, Any] = {"units": "m"} if place != "feet" else {"units": "US_survey_foot"}
    by_coordinates = place not in ("nowhere", "size", "spatial", "node", "geotransform", "crs alone", "bad size")
    has_crs = place not in WITHOUT_CRS
    if place == "kilometres":
        of_axes = {"units": "km"}
    elif place == "degrees":
        of_axes = {"units": "degrees_north"}
    elif place == "uneven":
        y[2] += 1.0
    elif place == "coarse":
        y, x = y.astype("f4"), x.astype("f4")
        x += 2**26
    elif place == "short":
        y = y[:-1]
    elif place == "two units":
        of_axes = {"units": "ft"}
    elif place == "bad size":
        group.attrs["cell_size"] = "30 m"
    elif place == "size":
        group.attrs["cell_size"] = 7.5
    elif place == "xarray":
        group.attrs.update({"cell_size": SIZE, "transform": list(stored), "crs": "EPSG:32611"})
    elif place == "bad transform":
        group.attrs["spatial:transform"] = [SIZE, 0, WEST, 0, 0, NORTH]
    if place in ("spatial", "node", "two places"):
        moved = SIZE if place == "two places" else SIZE / 2 if place == "node" else 0.0
        a, b, c, d, e, f = stored
        group.attrs["spatial:transform"] = [a, b, c + np.sign(a) * moved, d, e, f + np.sign(e) * moved]
        if place == "node":
            group.attrs["spatial:registration"] = "node"
    mapping: dict[str, Any] | None = None
    if place in ("geotransform", "xarray", "parameters", "two crs"):
        mapping = {"crs_wkt": wkt_of("EPSG:32612" if place == "two crs" else code)}
        if place == "geotransform":
            a, b, c, d, e, f = stored
            mapping["GeoTransform"] = " ".join(map(repr, (c, a, b, f, d, e)))
        if place == "parameters":
            mapping = {"grid_mapping_name": "transverse_mercator"}
        attributes["grid_mapping"] = "spatial_ref"
    elif place == "gdal":
        attributes["_CRS"] = {"wkt": wkt_of(code)}
    elif place == "projjson":
        group.attrs["proj:projjson"] = CRS.from_user_input(code).to_dict(projjson=True)
    elif place in ("wkt", "compound in text"):
        group.attrs["proj:wkt2"] = wkt_of(code)
    if has_crs and place not in ("geotransform", "xarray", "parameters", "gdal", "projjson", "wkt", "compound in text"):
        group.attrs["proj:code"] = code

    # Arrays
    def turned(values: NDArray[Any]) -> NDArray[Any]:
        values = values[:: -1 if south else 1, :: -1 if east else 1]
        return values.T if case["axes"] == "transposed" else values

    def add(name: str, values: NDArray[Any], dimensions: tuple[str, ...] | None, **more: Any) -> None:
        values = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<" if case["order"] == "<" else ">"))
        chunks = {"small": 2, "odd": 5, "one": 1, "shards": 2}.get(case["chunks"], 100)
        shape = tuple(min(chunks, max(n, 1)) for n in values.shape)
        named = dict[str, Any]()
        given = dict(more.pop("attributes", {}))
        if dimensions is not None and case["version"] == "3":
            named["dimension_names"] = dimensions
        elif dimensions is not None:
            given["_ARRAY_DIMENSIONS"] = list(dimensions)
        if case["chunks"] == "shards" and case["version"] == "3":
            named["shards"] = tuple(2 * n for n in shape)
        array = group.create_array(
            name, shape=values.shape, dtype=values.dtype, chunks=shape, attributes=given,
            compressors=None if case["compression"] == "none" else "auto",
            fill_value=more.get("fill", np.zeros((), values.dtype)[()]), **named,
        )  # fmt: skip
        if values.size:
            array[...] = values

    dims = None if case["axes"] == "unnamed" else names[::-1] if case["axes"] == "transposed" else names
    layers = case["layers"]
    refused |= layers in ("small water", "complex", "3-D", "empty", "none")
    if layers == "complex":
        group.create_array("elevation", data=np.ones(SHAPE, "c8"))
    elif layers != "none":
        values = turned(ground)
        values = values[None] if layers == "3-D" else values[:0] if layers == "empty" else values
        add(
            "elevation", values, ("t", *dims) if dims and layers == "3-D" else dims, attributes=attributes,
            fill=dtype.type(fill),
        )  # fmt: skip
    wet = np.where(missing, 0, other).astype(np.float32)
    expected_layers = {}
    if layers in ("water", "water in cm"):
        add("water", turned(other), dims, attributes={"units": "cm" if layers == "water in cm" else "m"})
        expected_layers["water"] = (wet * 0.01).astype(np.float32) if layers == "water in cm" else wet
        if layers == "water in cm":
            expected_layers["water"] = (wet.astype(np.float64) * 0.01).astype(np.float32)
    elif layers == "own":
        add("forest", turned(other), dims)
        expected_layers["forest"] = wet
    elif layers == "results":
        add("wear", turned(other), dims)
    elif layers == "coordinates":
        attributes_of = {"coordinates": "distance"}
        add("erodibility", turned(other / 100).astype(np.float32), dims, attributes=attributes_of)
        add("distance", turned(other), dims)
        expected_layers["erodibility"] = np.where(missing, 0, other / np.float32(100)).astype(np.float32)
    elif layers == "small water":
        add("water", other[1:], dims)
    if mask is not None:
        add("nodata", turned(mask), dims)
    if mapping is not None:
        group.create_array("spatial_ref", shape=(), dtype="i4", attributes=mapping)
    if by_coordinates:
        add(names[0], y, (names[0],) if dims else None, attributes=of_axes)
        if place != "half":
            add(names[1], x, (names[1],) if dims else None, attributes=of_axes)

    # What it means
    option = case["option"]
    given: dict[str, dict[str, Any]] = {
        "cell_size": {"cell_size": 7.0}, "height_unit": {"height_unit": "us-ft"}, "band": {"band": 1},
        "height_range": {"height_range": (-50.0, 1000.0)}, "reproject": {"reproject": "utm"}, "shape": {"shape": SHAPE},
        "shape wrong": {"shape": (3, 3)}, "max_pixels": {"max_pixels": 10},
    }  # fmt: skip
    options |= given.get(option, {})
    if option == "allow_8bit" or case["dtype"] == "u1":
        options["allow_8bit"] = True
    refused |= option in ("band", "reproject", "shape wrong", "max_pixels")
    refused |= option == "shape" and case["axes"] == "transposed"
    refused |= place in REFUSED and not (place in MEASURED and option == "cell_size")
    refused |= case["unit"] == "number"
    refused |= case["unit"] == "furlong" and option not in ("height_unit", "height_range")
    refused |= option == "height_range" and (not whole or case["scale"] != "none")
    plain = case["unit"] in ("none", "") and case["scale"] == "none" and option != "height_range"
    refused |= whole and plain and place == "nowhere"
    metres = METRES.get(case["unit"], 1.0)
    if place.startswith("compound") and case["unit"] in ("none", ""):
        metres = 0.3048
    metres = US_FOOT if option == "height_unit" else metres
    numbers = np.where(missing, 0, ground).astype(np.float64)
    if option == "height_range" and whole:
        low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        share = (numbers - low) / (high - low)
        heights = -50.0 * (1 - share) + 1000.0 * share
    else:
        heights = (numbers * scale + offset) * metres
    expected_layers["elevation"] = np.where(missing, 0, heights).astype(np.float32)
    return path, options, Expected(
        layers=expected_layers, nodata=missing, refused=refused, crs=code if has_crs else None,
        transform=transform if turnable else None,
        cell_size=options.get("cell_size", SIZES.get(place, SIZE)),
    )  # fmt: skip


# Paths


def in_one_tile(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return by_tiles(path, options, (50, 50))


def without_gdal(path: Path, options: dict[str, Any]) -> sw.Terrain:
    with sw.without_gdal():
        return by_tiles(path, options, (3, 5))


def in_memory(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.read(path, **options)


def as_source(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.FromFile(path=path, options=options).make()


def as_result(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.read_tiled(path)


def lazily(path: Path, options: dict[str, Any]) -> sw.Terrain:
    data = sw.open(path)
    return sw.Terrain(data["elevation"].values, cell_size=data.attrs["cell_size"])


def as_geotiff(path: Path, options: dict[str, Any]) -> sw.Terrain:
    sw.write_tiled_geotiff(path, path.with_suffix(".tif"))
    return sw.read(path.with_suffix(".tif"))


Path_ = Callable[[Path, dict[str, Any]], sw.Terrain]
WINDOWS: tuple[Path_, ...] = (by_tiles, in_one_tile, without_gdal)
OTHERS: tuple[Path_, ...] = (in_memory, as_source, as_result, lazily, as_geotiff)
"""Paths that need not honour a group of others."""


def check(case: Case, folder: Path, others: tuple[Path_, ...] = ()) -> int:
    """Read a case by every path; returns by how many it was honoured."""
    file, options, expected = written(case, folder)
    honoured = 0
    for path in (*WINDOWS, *others):
        where = f"{path.__name__} of {told(case, USUAL)}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", sw.errors.GeoreferenceWarning)
            terrain = _honoured(path, file, options)
        if isinstance(terrain, SlopewashError):
            refusable = expected.refused or path in OTHERS or (path is without_gdal and case["place"] in ONLY_GDAL)
            assert refusable, f"{where} was refused: {terrain}"
            assert "\n" not in str(terrain)
            continue
        assert not expected.refused, f"{where} was honoured: {terrain}"
        honoured += 1
        expected.check_values(terrain, where)
        in_doubt = case["place"] == "feet" and case["unit"] in ("none", "")
        in_doubt &= case["option"] not in ("height_unit", "height_range")
        assert sum("heights without a unit" in str(each.message) for each in caught) == in_doubt, where
        assert terrain.cell_size == pytest.approx(expected.cell_size, rel=1e-9), where
        if expected.transform is None:
            assert terrain.transform is None, where
        else:
            assert terrain.transform == pytest.approx(expected.transform, rel=1e-9), where
        if expected.crs is None:
            assert terrain.crs is None, where
        else:
            assert CRS.from_user_input(terrain.crs) == CRS.from_user_input(expected.crs), where
    return honoured


def _honoured(path: Path_, file: Path, options: dict[str, Any]) -> sw.Terrain | SlopewashError:
    try:
        return path(file, options)
    except SlopewashError as error:
        return error


@pytest.mark.parametrize("name", FACTORS)
def test_every_level_of_every_factor_by_itself_means_the_same_on_every_path(tmp_path: Path, name: str) -> None:
    for level in FACTORS[name]:
        for dtype in ("f4", "i2"):
            check({**USUAL, "dtype": dtype, name: level}, tmp_path, OTHERS if dtype == "f4" else ())


def test_random_cases_mean_the_same_on_every_path(tmp_path: Path) -> None:
    random = np.random.default_rng(SEED)
    honoured = 0
    for _ in range(CASES):
        case = {}
        for name, levels in FACTORS.items():
            usual = 0.7 if name in ("place", "holes", "scale", "layers", "option", "unit") else 0.4
            case[name] = levels[0] if random.random() < usual else str(random.choice(levels))
        honoured += check(case, tmp_path) > 0
    assert honoured > CASES / 4  # or it would show little


def test_a_cell_size_that_coordinates_contradict_is_questioned(tmp_path: Path) -> None:
    place = (10.0, 0.0, 5e5, 0.0, -10.0, 4e6)
    for size in (10.0, 5.0):
        terrain = sw.Terrain(np.arange(54.0).reshape(6, 9), cell_size=size, crs="EPSG:32611", transform=place)
        terrain.to_xarray().to_zarr(tmp_path / "dem.zarr", mode="w", consolidated=False)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert by_tiles(tmp_path / "dem.zarr", {}).cell_size == 10.0
        assert sum("a cell_size of 5 m" in str(warning.message) for warning in caught) == (size == 5.0)


def test_what_xarray_writes_in_feet_is_read(tmp_path: Path) -> None:
    terrain = sw.Terrain(
        np.arange(54.0).reshape(6, 9), cell_size=30 * US_FOOT, crs="EPSG:2225+6360", transform=(30, 0, 6e6, 0, -30, 2e6)
    )
    terrain.to_xarray().to_zarr(tmp_path / "dem.zarr", consolidated=False)
    back = by_tiles(tmp_path / "dem.zarr", {})
    assert np.array_equal(back["elevation"], terrain["elevation"])
    assert back.cell_size == pytest.approx(terrain.cell_size, rel=1e-9)
    assert back.transform == terrain.transform


def test_what_xarray_writes_of_a_terrain_is_that_terrain(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    terrain = sw.Terrain(
        random.random((5, 7)).astype(np.float32) * 100, water=1.5, nodata=random.random((5, 7)) < 0.2, cell_size=10.0,
        crs="EPSG:32611", transform=(10, 0, 5e5, 0, -10, 4e6),
    )  # fmt: skip
    for version in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of metadata that are consolidated
            terrain.to_xarray().to_zarr(tmp_path / f"{version}.zarr", zarr_format=version)
        read = by_tiles(tmp_path / f"{version}.zarr", {})
        for name in ("elevation", "water"):
            assert_array_equal(read[name], terrain[name])
        assert_array_equal(read.nodata, terrain.nodata)
        assert (read.cell_size, read.crs, read.transform) == (10.0, "EPSG:32611", terrain.transform)
