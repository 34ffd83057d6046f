"""Every option of reading changes what is read, or is refused, on every path and in every format.

A new option needs a case in `VALUES`, a new format one in `SOURCES`: the signatures are compared.
"""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError
from slopewash.io.formats import FORMATS
from slopewash.io.options import ReadOptions, ValueOptions
from slopewash.io.units import FOOT
from slopewash.recipes.layers import with_layers
from slopewash.tiles import inputs
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.fill import keep
from slopewash.tiles.store import Store

rasterio = pytest.importorskip("rasterio")
zarr = pytest.importorskip("zarr")

SHAPE = (8, 12)
HEIGHTS = np.arange(96, dtype=np.float32).reshape(SHAPE)
VALUES: dict[str, Any] = {
    "cell_size": 7.0, "height_range": (-5.0, 3000.0), "allow_8bit": True, "shape": (3, 4), "max_pixels": 1, "band": 2,
    "height_unit": "ft", "reproject": "EPSG:32612", "nodata": 0.0,
}  # fmt: skip
"""One value of each option that must show; 0 is a height, and a sample, of every source."""


def written(suffix: str) -> Callable[[Path], Path]:
    terrain = sw.Terrain(HEIGHTS, cell_size=10.0, crs="EPSG:32611", transform=(10, 0, 5e5, 0, -10, 4e6))
    if suffix == ".hgt":
        side = 1201
        degrees = (1 / 1200, 0, -117 - 0.5 / 1200, 0, -1 / 1200, 35 + 0.5 / 1200)
        heights = np.tile(np.arange(side, dtype=np.float32), (side, 1))
        terrain = sw.Terrain(heights, cell_size=1.0, crs="EPSG:4326", transform=degrees)
    return lambda folder: sw.write(terrain, folder / f"N34W117{suffix}")


def group(folder: Path, dtype: str = "f4") -> Path:
    made = zarr.open_group(str(folder / "group.zarr"), mode="w")
    made.attrs["cell_size"] = 10.0
    made.create_array("elevation", data=HEIGHTS.astype(dtype), chunks=(4, 4))
    return folder / "group.zarr"


def result(folder: Path) -> Path:
    still = sw.SteepestTalus(talus_angle=89.0)
    out = folder / "result.zarr"
    sw.erode_tiled(sw.Terrain(HEIGHTS), still, steps=1, tile=16, out=out, workers=0, backend="reference")
    return out


def grey(folder: Path) -> Path:
    Image.fromarray(HEIGHTS.astype(np.uint8)).save(folder / "grey.png")
    return folder / "grey.png"


def bytes_of_numpy(folder: Path) -> Path:
    np.save(folder / "bytes.npy", HEIGHTS.astype(np.uint8))
    return folder / "bytes.npy"


def archive_of_bytes(folder: Path) -> Path:
    np.savez(folder / "bytes.npz", elevation=HEIGHTS.astype(np.uint8))
    return folder / "bytes.npz"


def tiff_of_bytes(folder: Path) -> Path:
    tifffile.imwrite(folder / "bytes.tif", HEIGHTS.astype(np.uint8))
    return folder / "bytes.tif"


SOURCES: dict[str, Callable[[Path], Path]] = {
    **{suffix: written(suffix) for suffix in FORMATS},
    "group": group,
    "result": result,
}
BYTES: dict[str, Callable[[Path], Path]] = {
    "png": grey, "npy": bytes_of_numpy, "npz": archive_of_bytes, "tif": tiff_of_bytes,
    "zarr": lambda folder: group(folder, "u1"),
}  # fmt: skip
Path_ = Callable[[Path, dict[str, Any]], sw.Terrain]


def in_memory(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.read(path, **options)


def as_source(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.FromFile(path=path, options=options).make()


def without_gdal(path: Path, options: dict[str, Any]) -> sw.Terrain:
    with sw.without_gdal():
        return by_tiles(path, options, 5)


def as_values(path: Path, options: dict[str, Any]) -> sw.Terrain:
    from slopewash.io.files import read_with

    if "height_unit" in options:
        raise InvalidParameter("what is no height has no unit of heights")  # no caller offers it
    return read_with(path, ValueOptions(**options))


PATHS: tuple[Path_, ...] = (in_memory, as_source, by_tiles, without_gdal, as_values)
LAYER_VALUES: dict[str, Any] = {"range": (5.0, 3000.0)}
LAYERS = ("rainfall", "bedrock")
"""A layer of numbers that have no unit of heights, and one of heights."""
SIDES = {".hgt": (1201, 1201)}
SUMMIT = 20_000.0
"""Elevation of the ground that layers are laid on, above every bedrock."""


def ground_of(shape: tuple[int, int]) -> sw.Terrain:
    """Ground of those cells without a place, so that any file of that shape lies on it."""
    return sw.Terrain(np.full(shape, SUMMIT))


def layer_in_memory(path: Path, name: str, options: dict[str, Any]) -> Any:
    shape = SIDES.get(path.suffix, SHAPE)
    return with_layers(ground_of(shape), {name: sw.LayerFile(path=path, **options)})[name]


def layer_on_tiles(path: Path, name: str, options: dict[str, Any]) -> Any:
    def each(task: Callable[..., Any], calls: Any, label: str) -> list[Any]:
        return [task(*call) for call in calls]

    shape = SIDES.get(path.suffix, SHAPE)
    with tempfile.TemporaryDirectory() as folder, using(Digests()):
        start, _ = keep(Store(f"{folder}/store.zarr"), ground_of(shape), max(5, max(shape) // 2))
        start = inputs.with_layers(start, {name: sw.LayerFile(path=path, **options)}, each)
        return start.part((slice(0, shape[0]), slice(0, shape[1])))[name]


def outcome(path: Path_, file: Path, options: dict[str, Any]) -> object:
    """Whatever is read, to the bit, or None if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            terrain = path(file, options)
        except SlopewashError as error:
            assert str(error)  # noqa: PT017
            return None
    nodata = None if terrain.nodata is None or not terrain.nodata.any() else terrain.nodata.tobytes()
    layers = {name: layer.tobytes() for name, layer in terrain.items()}
    return terrain.shape, layers, nodata, terrain.cell_size, terrain.crs, terrain.transform


def test_every_option_and_every_format_has_a_case() -> None:
    assert {field.name for field in dataclasses.fields(ReadOptions)} == set(VALUES)
    assert set(FORMATS) <= set(SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_every_option_changes_what_is_read_or_is_refused(tmp_path: Path, source: str) -> None:
    file = SOURCES[source](tmp_path)
    needed = {"cell_size": 20.0} if source == ".hgt" else {}
    read = []
    for path in PATHS:
        plain = outcome(path, file, needed)
        read.append(plain is not None)
        for name, value in VALUES.items():
            if plain is None or name == "allow_8bit":  # permits what another case has
                continue
            found = outcome(path, file, {**needed, name: value})
            assert found is None or found != plain, f"{path.__name__} of {source} ignores {name}"
    assert any(read)


def laid(path: Callable[..., Any], file: Path, name: str, options: dict[str, Any]) -> object:
    """Values of a layer, to the bit, or why it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(path(file, name, options)).tobytes()
        except SlopewashError as error:
            return error


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("source", [*SOURCES, *(f"{kind} of bytes" for kind in BYTES)])
def test_every_option_of_a_layer_changes_it_or_is_refused(tmp_path: Path, source: str, name: str) -> None:
    """In memory and on tiles alike, for heights and for other values."""
    assert {field.name for field in dataclasses.fields(sw.LayerFile)} == {"path", *LAYER_VALUES}
    file = {**SOURCES, **{f"{kind} of bytes": make for kind, make in BYTES.items()}}[source](tmp_path)
    plain = laid(layer_in_memory, file, name, {})
    for option, value in [("", None), *LAYER_VALUES.items()]:
        options = {option: value} if option else {}
        whole, tiled = (laid(path, file, name, options) for path in (layer_in_memory, layer_on_tiles))
        assert str(tiled) == str(whole)
        assert not option or isinstance(whole, SlopewashError) or whole != plain, f"{option} is ignored"
    without = isinstance(plain, InvalidParameter)  # bytes of a picture have no height by themselves
    assert without == (name == "bedrock" and "bytes" in source and "zarr" not in source)


UNITS: dict[str, Callable[[Path], Path]] = {
    "a band in feet": lambda folder: banded(folder, unit="ft"),
    "a CRS with heights in feet": lambda folder: banded(folder, crs=in_feet()),
    "one of ours": lambda folder: sw.write(placed(in_feet()), folder / "rock.tif", layer="bedrock"),
    "a text grid": lambda folder: sw.write(placed(in_feet()), folder / "rock.asc", layer="bedrock"),
}


def in_feet() -> str:
    return str(rasterio.crs.CRS.from_user_input("EPSG:32611+6360").to_wkt())


def placed(crs: str) -> sw.Terrain:
    place = (10, 0, 5e5, 0, -10, 4e6)
    return sw.Terrain(HEIGHTS + 100, bedrock=HEIGHTS, rainfall=HEIGHTS, cell_size=10.0, crs=crs, transform=place)


def banded(folder: Path, *, unit: str | None = None, crs: str = "EPSG:32611") -> Path:
    with rasterio.open(
        folder / "rock.tif", "w", driver="GTiff", height=SHAPE[0], width=SHAPE[1], count=1, dtype="float32", crs=crs,
        transform=rasterio.Affine(10, 0, 5e5, 0, -10, 4e6),
    ) as file:  # fmt: skip
        file.write((HEIGHTS.astype(np.float64) / FOOT).astype(np.float32), 1)
        if unit is not None:
            file.units = (unit,)
    return folder / "rock.tif"


@pytest.mark.parametrize("source", UNITS)
def test_only_a_layer_of_heights_has_a_unit_of_heights(tmp_path: Path, source: str) -> None:
    file = UNITS[source](tmp_path)
    for read in (layer_in_memory, layer_on_tiles):
        assert_allclose(read(file, "bedrock", {}), HEIGHTS, rtol=1e-5)
        assert_allclose(read(file, "rainfall", {}), HEIGHTS / FOOT, rtol=1e-5)
    assert_array_equal(layer_in_memory(file, "bedrock", {}), layer_on_tiles(file, "bedrock", {}))


@pytest.mark.parametrize("source", BYTES)
def test_bytes_are_heights_only_where_that_is_permitted(tmp_path: Path, source: str) -> None:
    file = BYTES[source](tmp_path)
    for path in (by_tiles,) if source == "zarr" else PATHS:
        needed: dict[str, Any] = {} if source == "zarr" else {"height_range": (0.0, 255.0)}
        assert outcome(path, file, needed) is None, path.__name__
        assert outcome(path, file, {**needed, "allow_8bit": True}) is not None, path.__name__
