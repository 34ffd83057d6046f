"""Side by side: two or four runs from one terrain that go on together, each as it would alone."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
import pytest

import slopewash as sw
from slopewash.studio import StudioServer, messages, side_by_side
from slopewash.studio.apart import SessionApart
from slopewash.studio.connection import Connection
from slopewash.studio.keeping import Keeper
from slopewash.studio.recipes import first_recipe, next_recipe
from slopewash.studio.run import RecipeComplete, Run
from slopewash.studio.session import Session
from slopewash.studio.side_by_side import Leg, Panes, first_recipes
from slopewash.studio.snapshot import Snapshot
from slopewash.studio.uploads import Uploads

Page = Any
SECONDS = 60.0


def alone(recipe: sw.Recipe, steps: int) -> Any:
    run = Run(recipe)
    run.advance(steps)
    return np.array(run.terrain()["elevation"])


def elevation(page: Page) -> Any:
    """Of the pane that is chosen, in all its bits."""
    with np.load(io.BytesIO(page.get("/export/pane.npz").content)) as archive:
        return archive["elevation"]


def begin(page: Page, panes: int = 2) -> dict[str, Any]:
    page.do("side_by_side", panes=panes)
    state: dict[str, Any] = page.until(lambda s: s["side_by_side"] is not None and s["busy"] is None)
    return state


def steps_of(state: dict[str, Any]) -> list[int]:
    return [pane["step"] for pane in state["side_by_side"]["panes"]]


def paused_at(*steps: int) -> Callable[[dict[str, Any]], bool]:
    return lambda s: s["side_by_side"] is not None and steps_of(s) == list(steps) and not s["playing"]


def cells(panes: Panes) -> tuple[int, int]:
    facts = panes.facts()
    return facts["cells"], facts["cells_before"]


def test_each_pane_is_bit_identical_to_the_same_run_alone(page: Page, server: StudioServer) -> None:
    recipe = server.session.submit(lambda: server.session.run.recipe).result(SECONDS)
    begin(page, 4)
    page.do("choose_pane", pane=1)
    page.do("parameters", values={"rain_rate": 0.02})
    page.do("step", count=5)
    page.until(paused_at(5, 5, 5, 5))
    page.do("step", count=2)
    state = page.until(paused_at(7, 7, 7, 7))
    wanted = first_recipes(recipe, 4)
    wanted[1] = wanted[1].replace(model=wanted[1].stage.model.replace(rain_rate=0.02))
    presets = [pane["preset"] for pane in state["side_by_side"]["panes"]]
    assert presets == ["single_grid", "landscape", "outerrain", "chiba_fig2"]
    for pane, own in enumerate(wanted):
        page.do("choose_pane", pane=pane)
        np.testing.assert_array_equal(elevation(page), alone(own, 7))


def test_frames_of_all_panes_have_one_number(page: Page) -> None:
    begin(page)
    page.do("step", count=2)
    page.until(paused_at(2, 2))
    seen: dict[int, dict[int, Any]] = {}
    while not any(len(panes) == 2 and panes[0][0]["step"] == 2 for panes in seen.values()):
        header, fields = page.read("frame")
        if "pane" in header:
            assert header["panes"] == 2
            seen.setdefault(header["frame"], {})[header["pane"]] = (header, fields)
    first, second = max(seen.values(), key=len)[0], max(seen.values(), key=len)[1]
    assert first[0]["run"] != second[0]["run"]
    assert first[0]["start_low"] == second[0]["start_low"]
    assert first[1]["elevation"].shape == second[1]["elevation"].shape


def test_panes_go_in_proportion_to_their_usual_lengths() -> None:
    leg = Leg([10, 0, 5], [4010, 200, 5])
    assert leg.length == 4000
    for tick, goals in ((0, [10, 0, 5]), (19, [29, 0, 5]), (20, [30, 1, 5]), (4000, [4010, 200, 5])):
        leg.tick = tick
        assert [leg.goal(pane) for pane in range(3)] == goals


def test_playing_ends_where_each_preset_does_and_a_pause_leaves_all_level() -> None:
    recipe = first_recipe(preset="single_grid", size=16, backend="reference")
    panes = Panes(Run(recipe), first_recipes(recipe, 2), lambda _: None)  # of 4000 and 3200 steps
    panes.go(messages.Play(type="play"))
    assert panes.target == 4000
    first = panes.next_round(8)
    panes.advance(lambda: False, timed=True)
    assert not panes.pause()  # the second is still behind
    assert panes.next_round(8) is not first
    panes.advance(lambda: False, timed=True)
    assert panes.is_over
    assert [pane["step"] for pane in panes.facts()["panes"]] == [8, 6]
    panes.go(messages.RunTo(type="run_to", step=12))
    while not panes.is_over:
        panes.next_round(5)
        panes.advance(lambda: False, timed=True)
    assert [pane["step"] for pane in panes.facts()["panes"]] == [12, 12]
    with pytest.raises(sw.SlopewashError, match="at step 12"):
        panes.go(messages.RunTo(type="run_to", step=12))


def test_playing_on_is_refused_where_a_pane_is_a_recipe_that_is_complete() -> None:
    recipes = [first_recipe(preset="single_grid", size=16, backend="reference")]
    recipes.append(sw.recipe("landscape", source=recipes[0].source, strength=0.001, backend="reference"))
    panes = Panes(Run(recipes[0]), recipes, lambda _: None)
    for pane in panes._panes:
        assert pane.run.usual_steps is not None
        pane.run.advance(pane.run.usual_steps)
    with pytest.raises(sw.SlopewashError, match="reset them to go back"):
        panes.go(messages.Play(type="play"))


def test_leaving_returns_to_the_run_as_it_was(page: Page, server: StudioServer) -> None:
    page.steps(3)
    before, run = elevation(page), page.state["run"]
    state = begin(page)
    assert state["run"] != run
    assert state["left"]["run"] == run
    page.do("step", count=2)
    page.until(paused_at(2, 2))
    page.do("leave_side_by_side")
    state = page.until(lambda s: s["side_by_side"] is None)
    assert (state["run"], state["step"], state["left"]) == (run, 3, None)
    np.testing.assert_array_equal(elevation(page), before)
    begin(page)
    page.do("bring_back")  # is the same
    assert page.until(lambda s: s["side_by_side"] is None)["run"] == run


def test_the_pane_that_is_kept_becomes_the_run(page: Page) -> None:
    page.steps(3)
    begin(page)
    page.do("choose_pane", pane=1)
    page.do("step", count=2)
    page.until(paused_at(2, 2))
    kept = elevation(page)
    page.do("leave_side_by_side", keep=True)
    state = page.until(lambda s: s["side_by_side"] is None)
    assert (state["preset"], state["step"], state["left"]["step"]) == ("landscape", 2, 3)
    np.testing.assert_array_equal(elevation(page), kept)
    page.steps(2)
    page.do("bring_back")
    assert page.until(lambda s: s["step"] == 3)["preset"] == "single_grid"


def test_another_terrain_is_for_all_panes_and_another_model_for_one(page: Page) -> None:
    begin(page)
    page.do("choose_pane", pane=1)
    page.do("step", count=1)
    page.until(paused_at(1, 1))
    page.do("start", model="steepest_talus", generator={"seed": 9})
    state = page.until(paused_at(0, 0))
    assert [pane["model"] for pane in state["side_by_side"]["panes"]] == ["virtual_pipes", "steepest_talus"]
    second = elevation(page)
    page.do("choose_pane", pane=0)
    np.testing.assert_allclose(elevation(page), second, rtol=1e-6)  # one of the models counts in cells
    state = page.until(lambda s: s["side_by_side"]["chosen"] == 0)
    assert state["generator"]["seed"] == 9
    assert state["side_by_side"]["panes"][1]["differs"] == {}
    page.do("side_by_side", panes=4)  # the new ones stand on the new terrain too
    state = page.until(paused_at(0, 0, 0, 0))
    presets = [(pane["model"], pane["preset"]) for pane in state["side_by_side"]["panes"]]
    assert presets[2:] == [("virtual_pipes", "landscape"), ("velocity_field", "chiba_fig2")]
    page.do("choose_pane", pane=3)
    np.testing.assert_allclose(elevation(page), second, rtol=1e-6)


def test_a_pane_takes_the_settings_of_another(page: Page) -> None:
    assert "no panes" in page.ask("copy_pane", pane=0)["message"]
    begin(page)
    page.do("parameters", values={"rain_rate": 0.02})
    page.do("choose_pane", pane=1)
    page.do("copy_pane", pane=0)
    state = page.until(lambda s: s["side_by_side"]["panes"][1]["preset"] == "single_grid")
    assert state["parameters"]["rain_rate"] == 0.02
    assert state["side_by_side"]["panes"][1]["differs"] == {}
    page.do("parameters", values={"rain_rate": 0.005})
    state = page.until(lambda s: s["side_by_side"]["panes"][1]["differs"] != {})
    assert state["side_by_side"]["panes"][1]["differs"] == {"rain_rate": 0.005}
    assert "there are 2 panes" in page.ask("copy_pane", pane=3)["message"]


def test_what_is_refused_names_the_reason_and_changes_nothing(page: Page) -> None:
    assert "no panes" in page.ask("choose_pane", pane=0)["message"]
    begin(page)
    page.do("step", count=1)
    page.until(paused_at(1, 1))
    assert "there are 2 panes" in page.ask("choose_pane", pane=2)["message"]
    one_run = ({"type": "settle"}, {"type": "scrub", "branch": 1, "moment": 0}, {"type": "go_on"})
    for message in (*one_run, {"type": "start", "look": "mesas"}):
        assert "is for one run" in page.ask(**message)["message"]
    assert "pipe_area" in page.ask("parameters", values={"pipe_area": -1.0})["message"]
    assert "nonsense" in page.ask("start", preset="nonsense")["message"]
    assert page.ask("side_by_side", panes=3)["type"] == "error"
    assert steps_of(page.state) == [1, 1]
    page.do("leave_side_by_side")
    page.do("leave_side_by_side")  # nothing to do any more


def test_a_pane_that_fails_is_named_and_all_pause(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(page)
    advance = Run.advance

    def fail(run: Run, steps: int, stop: Any = None) -> None:
        if run.recipe.stage.preset == "landscape":
            raise sw.SlopewashError("water is not finite")
        advance(run, steps, stop=stop)

    monkeypatch.setattr(Run, "advance", fail)
    page.do("play")
    while not any("pane 2: water is not finite" in told["message"] for told in page.told):
        page.read()
    page.read("state")  # those before may be from before it played
    steps = steps_of(page.until(lambda s: not s["playing"]))
    page.do("choose_pane", pane=1)
    assert steps_of(page.until(lambda s: s["side_by_side"]["chosen"] == 1)) == steps


def test_what_panes_report_is_what_they_did(page: Page) -> None:
    begin(page)
    start = elevation(page).astype(np.float64)
    page.do("step", count=20)
    state = page.until(paused_at(20, 20))
    first, second = state["side_by_side"]["panes"]
    change = elevation(page) - start
    lower = -np.minimum(change, 0)
    assert first["mean_erosion"] == pytest.approx(lower.mean())
    assert first["eroded"] == pytest.approx(lower.sum() * state["cell_size"] ** 2)
    assert first["highest_deposit"] == pytest.approx(change.max())
    assert first["differs"] == {}
    assert first["milliseconds"] > 0
    one, other = (sw.find_preset(name).model.values() for name in ("single_grid", "landscape"))
    assert set(second["differs"]) == {name for name in other if other[name] != one[name]} != set()


def test_large_terrains_are_resampled_and_small_ones_are_not() -> None:
    large = first_recipe(preset="gentle", size=300, backend="reference")
    panes = Panes(Run(large), first_recipes(large, 2), lambda _: None)
    assert cells(panes) == (256, 300)
    assert panes.run.origin.cell_size * 256 == pytest.approx(300 * panes.home.origin.cell_size)
    panes.begin_again(first_recipes(large, 4))
    assert cells(panes) == (192, 300)
    panes.begin_again(panes.recipes[:2])  # have as many again as if there had not been four
    assert cells(panes) == (256, 300)
    panes.begin_again_with(messages.Start(type="start", size=100), None)
    assert cells(panes) == (100, 100)
    file = sw.FromTerrain(name="file", terrain=sw.generate("hill", size=40, cell_size=5.0))
    small = next_recipe(large, messages.Start(type="start"), None).replace(source=file)
    assert side_by_side.at_most(small, 256) is small
    narrow = sw.FromTerrain(terrain=sw.Terrain(np.zeros((40, 1000))))
    assert side_by_side.at_most(small.replace(source=narrow), 256).terrain().shape == (16, 400)


def test_the_first_pane_has_the_age_and_the_view_of_the_run_before_and_a_copy_those_of_its_pane() -> None:
    recipe = first_recipe(preset="single_grid", size=16, backend="reference")
    home = Run(recipe)
    home.slide("age", 0.5)
    pose = messages.Pose(eye=(1.0, 2.0, 3.0), heading=0.0, pitch=0.0, walking=None)
    home.view = messages.SavedView(pose=pose, plan=False, plan_view=(0.0, 0.0, 1.0))
    panes = Panes(home, first_recipes(recipe, 2), lambda _: None)
    assert panes.run.usual_steps == home.usual_steps != recipe.stage.usual_steps
    assert panes.run.view == home.view
    panes.choose(1)
    assert panes.run.usual_steps == sw.find_preset("landscape").steps
    panes.begin_again_with(messages.CopyPane(type="copy_pane", pane=0), None)
    assert panes.run.usual_steps == home.usual_steps


def test_panes_stand_on_the_strata_of_the_recipe_but_not_on_those_of_its_preset() -> None:
    suggested = first_recipe(preset="chiba_strata", size=16, backend="reference")
    assert suggested.strata is not None
    for recipe in (suggested, sw.Recipe.from_dict(suggested.as_dict())):  # as it is, and from a project
        assert [other.strata for other in first_recipes(recipe, 4)[1:]] == [None, None, None]
    own = sw.Beds(sw.Strata([sw.Stratum(thickness=10.0), sw.Stratum(thickness=30.0, erodibility=0.1)]))
    recipes = first_recipes(suggested.replace(strata=own), 4)
    assert [recipe.strata for recipe in recipes] == [own] * 4
    panes = Panes(Run(recipes[0]), recipes, lambda _: None)
    panes.begin_again_with(messages.Start(type="start", preset="gentle"), None)
    assert panes.run.recipe.stage.preset == "gentle"
    assert panes.run.recipe.strata is own


def test_cells_without_data_are_neither_eroded_nor_deposited() -> None:
    nodata = np.zeros((16, 16), bool)
    nodata[:5] = True
    ground = 800.0 + np.add.outer(np.arange(16.0), np.arange(16.0))
    terrain = sw.Terrain(ground, cell_size=10.0, nodata=nodata)
    recipe = first_recipe(
        preset="single_grid", source=sw.FromTerrain(name="file", terrain=terrain), backend="reference"
    )
    panes = Panes(Run(recipe), first_recipes(recipe, 2), lambda _: None)
    for pane in panes.facts()["panes"]:
        assert (pane["eroded"], pane["mean_erosion"], pane["highest_deposit"]) == (0, 0, 0)
    panes.run.advance(5)
    pane = panes.facts()["panes"][0]
    assert pane["eroded"] > 0
    assert pane["mean_erosion"] == pytest.approx(pane["eroded"] / terrain.area)


def test_as_many_panes_as_there_are_stay(page: Page, server: StudioServer) -> None:
    begin(page)
    page.do("step", count=2)
    page.until(paused_at(2, 2))
    page.do("side_by_side", panes=2)
    state = server.session.submit(server.session.state).result(SECONDS)
    assert steps_of(state) == [2, 2]


def test_a_project_that_cannot_be_opened_leaves_the_panes(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.steps(1)
    project = page.get("/project").content
    headers = {"Cookie": page.cookie, "Origin": page.address}
    sent = httpx.post(
        page.address + "/open", content=project, params={"name": "a.slopewash"}, headers=headers, timeout=SECONDS
    )
    upload = sent.json()["upload"]
    begin(page)

    def refuse(session: Session, project: Any) -> None:
        raise sw.SlopewashError("it is damaged")

    with monkeypatch.context() as changed:
        changed.setattr(Session, "_continued", refuse)
        assert page.ask("open", upload=upload)["message"] == "it is damaged"
    assert server.session.submit(server.session.state).result(SECONDS)["side_by_side"] is not None
    page.do("open", upload=upload)
    assert page.until(lambda s: s["busy"] is None and s["side_by_side"] is None)["left"]["step"] == 1


def test_a_page_that_compares_is_sent_the_start_again_after_side_by_side() -> None:
    recipe = first_recipe(preset="single_grid", size=16, backend="reference")
    home = Run(recipe)
    panes = Panes(home, first_recipes(recipe, 2), lambda _: None)
    connection = Connection(cast("Any", None), cast("Any", None))

    def before(snapshot: Snapshot, *, compares: bool) -> int | None:
        connection.watch = messages.Watch(type="watch", before=compares)
        views = connection.views(snapshot)
        connection.set_frames(snapshot, views, [])
        return views[0].before

    assert before(home.snapshot(1, frozenset()), compares=True) == 0
    assert before(home.snapshot(2, frozenset()), compares=True) is None  # the page has it
    assert before(panes.snapshot(3, frozenset()), compares=False) is None
    assert before(home.snapshot(4, frozenset()), compares=True) == 0


def test_the_run_before_is_kept_on_disk_and_continues_after_a_crash(
    tmp_path: Path, open_page: Callable[..., Page]
) -> None:
    keeper = Keeper(tmp_path / "kept")
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    with StudioServer(recipe, port=0, keeper=keeper, apart=True) as server:
        page, session = open_page(server), cast("SessionApart", server.session)
        page.steps(2)
        begin(page, 4)
        page.do("step", count=5)
        page.until(paused_at(5, 5, 5, 5))
        end = time.monotonic() + SECONDS
        while keeper.kept is None:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert keeper.kept["step"] == 2
        assert session.process_id is not None
        os.kill(session.process_id, signal.SIGKILL)
        assert page.until(lambda s: s["side_by_side"] is None)["step"] == 2
        page.do("leave_side_by_side")  # for those who did not see it coming
        page.steps(1)
    keeper.close()


def test_a_pane_whose_recipe_is_complete_does_not_offer_to_go_on() -> None:
    talus = sw.Stage(model=sw.SteepestTalus(), steps=1)
    source = sw.Generated(kind="dome", size=16)
    session = Session(sw.Recipe(source=source, stages=(talus, talus), backend="reference"), Uploads())
    session._do(messages.SideBySide(type="side_by_side", panes=2), None, 0)
    while not session.run.finished:
        session.run.advance(1)
    with pytest.raises(sw.InvalidParameter, match="the recipe of this pane is complete") as refused:
        session._do(messages.Undo(type="undo"), None, 0)
    assert not isinstance(refused.value, RecipeComplete)  # which pages are told to go on after
    session.close()
