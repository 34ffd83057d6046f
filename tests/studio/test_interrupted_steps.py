"""A pause amid a long step: what is done then is recorded once, and repeated to the same bits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.studio.keyframes import Keyframe
from slopewash.studio.messages import parse
from slopewash.studio.recipes import first_recipe
from slopewash.studio.replay import Replay
from slopewash.studio.run import Run

SUBSTEPS = 3


@pytest.fixture
def recipe() -> sw.Recipe:
    """Of several sub-steps per step."""
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    model = recipe.stage.model
    return recipe.replace(model=model.replace(time_step=10 * model.values()["time_step"]))


def paint(run: Run, x: float) -> None:
    run.edit(parse(json.dumps({"type": "paint", "tool": "raise", "points": [[x, 160.0]], "radius": 60.0})), "page")


def repeated(recipe: sw.Recipe, actions: list[str] | None) -> dict[str, Any]:
    """What a project holds, done again."""
    assert actions is not None
    run = Run(recipe)
    Replay(run, list(map(json.loads, actions))).do(look=lambda: None, stop=lambda: False)
    return dict(run.simulation.terrain.items())


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


@pytest.mark.filterwarnings("ignore::slopewash.StabilityWarning")
def test_edits_before_and_after_a_keyframe_amid_a_step_are_repeated(recipe: sw.Recipe) -> None:
    run = Run(recipe)
    run.advance(1)
    run.interrupt(SUBSTEPS)
    assert run.simulation.substeps_done == SUBSTEPS
    paint(run, 100.0)
    again = Run.from_checkpoint(*Keyframe.of(run, undo=False).parts(), "it", lambda _: None)
    paint(again, 200.0)
    again.advance(2)
    actions = again.saved().actions
    assert actions is not None
    assert [json.loads(line)[0] for line in actions] == ["run", "interrupted", "paint", "paint", "run"]
    same(repeated(recipe, actions), dict(again.simulation.terrain.items()))


@pytest.mark.filterwarnings("ignore::slopewash.StabilityWarning")
def test_a_project_that_is_saved_amid_a_step_is_repeated(recipe: sw.Recipe) -> None:
    run = Run(recipe)
    run.advance(1)
    run.interrupt(SUBSTEPS)
    same(repeated(recipe, run.saved().actions), dict(run.simulation.terrain.items()))
    assert f"stop_after={SUBSTEPS}" in run.script()
    run.advance(2)
    same(repeated(recipe, run.saved().actions), dict(run.simulation.terrain.items()))
