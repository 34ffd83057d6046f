"""Ctrl-C names the command that continues, and that command does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw

Run = Callable[..., Any]

RECIPE = """backend = "reference"
[source]
generator = "dome"
size = 16
[[stages]]
model = "steepest_talus"
steps = 3
[[outputs]]
path = "eroded.exr"
"""
WORDS = {
    "erode": ["erode", "raw.exr", "-o", "out.exr", "--model", "steepest_talus", "--steps", "3", "--backend",
              "reference", "--checkpoint", "my run.ckpt"],
    "run": ["run", "my.toml", "-o", "my out"],
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sw.write(sw.generate("dome", size=32, cell_size=20.0), tmp_path / "raw.exr")
    (tmp_path / "my.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("moment", ["while it runs", "while it writes"])
def test_ctrl_c_names_the_command_that_continues(
    name: str, moment: str, here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        if moment == "while it runs":
            patched.setattr(sw.Progress, "start", interrupted)
        else:
            patched.setattr(sw.Output, "write", interrupted)
        done = run(*WORDS[name])
    assert done.code == 130
    named = re.search(r"slopewash (resume (?:'[^']*'|\S+))", done.err)
    assert named, done.err
    again = run(*shlex.split(named[1]))
    assert again.code == 0, again.err
    assert list(here.rglob("out.exr" if name == "erode" else "eroded.exr"))


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_on_tiles_names_the_command_if_there_is_something_to_continue(
    begun: bool, here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sw, "erode_tiled", interrupted)
    monkeypatch.setattr(sw, "tiled_facts", lambda _: {"finished": False} if begun else None)
    done = run("erode", "raw.exr", "-o", "out.zarr", "--tiles", 16, "--model", "steepest_talus")
    assert done.code == 130
    assert ("slopewash resume out.zarr" in done.err) == begun
    assert ("nothing is kept" in done.err) != begun


def test_ctrl_c_in_a_demo_of_a_recipe_names_what_can_be_continued(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sw.Progress, "start", interrupted)
    monkeypatch.setattr("slopewash.cli.demo.draw_pictures", lambda *_: iter(()))
    done = run("demo", "--recipe", "alpine", "--size", 16, "--backend", "reference", "-o", "out")
    assert done.code == 130
    assert "slopewash run alpine is a run that can be continued" in done.err


@pytest.mark.parametrize("both", [True, False])
def test_a_recording_that_a_resume_would_not_continue_is_said_to_be_one(both: bool, tmp_path: Path, run: Run) -> None:
    raw, rec, ck = (tmp_path / name for name in ("raw.npz", "rec", "ck"))
    sw.write(sw.generate("dome", size=16, cell_size=20.0), raw)
    words = ["--model", "steepest_talus", "--steps", "2", "--backend", "reference", "--record", rec]
    done = run("erode", raw, "-o", tmp_path / "out.npz", *words, *(["--checkpoint", ck] if both else []))
    assert done.code == 0
    assert (f"but not the recording in {rec}; a recipe with a time-lapse" in done.err) == both
