"""Keyframes of a run: scrubbed to, played on from to the same bits, branched, compared, and bounded."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.test_keeping import wait_for

import slopewash as sw
from slopewash.studio import StudioServer, keyframes
from slopewash.studio.apart import SessionApart
from slopewash.studio.keeping import Keeper
from slopewash.studio.keyframes import ArrayFile, Branch, Keyframe, Timeline
from slopewash.studio.messages import parse
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run
from slopewash.studio.session import Session
from slopewash.studio.uploads import Uploads

Page = Any


@pytest.fixture(autouse=True)
def dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keyframes every four steps, so that short runs have several."""
    monkeypatch.setattr(keyframes.Timeline, "__init__", _every_four(keyframes.Timeline.__init__))


def _every_four(begin: Callable[..., None]) -> Callable[..., None]:
    def begin_densely(self: Any, usual_steps: int | None = None) -> None:
        begin(self, None)
        self.branches[1].interval = 4

    return begin_densely


def layers(server: StudioServer) -> dict[str, Any]:
    """Everything that the model yields, now."""
    session = server.session
    return dict(session.submit(lambda: session.run.simulation.terrain).result(60).items())


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


def scrub(page: Page, branch: int, moment: int) -> dict[str, Any]:
    page.do("scrub", branch=branch, moment=moment)
    return page.until(lambda s: s["timeline"]["at"] == moment and s["timeline"]["branch"] == branch)["timeline"]


def branches(page: Page) -> dict[int, dict[str, Any]]:
    return {b["branch"]: b for b in page.state["timeline"]["branches"]}


def test_playing_on_from_any_keyframe_gives_the_same_bits(page: Page, server: StudioServer) -> None:
    page.steps(5)
    page.do("paint", tool="raise", points=[[200.0, 220.0]], radius=60.0)
    page.do("parameters", values={"rain_rate": 0.07})
    page.steps(5)
    page.do("slide", name="steepness", position=0.5)
    page.steps(4)
    first = layers(server)
    taken = branches(page)[1]["keyframes"]
    assert taken == [0, 4, 5, 8, 10, 12]  # those of edits too
    assert page.state["timeline"]["at_end"]
    for number, moment in enumerate((10, 12), 2):  # after the last edit
        assert not scrub(page, 1, moment)["at_end"]
        assert page.until(lambda s: True)["step"] == moment
        page.steps(14 - moment)
        same(layers(server), first)
        branch = branches(page)[page.state["timeline"]["branch"]]
        assert (branch["branch"], branch["forked"], branch["parent"]) == (number, moment, 1)


def test_the_script_of_a_branch_repeats_it(page: Page, server: StudioServer, replay: Any) -> None:
    page.steps(4)
    page.do("paint", tool="raise", points=[[200.0, 220.0]], radius=60.0)
    page.steps(6)
    scrub(page, 1, 8)
    page.do("paint", tool="lower", points=[[100.0, 120.0]], radius=60.0)
    page.steps(3)
    eroded = replay(page.get("/script").text)
    assert (eroded["elevation"] == layers(server)["elevation"]).all()


def test_the_old_branch_stays_and_goes_on(page: Page, server: StudioServer) -> None:
    page.do("paint", tool="raise", points=[[200.0, 220.0]], radius=60.0)
    page.steps(10)
    old = layers(server)
    scrub(page, 1, 4)
    page.do("slide", name="rain", position=1)
    assert page.until(lambda s: s["timeline"]["branch"] == 2)["timeline"]["at_end"]
    page.steps(7)
    assert not np.array_equal(layers(server)["elevation"], old["elevation"])
    timeline = scrub(page, 1, 10)
    assert timeline["at_end"]
    same(layers(server), old)
    assert page.state["can_undo"]  # the end of a branch keeps its undo history
    page.steps(2)
    assert page.state["timeline"]["branch"] == 1
    assert branches(page)[2]["end"] == 11
    scrub(page, 2, 11)
    assert page.state["parameters"]["rain_rate"] == pytest.approx(0.15)


def test_a_keyframe_before_the_fork_belongs_to_the_branch_shown(page: Page, server: StudioServer) -> None:
    def identity() -> Any:
        return server.session.submit(lambda: server.session.run.identity).result(60)

    page.steps(9)
    first = identity()
    scrub(page, 1, 4)
    assert identity() == first
    page.do("parameters", values={"rain_rate": 0.07})
    page.steps(5)
    second = identity()
    assert second != first
    for branch, moment, expected in ((2, 0, second), (1, 0, first), (2, 9, second), (1, 9, first)):
        scrub(page, branch, moment)
        assert identity() == expected


def test_looking_back_changes_nothing(page: Page, server: StudioServer) -> None:
    page.steps(9)
    now = layers(server)
    for moment in (0, 8, 4):
        scrub(page, 1, moment)
    assert scrub(page, 1, 9)["at_end"]
    same(layers(server), now)
    assert list(branches(page)) == [1]


def test_a_refused_change_of_the_past_makes_no_branch(page: Page) -> None:
    page.steps(9)
    scrub(page, 1, 4)
    assert "must be zero or more" in page.ask("parameters", values={"rain_rate": -1})["message"]
    assert "no edit to undo" in page.ask("undo")["message"]
    page.do("speed", steps_per_second=None)
    assert list(branches(page)) == [1]


def test_unknown_branches_and_runs_without_keyframes_are_refused(page: Page) -> None:
    assert "no branch 7 any more; there are 1" in page.ask("scrub", branch=7, moment=0)["message"]
    page.do("scrub", branch=1, moment=0)  # the end, which is all there is
    assert page.until(lambda s: True)["timeline"]["at_end"]


def test_a_run_with_a_branch_is_kept_when_another_is_started(page: Page) -> None:
    page.steps(5)
    scrub(page, 1, 0)
    page.do("parameters", values={"rain_rate": 0.07})  # a branch without a step of its own
    page.until(lambda s: s["timeline"]["branch"] == 2)
    page.do("start", generator={"seed": 4})
    assert page.until(lambda s: s["generator"]["seed"] == 4)["left"] is not None
    page.do("bring_back")
    page.until(lambda s: s["generator"]["seed"] == 3)
    assert scrub(page, 1, 5)["at_end"]


def test_a_keyframe_that_was_painted_before_the_first_step_is_worth_keeping() -> None:
    run = Run(first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference"))
    assert not run.is_worth_keeping
    run.edit(parse('{"type": "paint", "tool": "raise", "points": [[160, 160]], "radius": 60}'), "page")
    again = Run.from_checkpoint(*Keyframe.of(run, undo=False).parts(), "it", lambda _: None)
    assert again.is_worth_keeping


def test_a_page_compares_with_another_branch(page: Page, server: StudioServer) -> None:
    page.steps(8)
    old = layers(server)["elevation"]
    page.do("watch", before=True)
    header, fields = page.shown(8)
    while "before" not in fields:
        header, fields = page.read("frame")
    assert "branch" not in next(block for block in header["blocks"] if block["name"] == "before")
    scrub(page, 1, 4)
    page.do("parameters", values={"rain_rate": 0.2})
    page.steps(4)
    page.do("watch", before=True, against=1)
    for _ in range(100):
        header, fields = page.read("frame")
        block: dict[str, Any] = next((block for block in header["blocks"] if block["name"] == "before"), {})
        if block.get("branch") == 1 and block["moment"] == 8:
            break
    assert (block["branch"], block["moment"]) == (1, 8)
    np.testing.assert_allclose(fields["before"], old, atol=1e-3 * np.ptp(old))


def test_keyframes_are_thinned_by_powers_of_two() -> None:
    branch = Branch(1, 4)
    for moment in range(0, 4 * 200, 4):
        if moment % branch.interval == 0:
            branch.add(fake(moment))
        assert len(branch.keyframes) <= keyframes.MOST_KEYFRAMES
    assert branch.interval == 32
    assert [k.moment for k in branch.keyframes] == list(range(0, 800, 32))


def test_a_stroke_while_the_run_plays_takes_one_keyframe_not_all() -> None:
    branch = Branch(1, 64)
    for moment in range(20 * 64 + 8):  # an edit before every step
        branch.add(fake(moment))
    assert branch.interval == 64
    moments = [k.moment for k in branch.keyframes]
    assert {*range(0, 20 * 64 + 1, 64)} < {*moments}
    assert moments[-1] == 20 * 64 + 7


def test_keyframes_of_edits_are_dropped_before_the_interval_doubles() -> None:
    branch = Branch(1, 64)
    for moment in range(20 * 64 + 1):
        if moment % 64 == 0 or moment % 20 == 0:  # too far apart for one stroke
            branch.add(fake(moment))
        assert len(branch.keyframes) <= keyframes.MOST_KEYFRAMES
    assert branch.interval == 64
    assert {*range(0, 20 * 64 + 1, 64)} <= {k.moment for k in branch.keyframes}


def test_all_keyframes_together_are_bounded(page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch) -> None:
    page.steps(5)
    timeline = server.session.run.timeline
    one = timeline.branch.keyframes[0].nbytes
    monkeypatch.setattr(keyframes, "MOST_BYTES", 5 * one)
    monkeypatch.setattr(keyframes, "MOST_BRANCHES", 3)
    for _ in range(5):
        page.steps(8)
        scrub(page, page.state["timeline"]["branch"], 0)
        page.do("parameters", values={"rain_rate": 0.05})
    page.steps(1)
    assert timeline.nbytes <= 5 * one
    assert len(timeline.branches) <= 3
    assert timeline.current in timeline.branches


def test_keyframes_are_few_files_in_all() -> None:
    def timeline() -> Timeline:
        made = Timeline()
        for _ in range(6):
            for moment in range(0, 30 * 4, 4):
                made.branch.add(fake(moment))
            made.branch.tip, made.at = fake(200), fake(0)
            made.go_on()
        return made

    left, shown = [timeline() for _ in range(3)], timeline()
    assert all(len(each.files) <= keyframes.MOST_FILES for each in [*left, shown])
    here = len(shown.files)
    assert sum(len(each.files) for each in left) + here > keyframes.MOST_FILES
    keyframes.keep_together(left, shown)
    assert sum(len(each.files) for each in [*left, shown]) <= keyframes.MOST_FILES
    assert len(shown.files) == here  # those that were left gave way


def test_a_keyframe_that_cannot_be_kept_is_a_sentence(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> Any:
        raise OSError(24, "Too many open files")

    page.steps(5)
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", refused)
        answer = page.ask("scrub", branch=1, moment=4)
    assert answer["message"].startswith("the run cannot be kept as a keyframe ([Errno 24] Too many open files)")
    assert page.until(lambda s: True)["timeline"]["at_end"]
    assert not scrub(page, 1, 4)["at_end"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_leaves_no_open_file(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference"))
    opened: list[Any] = []

    def full(**_: Any) -> Any:
        opened.append(open("/dev/full", "w+b"))  # noqa: PTH123, SIM115 (as the keyframe's own file)
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left on device"):
        Keyframe.of(run, undo=False)
    assert opened[0].closed


@pytest.mark.parametrize("model", sw.model_names())
def test_every_model_goes_on_from_a_keyframe_to_the_same_bits(model: str) -> None:
    recipe = first_recipe(model=model, size=32, extent=320.0, backend="reference")
    if model == "mesh_particles":
        recipe = recipe.replace(emitters=(sw.Emitter(x=160, y=160, radius=30, rate=20, speed=0, direction=0),))
    run = Run(recipe)
    run.advance(3)
    keyframe = Keyframe.of(run, undo=False)
    results = []
    for _ in range(2):  # the first must not change what is kept
        run.close()
        run = Run.from_checkpoint(*keyframe.parts(), "it", lambda _: None)
        run.advance(4)
        results.append(dict(run.terrain().items()))
    whole = Run(recipe)
    whole.advance(7)
    for result in results:
        same(result, dict(whole.terrain().items()))


def test_a_recipe_of_levels_goes_back_to_an_earlier_grid(open_page: Any) -> None:
    recipe = sw.Recipe(
        source=sw.Generated(kind="dome", size=128, extent=1280.0), backend="reference",
        stages=(sw.Stage.of("landscape", strength=0.02),),
    )  # fmt: skip
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        page.steps(10)
        coarse = page.state["rows"]
        page.do("play")
        page.until(lambda s: not s["playing"] and s["step"] > 10)
        final = server.session.submit(server.session.terrain).result(60)["elevation"]
        assert page.state["rows"] > coarse
        early = branches(page)[1]["keyframes"][1]
        scrub(page, 1, early)
        assert page.state["rows"] == coarse
        page.do("play")
        page.until(lambda s: not s["playing"] and s["step"] > early)
        again = server.session.submit(server.session.terrain).result(60)["elevation"]
        np.testing.assert_array_equal(again, final)


def test_what_was_painted_before_a_keyframe_holds_on_finer_levels() -> None:
    recipe = sw.recipe("landscape", size=96, seed=3, steps=8, settle=3, gullies=0.0, backend="reference")
    run, place = Run(recipe), {"points": [(1000.0, 3500.0)], "radius": 700.0, "strength": 0.5, "falloff": 0.0}
    for tool in ("rain", "harden"):
        run.edit(parse(json.dumps({"type": "paint", "tool": tool, **place})), "page")
    run.advance(1)
    keyframe = Keyframe.of(run, undo=False)
    again = Run.from_checkpoint(*keyframe.parts(), "it", lambda _: None)
    for either in (run, again):
        while max(either.simulation.start.shape) < 96:
            either.advance(1)
    assert run.simulation.terrain["rainfall"].max() == pytest.approx(1.5)
    same(dict(again.simulation.terrain.items()), dict(run.simulation.terrain.items()))


def test_what_is_kept_on_disk_is_the_end_of_the_branch_not_its_past(tmp_path: Path) -> None:
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    session = Session(recipe, Uploads(), keeper=Keeper(tmp_path))
    session.start()
    for text in ('{"type": "step", "count": 9}', '{"type": "scrub", "branch": 1, "moment": 4}'):
        session.execute(parse(text)).result(60)
        wait_for(lambda: not session.submit(lambda: session.state()["playing"]).result(60))
    assert session.run.step == 4
    session.close()
    assert sw.read_checkpoint(tmp_path)[0]["step"] == 9


def damage(keyframe: Keyframe) -> None:
    keyframe.arrays.move_to(io.BytesIO(), {})


def test_a_cell_is_inspected_without_a_damaged_keyframe(page: Page, server: StudioServer) -> None:
    page.steps(9)
    damage(server.session.run.timeline.branch.keyframes[1])
    answer = page.get("/cell?x=205&y=315")
    assert answer.status_code == 200
    assert answer.json()["moments"] == [0, 8, 9]
    said = "keyframe 4 cannot be read (4 bytes are missing), and is dropped"
    while said not in [told["message"] for told in page.told]:
        page.read()
    page.until(lambda s: s["timeline"]["branches"][0]["keyframes"] == [0, 8])


def test_a_branch_is_compared_without_its_damaged_end(page: Page, server: StudioServer) -> None:
    page.steps(9)
    scrub(page, 1, 4)
    page.do("parameters", values={"rain_rate": 0.2})
    page.steps(6)
    tip = server.session.run.timeline.branches[1].tip
    assert tip is not None
    damage(tip)
    page.do("watch", before=True, against=1)
    while True:
        header, _ = page.read("frame")
        block: dict[str, Any] = next((b for b in header["blocks"] if b["name"] == "before"), {})
        if "branch" in block:
            break
    assert (block["branch"], block["moment"]) == (1, 8)
    page.steps(1)  # it goes on
    assert any(told["message"].startswith("keyframe 9 cannot be read") for told in page.told)


def test_a_run_whose_end_is_damaged_is_kept_as_of_its_last_keyframe(tmp_path: Path) -> None:
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    keeper = Keeper(tmp_path)
    session = Session(recipe, Uploads(), keeper=keeper)
    told: list[Any] = []
    session.on_message = told.append
    session.start()
    for text in ('{"type": "step", "count": 9}', '{"type": "scrub", "branch": 1, "moment": 4}'):
        session.execute(parse(text)).result(60)
        wait_for(lambda: not session.submit(lambda: session.state()["playing"]).result(60))
    tip = session.run.timeline.branch.tip
    assert tip is not None
    damage(tip)
    session.close()
    assert keeper.failure is None
    assert sw.read_checkpoint(tmp_path)[0]["step"] == 8
    assert told[-1]["message"].startswith("keyframe 9 cannot be read")
    keeper.close()


def test_a_branch_that_loses_its_end_ends_at_its_last_keyframe() -> None:
    timeline, (first, last, tip) = Timeline(), map(fake, (0, 16, 20))
    timeline.branch.keyframes, timeline.branch.tip = [first, last], tip
    timeline.at = first
    timeline.forget(tip)
    assert (timeline.branch.tip, timeline.at) == (last, first)
    timeline.forget(last)
    assert (timeline.branch.tip, timeline.at) == (first, None)  # it is shown, and is the end now
    assert timeline.facts(0)["at_end"]
    timeline.forget(first)
    assert (timeline.branch.all, timeline.at) == ([], None)
    assert timeline.facts(0)["branches"][0]["end"] == 0


def test_a_run_in_its_own_process_is_compared_and_goes_back(open_page: Any) -> None:
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    with StudioServer(recipe, port=0, apart=True) as server:
        assert isinstance(server.session, SessionApart)
        page = open_page(server)
        page.steps(40)
        assert branches(page)[1]["keyframes"][0] == 0
        page.do("scrub", branch=1, moment=0)
        page.until(lambda s: s["timeline"]["at"] == 0)
        page.do("watch", before=True, against=1)
        while True:
            header, _ = page.read("frame")
            block = next((block for block in header["blocks"] if block["name"] == "before"), None)
            if block is not None and "branch" in block:
                break
        assert block["branch"] == 1


def fake(moment: int) -> Any:
    """A keyframe of nothing."""
    return Keyframe(moment, moment, {}, {}, ArrayFile(io.BytesIO(), {}), 0)
