"""Options that do not fit together, and what `info` shows of runs and units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
