"""What a run on tiles leaves: Zarr that others read, overviews, attributes, GeoTIFF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import numpy as np
import pytest
import zarr
from numpy.testing import assert_allclose, assert_array_equal
from tests.tiles.conftest import SHAPE, rough

import slopewash as sw
from slopewash.cli import main
from slopewash.tiles import estimate, output
from slopewash.tiles.arrays import Field
from slopewash.tiles.digests import Digests, using
from slopewash.tiles.estimate import seconds_of
from slopewash.tiles.executors import InProcess
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.run import TiledRun
from slopewash.tiles.shards import write_shard
from slopewash.tiles.store import Store
from slopewash.tiles.watching import Watching
from slopewash.tiles.work import Cells, Work

TALUS = sw.SteepestTalus()


@pytest.mark.parametrize(
    ("shape", "tile"), [((67, 53), (30, 20)), ((300, 300), (128, 192)), ((1100, 600), (1024, 512))]
)
def test_zarr_and_our_shards_are_the_same(tmp_path: Path, shape: tuple[int, int], tile: tuple[int, int]) -> None:
    grid = TileGrid.of(shape, tile)
    values = np.random.default_rng(1).random((2, *shape)).astype(np.float32)
    field, store = Field(path="a", dtype="float32", components=2), Store(str(tmp_path / "s.zarr"))
    window = (slice(-7, shape[0] + 9), slice(shape[1] - 3, shape[1] + 5))
    wrapped = values[:, np.arange(-7, shape[0] + 9) % shape[0]][:, :, np.arange(shape[1] - 3, shape[1] + 5) % shape[1]]
    with using(Digests()):
        store.create(field, grid)
        for number, (rows, columns) in enumerate(grid):
            store.write(field, grid, number, values[:, rows, columns])
        assert_array_equal(zarr.open_array(f"{tmp_path}/s.zarr/a", mode="r")[:], values)
        assert_array_equal(store.read(field, grid, window), wrapped)
        zarr.open_array(f"{tmp_path}/s.zarr/a", mode="r+")[:] = 2 * values
        with pytest.raises(sw.InvalidFile, match=r"tile 0 of a in .* is not what .*: its checksum differs"):
            store.read(field, grid, (slice(0, shape[0]), slice(0, shape[1])))


def test_a_shard_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        write_shard(tmp_path / "c" / "0", [np.zeros((8, 8), np.float32)], (8, 8), (8, 8), 0)
    assert not list((tmp_path / "c").iterdir())


@pytest.fixture(scope="module")
def eroded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a store, and the same run in memory."""
    out = tmp_path_factory.mktemp("tiles") / "out.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "SMALLEST_OVERVIEW", 20)
        sw.erode_tiled(rough(), TALUS, steps=3, tile=30, out=out, workers=0)
    return out, sw.erode(rough(), TALUS, steps=3, backend="cpu")


def test_it_opens_lazily_with_coordinates(eroded: Any) -> None:
    out, whole = eroded
    data = sw.open(out)
    assert data["elevation"].chunks is not None
    assert_array_equal(data["x"], (np.arange(SHAPE[1]) + 0.5) * 2.0)
    assert_array_equal(data["y"], SHAPE[0] * 2.0 - (np.arange(SHAPE[0]) + 0.5) * 2.0)
    found = data["elevation"].values
    assert_array_equal(np.isnan(found), whole.nodata)
    assert_array_equal(found[~whole.nodata], whole["elevation"][~whole.nodata])
    assert data["elevation"].attrs["units"] == "m"


def test_at_a_url_tiles_are_asked_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    files = fsspec.filesystem("memory")
    url = "memory://asked_for_together/out.zarr"
    cone = sw.generate("cone", size=128)
    sw.erode_tiled(cone, TALUS, steps=1, tile=16, out=url, workers=0, backend="reference")
    asked: list[str] = []
    for name in ("info", "exists", "find", "ls", "cat_file", "size"):
        call = getattr(type(files), name)

        def counted(*given: Any, call: Any = call, name: str = name, **others: Any) -> Any:
            asked.append(name)
            return call(*given, **others)

        monkeypatch.setattr(type(files), name, counted)
    data = sw.open(url)
    assert asked.count("find") == len(data) == 5
    assert len(asked) < 20  # of 64 tiles in each of 5 layers
    whole = sw.erode(cone, TALUS, steps=1, backend="reference")
    assert_array_equal(data["elevation"], whole["elevation"])
    lost = "/asked_for_together/out.zarr/elevation/c/1/2"
    files.rm(lost)
    with pytest.raises(sw.SlopewashError, match=r"tile 10 of elevation .* it is missing"):
        sw.open(url)
    files.pipe_file(lost, b"short")
    with pytest.raises(sw.SlopewashError, match=r"tile 10 of elevation .* it has 5 bytes, not"):
        sw.open(url)


def test_overviews_are_means_of_the_ground(eroded: Any) -> None:
    out, whole = eroded
    group: Any = zarr.open_group(str(out), mode="r")
    assert [entry["asset"] for entry in group.attrs["multiscales"]["layout"]] == [".", "overviews/2", "overviews/4"]
    assert group.attrs["spatial:transform"] == [2.0, 0.0, 0.0, 0.0, -2.0, 134.0]
    assert group["overviews/4"].attrs["spatial:transform"][0] == 8.0
    z = np.where(whole.nodata, np.nan, whole["elevation"].astype(np.float64))
    block = z[10:12, 40:42]
    assert_allclose(group["overviews/2/elevation"][5, 20], np.nanmean(block), rtol=1e-6)
    assert group["overviews/4/elevation"].shape == (17, 14)


def test_a_geotiff_is_written_by_windows(tmp_path: Path, eroded: Any) -> None:
    rasterio = pytest.importorskip("rasterio")
    out, whole = eroded
    sw.write_tiled_geotiff(out, tmp_path / "out.tif", ["elevation", "wear"])
    with rasterio.open(tmp_path / "out.tif", driver="GTiff") as file:
        assert file.descriptions == ("elevation", "wear")
        found = file.read(2)
    assert_array_equal(found[~whole.nodata], whole["wear"][~whole.nodata])
    with pytest.raises(sw.UnknownName, match='unknown layer "weer"'):
        sw.write_tiled_geotiff(out, tmp_path / "out.tif", ["weer"])


def test_a_geotiff_in_a_folder_that_is_not_there_is_refused(tmp_path: Path, eroded: Any) -> None:
    pytest.importorskip("rasterio")
    with pytest.raises(sw.InvalidFile, match=r"there is no folder .*missing; create it first"):
        sw.write_tiled_geotiff(eroded[0], tmp_path / "missing" / "out.tif")
    assert main(["convert", str(eroded[0]), "-o", str(tmp_path / "made" / "out.tif")]) == 0


def test_the_command_line_erodes_on_tiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sw.write(rough(water=None, suspended=None, rainfall=None, sources=()), tmp_path / "in.npz")
    words = [
        "erode",
        str(tmp_path / "in.npz"),
        "-o",
        str(tmp_path / "out.zarr"),
        "--model",
        "steepest_talus",
        "--steps",
        "3",
    ]
    assert main([*words, "--tiles", "40", "--workers", "0", "--json"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["tiles"] == 4
    assert "67: 4 tiles of 40², about" in shown.err
    assert re.search(r"at least a second for 3 steps on 1 worker .*; the first rounds will show", shown.err)
    assert main(["info", str(tmp_path / "out.zarr"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"]
    assert main(["convert", str(tmp_path / "out.zarr"), "-o", str(tmp_path / "out.tif"), "--layer", "elevation"]) == 0
    read = sw.read(tmp_path / "out.tif")
    assert read.nodata is not None
    heights = np.where(read.nodata, np.float32(np.nan), read["elevation"])
    assert_array_equal(heights, sw.open(tmp_path / "out.zarr")["elevation"])
    assert main(["render", str(tmp_path / "out.zarr"), "-o", str(tmp_path / "a.png"), "--width", "64"]) == 0
    assert (tmp_path / "a.png").stat().st_size > 0
    assert main(["analyse", str(tmp_path / "out.zarr"), "--cell-size", "5"]) == 2
    assert "out.zarr records what its numbers mean; leave out --cell-size" in capsys.readouterr().err
    assert main([*words, "--scheduler", "tcp://nowhere:1"]) == 2
    assert "give --tiles 2048 too" in capsys.readouterr().err
    assert main([*words, "--tiles", "1"]) == 2
    assert "--tiles is 1; it must be 16 cells or more" in capsys.readouterr().err
    assert main([*words, "--tiles", "40", "--workers", "0", "--memory", "1MB"]) == 2
    refusal = capsys.readouterr().err
    assert "one worker with tiles of 40² needs about 0.6 GB, and 1 MB may be taken" in refusal
    least = re.search(r"--memory [0-9.]+GB", refusal)
    assert least is not None
    assert main([*words, "--tiles", "40", "--workers", "0", *least[0].split()]) == 0  # it is enough
    assert main([*words, "--tiles", "40", "--picture", str(tmp_path / "a.png")]) == 2
    assert "needs the whole terrain in memory" in capsys.readouterr().err


def test_the_command_line_writes_the_layers_that_were_asked_for_and_lakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sw.write(sw.Terrain(rough()["elevation"], cell_size=2.0), tmp_path / "in.npz")
    where = (tmp_path / "out.zarr").as_uri()  # file:///…, which is a path like others
    words = ["erode", str(tmp_path / "in.npz"), "--model", "virtual_pipes", "--steps", "8", "--layer", "water=2"]
    words += ["--backend", "cpu"]
    tiled = [*words, "--tiles", "40", "--workers", "0", "-o", where]
    assert main([*tiled, "--layers", "wear,lake", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["output"] == str(tmp_path / "out.zarr")
    assert set(report["layers"]) == {"elevation", "water", "wear", "lake"}  # lakes stand as high as the water
    assert main([*words, "-o", str(tmp_path / "whole.npz")]) == 0
    whole = sw.add_water(sw.read(tmp_path / "whole.npz"))
    found = sw.read_tiled(where)
    assert 0 < np.count_nonzero(found["lake"]) < found["lake"].size
    for name in found:
        assert_array_equal(found[name], whole[name], err_msg=name)
    assert main(["info", where]) == 0
    assert "lake" in capsys.readouterr().out
    assert main(["resume", where]) == 2
    assert "is finished" in capsys.readouterr().err
    for name in ("river", "drainage"):
        assert main([*tiled, "--layers", f"wear,{name}"]) == 2
        assert f"layer {name} needs the whole terrain" in capsys.readouterr().err
    assert main([*tiled, "--layers", "weer"]) == 2
    assert 'unknown layer "weer"; did you mean "wear"?' in capsys.readouterr().err


def test_the_command_line_runs_a_recipe_with_lakes_on_two_workers(
    tmp_path: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sw.write(sw.Terrain(rough()["elevation"], cell_size=2.0), tmp_path / "in.npz")
    recipe = tmp_path / "wet.toml"
    recipe.write_text(
        'backend = "cpu"\n[source]\nfile = "in.npz"\n[layers]\nwater = 2.0\n'
        '[[stages]]\nmodel = "virtual_pipes"\nsteps = 8\n'
        '[[outputs]]\nkind = "layers"\npath = "masks"\nlayers = ["wear", "lake"]\n'
    )
    out, address = tmp_path / "out.zarr", cluster.scheduler.address
    assert main(["run", str(recipe), "-o", str(out), "--tiles", "40", "--scheduler", address, "--json"]) == 0
    said = capsys.readouterr()
    assert "on 2 workers" in said.err
    assert f"only {out} is written" in said.err
    assert {"wear", "lake"} <= set(json.loads(said.out)["layers"])
    whole = sw.add_water(sw.Recipe.read(recipe).replace(outputs=()).run().terrain)
    found = sw.read_tiled(out)
    assert 0 < np.count_nonzero(found["lake"]) < found["lake"].size
    for name in found:
        assert_array_equal(found[name], whole[name], err_msg=name)


def test_the_first_round_tells_once_how_long_the_rest_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Heard(Watching):
        def __init__(self) -> None:
            self.said: list[str] = []

        def say(self, text: str) -> None:
            self.said.append(text)

    monkeypatch.setattr(estimate, "WORTH_SAYING", 0.0)
    recipe = sw.Recipe(
        source=sw.FromTerrain(terrain=rough()), stages=(sw.Stage(model=TALUS, steps=9),), backend="reference"
    )
    run = TiledRun(Store(str(tmp_path / "out.zarr")), recipe, tile=40, iterations=3)
    run.watching = heard = Heard()
    run.run(InProcess())
    assert ["at this pace" in text for text in heard.said] == [False, True]


def test_lakes_that_were_asked_for_are_there_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: TiledRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TiledRun, "_finish", stop)
    with pytest.raises(KeyboardInterrupt):
        sw.erode_tiled(
            rough(water=2.0), sw.VirtualPipes(), steps=3, tile=40, out=tmp_path / "out.zarr", workers=0, lakes=True
        )  # fmt: skip
    monkeypatch.undo()
    sw.resume_tiled(tmp_path / "out.zarr", workers=0)
    found = sw.read_tiled(tmp_path / "out.zarr")
    assert found["lake"].any()
    assert_array_equal(found["lake"], sw.add_water(found)["lake"])


def test_a_layer_that_the_model_does_not_yield_is_refused_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TiledRun, "_round", lambda self: pytest.fail("it runs"))
    with pytest.raises(sw.UnknownName, match='unknown layer "flow"'):
        sw.erode_tiled(
            rough(), sw.SteepestTalus(), steps=3, tile=40, out=tmp_path / "out.zarr", workers=0, layers=["flow"]
        )  # fmt: skip


def test_the_command_line_says_that_the_sea_has_silted_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shelf = np.where(np.arange(48) < 20, np.float32(3.9), np.linspace(6, 60, 48, dtype=np.float32))
    terrain = sw.Terrain(np.tile(shelf, (40, 1)), cell_size=2.0)
    sw.write(terrain, tmp_path / "in.npz")
    words = ["erode", str(tmp_path / "in.npz"), "--model", "virtual_pipes", "--set", "sea_level=4", "--steps", "60"]
    words += ["--settle", "--set", "sediment_capacity=3", "--set", "rain_rate=0.05", "--backend", "cpu"]
    assert main([*words, "-o", str(tmp_path / "whole.npz")]) == 0
    whole = capsys.readouterr().err
    assert main([*words, "-o", str(tmp_path / "out.zarr"), "--tiles", "25", "--workers", "0"]) == 0
    on_tiles = capsys.readouterr().err
    said = [[line for line in text.splitlines() if "silted up" in line] for text in (whole, on_tiles)]
    assert said[0] == said[1]
    assert len(said[0]) == 1


def test_the_result_is_read_as_a_terrain_or_from_an_overview(eroded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    out, whole = eroded
    read = sw.read_tiled(out)
    assert set(read) == set(whole)
    assert_array_equal(read.nodata, whole.nodata)
    assert_array_equal(read["wear"], whole["wear"])
    with monkeypatch.context() as patch:
        patch.setattr(output, "SMALLEST_OVERVIEW", 20)
        coarse = sw.read_tiled(out, most=30)
    assert coarse.shape == (17, 14)
    assert coarse.cell_size == 8.0
    monkeypatch.setattr("slopewash.memory.available_memory", lambda: 1000)
    with pytest.raises(sw.NotEnoughMemory, match="read an overview with"):
        sw.read_tiled(out)


def test_a_cloud_optimised_geotiff_is_one_and_leaves_no_draft(tmp_path: Path, eroded: Any) -> None:
    rasterio = pytest.importorskip("rasterio")
    out, whole = eroded
    assert main(["convert", str(out), "-o", str(tmp_path / "out.tif"), "--cog", "--layer", "wear"]) == 0
    with rasterio.open(tmp_path / "out.tif", driver="GTiff") as file:
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert_array_equal(file.read(1)[~whole.nodata], whole["wear"][~whole.nodata])
    assert [path.name for path in tmp_path.iterdir()] == ["out.tif"]
    assert main(["convert", str(out), "-o", str(tmp_path / "out.png"), "--cog"]) == 2


RECIPE = """
seed = 3
[source]
generator = "dome"
size = 60
[layers]
rainfall = 2.0
[[stages]]
model = "steepest_talus"
steps = 4
[[stages]]
model = "virtual_pipes"
steps = 3
[[outputs]]
path = "eroded.exr"
"""


def test_a_recipe_file_runs_on_tiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.toml").write_text(RECIPE)
    assert main(["run", "job.toml", "--tiles", "25", "--workers", "0", "--backend", "cpu"]) == 0
    assert "only out/job.zarr is written, and not eroded.exr" in capsys.readouterr().err
    whole = sw.Recipe.read("job.toml").replace(outputs=(), backend="cpu").run().terrain
    found = sw.read_tiled("out/job.zarr")
    assert set(found) == set(whole)
    for name in whole:
        assert_array_equal(found[name], whole[name], err_msg=name)
    assert main(["info", "out/job.zarr"]) == 0
    shown = capsys.readouterr().out
    assert "60 x 60, in 9 tiles of 25 x 25" in shown
    assert "elevation" in shown
    assert "{" not in shown


def test_info_says_how_far_a_run_has_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = sw.recipe("landscape", size=101, seed=5).replace(strength=0.01, backend="cpu", low_water={})

    class Enough(Exception):
        pass

    def stop(self: TiledRun) -> None:
        raise Enough

    monkeypatch.setattr(TiledRun, "_next_stage", stop)
    with pytest.raises(Enough):
        sw.erode_tiled(None, recipe, tile=60, out=tmp_path / "out.zarr", workers=0)
    assert main(["info", str(tmp_path / "out.zarr")]) == 0
    shown = capsys.readouterr().out
    assert "landscape on cpu, level 1 of 2" in shown
    counts = re.search(r"steps +(\d+) of (\d+) on this level", shown)
    assert counts is not None
    assert 0 < int(counts[1]) == int(counts[2])
    assert f"continue with slopewash resume {tmp_path / 'out.zarr'}" in shown


def test_info_of_a_run_with_maps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: TiledRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TiledRun, "_finish", stop)
    model = sw.VirtualPipes(rain_rate=sw.Map(np.linspace(0.01, 0.02, 53).repeat(67).reshape(53, 67).T))
    with pytest.raises(KeyboardInterrupt):
        sw.erode_tiled(rough(), model, steps=3, tile=40, out=tmp_path / "out.zarr", workers=0)
    assert main(["info", str(tmp_path / "out.zarr")]) == 0
    assert "3 of 3 on this stage" in capsys.readouterr().out


def test_time_is_estimated_by_cells_iterations_and_tasks() -> None:
    small, large = TileGrid((64, 64), (64, 64)), TileGrid((16384, 16384), (2048, 2048))
    assert seconds_of("virtual_pipes", small, 2560, workers=2, between=2560) == pytest.approx(0.7, abs=0.2)
    alone = seconds_of("virtual_pipes", large, 160, workers=1, between=16)
    assert alone == pytest.approx(16384**2 * 160 / 60e6, rel=0.05)
    assert seconds_of("virtual_pipes", large, 160, workers=2, between=16) == alone / 2


@pytest.mark.parametrize("memory", [1e8, 7e8, 1e9, 2.5e9])
@pytest.mark.parametrize(("workers", "cut"), [(3, False), (1, False), (3, True)])
def test_what_a_refusal_for_memory_names_is_enough(memory: float, workers: int, cut: bool, tmp_path: Path) -> None:
    state = Cells(name="state", dtype="float32", components=8, stepped=True)
    nothing: Any = None

    def said(tile: int, workers: int, memory: float) -> str:
        work = Work(
            store=Store(str(tmp_path)), model=sw.VirtualPipes(), domain=nothing, grid=TileGrid.of((8192, 8192), tile),
            backend="cpu", cells=(state,),
        )  # fmt: skip
        return estimate.sentence(work, 9.0, 5, workers=workers, iterations=lambda _: 5, memory=memory, cut=cut)

    with pytest.raises(sw.NotEnoughMemory, match=r"may be taken; give ") as refusal:
        said(4096, workers, memory)
    named = dict(re.findall(r'(workers|tile|memory)="?([0-9.]+)', str(refusal.value)))
    assert ("memory" in named) == str(refusal.value).endswith(", which is the least that works")
    assert not (cut and "tile" in named)
    enough = float(named["memory"]) * 1e9 if "memory" in named else memory
    said(int(named.get("tile", 4096)), int(named.get("workers", workers)), enough)
