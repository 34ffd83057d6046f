"""Bad input: one sentence that helps, exit code 2, no traceback, and no work done first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from PIL import Image

Run = Callable[..., Any]


def test_refusals_outside_are_one_sentence_and_code_2(run_outside: Run) -> None:
    done = run_outside("erode", "missing.exr", "-o", "out.exr")
    assert (done.code, done.out) == (2, "")
    assert done.err == "slopewash: missing.exr does not exist\n"


BEZIN = ["erode", "{raw}", "-o", "{out}", "--preset", "bezin2010"]
CASES = {
    "unknown command": (["erod", "a.exr"], "erode"),
    "unknown option": (["erode", "{raw}", "-o", "{out}", "--step", "3"], "--steps"),
    "missing output": (["erode", "{raw}"], "--out"),
    "no number": (["generate", "dome", "-o", "{out}", "--size", "big"], "unable to convert"),
    "unknown kind": (["generate", "domes", "-o", "{out}"], 'did you mean "dome"'),
    "impossible size": (["generate", "dome", "-o", "{out}", "--size", "0"], "size is 0"),
    "negative size": (["generate", "dome", "-o", "{out}", "--size", "-5"], "size is -5"),
    "huge size": (["generate", "dome", "-o", "{out}", "--size", "9999999"], "size is 9999999"),
    "impossible cell size": (["generate", "dome", "-o", "{out}", "--cell-size", "nan"], "cell_size"),
    "impossible extent": (["generate", "dome", "-o", "{out}", "--extent", "0"], "extent is 0.0 m; it must be positive"),
    "two extents": (
        ["generate", "dome", "-o", "{out}", "--extent", "900", "--cell-size", "10"],
        "extent is 900 m, but 512 cells with a cell_size of 10 m are 5120 m; give one of the two",
    ),
    "missing file": (["erode", "{folder}/none.exr", "-o", "{out}"], "does not exist"),
    "missing file to show": (["info", "{folder}/none.exr"], "does not exist"),
    "wrong file": (["erode", "{text}", "-o", "{out}"], "broken.exr"),
    "unknown suffix": (["erode", "{raw}", "-o", "{folder}/out.tfi"], 'did you mean ".tif"'),
    "no suffix": (["erode", "{raw}", "-o", "{folder}/out"], "suffix"),
    "file as folder": (["erode", "{raw}", "-o", "{text}/none/out.exr"], "cannot be created"),
    "folder as output": (["erode", "{raw}", "-o", "{folder}/folder.exr"], "is a folder"),
    "picture of another kind": (["erode", "{raw}", "-o", "{out}", "--picture", "{folder}/a.jpg"], "must end in .png"),
    "picture in a file": (["erode", "{raw}", "-o", "{out}", "--picture", "{text}/none/a.png"], "cannot be created"),
    "unknown preset": (["erode", "{raw}", "-o", "{out}", "--preset", "jako"], 'did you mean "jako2011"'),
    "preset like none": (["erode", "{raw}", "-o", "{out}", "--preset", "mountain"], "choose one of bezin2010, "),
    "landscape as preset": (
        ["erode", "{raw}", "-o", "{out}", "--preset", "alpine"],
        "alpine is a landscape of the library, not a preset; make it with slopewash demo --recipe alpine",
    ),
    "parameter as layer": (
        ["erode", "{raw}", "-o", "{out}", "--layer", "rain_rate=rain.png:0..1"],
        "rain_rate is a parameter, not a layer; give its map with --map rain_rate=FILE:LOW..HIGH",
    ),
    "suffix like none": (["erode", "{folder}/a.xyz", "-o", "{out}"], "known suffixes are .asc, "),
    "picture as heights": (["erode", "{folder}/a.jpg", "-o", "{out}"], "is not read; save it as a grey .png"),
    "Zarr to show": (
        ["info", "{zarr}"],
        "is a Zarr group, and no run on tiles; slopewash erode --tiles 2048 -o OUT.zarr",
    ),
    "Zarr to convert": (["convert", "{zarr}", "-o", "{out}"], "it is ground for slopewash erode --tiles 2048"),
    "colours as heights": (["erode", "{rgb}", "-o", "{out}"], "a single grey channel is needed; save heights as grey"),
    "colours as a layer": (
        ["erode", "{raw}", "-o", "{out}", "--layer", "rainfall={rgb}"],
        "a single grey channel is needed; save it as grey",
    ),
    "Zarr of a real place": (
        ["erode", "{zarr}", "-o", "{folder}/o.zarr", "--tiles", "16"],
        "cube.zarr may be a real place; with tiles, name a --preset, such as gentle",
    ),
    "Zarr in memory": (
        ["erode", "{folder}/a.zarr", "-o", "{out}"],
        "slopewash erode --tiles 2048 -o OUT.zarr takes it",
    ),
    "unknown model": (["erode", "{raw}", "-o", "{out}", "--model", "virtual_pipe"], 'did you mean "virtual_pipes"'),
    "unknown parameter": (["erode", "{raw}", "-o", "{out}", "--set", "rain=1"], 'did you mean "rain_rate"'),
    "out of range": (["erode", "{raw}", "-o", "{out}", "--set", "pipe_area=-1"], "must be positive"),
    "sea above all ground": (["erode", "{raw}", "-o", "{out}", "--set", "sea_level=1e6"], "choose a lower sea level"),
    "no number for the sea": (["erode", "{raw}", "-o", "{out}", "--set", "sea_level=low"], 'a number or "none"'),
    "no number to set": (["erode", "{raw}", "-o", "{out}", "--set", "pipe_area=wide"], "must be a number"),
    "unknown law": (["erode", "{raw}", "-o", "{out}", "--set", "transport=magic"], "donor_cell"),
    "no setting": (["erode", "{raw}", "-o", "{out}", "--set", "pipe_area"], "name=value"),
    "unknown backend": (["erode", "{raw}", "-o", "{out}", "--backend", "cup"], 'did you mean "cpu"'),
    "unknown edges": (["erode", "{raw}", "-o", "{out}", "--edges", "ajar"], "open"),
    "no steps": (["erode", "{raw}", "-o", "{out}", "--steps", "0"], "steps is 0"),
    "dry without settling": (["erode", "{raw}", "-o", "{out}", "--dry", "--no-settle"], "leave out --no-settle"),
    "no threads": (["erode", "{raw}", "-o", "{out}", "--threads", "0"], "1 or more"),
    "reversed range": (["erode", "{raw}", "-o", "{out}", "--height-range", "9..1"], "below the second"),
    "range with a comma": (["erode", "{raw}", "-o", "{out}", "--height-range", "-9,1"], "write --height-range -9..1"),
    "old name of a range": (
        ["export", "{raw}", "--target", "gis", "--export-range=0,9"],
        "--out-height-range LOW..HIGH",
    ),
    "range of nothing read": (["generate", "dome", "--height-range", "0..9"], "--out-height-range LOW..HIGH"),
    "no output": (["erode", "{raw}"], "--out is missing; name the file to write, such as -o eroded.exr"),
    "no folder": (
        ["export", "{raw}", "--target", "gis"],
        "--out is missing; name the folder to write, such as -o game/",
    ),
    "no picture": (["render", "{raw}"], "--out is missing; name the picture or film to write, such as -o view.png"),
    "gullies like blades": (["erode", "{raw}", "-o", "{out}", "--gullies", "5"], "within 0 .. 2, 0.5 is a good depth"),
    "reversed range of a map": (
        ["erode", "{raw}", "-o", "{out}", "--map", "rain_rate=a.png:1..0"],
        "the range of --map rain_rate=a.png is 1..0; the first number must be below",
    ),
    "range with a hyphen": (
        ["erode", "{raw}", "-o", "{out}", "--map", "rain_rate=a.png:0-0.5"],
        "is 0-0.5; write a.png:0..0.5",
    ),
    "half a range": (["erode", "{raw}", "-o", "{out}", "--height-range", "9"], "LOW..HIGH"),
    "no shape": (["erode", "{raw}", "-o", "{out}", "--shape", "3,x"], "ROWS,COLUMNS"),
    "shape of parts": (["erode", "{raw}", "-o", "{out}", "--shape", "3,0.5"], "whole numbers"),
    "too many cells": (["erode", "{raw}", "-o", "{out}", "--max-pixels", "9"], "--max-pixels"),
    "NaN heights": (["erode", "{nan}", "-o", "{out}"], "row 2, column 3"),
    "mesh as input": (["erode", "{folder}/a.glb", "-o", "{out}"], "is a mesh file, but a grid is needed"),
    "mesh to show": (["info", "{folder}/a.obj"], "is a mesh file, but a grid is needed"),
    "emitter of words": ([*BEZIN, "--emitter", "a,b,c,d,e,f"], "X,Y,RADIUS,RATE,SPEED,DIRECTION"),
    "too few triangles": ([*BEZIN, "--set", "triangles=1"], "needs 2 or more"),
    "unknown thing to list": (["models", "landscap"], 'did you mean "landscape"'),
    "unknown preset to measure": (["bench", "--preset", "jako"], 'did you mean "jako2011"'),
    "impossible size to measure": (["bench", "--size", "1"], "3 or more"),
    "no steps to measure": (["bench", "--steps", "0"], "1 or more"),
    "missing strata": (["erode", "{raw}", "-o", "{out}", "--strata", "{folder}/none.toml"], "does not exist"),
    "strata of another kind": (["erode", "{raw}", "-o", "{out}", "--strata", "layers"], '"bands"'),
    "strata that are none": (["erode", "{raw}", "-o", "{out}", "--strata", "{toml}"], "must be positive"),
    "strata where none fit": (["generate", "dome", "-o", "{folder}/a.png", "--strata", "bands"], "write .exr or .npz"),
    "demo of bad strata": (["demo", "--out", "{folder}/demo", "--strata", "{toml}"], "must be positive"),
    "demo of an unknown preset": (["demo", "--out", "{folder}/demo", "--preset", "chiba"], 'did you mean "chiba_'),
    "demo of no steps": (["demo", "--out", "{folder}/demo", "--steps", "-1"], "steps is -1"),
    "demo of no size": (["demo", "--out", "{folder}/demo", "--size", "0"], "size is 0"),
    "demo into a file": (["demo", "--out", "{text}", "--size", "8", "--steps", "1"], "cannot be created"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_rejected_in_one_helpful_sentence(case: str, run: Run, raw: Path, tmp_path: Path) -> None:
    text, nan = tmp_path / "broken.exr", tmp_path / "nan.npy"
    text.write_text("no picture at all")
    heights = np.zeros((5, 6), dtype=np.float32)
    heights[2, 3] = np.nan
    np.save(nan, heights)
    (tmp_path / "folder.exr").mkdir()
    toml = tmp_path / "layers.toml"
    toml.write_text("[[strata]]\nthickness = 0\n")
    rgb, group = tmp_path / "rgb.png", tmp_path / "cube.zarr"
    Image.new("RGB", (8, 8)).save(rgb)
    zarr.open_group(str(group), mode="w").create_array("elevation", data=np.zeros((8, 8), np.float32))
    places = {
        "toml": toml, "raw": raw, "out": tmp_path / "out.exr", "folder": tmp_path, "text": text, "nan": nan,
        "rgb": rgb, "zarr": group,
    }  # fmt: skip
    words, remedy = CASES[case]
    done = run(*(word.format(**places) for word in words))
    assert (done.code, done.out) == (2, "")
    assert remedy in done.err
    assert done.err.startswith("slopewash: ")
    assert done.err.count("\n") == 1
    assert not places["out"].exists()


def test_a_preset_of_another_model_is_rejected(run: Run, raw: Path) -> None:
    done = run("erode", raw, "-o", raw.with_name("out.exr"), "--preset", "single_grid", "--model", "steepest_talus")
    assert done.code == 2
    assert "preset single_grid belongs to model virtual_pipes, not steepest_talus; name one only" in done.err


def test_nodata_cells_are_rejected_before_the_run_where_the_format_cannot_mark_them(run: Run, tmp_path: Path) -> None:
    import slopewash as sw

    gap = np.zeros((6, 6), dtype=bool)
    gap[0, 0] = True
    source = tmp_path / "gap.exr"
    sw.write(sw.Terrain(np.ones((6, 6)), nodata=gap), source)
    done = run("erode", source, "-o", tmp_path / "out.png", "--steps", "1000000")
    assert done.code == 2
    assert "cannot mark" in done.err


def test_a_single_line_is_no_mesh_which_is_reported_before_the_run(run: Run, tmp_path: Path) -> None:
    import slopewash as sw

    source = sw.write(sw.Terrain(np.ones((1, 6))), tmp_path / "line.exr")
    done = run("erode", source, "-o", tmp_path / "out.glb", "--steps", "1000000")
    assert done.code == 2
    assert "a mesh needs two rows and two columns" in done.err


def test_an_unexpected_error_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import slopewash as sw

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(sw, "generate", broken)
    with pytest.raises(ZeroDivisionError):
        run("generate", "dome", "-o", tmp_path / "a.exr")


def test_too_little_memory_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import slopewash as sw

    def huge(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 8.00 TiB")

    monkeypatch.setattr(sw, "generate", huge)
    done = run("generate", "dome", "-o", tmp_path / "a.exr")
    assert (done.code, done.err) == (2, "slopewash: not enough memory for this size (Unable to allocate 8.00 TiB)\n")
