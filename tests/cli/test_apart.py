"""No command overwrites what it reads, nor writes two outputs to one place."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.cli.app import COMMANDS

Run = Callable[..., Any]
QUICK = ["--model", "steepest_talus", "--steps", "2", "--backend", "reference"]
PIPES = ["--model", "virtual_pipes", "--steps", "2", "--backend", "reference"]
OUTPUTS = {
    "analyse": {"out"}, "bench": set[str](), "convert": {"out"}, "demo": {"out"}, "doctor": set(),
    "erode": {"out", "picture", "checkpoint", "record"}, "export": {"out"}, "generate": {"out"}, "info": set(),
    "models": set(), "recipes": {"out"}, "render": {"out"}, "resume": {"out"}, "run": {"out"}, "studio": {"keep"},
}  # fmt: skip
"""Options of every command that name what it writes."""
INPUTS = {
    "analyse": {"file"}, "convert": {"source"}, "erode": {"source"}, "export": {"file"}, "info": {"file"},
    "render": {"file"}, "resume": {"folder"}, "run": {"recipe"}, "studio": {"source"},
}  # fmt: skip
READ_NO_FILE = {
    ("demo", "out"): "it reads strata alone, and writes no .toml",
    ("generate", "out"): "likewise",
    ("recipes", "out"): "it reads nothing",
    ("studio", "keep"): "it refuses a folder with files of others",
    ("resume", "out"): "tests/recipes/test_resumed_elsewhere.py",
}
CASES: dict[tuple[str, str], list[list[str]]] = {
    ("analyse", "out"): [["analyse", "raw.exr", "-o", "raw.exr"]],
    ("convert", "out"): [
        ["convert", "raw.exr", "-o", "raw.exr"],
        ["convert", "raw.exr", "-o", "link.exr"],
        ["convert", "elevation.png", "-o", ".", "--layers", "elevation"],
        ["convert", "store.zarr", "-o", "store.zarr/zarr.tif"],
    ],
    ("erode", "out"): [
        ["erode", "raw.exr", "-o", "raw.exr", *QUICK],
        ["erode", "raw.exr", "-o", "rain.tif", "--layer", "rainfall=rain.tif", *PIPES],
        ["erode", "raw.exr", "-o", "rain.tif", "--map", "rain_rate=rain.tif:0..0.01", *PIPES],
        ["erode", "elevation.png", "-o", ".", "--layers", "wear", *QUICK],
        ["erode", "raw.exr", "-o", ".", "--layers", "wear", "--layer", "rainfall=wear.png", *PIPES],
        ["erode", "rain.tif", "-o", "rain.tif", "--tiles", "16", *QUICK],
        ["erode", "store.zarr", "-o", "store.zarr", "--tiles", "16", *QUICK],
    ],
    ("erode", "picture"): [
        ["erode", "elevation.png", "-o", "out.exr", "--picture", "elevation.png", *QUICK],
        ["erode", "raw.exr", "-o", "o.exr", "--picture", "wear.png", "--layer", "rainfall=wear.png", *PIPES],
    ],
    ("erode", "checkpoint"): [
        ["erode", "raw.exr", "-o", "o.exr", "--checkpoint", "ck", "--strata", "ck/step-000001/beds.toml", *QUICK]
    ],
    ("erode", "record"): [["erode", "rec/frame_000000.npz", "-o", "out.exr", "--record", "rec", *QUICK]],
    ("export", "out"): [
        ["export", "height.exr", "--target", "godot", "-o", "."],
        ["export", "height.exr", "--target", "blender", "-o", "."],
        ["export", "layers.exr", "--target", "houdini", "-o", "."],
        ["export", "height.raw", "--shape", "33,33", "--target", "unity", "-o", "."],
        ["export", "height.png", "--target", "unreal", "-o", "."],
        ["export", "height_x1_y0.png", "--target", "unreal", "--tiles", "2x2", "--fit", "resample", "-o", "."],
        ["export", "elevation.tif", "--target", "gis", "-o", "."],
    ],
    ("render", "out"): [["render", "elevation.png", "-o", "elevation.png", "--view", "map"]],
    ("run", "out"): [["run", "my.toml", "-o", "."], ["run", "layers.toml", "-o", "."]],
}  # fmt: skip
"""Calls by which an option would overwrite a file that is read."""
TOGETHER = {
    ("out", "picture"): [
        ["-o", "v.png", "--picture", "v.png"],
        ["-o", "m", "--layers", "wear", "--picture", "m/wear.png"],
    ],
    ("out", "checkpoint"): [["-o", "ck/step-000001/a.exr", "--checkpoint", "ck"]],
    ("out", "record"): [["-o", "rec/frame_000050.npz", "--record", "rec"]],
    ("picture", "checkpoint"): [["-o", "a.exr", "--picture", "ck/step-000001/a.png", "--checkpoint", "ck"]],
    ("picture", "record"): [["-o", "a.exr", "--picture", "rec/frame_000001.png", "--record", "rec"]],
    ("checkpoint", "record"): [["-o", "a.exr", "--checkpoint", "ck", "--record", "ck/step-000001"]],
}  # fmt: skip
"""Pairs of outputs of `erode` that meet."""
REFUSED = r"is the input file|, which is read|, which the run reads|is an input of the recipe|must end in \.html"
RECIPE = """backend = "reference"
[source]
file = "{source}"
[[stages]]
model = "steepest_talus"
steps = 1
[[outputs]]
{output}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    terrain = sw.generate("dome", size=33, cell_size=20.0)
    for folder in ("rec", "ck/step-000001"):
        Path(folder).mkdir(parents=True)
    for name in (
        "raw.exr", "height.exr", "layers.exr", "elevation.png", "height.png", "height_x1_y0.png", "wear.png",
        "rain.tif", "elevation.tif", "height.raw", "rec/frame_000000.npz",
    ):  # fmt: skip
        sw.write(terrain, name)
    Path("ck/step-000001/beds.toml").write_text("[[strata]]\nthickness = 10.0\n")
    Path("link.exr").symlink_to("raw.exr")
    sw.erode_tiled(terrain, sw.SteepestTalus(), steps=1, tile=33, out="store.zarr", workers=0, backend="reference")
    Path("my.toml").write_text(RECIPE.format(source="raw.exr", output='path = "raw.exr"'))
    masks = 'kind = "layers"\npath = "sub"\nlayers = ["elevation"]'
    Path("sub").mkdir()
    sw.write(terrain, "sub/elevation.png")
    Path("layers.toml").write_text(RECIPE.format(source="sub/elevation.png", output=masks))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    found = [Path(root, name) for root, _, names in os.walk(folder) for name in names]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


def test_every_option_that_names_a_file_is_looked_at_here() -> None:
    assert OUTPUTS.keys() == COMMANDS.keys()
    for name, module in COMMANDS.items():
        named = {
            option for option, parameter in inspect.signature(module.command, eval_str=False).parameters.items()
            if "Path" in str(parameter.annotation) or parameter.annotation == "Out"
        }  # fmt: skip
        assert named == OUTPUTS[name] | INPUTS.get(name, set()), name
    every = {(name, option) for name, options in OUTPUTS.items() for option in options}
    assert CASES.keys() | READ_NO_FILE.keys() == every
    assert not CASES.keys() & READ_NO_FILE.keys()
    assert {frozenset(pair) for pair in TOGETHER} == {
        frozenset((a, b)) for a in OUTPUTS["erode"] for b in OUTPUTS["erode"] if a != b
    }


@pytest.mark.parametrize("words", [words for cases in CASES.values() for words in cases], ids=" ".join)
def test_an_input_is_not_overwritten(words: list[str], here: Path, run: Run) -> None:
    before = contents(here)
    done = run(*words)
    assert done.code == 2, done.out
    assert re.search(REFUSED, done.err), done.err
    assert contents(here) == before


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("words", [words for cases in TOGETHER.values() for words in cases], ids=" ".join)
def test_two_outputs_do_not_meet(words: list[str], force: list[str], here: Path, run: Run) -> None:
    before = contents(here)
    done = run("erode", "raw.exr", *words, *QUICK, *force)
    assert done.code == 2, done.out
    assert "of another output" in done.err
    assert contents(here) == before


def test_what_is_not_read_is_written(here: Path, run: Run) -> None:
    """Files beside the input, and whatever has been there before."""
    assert run("erode", "raw.exr", "-o", "height.exr", "--picture", "wear.png", *QUICK).code == 0
    assert run("convert", "raw.exr", "-o", ".", "--layers", "elevation").code == 0
    assert run("export", "rain.tif", "--target", "gis", "-o", ".").code == 0
    assert run("erode", "raw.exr", "-o", "raw.exr", "--force", *QUICK).code == 0
