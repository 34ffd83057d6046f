"""What is planned is what is done, in memory and on tiles, and a position leads back into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import CheckpointError
from slopewash.jobs.plan import Carve, Lower, Prepare, Settle, plan, steps_of_level
from slopewash.recipes.needs import planned
from slopewash.recipes.running import Running, _reached
from slopewash.tiles.program import program_of, steps_of

LEVELS = sw.recipe("landscape", size=128, strength=0.02, backend="reference", seed=3)
STAGED = sw.Recipe(
    source=sw.Generated(kind="dome", size=24),
    stages=(
        sw.Stage.of("jako2011", steps=3),
        sw.Stage.of("outerrain", steps=2),
        sw.Stage.of("jako2011", steps=0, settle=4, dry=True),
    ),
    backend="reference",
)
RECIPES = {
    "levels": LEVELS,
    "low water": LEVELS.replace(stages=(LEVELS.stage.replace(low_water={"rain_rate": 0.001}, gullies=0.2),)),
    "stages": STAGED,
    "masked": STAGED.replace(layers={"mask": 0.5}),
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_run_takes_the_steps_that_were_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(RECIPES[name])
    taken: list[tuple[int, str, int]] = []
    usual = Running._take

    def take(self: Running, step: Any, steps: int, **options: Any) -> None:
        before = self.steps_taken
        usual(self, step, steps, **options)
        taken.append((self.number, step.words, self.steps_taken - before))

    monkeypatch.setattr(Running, "_take", take)
    running.run()
    expected = plan(running.stages, running.start.shape, masked="mask" in running.start)
    outside = {"prepare", "draw gullies", "blend by the mask"}
    assert taken == [(p.number, p.step.words, p.step.steps) for p in expected if p.step.words not in outside]
    assert sum(p.step.steps for p in expected) == running.steps_in_all == running.steps_taken


def test_a_plan_is_known_before_anything_is_made() -> None:
    before = [(p.number, p.shape, p.step) for p, _ in planned(RECIPES["low water"])]
    running = Running(RECIPES["low water"])
    assert [(n, shape, type(step)) for n, shape, step in before] == [
        (p.number, p.shape, type(p.step)) for p in plan(running.stages, running.start.shape)
    ]
    kinds = [type(step) for _, _, step in before]
    assert (kinds.count(Prepare), kinds.count(Lower), kinds.count(Carve)) == (2, 1, 1)


@pytest.mark.parametrize("name", ["levels", "low water"])
def test_tiles_take_the_same_steps(name: str) -> None:
    running = Running(RECIPES[name])
    for number, stage in enumerate(running.stages):
        shape = (stage.cells or 128,) * 2
        assert steps_of(program_of(stage, shape)) == sum(step.steps for step in steps_of_level(stage, shape)), number


@pytest.mark.parametrize("name", RECIPES)
def test_a_run_that_is_cut_anywhere_finds_its_place_again(name: str, tmp_path: Path) -> None:
    whole = Running(RECIPES[name])
    whole.run()
    running = Running(RECIPES[name], checkpoint=tmp_path)
    positions = []
    while not running.finished:
        running.advance(7)
        positions.append((running.number, running.at))
        running.write_checkpoint()
        running = Running.resumed(tmp_path)
        assert (running.number, running.at) == positions[-1]
    assert np.array_equal(running.result().terrain["elevation"], whole.result().terrain["elevation"])


@pytest.mark.parametrize("at", [[9, 0], [0, 4], [2, 1]])
def test_a_position_beyond_the_end_of_a_stage_is_refused(at: list[int]) -> None:
    running = Running(STAGED)
    facts, arrays = running.simulation.parts()
    noted, more = running.parts()
    with pytest.raises(CheckpointError, match="beyond the end of its stage"):
        Running.from_parts(facts, {**noted, "at": at}, {**arrays, **more})


@pytest.mark.parametrize(
    ("step", "noted", "reached"),
    [
        (2, {"laid_down": False, "low_water": False}, 0),
        (3, {"laid_down": False, "low_water": False}, 1),
        (3, {"laid_down": True, "low_water": False}, 2),
        (3, {"laid_down": True, "low_water": True}, 3),
        (3, {}, 1),
        (4, {}, 3),
    ],
)
def test_what_version_0_2_noted_still_says_where_a_run_is(step: int, noted: dict[str, Any], reached: int) -> None:
    stage = sw.Stage.of("jako2011", steps=3, settle=2).replace(low_water={"rain_rate": 0.0})
    steps = steps_of_level(stage, (8, 8))
    assert [type(s) for s in steps][1:3] == [Settle, Lower]

    class Simulated:
        """As far as it was stepped."""

    simulation: Any = Simulated()
    simulation.step = step
    assert _reached(noted, steps, simulation) == reached
