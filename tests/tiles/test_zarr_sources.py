"""Zarr groups as sources: whoever made them, one is read rightly or refused in a sentence."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import zarr
from numpy.testing import assert_array_equal
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.errors import SlopewashError, UnusualWarning
from slopewash.tiles.digests import loaded
from slopewash.tiles.zarr_source import opened_zarr

HEIGHTS = np.arange(48, dtype=np.float32).reshape(6, 8)
STILL = sw.SteepestTalus(talus_angle=89.0)


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """A group without a fault."""
    path = tmp_path / "in.zarr"
    made = zarr.open_group(str(path), mode="w")
    made.attrs["cell_size"] = 2.0
    made.create_array("elevation", data=HEIGHTS, chunks=(3, 4), compressors=None)
    return path


def changed(path: Path, name: str, change: Callable[[dict[str, Any]], Any]) -> None:
    file = path / name / "zarr.json"
    facts = json.loads(file.read_text())
    change(facts)
    file.write_text(json.dumps(facts))


def first_chunk(path: Path) -> Path:
    return path / "elevation" / "c" / "0" / "0"


def pipe(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(path)


def with_pipe(path: Path) -> None:
    first_chunk(path).unlink()
    pipe(first_chunk(path))


def with_metadata_as_pipe(path: Path) -> None:
    (path / "elevation" / "zarr.json").unlink()
    pipe(path / "elevation" / "zarr.json")


def with_link(path: Path) -> None:
    first_chunk(path).unlink()
    first_chunk(path).symlink_to("/dev/zero")


def moved(path: Path) -> Path:
    """Move a file or folder out of the group, and leave a link in its place."""
    away = path.parents[len(path.parts) - 1 - path.parts.index("in.zarr")] / f"away-{path.name}"
    path.rename(away)
    path.symlink_to(away)
    return away


def lost(path: Path) -> None:
    """As git-annex leaves what is not fetched."""
    moved(path).rename(path.with_name("lost"))


def instead(path: Path) -> Path:
    """Place of a file or folder that is no longer there."""
    moved(path)
    path.unlink()
    return path


def with_long_metadata(path: Path) -> None:
    with (path / "zarr.json").open("ab") as file:
        file.truncate(1 << 26)


FAULTS: dict[str, Callable[[Path], object]] = {
    "a pipe": with_pipe,
    "metadata that are a pipe": with_metadata_as_pipe,
    "a link": with_link,
    "a chunk that is a folder": lambda path: instead(first_chunk(path)).mkdir(),
    "a chunk whose link leads nowhere": lambda path: lost(first_chunk(path)),
    "a folder whose link leads nowhere": lambda path: lost(path / "elevation" / "c"),
    "a folder of chunks that is a file": lambda path: instead(path / "elevation" / "c").write_bytes(b""),
    "a link to itself": lambda path: instead(first_chunk(path)).symlink_to("0"),
    "endless metadata": with_long_metadata,
    "no metadata": lambda path: (path / "zarr.json").unlink(),
    "damaged metadata": lambda path: (path / "elevation" / "zarr.json").write_text("{"),
    "deep metadata": lambda path: (path / "elevation" / "zarr.json").write_text("[" * 100_000),
    "a short chunk": lambda path: first_chunk(path).write_bytes(b"1234"),
    "chunks of no cells": lambda path: changed(
        path, "elevation", lambda facts: facts["chunk_grid"]["configuration"].update(chunk_shape=[0, 4])
    ),
    "chunks of three sides": lambda path: changed(
        path, "elevation", lambda facts: facts["chunk_grid"]["configuration"].update(chunk_shape=[3, 4, 1])
    ),
    "endless chunks": lambda path: changed(
        path, "elevation", lambda facts: facts["chunk_grid"]["configuration"].update(chunk_shape=[10**6, 10**6])
    ),
    "an endless shape": lambda path: changed(path, "elevation", lambda facts: facts.update(shape=[10**9, 10**9])),
    "an unknown type": lambda path: changed(path, "elevation", lambda facts: facts.update(data_type="float128")),
    "an unknown codec": lambda path: changed(path, "elevation", lambda facts: facts.update(codecs=[{"name": "x"}])),
    "dimensions of one name": lambda path: changed(
        path, "elevation", lambda facts: facts.update(dimension_names=["y", "y"])
    ),
    "rows along rows": lambda path: changed(
        path, "elevation", lambda facts: facts.update(dimension_names=["y", "northing"])
    ),
    "depths": lambda path: changed(path, "elevation", lambda facts: facts["attributes"].update(positive="down")),
    "bytes without a sign": lambda path: changed(
        path, "elevation", lambda facts: facts["attributes"].update(_Unsigned="true")
    ),
    "a mapping that is not there": lambda path: changed(
        path, "elevation", lambda facts: facts["attributes"].update(grid_mapping="crs")
    ),
    "a CRS that is a number": lambda path: changed(
        path, "", lambda facts: facts["attributes"].update({"proj:code": 7})
    ),
    "a CRS that is a path": lambda path: changed(
        path, "", lambda facts: facts["attributes"].update({"proj:code": "/etc/passwd"})
    ),
    "a CRS at a URL": lambda path: changed(
        path, "", lambda facts: facts["attributes"].update({"proj:code": "http://127.0.0.1:9/crs"})
    ),
    "cells of no size": lambda path: changed(path, "", lambda facts: facts["attributes"].update(cell_size=0)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_group_with_a_fault_is_refused_in_one_sentence(group: Path, fault: str) -> None:
    FAULTS[fault](group)
    with pytest.raises(SlopewashError, match=r"in\.zarr") as refusal:
        by_tiles(group, {})
    assert "\n" not in str(refusal.value)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize(
    "name", ["elevation/c/0/0", "elevation/c/0", "elevation/zarr.json", "elevation", "zarr.json", ""]
)
def test_links_to_data_elsewhere_are_followed(group: Path, name: str) -> None:
    """As DVC, git-annex and Nix keep them."""
    if name:
        moved(group / name)
    else:
        group.rename(group.with_name("away"))
        group.symlink_to("away")
    assert_array_equal(by_tiles(group, {})["elevation"], HEIGHTS)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_in_a_result_are_followed_by_who_reads_it_only(tmp_path: Path) -> None:
    store = tmp_path / "in.zarr"
    sw.erode_tiled(sw.Terrain(HEIGHTS), STILL, steps=1, tile=16, out=store, workers=0, backend="reference")
    away = moved(store / "elevation" / "c" / "0" / "0")
    before = away.read_bytes()
    assert_array_equal(by_tiles(store, {})["elevation"], HEIGHTS)
    assert_array_equal(sw.read_tiled(store)["elevation"], HEIGHTS)
    assert_array_equal(sw.open(store)["elevation"].values, HEIGHTS)
    with pytest.raises(SlopewashError, match="leads out of the folder"):
        sw.add_lakes_tiled(store, workers=0)
    sw.erode_tiled(sw.Terrain(HEIGHTS + 1), STILL, steps=1, tile=16, out=store, workers=0, backend="reference")
    assert away.read_bytes() == before


def test_no_file_is_looked_at_that_is_not_read(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of a million chunks is opened as fast as one of four."""
    for number in range(20):
        (group / "elevation" / "c" / f"{number + 2}").mkdir()
    looked: list[object] = []
    usual = os.scandir

    def scandir(path: Any = ".") -> Any:
        looked.append(path)
        return usual(path)

    monkeypatch.setattr(os, "scandir", scandir)
    opened_zarr(group, {}, 100)
    assert not [path for path in looked if "c" in Path(str(path)).parts]


@pytest.mark.parametrize(
    "url", ["memory://dem.zarr", "s3://bucket/dem.zarr", "file:///missing/dem.zarr", "missing.zarr"]
)
def test_a_source_is_a_folder_of_this_machine(url: str) -> None:
    with pytest.raises(SlopewashError, match=r"is a URL|does not exist"):
        by_tiles(Path(url), {})


def test_a_file_and_an_array_are_no_group(tmp_path: Path) -> None:
    (tmp_path / "file.zarr").write_bytes(b"PK")
    zarr.create_array(str(tmp_path / "array.zarr"), data=HEIGHTS)
    for name, sentence in (("file.zarr", "is a file"), ("array.zarr", "not a Zarr group")):
        with pytest.raises(SlopewashError, match=sentence):
            by_tiles(tmp_path / name, {})


@pytest.mark.parametrize(
    "call", [sw.read_tiled, sw.open, sw.tiled_facts, sw.resume_tiled], ids=lambda call: call.__name__
)
def test_a_store_at_no_place_that_is_known_is_refused(call: Callable[[str], object]) -> None:
    with pytest.raises(SlopewashError, match="that fsspec does not know"):
        call("nowhere://dem.zarr")


def test_undeclared_nodata_are_questioned(group: Path) -> None:
    zarr.open_array(str(group), path="elevation")[2, 3] = -9999
    with pytest.warns(sw.errors.NodataWarning, match=r"in\.zarr is -9999"):
        sw.erode_tiled(
            group, STILL, steps=1, tile=16, out=group.with_name("out.zarr"), workers=0, backend="reference"
        )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kind"), [(HEIGHTS > 3, "bool"), (np.full((6, 8), "rock"), "<U4"), (HEIGHTS.astype("c16"), "complex128")]
)
def test_arrays_that_are_no_numbers_are_left_out_aloud(group: Path, values: Any, kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of text, which version 3 of Zarr does not specify
        zarr.open_group(group).create_array("is_land", data=values)
    with pytest.warns(UnusualWarning, match=f"has is_land of type {kind}, which is no number; it is left out"):
        assert list(by_tiles(group, {})) == ["elevation"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.open_group(group).create_array("rainfall", data=values)
        with pytest.raises(sw.InvalidFile, match=f"has the array rainfall of type {kind}; save it as numbers"):
            by_tiles(group, {})


def test_a_group_of_another_size_is_refused(group: Path) -> None:
    with pytest.raises(SlopewashError, match="leave out size"):
        sw.erode_tiled(
            sw.FromFile(path=group, size=4), STILL, steps=1, tile=16, out=group.with_name("out.zarr"), workers=0,
            backend="reference",
        )  # fmt: skip


@pytest.fixture
def result(tmp_path: Path) -> tuple[Path, sw.Terrain]:
    """A result with nodata, strata, water sources and a place, and the terrain that it holds."""
    random = np.random.default_rng(5)
    terrain = sw.Terrain(
        100 * random.random((20, 24)).astype(np.float32), water=random.random((20, 24)).astype(np.float32),
        nodata=random.random((20, 24)) < 0.1, cell_size=10.0, crs="EPSG:32611", transform=(10, 0, 5e5, 0, -10, 4e6),
        strata=sw.strata_bands(thickness=5.0), sources=(sw.WaterSource(x=50.0, y=60.0, radius=20.0, rate=0.1),),
    )  # fmt: skip
    out = tmp_path / "result.zarr"
    sw.erode_tiled(terrain, STILL, steps=1, tile=16, out=out, workers=0, backend="reference")
    return out, sw.read_tiled(out)


def test_a_result_is_a_source_with_all_that_it_holds(result: tuple[Path, sw.Terrain]) -> None:
    path, terrain = result
    again = path.with_name("again.zarr")
    sw.erode_tiled(path, STILL, steps=1, tile=(7, 9), out=again, workers=0, backend="reference")
    read = sw.read_tiled(again)
    whole = sw.erode(terrain, STILL, steps=1, backend="reference")
    assert (read.cell_size, read.crs, read.transform) == (terrain.cell_size, terrain.crs, terrain.transform)
    assert_array_equal(read.nodata, terrain.nodata)
    for name in ("elevation", "water"):
        assert_array_equal(read[name], whole[name])
    assert read.strata is not None
    assert terrain.strata is not None
    assert read.strata.layers == terrain.strata.layers


def test_a_damaged_result_is_no_source(result: tuple[Path, sw.Terrain]) -> None:
    path, _ = result
    shard = max((file for file in (path / "elevation" / "c").rglob("*") if file.is_file()), key=lambda file: str(file))
    data = bytearray(shard.read_bytes())
    data[10] ^= 1
    shard.write_bytes(data)
    with pytest.raises(SlopewashError, match=r"damaged|not what slopewash wrote"):
        by_tiles(path, {})
    shard.unlink()
    with pytest.raises(SlopewashError, match=r"missing|not what slopewash wrote"):
        by_tiles(path, {})


def by_slopewash(path: Path) -> xarray.Dataset:
    return sw.open(path)


def by_xarray(path: Path) -> xarray.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the table of tiles, which is no array
        return xarray.open_zarr(path, consolidated=False)


@pytest.mark.parametrize("opened", [by_slopewash, by_xarray])
def test_what_xarray_makes_of_a_result_is_a_source_like_any_other(
    result: tuple[Path, sw.Terrain], opened: Callable[[Path], xarray.Dataset]
) -> None:
    path, terrain = result
    copy = path.with_name("copy.zarr")
    data = opened(path)
    data.assign(elevation=data["elevation"] + 1).to_zarr(copy, consolidated=False)
    with pytest.warns(UnusualWarning, match="has strata_top of a result, without the strata that it belongs to"):
        read = by_tiles(copy, {})
    assert terrain.nodata is not None
    assert_array_equal(read["elevation"][~terrain.nodata], terrain["elevation"][~terrain.nodata] + 1)
    assert (read.crs, read.transform) == (terrain.crs, terrain.transform)
    for door in (sw.open, sw.read_tiled):
        with pytest.raises(sw.InvalidFile, match="holds no result of a run on tiles"):
            door(copy)
    assert sw.tiled_facts(copy) is None


def test_a_window_of_a_result_is_a_source_in_its_place(result: tuple[Path, sw.Terrain]) -> None:
    path, terrain = result
    window = path.with_name("window.zarr")
    sw.open(path).isel(x=slice(4, 20), y=slice(3, 18)).to_zarr(window, consolidated=False)
    read = by_tiles(window, {})
    assert terrain.nodata is not None
    ground = ~terrain.nodata[3:18, 4:20]
    assert_array_equal(read.nodata, ~ground)
    assert_array_equal(read["elevation"][ground], terrain["elevation"][3:18, 4:20][ground])
    assert (read.cell_size, read.crs, read.transform) == (10.0, "EPSG:32611", (10, 0, 500_040, 0, -10, 3_999_970))


@pytest.mark.parametrize("made", ["by xarray", "at a URL", "a result without its table"])
def test_only_a_whole_result_is_replaced(result: tuple[Path, sw.Terrain], made: str) -> None:
    path, _ = result
    out = str(path.with_name("copy.zarr"))
    if made == "at a URL":
        out = "memory://only_a_whole_result/copy.zarr"
    if made == "a result without its table":
        out = str(path)
        next(path.glob("digests-*")).unlink()
        loaded.cache_clear()
        with pytest.raises(SlopewashError, match=r"the table of tiles .* it is missing"):
            by_tiles(path, {})
    else:
        by_xarray(path).to_zarr(out, consolidated=False)
    before = zarr.open_array(f"{out}/elevation", mode="r")[:]
    with pytest.raises(SlopewashError, match="holds no run on tiles of yours; choose another"):
        sw.erode_tiled(sw.generate("cone", size=20), STILL, steps=1, tile=16, out=out, workers=0, backend="reference")
    assert_array_equal(zarr.open_array(f"{out}/elevation", mode="r")[:], before)


def test_a_whole_result_is_replaced(result: tuple[Path, sw.Terrain]) -> None:
    sw.erode_tiled(sw.generate("cone", size=32), STILL, steps=1, tile=16, out=result[0], workers=0, backend="reference")
    assert sw.read_tiled(result[0]).shape == (32, 32)


@pytest.mark.parametrize(
    ("name", "value"),
    [("cell_size", 3.0), ("height_unit", "ft"), ("nodata", 0.0), ("band", 1), ("reproject", "utm"), ("max_pixels", 9)],
)
def test_a_result_says_itself_what_it_means(result: tuple[Path, sw.Terrain], name: str, value: object) -> None:
    with pytest.raises(SlopewashError, match=r"leave out|raise max_pixels"):
        by_tiles(result[0], {name: value})
