"""A folder of checkpoints belongs to one run and one process, and signals wait for a checkpoint being written."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import slopewash as sw
from slopewash.errors import CheckpointError
from slopewash.simulation.checkpoints import PREVIOUS, remove_checkpoints, write_checkpoint
from slopewash.simulation.locks import FolderLock

HILL = sw.generate("dome", size=16, seed=1, cell_size=5.0)


def start(steps: int = 0) -> sw.Simulation:
    simulation = sw.Simulation(HILL, sw.preset("single_grid"), backend="reference")
    simulation.run(steps)
    return simulation


def two_stages(**changes: object) -> sw.Recipe:
    stages = (sw.Stage.of("single_grid", steps=4, settle=2), sw.Stage(model=sw.SteepestTalus(), steps=3))
    recipe = sw.Recipe(source=sw.FromTerrain(terrain=HILL), stages=stages, backend="reference")
    return recipe.replace(**changes)


def refusal(folder: Path, step: int) -> str:
    return (
        f"{folder} holds another run, at step {step}; continue it with Simulation.resume or slopewash resume, "
        "or choose another folder"
    )


@pytest.fixture
def timer() -> Iterator[None]:
    """Ctrl-C every two milliseconds."""

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    usual = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, usual)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_an_interrupt_acts_after_the_checkpoint_being_written(tmp_path: Path, timer: None) -> None:
    simulation = start(1)
    interrupts = 0
    for delay in range(40):
        signal.setitimer(signal.ITIMER_REAL, 0.0005 * (1 + delay))
        try:
            end = time.monotonic() + 0.1
            while time.monotonic() < end:
                simulation.checkpoint(tmp_path)
        except KeyboardInterrupt:
            interrupts += 1
    assert interrupts == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000001"]
    assert sw.Simulation.resume(tmp_path).step == 1


def test_an_interrupt_during_a_checkpoint_that_fails_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        raise CheckpointError("the disk is full")

    simulation = start(1)
    monkeypatch.setattr("slopewash.simulation.simulation.write_checkpoint", fail)
    with pytest.raises(KeyboardInterrupt):
        simulation.checkpoint(tmp_path)


def test_a_script_that_is_started_again_does_not_write_over_its_run(tmp_path: Path) -> None:
    start(3).checkpoint(tmp_path)
    again = start(1)
    with pytest.raises(CheckpointError) as caught:
        again.checkpoint(tmp_path)
    assert str(caught.value) == refusal(tmp_path, 3)
    observed = start().add(sw.Checkpoints(tmp_path, every=2))
    with pytest.raises(CheckpointError, match="holds another run, at step 3"):
        observed.run(4)
    assert observed.step == 0  # refused before the first step
    assert sw.Simulation.resume(tmp_path).step == 3


def test_another_model_does_not_write_over_a_run(tmp_path: Path) -> None:
    start(3).checkpoint(tmp_path)
    other = sw.Simulation(HILL, sw.SteepestTalus(), backend="reference")
    with pytest.raises(CheckpointError, match="holds another run"):
        other.checkpoint(tmp_path)


def test_copies_and_resumed_simulations_are_the_same_run(tmp_path: Path) -> None:
    simulation = start(2)
    simulation.checkpoint(tmp_path)
    for same in (
        copy.copy(simulation), pickle.loads(pickle.dumps(simulation)), sw.Simulation.resume(tmp_path),
    ):  # fmt: skip
        assert same.run_id == simulation.run_id
        same.run(1)
        same.checkpoint(tmp_path)
    assert start().run_id != simulation.run_id


def test_a_recipe_does_not_start_over_an_unfinished_run_but_over_a_finished_one(tmp_path: Path) -> None:
    start(3).checkpoint(tmp_path / "a")
    with pytest.raises(CheckpointError) as caught:
        sw.Running(two_stages(), checkpoint=tmp_path / "a")
    assert str(caught.value) == refusal(tmp_path / "a", 3)
    sw.Running(two_stages(), checkpoint=tmp_path / "b").run()
    sw.Running(two_stages(seed=5), checkpoint=tmp_path / "b").run()
    manifest = sw.newest_manifest(tmp_path / "b")
    assert manifest is not None
    assert manifest["recipe"]["recipe"]["seed"] == 5
    for checkpoint in sw.find_checkpoints(tmp_path / "b"):
        facts = sw.newest_manifest(checkpoint)
        assert facts is not None
        assert facts["run"] == manifest["run"]


def test_the_stages_of_a_recipe_are_one_run(tmp_path: Path) -> None:
    def die(simulation: sw.Simulation) -> None:
        if isinstance(simulation.model, sw.SteepestTalus):
            raise KeyError

    running = sw.Running(two_stages(), checkpoint=tmp_path, every=1)
    with pytest.raises(KeyError):
        running.run(die)
    assert running.number == 1
    running.write_checkpoint()
    assert sw.resume(tmp_path).steps == 3


def test_a_run_that_is_replaced_on_purpose_leaves_its_newest_checkpoint(tmp_path: Path) -> None:
    first, second = start(2), start(2)
    first.checkpoint(tmp_path)
    first.run(1)
    first.checkpoint(tmp_path)
    second.run(1)
    write_checkpoint(tmp_path, 3, *second.parts(), replace=True)  # of the same step as the one it replaces
    assert sorted(path.name for path in tmp_path.iterdir()) == [PREVIOUS, "step-000003"]
    assert sw.Simulation.resume(tmp_path).run_id == second.run_id
    assert sw.Simulation.resume(tmp_path / PREVIOUS).run_id == first.run_id
    third = start(1)
    write_checkpoint(tmp_path, 1, *third.parts(), replace=True)
    assert sw.Simulation.resume(tmp_path / PREVIOUS).run_id == second.run_id
    assert sorted(path.name for path in tmp_path.iterdir()) == [PREVIOUS, "step-000001"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_folders_of_others_stay_whatever_their_names(tmp_path: Path) -> None:
    """Names that checkpoints have, or might have, and files that no checkpoint holds."""
    names = (
        "step-1",
        "step-000001",
        "step-000002",
        "step-000003.old",
        "step-000004.tmp",
        "step-notes.old",
        "step-a.tmp",
    )
    for name in (*names, PREVIOUS, f"{PREVIOUS}/step-000001"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
        (tmp_path / name / "notes.txt").write_text("mine")
    (tmp_path / "step-000005").write_text("mine")
    before = contents(tmp_path)
    for number in range(3):
        simulation = start(10 + number)
        for _ in range(4):
            simulation.run(1)
            write_checkpoint(tmp_path, simulation.steps_taken, *simulation.parts(), replace=True)
    assert sw.Simulation.resume(tmp_path).steps_taken == 16
    remove_checkpoints(tmp_path)
    after = contents(tmp_path)
    assert {name: after.get(name) for name in before} == before
    assert {name.rpartition("/")[0] for name in after.keys() - before.keys()} == {f"{PREVIOUS}/step-000015"}


def test_a_step_whose_place_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "step-000002").mkdir()
    (tmp_path / "step-000002" / "notes.txt").write_text("mine")
    with pytest.raises(CheckpointError, match="step-000002 is not a checkpoint; choose another folder"):
        start(2).checkpoint(tmp_path)
    assert contents(tmp_path) == {"step-000002/notes.txt": b"mine"}


HOLD = """
import sys, pathlib
from slopewash.simulation.locks import FolderLock
with FolderLock(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A folder with an unfinished recipe that another process has locked."""
    pytest.importorskip("fcntl")
    folder = tmp_path / "run"
    running = sw.Running(two_stages(), checkpoint=folder)
    running.write_checkpoint()
    words = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield folder
        process.communicate("")


def test_a_second_process_on_a_folder_is_refused(held: Path) -> None:
    sentence = f"{held} is in use by another run; wait until that ends, or choose another folder"
    with pytest.raises(CheckpointError) as caught:
        sw.resume(held)
    assert str(caught.value) == sentence
    simulation = sw.Simulation.resume(held)
    with pytest.raises(CheckpointError) as caught:
        simulation.checkpoint(held)
    assert str(caught.value) == sentence
    with pytest.raises(CheckpointError, match="is in use by another run"):
        simulation.add(sw.Checkpoints(held)).run(1)
    assert simulation.step == 0


def test_a_lock_ends_with_its_last_holder(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path), FolderLock(tmp_path)
    first.close()
    first.close()
    with pytest.raises(CheckpointError):
        FolderLock(tmp_path, alone=True)
    second.close()
    FolderLock(tmp_path, alone=True).close()
    assert list(tmp_path.iterdir()) == []
