"""`slopewash run`: a recipe file, its output folder, and going on after an interrupt."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
import tifffile
from PIL import Image

import slopewash as sw

Run = Callable[..., Any]

RECIPE = """
seed = 3
backend = "reference"

[source]
generator = "dome"
size = 20

[[stages]]
name = "slides"
preset = "outerrain"
steps = 12

[[stages]]
model = "virtual_pipes"
steps = 10
settle = 4

[[outputs]]
kind = "picture"
path = "map.png"
width = 60

[[outputs]]
path = "data/eroded.exr"

[[outputs]]
path = "eroded.png"
height_range = [-100, 2000]

[[outputs]]
path = "eroded.tif"
layer = "wear"

[[outputs]]
path = "eroded.npz"

[[outputs]]
path = "eroded.r16"

[[outputs]]
path = "mesh.glb"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    file = tmp_path / "my.toml"
    file.write_text(RECIPE, encoding="utf-8")
    return file


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


FILES = [
    "data/eroded.exr", "eroded.npz", "eroded.png", "eroded.r16", "eroded.r16.json", "eroded.tif", "manifest.json",
    "map.png", "mesh.glb", "recipe.toml",
]  # fmt: skip


def test_two_runs_give_byte_identical_folders(run: Run, recipe: Path, tmp_path: Path) -> None:
    assert run("run", recipe, "-o", tmp_path / "first").code == 0
    assert run("run", recipe, "-o", tmp_path / "second", "--no-checkpoints").code == 0
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert list(first) == FILES
    assert first == second
    sw.Recipe.read(recipe).run(folder=tmp_path / "python")
    running = sw.Running(sw.Recipe.read(recipe), checkpoint=tmp_path / "on" / "checkpoints", folder=tmp_path / "on")
    running.advance(2)
    running.write_checkpoint()
    running.close()
    sw.resume(tmp_path / "on")
    assert contents(tmp_path / "python") == contents(tmp_path / "on") == first
    manifest = json.loads(first["manifest.json"])
    assert (manifest["slopewash"], manifest["seed"], manifest["step"]) == (sw.__version__, 3, 10)
    assert manifest["stages"] == ["outerrain", "virtual_pipes"]
    assert abs(manifest["budget"]["solids_drift"]) < 1e-5
    sums = {entry["file"]: entry["sha256"] for entry in manifest["outputs"]}
    assert sums == {name: hashlib.sha256(first[name]).hexdigest() for name in FILES if name != "manifest.json"}


def test_the_recipe_in_the_folder_gives_the_same_folder_again(run: Run, recipe: Path, tmp_path: Path) -> None:
    words = ("--set", "slides.steps=2", "--set", "virtual_pipes.rain_rate=0.03", "--set", "seed=4", "--preview")
    assert run("run", recipe, "-o", tmp_path / "first", *words).code == 0
    assert run("run", tmp_path / "first" / "recipe.toml", "-o", tmp_path / "second").code == 0
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert sw.read(tmp_path / "first" / "eroded.npz").shape == (5, 5)


def test_files_say_what_made_them(run: Run, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("run", recipe, "-o", out).code == 0
    with Image.open(out / "eroded.png") as heights, Image.open(out / "map.png") as picture:
        texts = [image.text["slopewash:made_by"] for image in (heights, picture)]  # type: ignore[attr-defined]
    with OpenEXR.File(str(out / "data" / "eroded.exr")) as file:
        texts.append(file.header()["slopewash:made_by"])
    with tifffile.TiffFile(out / "eroded.tif") as tiff:
        texts.append(tiff.pages[0].tags["ImageDescription"].value)  # type: ignore[union-attr]
    data = (out / "mesh.glb").read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    notes = [*map(json.loads, texts), json.loads(data[20 : 20 + length])["asset"]["extras"]]
    expected = {
        "slopewash": sw.__version__, "model": "virtual_pipes", "preset": None,
        "stages": ["outerrain", "virtual_pipes"], "seed": 3, "step": 10,
    }  # fmt: skip
    assert notes == [expected] * 5
    assert "seed 3" in run("info", out / "eroded.tif").out
    assert run("info", out / "data" / "eroded.exr", "--json").json["made_by"] == expected


def test_the_python_call_writes_the_same_folder(run: Run, recipe: Path, tmp_path: Path) -> None:
    assert run("run", recipe, "-o", tmp_path / "first").code == 0
    sw.Recipe.read(recipe).run(folder=tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_inputs_are_in_the_manifest_and_never_overwritten(run: Run, recipe: Path, tmp_path: Path) -> None:
    raw = sw.write(sw.generate("cone", size=12), tmp_path / "raw.exr")
    short = '[source]\nfile = "raw.exr"\n[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n[[outputs]]\npath = "raw.exr"'
    recipe.write_text(short)
    before = raw.read_bytes()
    done = run("run", recipe, "-o", tmp_path)
    assert done.code == 2
    assert "raw.exr is an input of the recipe and would be overwritten" in done.err
    assert raw.read_bytes() == before
    assert run("run", recipe, "-o", tmp_path / "out").code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    sha = hashlib.sha256(before).hexdigest()
    assert manifest["inputs"] == [{"file": "../raw.exr", "sha256": sha, "bytes": len(before)}]


def test_the_manifest_has_checksums_of_what_was_read_and_not_of_what_is_there_at_the_end(tmp_path: Path) -> None:
    raw = tmp_path / "raw.npy"
    heights = np.array(sw.generate("cone", size=12)["elevation"])
    np.save(raw, heights)
    sha = hashlib.sha256(raw.read_bytes()).hexdigest()
    recipe = sw.Recipe(
        source=sw.FromFile(path=raw, options={"cell_size": 10.0}),
        stages=(sw.Stage(model=sw.SteepestTalus(), steps=4),),
        backend="reference",
        outputs=(sw.Output(Path("out.npz")),),
    )
    out = tmp_path / "out"
    running = sw.Running(recipe, checkpoint=out / "checkpoints", folder=out)
    running.advance(2)
    running.write_checkpoint()
    np.save(raw, heights + np.float32(7))
    sw.resume(out)
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert [entry["sha256"] for entry in manifest["inputs"]] == [sha]


def test_exports_and_films_are_outputs(run: Run, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    head, _, _ = RECIPE.partition("[[outputs]]")
    recipe.write_text(
        head + '[[outputs]]\nkind = "export"\npath = "unreal"\ntarget = "unreal"\nsize = 127\nfit = "resample"\n'
        '[[outputs]]\nkind = "film"\npath = "turn.webm"\nseconds = 0.2\nfps = 10\nsize = [64, 40]\nwater = "none"\n'
    )
    assert run("run", recipe, "-o", "out").code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    written = {entry["file"] for entry in manifest["outputs"]}
    assert written == set(contents(tmp_path / "out")) - {"manifest.json"}
    assert "turn.webm" in written
    assert any(name.startswith("unreal/") for name in written)
    recipe.write_text(head + '[[outputs]]\nkind = "export"\npath = "a"\ntarget = "unrael"\n')
    assert 'outputs[1].target: unknown target "unrael"; did you mean "unreal"?' in run("run", recipe, "--check").err


def test_checking_reports_and_writes_nothing(
    run: Run, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("run", recipe, "--check")
    assert (done.code, done.err) == (0, "")
    assert (
        "is valid: source dome of 20 x 20 cells, stages slides, virtual_pipes, outputs map.png, data/eroded.exr"
        in done.out
    )
    recipe.write_text(RECIPE.replace("settle = 4", "setle = 4"))
    done = run("run", recipe, "--check")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith('my.toml, line 17, stages[2].setle: unknown key "setle"; did you mean "settle"?\n')
    assert list(tmp_path.iterdir()) == [recipe]


def test_a_plan_lists_the_steps_and_writes_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("run", "alpine", "--plan", "--set", "source.size=128")
    assert (done.code, done.err) == (0, "")
    assert all(words in done.out for words in ("64 x 64", "settle", "of memory"))
    done = run("run", "alpine", "--plan", "--json", "--set", "source.size=128")
    steps = json.loads(done.out)
    coarse, fine = (max(step["memory"] for step in steps if step["shape"] == [n, n]) for n in (64, 128))
    assert coarse < fine
    assert sum(step["steps"] for step in steps) == sw.Running(sw.recipe("alpine", size=128)).steps_in_all
    assert list(tmp_path.iterdir()) == []


def test_checking_finds_maps_of_layers_that_nothing_makes(run: Run, tmp_path: Path) -> None:
    recipe = tmp_path / "maps.toml"
    words = '[source]\n{}\n[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters.rain_rate = {{ layer = "{}" }}\n'
    again = '[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters.rain_rate = { layer = "flow" }\n'
    recipe.write_text(words.format('generator = "dome"\nsize = 20', "wetness"))
    done = run("run", recipe, "--check")
    assert done.code == 2
    assert 'the map of rain_rate is a layer "wetness", which the terrain does not have; it has elevation' in done.err
    sw.write(sw.generate("dome", size=20).replace(own_layers={"wetness": np.ones((20, 20))}), tmp_path / "wet.npz")
    recipe.write_text(words.format('file = "wet.npz"', "wetness") + again)  # a stage leaves its layers to the next
    assert run("run", recipe, "--check").code == 0


def test_checking_refuses_a_map_that_the_stage_before_has_used_up_as_a_run_does(run: Run, tmp_path: Path) -> None:
    recipe = tmp_path / "twice.toml"
    stage = '[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters.rain_rate = { layer = "rainfall" }\n'
    sw.write(sw.generate("dome", size=20).replace(rainfall=0.01), tmp_path / "wet.npz")
    recipe.write_text('[source]\nfile = "wet.npz"\n' + 2 * stage)
    checked, done = run("run", recipe, "--check"), run("run", recipe, "-o", tmp_path / "out")
    assert checked.code == done.code == 2
    assert done.err.endswith(checked.err)
    assert 'the map of rain_rate is a layer "rainfall", which the terrain does not have in stage 2' in checked.err


def test_outputs_go_to_a_folder_named_after_the_recipe(
    run: Run, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("run", recipe).code == 0
    assert list(contents(tmp_path / "out" / "my")) == FILES
    assert "is complete; to make it again: slopewash run out/my/recipe.toml" in run("resume", "out/my").err
    done = run("run", "out/my/recipe.toml", "-o", "out/my")
    assert done.code == 2
    assert "is the recipe itself and would be rewritten" in done.err


@pytest.mark.parametrize("stage", ["steepest_talus", "virtual_pipes"])
def test_an_interrupted_recipe_is_resumed_to_an_identical_folder(
    stage: str, run: Run, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("run", recipe, "-o", tmp_path / "whole").code == 0
    observe = sw.Checkpoints.observe

    def observe_and_interrupt(self: sw.Checkpoints, simulation: sw.Simulation) -> None:
        observe(self, simulation)
        if simulation.model.name == stage and simulation.steps_taken == 6:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(sw.Checkpoints, "observe", observe_and_interrupt)
        done = run("run", recipe, "-o", tmp_path / "out", "--every", 3)
    assert done.code == 130
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["interrupted"] is True
    done = run("run", recipe, "-o", tmp_path / "out")
    assert (done.code, "continue it with slopewash resume" in done.err) == (2, True)
    assert done.err.endswith("or begin anew with --force\n")
    copied = shutil.copytree(tmp_path / "out", tmp_path / "copied")
    assert run("run", recipe, "-o", copied, "--force").code == 0
    assert not (copied / "checkpoints").exists()
    (tmp_path / "out").rename(tmp_path / "moved")
    assert run("info", tmp_path / "moved", "--json").json["finished"] is False
    assert run("resume", tmp_path / "moved").code == 0
    assert contents(tmp_path / "moved") == contents(tmp_path / "whole")


def test_a_look_is_written_to_a_file_and_can_be_run_by_its_name(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "alpine.toml"
    assert run("recipes", "alpine", "-o", file).out.strip() == str(file)
    assert "add --force" in run("recipes", "mesas", "-o", file).err
    words = ("--set", "source.size=24", "--check", "--json")
    by_file, by_name = run("run", file, *words).json, run("run", "alpine", *words).json
    assert by_file | {"recipe": "alpine"} == by_name
    assert by_name["source"] == ["range of 24 x 24 cells"]
    assert by_name["outputs"] == ["terrain.exr", "view.png", "map.png"]


def test_the_schema_is_printed(run: Run) -> None:
    assert run("recipes", "--schema").json == sw.recipe_schema()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "none.toml"), "none.toml does not exist; `slopewash recipes NAME -o FILE` writes one"),
        (("run", "alpin"), 'unknown recipe "alpin"; did you mean "alpine"?'),
        (("recipes", "-o", "a.toml"), "--out a.toml needs the NAME of a landscape"),
        (("recipes", "alpine", "-o", "a.txt"), "a.txt must end in .toml"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(run: Run, words: tuple[str, ...], expected: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert expected in done.err
    assert done.err.count("\n") == 1
