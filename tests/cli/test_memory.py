"""Jobs that do not fit into memory are refused before anything is made, by every command that makes something."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash.cli import main
from slopewash.errors import NotEnoughMemory

LEFT = 1 << 30
"""Bytes that the machine is made to report; the files here need more, but are sparse and have headers only."""
SIDE = 16384

RECIPE = f"""
[source]
generator = "dome"
size = {SIDE}

[[stages]]
model = "steepest_talus"
steps = 1

[[outputs]]
kind = "terrain"
path = "out.exr"
"""


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file whose heights need 1 GiB in each layer, and little memory."""
    for module in ("memory", "needs"):
        monkeypatch.setattr(f"slopewash.{module}.available_memory", lambda: LEFT)
    monkeypatch.chdir(tmp_path)
    header = {"descr": "<f4", "fortran_order": False, "shape": (SIDE, SIDE)}
    with Path("large.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * SIDE * SIDE)
    Path("large.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


COMMANDS = {
    "generate": f"generate dome --size {SIDE} -o out.exr",
    "generate, whole": f"generate islands --size {SIDE} -o out.exr",
    "erode": "erode large.npy -o out.exr --preset landscape",
    "erode, talus": "erode large.npy -o out.exr --model steepest_talus --checkpoint kept",
    "erode, layers": "erode large.npy -o masks/ --layers flow,wear",
    "run": "run large.toml -o out",
    "run --check": "run large.toml --check",
    "demo": f"demo --size {SIDE} -o out",
    "render": "render large.npy -o out.png",
    "render, block": "render large.npy -o out.png --view block",
    "film": "render large.npy -o out.webm",
    "export": "export large.npy --target gis -o out",
    "convert": "convert large.npy -o out.tif",
    "convert, layers": "convert large.npy -o masks/ --layers river",
    "analyse": "analyse large.npy",
    "analyse, page": "analyse large.npy -o out.html",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_what_does_not_fit_before_it_makes_anything(
    command: str, large: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(large.iterdir())
    begin = time.process_time()
    assert main(COMMANDS[command].split()) == 2
    assert time.process_time() - begin < 2.0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "GiB of memory, and 1.0 GiB is available; " in said
    assert "fewer cells" in said
    assert sorted(large.iterdir()) == before


def test_what_can_be_done_on_tiles_is_said_to(large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(COMMANDS["erode"].split())
    assert "give --tiles" in capsys.readouterr().err
    main(["erode", "large.npy", "-o", "out.exr", "--model", "velocity_field"])
    assert "--tiles" not in capsys.readouterr().err


CALLS: dict[str, Callable[[], object]] = {
    "generate": lambda: sw.generate("dome", size=SIDE),
    "read": lambda: sw.read("large.npy"),
    "Recipe.run": lambda: sw.recipe("landscape", size=SIDE).run(),
    "Running": lambda: sw.Running(sw.recipe("landscape", size=SIDE), checkpoint="kept"),
    "Recipe.check_memory": lambda: sw.recipe("landscape", size=SIDE).check_memory(),
    "erode": lambda: sw.erode(sw.Terrain(np.broadcast_to(np.float32(0), (SIDE // 4, SIDE // 4))), "landscape"),
    "Simulation": lambda: sw.Simulation(
        sw.Terrain(np.broadcast_to(np.float32(0), (SIDE // 4, SIDE // 4))), sw.VirtualPipes(), backend="reference"
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_refuses_what_does_not_fit(call: str, large: Path) -> None:
    with pytest.raises(NotEnoughMemory, match=r"needs about .* of memory, and 1.0 GiB is available; "):
        CALLS[call]()
    assert {path.name for path in large.iterdir()} == {"large.npy", "large.toml"}


def test_the_studio_refuses_a_run_that_does_not_fit(large: Path) -> None:
    from slopewash.studio.run import Run

    with pytest.raises(NotEnoughMemory):
        Run(sw.recipe("landscape", size=SIDE), notice=print, largest=None)


def test_check_prints_what_a_recipe_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.toml"
    path.write_text(RECIPE.replace(str(SIDE), "64"), encoding="utf-8")
    assert main(["run", str(path), "--check"]) == 0
    assert "it needs about 0.2 GiB of memory" in capsys.readouterr().out
    assert main(["run", str(path), "--check", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert 1e8 < facts["memory"] < 3e8
    assert facts["seconds"] < 5
