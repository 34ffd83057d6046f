"""Whatever is damaged in a folder of checkpoints: the run ends with the same bits, or one sentence refuses it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.damage import DAMAGES, SURE, Found, Tally, damaged, files_of, try_at_random

import slopewash as sw
from slopewash.errors import CheckpointError, StabilityWarning
from slopewash.simulation.checkpoint_files import array_file, encoded, read_manifest

FUZZ = int(os.environ.get("FUZZ_CHECKPOINTS", "40"))
"""Damaged folders, of all models and recipes together; `make fuzz` takes 1000."""
MODELS: dict[str, Callable[[], sw.Model]] = {
    "virtual_pipes": lambda: sw.VirtualPipes(rain_rate=0.03),
    "steepest_talus": sw.SteepestTalus,
    "velocity_field": sw.VelocityField,
    "mesh_particles": sw.MeshParticles,
}
OLDER, NEWEST, END = 2, 4, 5


def begun(model: str, folder: Path) -> None:
    """Write two checkpoints; what was painted before them can be undone."""
    ground = sw.generate("dome", size=12, seed=1, cell_size=5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)  # of particles on so few cells
        simulation = sw.Simulation(ground, MODELS[model](), backend="reference", seed=4)
    for tool in () if simulation.has_mesh else ("raise", "lower"):
        simulation.paint(tool, points=[(30.0, 30.0)], radius=12.0)
    simulation.undo()
    for step in (OLDER, NEWEST):
        simulation.run(step - simulation.step)
        simulation.checkpoint(folder)


def go_on(folder: Path) -> Found:
    """Go on to the end; all that a checkpoint would hold then, and what can be undone."""
    simulation = sw.Simulation.resume(folder)
    begin = simulation.step
    simulation.run(END - begin)
    facts, arrays = simulation.parts()
    values = {**{f"fact {name}": fact for name, fact in facts.items()}, **arrays, "budget": simulation.budget}
    simulation.undo()
    values |= {f"undone {name}": layer for name, layer in simulation.terrain.items()}
    return Found(values, older=begin < NEWEST)


def recipe() -> sw.Recipe:
    """Two stages, of which the second has levels, so that there are starts, origins and budgets."""
    stages = (sw.Stage(model=sw.SteepestTalus(), steps=3), sw.Stage.of("landscape", strength=0.002))
    source = sw.FromTerrain(terrain=sw.generate("dome", size=64, seed=1, cell_size=20.0))
    return sw.Recipe(source=source, stages=stages, seed=3, backend="reference")


def begun_recipe(folder: Path) -> None:
    running = sw.Running(recipe(), checkpoint=folder)
    for steps in (4, 1):
        running.advance(steps)
        running.write_checkpoint()


def go_on_with_recipe(folder: Path) -> Found:
    running = sw.Running.resumed(folder)
    begin = running.steps_taken
    running.checkpoint = None
    running.advance(8 - begin)
    result = running.result()
    values = {
        "budget": result.budget, "recipe": result.recipe.as_dict()["stages"], "place": running.place,
        **dict(result.terrain.items()),
    }  # fmt: skip
    return Found(values, older=begin < 5)


def info(folder: Path) -> Found:
    """What is shown of it."""
    from slopewash.cli.info import checkpoint_facts

    facts = {name: fact for name, fact in checkpoint_facts(folder).items() if name != "checkpoint"}
    note = facts.pop("note", None)
    older = facts["step"] != NEWEST
    facts["step"] = NEWEST
    return Found({"facts": json.dumps(facts)}, older=older, reported=note is not None)


Case = tuple[Callable[[Path], None], Callable[[Path], Found], int]
CASES: dict[str, Case] = {
    **{model: (partial(begun, model), go_on, 4) for model in MODELS},
    "info": (partial(begun, "virtual_pipes"), info, 8),
    "recipe": (begun_recipe, go_on_with_recipe, 6),
}


@pytest.mark.parametrize("case", CASES)
def test_damage_at_random_is_refused_or_changes_nothing(tmp_path: Path, case: str) -> None:
    """What is damaged in the newest checkpoint is noticed by every command; nothing else is needed."""
    begin, act, share = CASES[case]
    begin(tmp_path / "run")
    wanted = act(tmp_path / "run").values
    newest = sw.find_checkpoints(tmp_path / "run")[0]
    whole, tally = content(newest), Tally()

    def judge(folder: Path) -> None:
        same = tally.same
        tally.judge(lambda: act(folder), wanted)
        assert (tally.same > same) == (content(folder / newest.name) == whole)

    try_at_random(tmp_path, tmp_path / "run", max(FUZZ // share, 4), DAMAGES, judge)
    print(f"{case}: {tally}")


def content(checkpoint: Path) -> dict[str, bytes | None]:
    """Bytes of its files; None for what is no file."""
    return {
        path.name: path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in checkpoint.iterdir()
    }


@pytest.mark.parametrize("case", CASES)
def test_damage_of_the_only_checkpoint_is_refused(tmp_path: Path, case: str) -> None:
    """Whichever file it is in: also by a command that only shows facts."""
    begin, act, _ = CASES[case]
    begin(tmp_path / "run")
    newest, *older = sw.find_checkpoints(tmp_path / "run")
    for path in older:
        shutil.rmtree(path)
    wanted, chance, tally = act(tmp_path / "run").values, random.Random(case), Tally()
    files = files_of(newest)
    for damage in SURE:
        for file in {chance.choice(files), newest / "manifest.json"}:
            name = file.relative_to(tmp_path / "run")
            folder = damaged(tmp_path, tmp_path / "run", name, damage, chance)
            assert tally.judge(lambda folder=folder: act(folder), wanted), f"{damage.__name__} of {name}"  # type: ignore[misc]


def resealed(checkpoint: Path, key: str, taken: Path) -> None:
    """Give an array the content of another checkpoint, with digest and seal as if that were right."""
    manifest = read_manifest(checkpoint).facts
    place = array_file([*manifest["files"]].index(key))
    shutil.copyfile(taken / place, checkpoint / place)
    manifest["files"][key]["sha256"] = hashlib.sha256((checkpoint / place).read_bytes()).hexdigest()
    (checkpoint / "manifest.json").write_bytes(encoded(manifest))


@pytest.mark.parametrize("model", MODELS)
def test_an_array_of_another_step_is_refused_though_its_seal_is_right(tmp_path: Path, model: str) -> None:
    """As a bug of ours would write it."""
    begun(model, tmp_path / "run")
    newest, older = sw.find_checkpoints(tmp_path / "run")
    of_both = [read_manifest(checkpoint).facts["files"] for checkpoint in (newest, older)]
    moved = [key for key, noted in of_both[0].items() if noted != of_both[1].get(key)]
    alike = [key for key in moved if noted_alike(*(files[key] for files in of_both))]
    assert moved
    for key in alike:
        folder = tmp_path / key
        shutil.copytree(newest, folder / newest.name)
        resealed(folder / newest.name, key, older)
        with pytest.raises(CheckpointError, match=f"{key} is not that of step {NEWEST}"):
            sw.Simulation.resume(folder)


def noted_alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return (first["shape"], first["dtype"]) == (second["shape"], second["dtype"])
