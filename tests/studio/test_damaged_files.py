"""Whatever is damaged of what a studio keeps: the same bits, or it is left out or refused, and reported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.damage import DAMAGES, Found, Tally, try_at_random
from tests.studio.test_finish_kept import SECRET, begun, task_in

import slopewash as sw
from slopewash.studio import foreign, projects
from slopewash.studio.finish_files import PROJECT_FILE, RUN_FOLDER, TERRAIN_FILE, read_state, write_plan
from slopewash.studio.keeping import Keeper
from slopewash.studio.keyframes import DamagedKeyframe
from slopewash.studio.projects import Project, checked_project, read_project, write_project
from slopewash.studio.recipes import first_recipe
from slopewash.studio.replay import Replay
from slopewash.studio.run import Plan, Run

FUZZ = int(os.environ.get("FUZZ_CHECKPOINTS", "40"))
"""Damaged folders and projects, of all kinds together; `make fuzz` takes 1000."""
STROKE = {"tool": "raise", "points": [[60.0, 70.0]], "radius": 30.0, "strength": 2.0, "falloff": 0.5}
ACTIONS: list[list[Any]] = [["paint", STROKE, False], ["run", 2], ["paint", STROKE, True], ["undo"], ["run", 2]]


def fresh() -> Run:
    return Run(first_recipe(model="virtual_pipes", size=16, extent=160.0, seed=3, backend="reference"))


def repeated(run: Run, actions: Any) -> Run:
    Replay(run, [*actions]).do(look=lambda: None, stop=lambda: False)
    return run


def layers(run: Run) -> dict[str, Any]:
    return {f"layer {name}": layer for name, layer in run.terrain().items()}


# A run that is kept, and its keyframes

FIRST, LAST, END = 20, 40, 43


def play(run: Run, steps: int) -> None:
    for _ in range(steps):
        run.timeline.note_steps(run)
        run.advance(1)


def keep(folder: Path) -> None:
    """Keep a run twice, with what can be undone."""
    keeper, run = Keeper(folder), repeated(fresh(), ACTIONS)
    for step in (FIRST, LAST):
        play(run, step - run.step)
        keeper.note_change()
        keeper.finish(run.parts, run.timeline)
    keeper.close()


def taken_up(folder: Path) -> Found:
    """What a server that is started again has: every keyframe, and the run some steps later."""
    keeper = Keeper(folder)
    said: list[str] = []
    try:
        run = keeper.resume(said.append, said.append)
    finally:
        keeper.close()
    begin = run.step
    values: dict[str, Any] = {}
    for keyframe in run.timeline.branch.keyframes:
        try:
            facts, arrays = keyframe.parts()
        except DamagedKeyframe as error:
            said.append(str(error))
        else:
            named = {**arrays, **{f"fact {name}": fact for name, fact in facts.items()}}
            values |= {f"keyframe {keyframe.moment} {name}": value for name, value in named.items()}
    run.advance(END - begin)
    values |= layers(run)
    return Found(values, older=begin != LAST, reported=bool(said), optional=("keyframe",))


# A finish that is kept


def plan() -> Plan:
    run = Run(first_recipe(preset="single_grid", size=16, extent=160.0, seed=3, backend="reference"))
    actions = [*6 * [["run", 1]], ["settle", 6, False, 3], ["run", 2]]
    return Plan(**{**vars(run.plan(16)), "actions": actions})


class Asked:
    """Stops a finish when it was asked so often, and notes what it reports."""

    def __init__(self, left: float) -> None:
        self.left, self.said = left, list[Any]()

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def work(folder: Path, asked: Asked) -> None:
    finisher = begun(task_in(folder), asked.said.append, asked)
    finisher.work()
    assert finisher._keeper is not None
    finisher._keeper.close()


def begin_finish(folder: Path) -> None:
    """A finish that was stopped twice."""
    write_plan(plan(), folder)
    for left in (40, 80):
        work(folder, Asked(left))
    assert len(sw.find_checkpoints(folder / RUN_FOLDER)) == 2


def end_finish(folder: Path) -> None:
    begin_finish(folder)
    work(folder, Asked(1000))


def finished(folder: Path) -> Found:
    """Go on with a finish, unless it is over, and read what came of it."""
    asked = Asked(1000)
    state = read_state(folder)
    if state is None:
        raise sw.CheckpointError("there is no finish")
    if state["status"] == "running":
        work(folder, asked)
        state = read_state(folder)
    if not all((folder / name).is_file() for name in (TERRAIN_FILE, PROJECT_FILE)):
        raise sw.CheckpointError("there is nothing finished yet")  # as `Finishing` says of them
    terrain = sw.read(folder / TERRAIN_FILE)
    project = opened(folder / PROJECT_FILE)
    values = {"state": state, **dict(terrain.items()), **{f"project {k}": v for k, v in layers(project).items()}}
    return Found(values)


# A project


def save(folder: Path) -> None:
    folder.mkdir()
    write_project(repeated(fresh(), ACTIONS).saved(), folder / "mine.slopewash", SECRET)


def checked_here(file: Path, shown: str) -> Project:
    """The same without a process of its own."""
    folder = file.with_name("checked")
    folder.mkdir()
    foreign.check(file, folder)
    return checked_project(folder)


def opened(file: Path) -> Run:
    project = read_project(file, file.name, SECRET)
    if project.checkpoint is not None:
        return Run.from_checkpoint(*project.checkpoint, file.name, lambda words: None)
    assert project.recipe is not None
    return repeated(Run(project.recipe), project.actions)


def continued(folder: Path) -> Found:
    """A project that is opened, with what can be undone, and some steps later."""
    file = folder / "mine.slopewash"
    if not file.is_file():
        raise sw.CheckpointError("it does not exist")
    run = opened(file)
    values: dict[str, Any] = {"step": run.step, **layers(run)}
    run.simulation.redo()
    run.advance(3)
    return Found(values | {f"then {name}": layer for name, layer in layers(run).items()})


CASES: dict[str, tuple[Callable[[Path], None], Callable[[Path], Found], int]] = {
    "keyframes": (keep, taken_up, 3),
    "finish under way": (begin_finish, finished, 8),
    "finish": (end_finish, finished, 8),
    "project": (save, continued, 3),
}


@pytest.mark.parametrize("case", CASES)
def test_damage_at_random_is_refused_or_reported_or_changes_nothing(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects, "_read_foreign", checked_here)
    begin, act, share = CASES[case]
    begin(tmp_path / "kept")
    wanted = act(damaged_nowhere(tmp_path)).values
    tally = Tally()

    def judge(folder: Path) -> None:
        tally.judge(lambda: act(folder), wanted)

    try_at_random(tmp_path, tmp_path / "kept", max(FUZZ // share, 4), DAMAGES, judge)
    print(f"{case}: {tally}")


def damaged_nowhere(tmp_path: Path) -> Path:
    """A copy that is whole."""
    return Path(shutil.copytree(tmp_path / "kept", tmp_path / "whole"))
