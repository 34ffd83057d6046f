"""Options that do not fit together, and what `info` shows of runs and units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.io.test_meaning import place_tags
from tests.io.tiffs import tiff

import slopewash as sw

Run = Callable[..., Any]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return sw.write(sw.generate("cone", size=16), tmp_path / "raw.exr")


def test_erode_refuses_to_write_over_its_input(raw: Path, run: Run) -> None:
    before = raw.read_bytes()
    done = run("erode", raw, "-o", raw, "--steps", 1)
    assert (done.code, done.err) == (
        2,
        f"slopewash: --out {raw} is the input file; name another file, or add --force\n",
    )
    assert raw.read_bytes() == before


def test_every_needs_a_folder_for_checkpoints(raw: Path, tmp_path: Path, run: Run) -> None:
    done = run("erode", raw, "-o", tmp_path / "out.exr", "--every", 10)
    assert (done.code, done.err) == (2, "slopewash: --every 10 needs --checkpoint, the folder to write to\n")


def test_a_file_is_no_folder_for_checkpoints(raw: Path, tmp_path: Path, run: Run) -> None:
    done = run("erode", raw, "-o", tmp_path / "out.exr", "--checkpoint", raw)
    assert (done.code, done.err) == (2, f"slopewash: {raw} is a file; --checkpoint needs a folder\n")


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """Folder of a recipe without outputs, with checkpoints at steps 2 and 4 of 5."""
    recipe = sw.recipe("single_grid", size=16, steps=5, settle=3, backend="reference")
    running = sw.Running(recipe, checkpoint=tmp_path / "run.ckpt", every=2)

    def die(simulation: sw.Simulation) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        running.run(die)
    return tmp_path / "run.ckpt"


def test_info_shows_how_much_is_done_of_how_much(unfinished: Path, run: Run) -> None:
    lines = [line.split(maxsplit=1) for line in run("info", unfinished).out.splitlines()]
    assert {"steps": "4 of 5", "settling": "0 of 3", "stage": "1 of 1", "finished": "no"}.items() <= {
        words[0]: words[1] for words in lines if len(words) == 2
    }.items()


def test_info_shows_that_steps_are_those_of_a_stage(tmp_path: Path, run: Run) -> None:
    recipe = sw.recipe("single_grid", size=16, steps=5, settle=3, backend="reference")
    sw.Running(recipe.replace(stages=recipe.stages * 2), checkpoint=tmp_path / "run.ckpt").write_checkpoint()
    assert "steps                0 of 5 on this stage\n" in run("info", tmp_path / "run.ckpt").out


def test_info_reports_a_damaged_checkpoint_and_shows_the_one_that_resume_uses(unfinished: Path, run: Run) -> None:
    newest = max(sw.find_checkpoints(unfinished)[0].glob("*.npy"))
    newest.write_bytes(newest.read_bytes()[:-1] + b"?")
    facts = run("info", unfinished, "--json").json
    assert facts["step"] == 2
    assert facts["note"].startswith("skipped as damaged: step-000004: ")
    assert "is not what was written" in facts["note"]


def test_resume_reports_that_there_is_nothing_to_write(unfinished: Path, run: Run) -> None:
    done = run("resume", unfinished)
    assert done.code == 0
    assert "its recipe has no outputs to write" in done.err
    again = run("resume", unfinished)
    assert again.err == "the run is finished; its recipe has no outputs to write\n"
    assert " s: " not in again.out  # nothing ran, so no time is claimed


def test_info_shows_the_units_of_layers(tmp_path: Path, run: Run) -> None:
    eroded = sw.erode(sw.generate("cone", size=16), sw.VirtualPipes(), steps=2, backend="reference")
    file = sw.write(eroded, tmp_path / "eroded.exr")
    units = run("info", file, "--json").json["units"]
    assert (units["elevation"], units["flow"], units["velocity"]) == ("m", "m²/time", "m/time")
    assert "m²/time" in run("info", file).out


def test_a_name_without_a_suffix_that_does_not_exist_is_reported_as_such(tmp_path: Path, run: Run) -> None:
    for command in (["info", tmp_path / "nope"], ["erode", tmp_path / "nope", "-o", tmp_path / "a.exr"]):
        done = run(*command)
        assert (done.code, done.err) == (2, f"slopewash: {tmp_path / 'nope'} does not exist\n")


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """A file along whose border -9999 marks cells without data, of which it says nothing."""
    heights = np.random.default_rng(1).integers(100, 900, (12, 14)).astype(np.float32)
    heights[0] = -9999
    np.save(tmp_path / "dem.npy", heights)
    return tmp_path / "dem.npy"


QUESTION = (
    "note: 14 cells of {} are -9999, {} m below all other ground: many programs mark cells without data so, but here "
    "they count as ground; if they are not ground, give {}\n"
)


@pytest.mark.parametrize("words", [["info"], ["erode", "--steps", 1, "--model", "steepest_talus"], ["convert"]])
def test_undeclared_nodata_is_questioned_and_the_option_named_is_the_remedy(
    words: list[Any], torn: Path, tmp_path: Path, run: Run
) -> None:
    out = [] if words == ["info"] else ["-o", tmp_path / "out.exr", "--force"]
    low = np.load(torn)[1:].min()
    done = run(words[0], torn, *words[1:], *out)
    assert done.code == 0
    assert QUESTION.format(torn, f"{low + 9999:.0f}", "--nodata -9999") in done.err
    assert done.err.count("-9999") == 2
    assert "rises" not in done.err  # which the cells of -9999 explain
    done = run(words[0], torn, *words[1:], *out, "--cell-size", 90, "--nodata", "-9999")
    assert (done.code, "note:" in done.err) == (0, False)
    if out:
        assert sw.read(tmp_path / "out.exr").nodata is not None


@pytest.mark.parametrize("tiles", [[], ["--tiles", 16, "--workers", 0]])
def test_heights_that_may_be_feet_are_questioned_once_and_the_option_named_is_the_answer(
    tiles: list[Any], tmp_path: Path, run: Run
) -> None:
    heights = np.random.default_rng(1).integers(100, 900, (1, 32, 32)).astype(np.float32)
    (tmp_path / "dem.tif").write_bytes(tiff(heights, tags=place_tags("feet")))
    for asked, answer in ((1, []), (0, ["--height-unit", "us-ft"])):
        out = tmp_path / f"out{asked}{'.zarr' if tiles else '.exr'}"
        words = ["--model", "steepest_talus", "--steps", 1, "--backend", "reference", *tiles]
        done = run("erode", tmp_path / "dem.tif", "-o", out, *words, *answer)
        assert done.code == 0
        assert done.err.count("if they are feet, give --height-unit us-ft\n") == asked


def test_a_recipe_file_names_nodata_as_its_own_key(torn: Path, tmp_path: Path, run: Run) -> None:
    recipe = tmp_path / "my.toml"
    text = '[source]\nfile = "dem.npy"\n{}\n[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n'
    recipe.write_text(text.format(""))
    done = run("run", recipe, "-o", tmp_path / "out")
    assert done.code == 0
    assert "if they are not ground, give nodata = -9999 in [source]\n" in done.err
    for value in ("-9999", "nan"):
        heights = np.load(torn)
        heights[0] = float(value)
        np.save(torn, heights)
        recipe.write_text(text.format(f"nodata = {value}"))
        done = run("run", recipe, "-o", tmp_path / "out", "--force")
        assert (done.code, "NaN" in done.err, "give nodata" in done.err) == (0, False, False)


RAIN = "note: rain_rate (K_r) is 50 cells/time, 1000 times the highest typical value; typical values are 0 .. 0.05\n"


def test_an_unusual_value_is_questioned_in_one_line_and_eroded(raw: Path, tmp_path: Path, run: Run) -> None:
    words = ("--model", "virtual_pipes", "--steps", 1, "--set", "rain_rate=50", "--set", "time_step=1e-3")
    done = run("erode", raw, "-o", tmp_path / "out.exr", *words)
    assert (done.code, done.err.count(RAIN), done.err.count("typical")) == (0, 1, 2)


@pytest.mark.parametrize("source", ['generator = "hill"\nsize = 32\nrelief = 900', 'file = "hill.npy"'])
def test_checking_a_recipe_questions_values_maps_and_a_sea_as_its_run_would(
    source: str, tmp_path: Path, run: Run
) -> None:
    np.save(tmp_path / "hill.npy", sw.generate("hill", size=24, relief=900.0)["elevation"])
    sw.write(sw.Terrain(np.full((32, 32), 50.0)), tmp_path / "rain.tif")
    recipe = tmp_path / "my.toml"
    text = '[source]\n{}\n[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters = {{ {} }}\n'
    for values, expected in {
        "rain_rate = 50": RAIN,
        'rain_rate = { file = "rain.tif" }': RAIN,
        "sea_level = -3200": "so far below that no river reaches it\n",
        "sea_level = 100": "",
    }.items():
        recipe.write_text(text.format(source, values))
        done = run("run", recipe, "--check")
        assert (done.code, "is valid" in done.out) == (0, True)
        assert done.err.endswith(expected)
        assert done.err.count("\n") == bool(expected)


REFUSED = {
    "a sea above all ground": ("sea_level = 3200", "", "all of it would be under water; choose a lower sea level"),
    "too long a time step": ("time_step = 500", "", "a step would need"),
    "an output over the recipe's own files": ("", '[[outputs]]\npath = "recipe.toml/a.npz"', "the run itself needs"),
    "an output over an input": ("", '[[outputs]]\npath = "hill.npy"', "would be overwritten"),
    "a home that only a shell knows": ("", '[[outputs]]\npath = "~/hill.npy"', "only a shell knows"),
    "a mask for a mesh": ("", '[layers]\nmask = 0.5\n[[stages]]\nmodel = "mesh_particles"\nsteps = 1', "erodes a mesh"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("source", ['generator = "hill"\nsize = 32\nrelief = 900', 'file = "hill.npy"'])
def test_checking_a_recipe_refuses_what_its_run_refuses_with_the_same_sentence(
    case: str, source: str, tmp_path: Path, run: Run
) -> None:
    values, more, words = REFUSED[case]
    np.save(tmp_path / "hill.npy", sw.generate("hill", size=24, relief=900.0)["elevation"])
    recipe = tmp_path / "my.toml"
    stage = f'[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters = {{ {values} }}\n'
    recipe.write_text(f"[source]\n{source}\n{stage}{more}")
    there = ("-o", tmp_path)
    if "over an input" in case and "generator" in source:
        pytest.skip("it reads nothing")
    checked, ran = (run("run", recipe, *there, *check) for check in (("--check",), ()))
    assert (checked.code, ran.code, checked.out) == (2, 2, "")
    assert words in checked.err
    assert checked.err.splitlines()[-1:] == ran.err.splitlines()[-1:]
    assert {path.name for path in tmp_path.iterdir()} == {"hill.npy", "my.toml"}


def test_checking_a_recipe_for_tiles_counts_them_and_names_outputs_that_are_not_written(
    tmp_path: Path, run: Run
) -> None:
    recipe, out = tmp_path / "my.toml", tmp_path / "my.zarr"
    text = '[source]\ngenerator = "dome"\nsize = 100\n[[outputs]]\npath = "a.npz"\n[[stages]]\nsteps = 1\nmodel = '
    recipe.write_text(f'{text}"steepest_talus"\n')
    words = ("run", recipe, "-o", out, "--check", "--tiles")
    done = run(*words, 64)
    assert (done.code, "On tiles, the run reports what it needs" in done.out) == (0, True)
    assert done.err.startswith(f"note: with --tiles only {out} is written, and not a.npz; ")
    assert "--tiles is 3; it must be 16 cells or more" in run(*words, 3).err
    recipe.write_text(f'{text}"mesh_particles"\n')
    assert "mesh_particles runs on one machine alone" in run(*words, 64).err
    assert not out.exists()
