"""Checkpoints up to 0.2, which carry no seal: refused in a sentence that says so, and continued on trust."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.earlier import unsealed

import slopewash as sw
from slopewash.cli import main
from slopewash.errors import ForeignCheckpoint

SAID = r"does not carry your seal: an older slopewash, another user .* wrote it, .*; if you trust .* with "


def recipe() -> sw.Recipe:
    return sw.recipe("outerrain", size=12, steps=6, backend="reference").replace(outputs=(sw.Output(Path("a.npz")),))


@pytest.fixture(params=[None, "out"])
def begun(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run under way, as one with a folder of its own and without."""
    monkeypatch.chdir(tmp_path)
    folder = request.param
    checkpoint = tmp_path / "run.ckpt" if folder is None else tmp_path / folder / "checkpoints"
    running = sw.Running(recipe(), checkpoint=checkpoint, folder=folder)
    running.advance(2)
    running.write_checkpoint()
    return unsealed(checkpoint if folder is None else tmp_path / folder)


def test_a_simulation_is_continued_on_trust(tmp_path: Path) -> None:
    mine = sw.Simulation(sw.generate("dome", size=12), sw.SteepestTalus(), backend="reference")
    mine.run(3)
    mine.checkpoint(tmp_path)
    unsealed(tmp_path)
    for resume in (sw.Simulation.resume, sw.read_checkpoint):
        with pytest.raises(ForeignCheckpoint, match=SAID + "trust=True"):
            resume(tmp_path)
    again = sw.Simulation.resume(tmp_path, trust=True)
    assert (again.terrain["elevation"] == mine.terrain["elevation"]).all()


def test_a_run_is_continued_on_trust_to_the_same_bits(begun: Path) -> None:
    with pytest.raises(ForeignCheckpoint, match=SAID + r"trust=True and out=\.\.\., a folder for its outputs$"):
        sw.resume(begun)
    result = sw.resume(begun, trust=True, out="new")
    assert (result.terrain["elevation"] == recipe().replace(outputs=()).run().terrain["elevation"]).all()
    assert Path("new/a.npz").exists()


def test_the_command_names_its_options(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["resume", str(begun)]
    assert main(words) == 2
    assert capsys.readouterr().err.endswith("continue it with --trust and --out DIR, a folder for its outputs\n")
    assert main([*words, "--trust"]) == 2
    assert "name a folder for them with --out DIR" in capsys.readouterr().err
    assert main([*words, "--trust", "--out", "new"]) == 0
    assert Path("new/a.npz").exists()
