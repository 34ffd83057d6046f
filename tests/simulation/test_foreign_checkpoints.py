"""A checkpoint of another user is none of one's own: continued on request only, and written only where one says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import slopewash as sw
from slopewash.cli import main
from slopewash.errors import CheckpointError, InvalidFile
from slopewash.simulation import newest_manifest

HILL = sw.generate("dome", size=12, seed=1, cell_size=5.0)
Became = Callable[[str], None]


@pytest.fixture
def become(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Became:
    """Be another user from now on, with a secret of their own."""
    return lambda name: monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states" / name))


def begun(folder: Path, *outputs: str) -> None:
    """A recipe under way, three steps before its end."""
    recipe = sw.recipe("outerrain", size=12, steps=8, backend="reference")
    recipe = recipe.replace(outputs=tuple(sw.Output(Path(output)) for output in outputs))
    running = sw.Running(recipe, checkpoint=folder)
    running.advance(5)
    running.write_checkpoint()


def test_a_simulation_of_another_user_is_refused_and_continued_on_trust(tmp_path: Path, become: Became) -> None:
    become("they")
    theirs = sw.Simulation(HILL, sw.SteepestTalus(), backend="reference")
    theirs.run(3)
    theirs.checkpoint(tmp_path / "run")
    become("me")
    for resume in (sw.Simulation.resume, sw.read_checkpoint):
        with pytest.raises(CheckpointError, match=r"step-000003 does not carry your seal.*trust=True"):
            resume(tmp_path / "run")
    mine = sw.Simulation.resume(tmp_path / "run", trust=True)
    assert mine.step == 3
    mine.run(2)
    theirs.run(2)
    assert (mine.terrain["elevation"] == theirs.terrain["elevation"]).all()
    mine.checkpoint(tmp_path / "run")
    assert sw.Simulation.resume(tmp_path / "run").step == 5  # what I wrote is mine
    become("they")
    assert sw.Simulation.resume(tmp_path / "run/step-000003").step == 3


def test_outputs_of_another_user_go_where_one_says_and_over_no_file(tmp_path: Path, become: Became) -> None:
    become("they")
    elsewhere = tmp_path / "elsewhere.npz"
    begun(tmp_path / "run", "made.npz")
    begun(tmp_path / "evil", str(elsewhere))
    begun(tmp_path / "worse", "../elsewhere.npz")
    become("me")
    with pytest.raises(CheckpointError, match=r"seal.*trust=True"):
        sw.resume(tmp_path / "run")
    with pytest.raises(CheckpointError, match=r"name a folder for them with out="):
        sw.resume(tmp_path / "run", trust=True)
    with pytest.raises(InvalidFile, match=r"leads out"):
        sw.resume(tmp_path / "worse", trust=True, out=tmp_path / "out")
    sw.resume(tmp_path / "evil", trust=True, out=tmp_path / "out")
    assert (tmp_path / "out/elsewhere.npz").exists()
    assert not elsewhere.exists()
    (tmp_path / "out/made.npz").write_text("precious")
    with pytest.raises(InvalidFile, match=r"made\.npz exists; .*force=True"):
        sw.resume(tmp_path / "run", trust=True, out=tmp_path / "out")
    assert (tmp_path / "out/made.npz").read_text() == "precious"
    result = sw.resume(tmp_path / "run", trust=True, out=tmp_path / "out", force=True)
    assert (result.steps, result.foreign) == (8, True)
    assert sw.read(tmp_path / "out/made.npz").shape == (12, 12)


def test_a_run_of_another_user_that_is_interrupted_again_stays_in_its_place(tmp_path: Path, become: Became) -> None:
    become("they")
    begun(tmp_path / "run", "made.npz")
    become("me")
    running = sw.Running.resumed(tmp_path / "run", trust=True, out=tmp_path / "out")
    running.advance(1)
    running.write_checkpoint()
    again = sw.Running.resumed(tmp_path / "run")
    assert [output.path for output in again.recipe.outputs] == [tmp_path / "out/made.npz"]
    assert again.foreign


def test_the_command_names_the_options(
    tmp_path: Path, become: Became, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    become("they")
    begun(tmp_path / "run.ckpt", "made.npz")
    become("me")
    assert main(["resume", "run.ckpt"]) == 2
    assert "continue it with --trust" in capsys.readouterr().err
    assert main(["resume", "run.ckpt", "--trust"]) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert main(["info", "run.ckpt"]) == 0
    assert main(["resume", "run.ckpt", "--trust", "--out", "out"]) == 0
    assert (tmp_path / "out/made.npz").exists()


def test_a_seal_is_needed_whoever_computes_the_digest_anew(tmp_path: Path, become: Became) -> None:
    become("they")
    sw.Simulation(HILL, sw.SteepestTalus(), backend="reference").checkpoint(tmp_path)
    become("me")
    manifest = newest_manifest(tmp_path)
    assert manifest is not None  # what it says may be shown
    assert manifest["step"] == 0
