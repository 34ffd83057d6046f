"""The five sliders over a real socket, and what the documentation says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.studio import StudioServer
from slopewash.studio.run import Run
from slopewash.studio.sliders import AGED

Page = Any
DOCS = Path(__file__).parents[2] / "docs/studio.md"


def test_a_slider_moves_the_parameters_that_it_stands_for(page: Page) -> None:
    before = page.until(lambda s: True)["parameters"]
    assert set(page.state["sliders"].values()) == {0.0}
    page.do("slide", name="rain", position=1.0)
    now = page.until(lambda s: s["sliders"]["rain"] == 1.0)["parameters"]
    assert now["rain_rate"] == pytest.approx(3 * before["rain_rate"])
    assert {name for name in now if now[name] != before[name]} == {"rain_rate"}
    page.do("slide", name="rain", position=0)
    assert page.until(lambda s: s["sliders"]["rain"] == 0)["parameters"] == before


def test_the_age_is_where_playing_pauses_also_of_the_next_run(page: Page) -> None:
    page.do("slide", name="age", position=-1)
    assert page.until(lambda s: s["sliders"]["age"] == -1)["usual_steps"] == 1000
    page.do("reset")
    assert page.until(lambda s: s["sliders"]["age"] == -1)["usual_steps"] == 1000
    page.do("slide", name="age", position=0)
    assert page.until(lambda s: s["sliders"]["age"] == 0)["usual_steps"] == 4000


def test_a_slider_that_a_model_lacks_gives_the_reason(page: Page) -> None:
    page.do("start", model="steepest_talus")
    sliders = page.until(lambda s: s["model"] == "steepest_talus")["sliders"]
    assert sliders["rain"] == "the model has no water"
    assert sliders["steepness"] == 0.0
    assert sliders["age"] == "without a preset, a run goes on until you pause it"
    assert "the model has no water" in page.ask("slide", name="rain", position=0.5)["message"]
    assert "age cannot be moved: without a preset" in page.ask("slide", name="age", position=0.5)["message"]
    assert 'no slider "luck"' in page.ask("slide", name="luck", position=0.5)["message"]
    assert "position" in page.ask("slide", name="steepness", position=2)["message"]


def test_the_script_repeats_what_a_slider_did(page: Page, server: StudioServer, replay: Any) -> None:
    page.steps(2)
    page.do("slide", name="sediment", position=0.5)
    page.steps(2)
    eroded = replay(page.get("/script").text)
    now = server.session.submit(server.session.terrain).result(60)
    assert (eroded["elevation"] == now["elevation"]).all()


def test_sliders_of_a_level_have_its_own_values_in_the_middle() -> None:
    source, stage = sw.Generated(kind="dome", size=128, extent=1280.0), sw.Stage.of("landscape")
    run = Run(sw.Recipe(source=source, stages=(stage,), backend="reference"))
    assert run.running is not None
    assert set(run.facts()["sliders"].values()) == {0.0}
    run.slide("steepness", 0.5)
    assert run.facts()["sliders"]["steepness"] == pytest.approx(0.5, abs=1e-3)
    run.close()


def test_nobody_moved_a_slider_when_the_flood_recedes_by_itself() -> None:
    run = Run(sw.recipe("landscape", size=64, backend="reference").replace(strength=0.02))
    assert run.running is not None
    while not run.running.low_water:
        run.advance(1)
    assert run.simulation.model.rain_rate < run.running.stage.model.rain_rate  # type: ignore[attr-defined]
    moved = {name: state for name, state in run.facts()["sliders"].items() if isinstance(state, float) and state}
    assert set(moved) <= {"age"}
    run.slide("rain", 0.5)
    assert run.facts()["sliders"]["rain"] == pytest.approx(0.5, abs=1e-3)
    run.close()


def test_low_water_that_carries_nothing_leaves_the_slider_of_sediment_where_it_was() -> None:
    run = Run(sw.recipe("landscape", size=64, backend="reference").replace(strength=0.02))
    assert run.running is not None
    while not run.running.low_water:
        run.advance(1)
    flood = run.running.stage.model.capacity_three_quarters  # type: ignore[attr-defined]
    assert run.simulation.model.capacity_three_quarters == 0 < flood  # type: ignore[attr-defined]
    assert run.facts()["sliders"]["sediment"] == 0.0
    run.slide("sediment", -0.5)
    assert run.facts()["sliders"]["sediment"] == pytest.approx(-0.5, abs=1e-3)
    assert 0 < run.simulation.model.capacity_three_quarters < flood  # type: ignore[attr-defined]
    run.slide("sediment", 0.0)
    assert run.facts()["sliders"]["sediment"] == 0.0
    assert run.simulation.model.capacity_three_quarters == 0  # type: ignore[attr-defined]
    run.close()


def test_the_age_of_levels_is_their_strength_until_the_run_begins() -> None:
    run = Run(sw.recipe("landscape", size=64, backend="reference"))
    usual = run.usual_steps
    assert usual is not None
    run.slide("steepness", 0.5)
    run.slide("age", -1.0)
    assert run.recipe.stage.strength == pytest.approx(0.25)
    assert run.usual_steps is not None
    assert run.usual_steps < 0.5 * usual
    states = run.facts()["sliders"]
    assert states["age"] == -1.0
    following = Run(run.next_recipe, usual=run.usual_recipe)
    assert following.facts()["sliders"]["age"] == -1.0
    following.close()
    run.advance(1)
    assert run.facts()["sliders"]["age"] == AGED
    with pytest.raises(InvalidParameter, match="has its age from the start"):
        run.slide("age", 0.0)
    run.close()


def test_a_landscape_that_is_young_by_itself_has_its_age_in_the_middle() -> None:
    run = Run(sw.recipe("lake_district", size=64, backend="reference"))
    own = run.recipe.stage.strength
    assert own is not None
    assert own < 1
    assert run.facts()["sliders"]["age"] == 0.0
    run.slide("age", 1.0)
    assert run.recipe.stage.strength == pytest.approx(4 * own)
    run.slide("age", 0.0)
    assert run.recipe.stage.strength == own
    run.close()


def test_a_recipe_of_several_stages_has_no_age() -> None:
    stages = (sw.Stage.of("landscape"), sw.Stage.of("outerrain", steps=4))
    run = Run(sw.Recipe(source=sw.Generated(kind="dome", size=64), stages=stages, backend="reference"))
    assert run.facts()["sliders"]["age"] == "the stages of a recipe have their own number of steps"
    run.close()


def test_the_table_of_the_documentation_is_what_models_declare() -> None:
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for name in sw.model_names():
        cells = [f"`{name}`"]
        for slider in sw.find_model(name).sliders():
            if slider.name != "age":
                moves = ", ".join(f"`{p}` {_factor(f)}" for p, f in slider.moves.items())
                cells.append(moves or "–")
        assert f"| {' | '.join(cells)} |" in rows


def _factor(factor: float) -> str:
    return f"× {factor:g}" if factor > 1 else f"÷ {1 / factor:g}"


def test_nothing_is_changed_in_a_run_that_nobody_touched(page: Page) -> None:
    page.do("start", preset="landscape", levels=True, generator={"kind": "dome", "size": 128})
    state = page.until(lambda s: s["preset"] == "landscape" and s["levels"])
    (pipes,) = (model for model in page.welcome["models"] if model["name"] == "virtual_pipes")
    defaults = {p["name"]: p["default"] for p in pipes["parameters"]}
    assert state["parameters"]["rain_rate"] == 0.002  # that of the level, not of the preset on one grid
    assert state["parameters"] == defaults | state["usual"]
    page.do("parameters", values={"rain_rate": 0.004})
    state = page.until(lambda s: s["parameters"]["rain_rate"] == 0.004)
    assert state["usual"]["rain_rate"] == 0.002


def rain(state: dict[str, Any]) -> tuple[float, float, float]:
    """Rain rate, what it is where nobody changed it, and where its slider stands."""
    return state["parameters"]["rain_rate"], state["usual"]["rain_rate"], state["sliders"]["rain"]


def test_what_was_typed_is_marked_in_the_runs_that_follow_too(page: Page) -> None:
    page.do("start", preset="landscape", levels=True, generator={"kind": "dome", "size": 64})
    usual = page.until(lambda s: s["levels"])["usual"]["rain_rate"]
    page.do("parameters", values={"rain_rate": 3 * usual})
    changed = pytest.approx((3 * usual, usual, 1.0))
    page.until(lambda s: rain(s) == changed)
    for name, values in (("reset", {}), ("start", {"generator": {"seed": 5}}), ("side_by_side", {"panes": 2})):
        before = page.state["run"]
        page.do(name, **values)
        assert rain(page.until(lambda s, before=before: s["run"] != before and s["busy"] is None)) == changed
    page.do("reset")
    assert rain(page.until(lambda s: s["busy"] is None)) == changed
    page.do("leave_side_by_side")
    page.do("start", size=128)  # the first level of which is another
    state = page.until(lambda s: s["side_by_side"] is None and s["generator"]["size"] == 128)
    assert state["usual"]["rain_rate"] == 0.002
    assert state["sliders"]["rain"] > 0
    page.do("start", preset="landscape", levels=True, parameters={"rain_rate": 0.004})
    assert page.until(lambda s: s["parameters"]["rain_rate"] == 0.004)["usual"]["rain_rate"] == 0.002
    before = page.state["run"]
    page.do("start", look="badlands")  # which has values of its own
    state = page.until(lambda s: s["run"] != before)
    (pipes,) = (model for model in page.welcome["models"] if model["name"] == "virtual_pipes")
    assert state["parameters"] == {p["name"]: p["default"] for p in pipes["parameters"]} | state["usual"]


def test_what_a_recipe_has_of_its_own_is_usual_and_kept_with_a_checkpoint() -> None:
    recipe = sw.recipe("landscape", size=64, backend="reference", rain_rate=0.001)
    run = Run(recipe)
    assert rain(run.facts()) == (0.001, 0.001, 0.0)
    run.change_parameters({"rain_rate": 0.003})
    again = Run(run.next_recipe, usual=run.usual_recipe)
    assert rain(again.facts()) == pytest.approx((0.003, 0.001, 1.0))
    kept = Run.from_checkpoint(*again.parts(), "it", lambda _: None)
    last = Run(kept.next_recipe, usual=kept.usual_recipe)
    for each in (kept, last):
        assert rain(each.facts()) == pytest.approx((0.003, 0.001, 1.0))
    for each in (run, again, kept, last):
        each.close()
