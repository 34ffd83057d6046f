"""Numbers that mark cells without data, in files that do not say so, are questioned on every path of reading."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from tests.io.test_meaning import place_tags
from tests.io.tiffs import ASCII, tiff

import slopewash as sw
from slopewash.io.suspects import HIGHEST, SENTINELS, Look
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.fill import fill
from slopewash.tiles.store import Store

SHAPE = (7, 9)
IMPOSSIBLE = (-3.4028235e38, 3.4028235e38, -1e20, 9.96921e36)
GROUND = np.random.default_rng(29).integers(100, 900, SHAPE)


def with_border(value: float, dtype: str = "f4") -> Any:
    """Ground along whose north nothing is known."""
    heights = GROUND.astype(dtype)
    heights[0, 2:7] = value
    return heights


def write_tiff(path: Path, heights: Any) -> None:
    path.write_bytes(tiff(heights[None], tags=place_tags("utm")))


def write_asc(path: Path, heights: Any) -> None:
    rows = "\n".join(" ".join(f"{float(value):.9g}" for value in row) for row in heights)
    path.write_text(f"ncols 9\nnrows 7\nxllcorner 0\nyllcorner 0\ncellsize 30\nNODATA_value -1\n{rows}\n")


def write_npz(path: Path, heights: Any) -> None:
    np.savez(path, elevation=heights)


def write_exr(path: Path, heights: Any) -> None:
    sw.write(sw.Terrain(heights), path)


WRITERS: dict[str, Callable[[Path, Any], None]] = {
    ".tif": write_tiff, ".asc": write_asc, ".npy": np.save, ".npz": write_npz, ".exr": write_exr,
}  # fmt: skip


def run_here(task: Callable[..., Any], calls: Any, title: str) -> list[Any]:
    return [task(*call) for call in calls]


def by_read(path: Path, options: dict[str, Any]) -> None:
    sw.read(path, **options)


def without_gdal(path: Path, options: dict[str, Any]) -> None:
    with sw.without_gdal():
        sw.read(path, **options)


def by_recipe(path: Path, options: dict[str, Any]) -> None:
    stage = sw.Stage(model=sw.SteepestTalus(), steps=1)
    sw.Recipe(source=sw.FromFile(path=path, options=options), stages=(stage,)).terrain()


def on_tiles(path: Path, options: dict[str, Any]) -> None:
    store = Store(str(path.with_name("store.zarr")))
    store.create_group("")
    store.create_group("state")
    with using(Digests()):
        fill(store, sw.FromFile(path=path, options=options), (4, 5), run_here)


PATHS = (by_read, without_gdal, by_recipe, on_tiles)


def warnings_of(
    path: Path, how: Callable[[Path, dict[str, Any]], None], category: type[Warning] = sw.NodataWarning, **options: Any
) -> list[Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        how(path, options)
    assert {warning.category for warning in caught} <= {category}
    return caught


@pytest.mark.parametrize("how", PATHS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_every_sentinel_of_every_format_is_questioned_once_on_every_path(
    tmp_path: Path, suffix: str, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    for value in SENTINELS:
        path = tmp_path / f"dem{suffix}"
        WRITERS[suffix](path, with_border(value))
        (caught,) = warnings_of(path, how)
        sentence = str(caught.message)
        assert f"5 cells of {path} are {value}" in sentence
        assert f"nodata={value}" in sentence
        assert caught.message.value == value
        assert not warnings_of(path, how, nodata=caught.message.value)


@pytest.mark.parametrize("how", PATHS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_heights_of_no_planet_are_refused_and_the_remedy_works(
    tmp_path: Path, suffix: str, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    path = tmp_path / f"dem{suffix}"
    for value in IMPOSSIBLE:
        WRITERS[suffix](path, with_border(value))
        stored = f"{np.float32(value)!s}"
        with pytest.raises(sw.InvalidTerrain, match=r"which is not a height; if .*nodata=") as refused:
            how(path, {})
        assert f"nodata={stored}" in str(refused.value)
        assert not warnings_of(path, how, nodata=float(stored))


@pytest.mark.parametrize("how", PATHS)
@pytest.mark.parametrize("suffix", [".tif", ".npy"])
def test_nan_that_nothing_declares_has_a_way_out_on_every_path(
    tmp_path: Path, suffix: str, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    path = tmp_path / f"dem{suffix}"
    heights = with_border(np.nan)
    heights[1, 1] = 400
    WRITERS[suffix](path, heights)
    with pytest.raises(sw.InvalidTerrain, match=r"nodata=float\(\"nan\"\), or --nodata nan"):
        how(path, {})
    assert not warnings_of(path, how, nodata=np.nan)
    (caught,) = warnings_of(path, how, nodata=400, category=sw.UnusualWarning)
    assert f"5 cells of {path} are NaN, which nothing declares, and left out like those of 400" in str(caught.message)


@pytest.mark.parametrize("how", PATHS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_nodata_that_no_cell_has_are_reported_once_on_every_path(
    tmp_path: Path, suffix: str, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    path = tmp_path / f"dem{suffix}"
    WRITERS[suffix](path, GROUND.astype(np.float32))
    (caught,) = warnings_of(path, how, nodata=12345, category=sw.UnusualWarning)
    assert f"{path} has no cell of 12345, which is given as nodata" in str(caught.message)
    assert not warnings_of(path, how, nodata=float(GROUND[6, 8]))


@pytest.mark.parametrize("how", PATHS)
@pytest.mark.parametrize(
    ("dtype", "value"), [("i2", -32768), ("i2", -9999), ("u2", 65535), ("u2", 55537), ("i4", -9999)]
)
def test_integers_that_are_metres_are_questioned_like_floats(
    tmp_path: Path, dtype: str, value: int, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    write_tiff(tmp_path / "dem.tif", with_border(value, dtype))
    (caught,) = warnings_of(tmp_path / "dem.tif", how)
    assert caught.message.value == value


@pytest.mark.parametrize("how", PATHS)
def test_the_number_named_is_that_of_the_file_and_not_its_metres(
    tmp_path: Path, how: Callable[[Path, dict[str, Any]], None]
) -> None:
    tags = {**place_tags("utm"), 42112: (ASCII, '<GDALMetadata><Item name="UNITTYPE" sample="0" role="unittype">ft'
            '</Item><Item name="SCALE" sample="0" role="scale">0.5</Item></GDALMetadata>')}  # fmt: skip
    (tmp_path / "dem.tif").write_bytes(tiff(with_border(-9999, "i2")[None], tags=tags))
    (caught,) = warnings_of(tmp_path / "dem.tif", how)
    assert caught.message.value == -9999
    assert not warnings_of(tmp_path / "dem.tif", how, nodata=-9999)


def test_groups_in_zarr_are_questioned_too(tmp_path: Path) -> None:
    group = zarr.open_group(str(tmp_path / "dem.zarr"), mode="w")
    group.create_array("elevation", data=with_border(-9999))
    (caught,) = warnings_of(tmp_path / "dem.zarr", on_tiles)
    assert caught.message.value == -9999


def test_what_a_file_declares_is_not_questioned(tmp_path: Path) -> None:
    tags = {**place_tags("utm"), 42113: (ASCII, "-9999")}
    (tmp_path / "dem.tif").write_bytes(tiff(with_border(-9999)[None], tags=tags))
    for how in PATHS:
        assert not warnings_of(tmp_path / "dem.tif", how)


def test_steps_of_a_range_are_not_questioned(tmp_path: Path) -> None:
    plateau = np.where(GROUND > 500, 65535, 0).astype(np.uint16)
    (tmp_path / "dem.tif").write_bytes(tiff(plateau[None]))
    assert not warnings_of(tmp_path / "dem.tif", by_read, height_range=(0.0, 4000.0))


@given(st.integers(-12_000, 70_000), st.integers(1, 9000), st.sampled_from(SENTINELS))
def test_heights_with_others_around_them_are_heights(low: int, relief: int, value: int) -> None:
    """A summit of 9999 m, or a trench of -9999 m, is joined to the rest by a slope."""
    slope = np.linspace(low, low + relief, 64, dtype=np.float32).reshape(8, 8)
    slope[3, 3] = value
    suspects = {float(number): float(number) for number in SENTINELS}
    look = Look.at(slope, None, suspects)
    if low - 500 < value < low + relief + 500:
        assert not look.isolated()
    elif not low - 500 - relief / 9 < value < low + relief + 500 + relief / 9:
        assert look.isolated()


@given(st.lists(st.sampled_from([0.0, 250.0, 900.0, *map(float, SENTINELS)]), min_size=6, max_size=60))
def test_what_parts_show_adds_up_to_what_the_whole_shows(heights: list[float]) -> None:
    suspects = {float(number): float(number) for number in SENTINELS}
    whole = np.array(heights, np.float32)[None]
    parts = [Look.at(part, None, suspects) for part in np.array_split(whole, 3, axis=1)]
    assert Look.over(parts).isolated() == Look.at(whole, None, suspects).isolated()


def test_flat_ground_and_ground_of_one_number_are_not_questioned() -> None:
    suspects = {-9999.0: -9999.0}
    assert not Look.at(np.full((3, 3), -9999, np.float32), None, suspects).isolated()
    assert not Look.at(np.zeros((3, 3), np.float32), np.ones((3, 3), bool), suspects).isolated()
    assert max(map(abs, SENTINELS)) < HIGHEST


def test_a_map_of_other_things_is_not_questioned(tmp_path: Path) -> None:
    write_tiff(tmp_path / "rain.tif", with_border(9999))
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=sw.Terrain(GROUND)),
        layers={"rainfall": sw.LayerFile(path=tmp_path / "rain.tif")},
        stages=(sw.Stage(model=sw.VirtualPipes(), steps=1),),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", sw.NodataWarning)
        assert recipe.terrain().range("rainfall")[1] == 9999
