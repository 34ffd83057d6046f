"""A preset from coarse to fine in the studio: asked for, shown as it runs, changed back."""

from __future__ import annotations

from typing import Any

import numpy as np

import slopewash as sw
from slopewash.studio import StudioServer
from slopewash.studio.recipes import first_recipe

Page = Any


def test_the_same_preset_runs_on_levels_or_on_one_grid(page: Page) -> None:
    page.do(
        "start", preset="landscape", levels=True, generator={"kind": "dome", "size": 96, "extent": 5120.0, "seed": 4}
    )
    state = page.until(lambda state: state["levels"])
    assert state["stage"] == "level 1 of 2 (48 x 48)"
    assert (state["rows"], state["cells"]) == (48, 96)
    page.do("parameters", values={"rain_rate": 0.003})
    page.do("start", generator={"seed": 5})  # what is not named stays
    state = page.until(lambda state: state["generator"]["seed"] == 5)
    assert (state["levels"], state["parameters"]["rain_rate"]) == (True, 0.003)
    page.do("start", levels=False)
    state = page.until(lambda state: not state["levels"])
    assert (state["stage"], state["rows"], state["parameters"]["rain_rate"]) == (None, 96, 0.003)
    page.do("start", levels=True)
    state = page.until(lambda state: state["levels"])
    assert state["parameters"]["rain_rate"] == 0.003
    assert state["preset"] == "landscape"


def test_a_preset_without_levels_says_so(page: Page) -> None:
    answer = page.ask("start", levels=True)
    assert answer["message"].startswith("single_grid has no levels; choose a preset")
    page.do("start", preset="outerrain", levels=True)  # as a wish for presets that have them
    assert page.until(lambda state: state["preset"] == "outerrain")["levels"] is False


def test_it_is_the_recipe_of_the_preset() -> None:
    asked = first_recipe(size=96, seed=4, backend="reference", levels=True)
    assert asked.as_dict() == sw.recipe("landscape", size=96, seed=4, backend="reference").as_dict()
    assert first_recipe(size=96).stage.levels == ()


def test_undo_and_replay_are_exact_across_levels(page: Page, server: Any, replay: Any) -> None:
    generator = {"kind": "dome", "size": 96, "extent": 5120.0, "seed": 4}
    page.do("start", preset="landscape", levels=True, generator=generator)
    page.steps(2)
    page.do("paint", tool="rain", points=[[2000.0, 2500.0]], radius=900.0, strength=0.5)
    page.do("paint", tool="harden", points=[[3000.0, 2500.0]], radius=900.0)
    page.do("undo")
    whole = page.state["usual_steps"]
    first = server.session.run.running.layout[0][2]
    page.steps(first)  # into the second level
    state = page.until(lambda state: state["stage"] == "level 2 of 2 (96 x 96)")
    assert state["usual_steps"] == whole
    rainfall = server.session.find("terrain").result(60)["rainfall"]
    assert rainfall.max() > 1.4  # on the finer grid too
    terrain = server.session.find("terrain").result(60)
    again = replay(page.get("/script").text)
    for name in terrain:
        np.testing.assert_array_equal(again[name], terrain[name], err_msg=name)


def test_a_complete_recipe_goes_on_on_one_grid(open_page: Any) -> None:
    recipe = sw.recipe("landscape", size=48, seed=4, strength=0.003, gullies=0.0, backend="reference")
    recipe = recipe.replace(layers={"mask": 0.8})
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        assert "is not complete" in page.ask("go_on")["message"]
        page.steps(page.until(lambda state: True)["usual_steps"])
        made = server.session.find("terrain").result(60)["elevation"]
        assert "go on from here" in page.ask("paint", tool="raise", points=[[900.0, 900.0]], radius=300.0)["message"]
        page.do("go_on")
        state = page.until(lambda state: state["step"] == 0)
        assert (state["stage"], state["rows"], state["preset"]) == (None, 48, "landscape")
        # To rounding: the model counts heights from the lowest ground of its start.
        np.testing.assert_allclose(server.session.find("terrain").result(60)["elevation"], made, atol=1e-3)
        page.do("paint", tool="raise", points=[[900.0, 900.0]], radius=300.0)
        page.steps(2)
