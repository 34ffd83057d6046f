"""What holds for every command: where it writes, how it ends, and reports for programs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.cli import main
from slopewash.cli.app import COMMANDS
from slopewash.cli.running import Terminated

Run = Callable[..., Any]

QUICK = ["--model", "steepest_talus", "--steps", "2", "--backend", "reference"]
RECIPE = """backend = "reference"
[source]
generator = "dome"
size = 16
[[stages]]
model = "steepest_talus"
steps = 1
[[outputs]]
path = "eroded.exr"
"""
WRITING = {
    "demo": (["demo", "--preset", "outerrain", "--size", "16", "--steps", "1", "--backend", "reference"], ""),
    "recipes": (["recipes", "mesas"], "my.toml"),
    "run": (["run", "{recipe}"], ""),
    "generate": (["generate", "dome", "--size", "16"], "raw.exr"),
    "erode": (["erode", "{raw}", *QUICK], "eroded.exr"),
    "convert": (["convert", "{raw}"], "raw.tif"),
    "render": (["render", "{raw}", "--view", "map", "--water", "none"], "map.png"),
    "analyse": (["analyse", "{raw}"], "report.html"),
    "export": (["export", "{raw}", "--target", "gis"], ""),
}
"""A call of every command that takes --out, and the file that it is to write; a folder where there is none."""
READING = {
    "info": ["info", "{raw}"],
    "models": ["models", "steepest_talus"],
    "resume": ["resume", "{unfinished}"],
    "doctor": [],  # tests/cli/test_commands.py has reports of both
    "bench": [],
}
NO_RESULT = ("studio",)


def parameters(name: str) -> set[str]:
    return set(inspect.signature(COMMANDS[name].command).parameters)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    recipe = tmp_path / "my.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    raw = sw.write(sw.generate("dome", size=16, cell_size=20.0), tmp_path / "raw.exr")
    return {"recipe": recipe, "raw": raw, "unfinished": tmp_path / "unfinished"}


def test_every_command_is_looked_at_here() -> None:
    assert {name for name in COMMANDS if "out" in parameters(name)} - {"resume"} == WRITING.keys()  # which may have one
    assert {name for name in COMMANDS if "json" in parameters(name)} == WRITING.keys() | READING.keys()
    assert COMMANDS.keys() - NO_RESULT == WRITING.keys() | READING.keys()


@pytest.mark.parametrize("name", WRITING)
def test_folders_for_the_output_are_created_and_the_report_is_json(
    name: str, places: dict[str, Path], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COMMANDS["demo"], "draw_pictures", lambda *_: iter(()))  # they take seconds
    words, file = WRITING[name]
    out = tmp_path / "missing" / "deeper" / file
    done = run(*(word.format(**places) for word in words), "-o", out, "--json")
    assert done.code == 0, done.err
    assert isinstance(done.json, dict)
    assert out.is_file() if file else any(out.iterdir())


@pytest.mark.parametrize("name", WRITING)
def test_a_refusal_leaves_no_folder(name: str, places: dict[str, Path], tmp_path: Path, run: Run) -> None:
    words, file = WRITING[name]
    broken = {**places, "raw": tmp_path / "none.exr", "recipe": tmp_path / "none.toml"}
    wrong = {
        "demo": ["--preset", "nothing"], "recipes": ["--recipe"], "generate": ["--relief=-5"],
    }  # fmt: skip
    words = [word.format(**broken) for word in words] + wrong.get(name, [])
    done = run(*words, "-o", tmp_path / "missing" / "deeper" / file)
    assert done.code == 2
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("name", WRITING)
def test_a_file_in_the_place_of_a_folder_is_refused(
    name: str, places: dict[str, Path], tmp_path: Path, run: Run
) -> None:
    words, file = WRITING[name]
    (tmp_path / "taken").write_text("mine")
    done = run(*(word.format(**places) for word in words), "-o", tmp_path / "taken" / "deeper" / file)
    assert done.code == 2
    assert "taken" in done.err
    assert done.err.count("\n") <= 2
    assert (tmp_path / "taken").read_text() == "mine"


def test_what_is_read_is_reported_as_json(places: dict[str, Path], tmp_path: Path, run: Run) -> None:
    recipe = sw.Recipe.read(places["recipe"])
    sw.Running(recipe.replace(outputs=()), checkpoint=places["unfinished"]).write_checkpoint()
    for words in filter(None, READING.values()):
        done = run(*(word.format(**places) for word in words), "--json")
        assert done.code == 0, done.err
        assert isinstance(json.loads(done.out), dict)


ENDS = {
    "Ctrl-C": (KeyboardInterrupt(), 130),
    "SIGTERM": (Terminated(), 143),
    "a refusal": (sw.InvalidParameter("steps is 0; it must be 1 or more"), 2),
    "no memory": (MemoryError(), 2),
    "a full disk": (OSError(28, "No space left on device", "out.exr"), 2),
    "unknown words": (None, 2),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("end", ENDS)
def test_every_command_ends_with_the_same_codes(
    name: str, end: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error, code = ENDS[end]

    def command() -> None:
        """End."""
        assert error is not None
        raise error

    monkeypatch.setattr(COMMANDS[name], "command", command)
    assert main([name, *(["--no-such-option"] if error is None else [])]) == code
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors.count("\n") == 1


def test_an_unexpected_error_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def command() -> None:
        """End."""
        raise ZeroDivisionError

    monkeypatch.setattr(COMMANDS["models"], "command", command)
    with pytest.raises(ZeroDivisionError):  # a traceback, and code 1
        main(["models"])
