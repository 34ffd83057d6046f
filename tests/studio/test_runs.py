"""Runs that pause, settle, are left and come back, over a real socket."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.threads import apart

import slopewash as sw
from slopewash.studio import StudioServer, earlier, hub, keyframes
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run

Page = Any
Open = Callable[[StudioServer], Page]


def test_run_to_stops_there(page: Page) -> None:
    page.do("run_to", step=23)
    state = page.until(lambda s: not s["playing"] and s["step"] > 0)
    assert state["step"] == 23
    assert "already" in page.ask("run_to", step=4)["message"]


def test_reset_goes_back_with_the_parameters_of_now(page: Page, server: StudioServer) -> None:
    start = server.session.submit(server.session.terrain).result(60)["elevation"]
    page.do("paint", tool="raise", points=[[200.0, 220.0]], radius=60.0)
    page.do("parameters", values={"rain_rate": 0.031})
    page.steps(3)
    page.do("reset")
    state = page.until(lambda s: s["step"] == 0)
    assert (state["parameters"]["rain_rate"], state["can_undo"], state["model"]) == (0.031, False, "virtual_pipes")
    np.testing.assert_array_equal(server.session.submit(server.session.terrain).result(60)["elevation"], start)


def test_settling_lays_the_load_down_and_is_shown(page: Page) -> None:
    page.steps(10)
    frames = page.frames
    page.do("settle", steps=200, dry=True)
    assert page.frames > frames + 2
    state = page.until(lambda s: s["busy"] is None and s["budget"]["water_now"] == 0)
    assert state["step"] == 10


def test_playing_pauses_where_the_preset_ends_and_goes_on_if_asked(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    short = dataclasses.replace(sw.find_preset("single_grid"), steps=7)
    monkeypatch.setattr("slopewash.recipes.definition.find_preset", lambda name: short)
    page.do("play")
    page.until(lambda s: s["step"] == 7 and not s["playing"])
    while not page.told:
        page.read()
    assert page.told[0]["message"] == "Paused at step 7, the end of single_grid. Press play to continue."
    page.do("play")
    assert page.until(lambda s: s["step"] > 12)["target"] is None
    page.do("pause")


@pytest.mark.parametrize("impatient", ["pause", "reset"])
def test_a_settling_can_be_broken_off(page: Page, impatient: str) -> None:
    page.steps(10)
    page.send("settle", id="settle", steps=100_000)
    page.until(lambda s: s["settling"] and "of 100000 steps" in (s["busy"] or ""))
    page.do(impatient)
    state = page.until(lambda s: not s["settling"] and s["busy"] is None)
    assert state["step"] == (10 if impatient == "pause" else 0)


def test_a_pause_right_behind_a_settling_breaks_it_off_too(page: Page, server: StudioServer) -> None:
    page.do("play")
    page.until(lambda s: s["step"] > 2)
    page.send("settle", id="settle", steps=50_000)
    page.do("pause")
    assert page.until(lambda s: not s["settling"] and s["busy"] is None)["playing"] is False
    assert server.session.submit(lambda: server.session.run.simulation.settled).result(60) < 50_000


def test_what_is_refused_breaks_nothing_off(page: Page, server: StudioServer) -> None:
    page.steps(3)
    page.send("settle", id="settle", steps=300)
    page.until(lambda s: s["settling"])
    assert page.ask("start", preset="nonsense")["type"] == "error"
    assert page.ask("bring_back")["type"] == "error"
    assert server.session.submit(lambda: server.session.run.simulation.settled).result(60) == 300


def test_a_settled_run_is_kept_too(page: Page) -> None:
    page.do("settle", steps=5)
    page.do("reset")
    assert page.until(lambda s: s["busy"] is None and s["left"] is not None)["left"]["step"] == 0


def test_a_target_that_somebody_else_passed_is_reached(server: StudioServer, page: Page) -> None:
    page.do("speed", steps_per_second=1)
    page.do("run_to", step=4)
    server.session.run.simulation.run(20)  # as a notebook's cell would
    page.until(lambda s: s["step"] >= 20 and not s["playing"])
    assert page.told == []


def test_a_run_that_was_left_is_brought_back_as_it_was(page: Page, server: StudioServer) -> None:
    assert "no earlier run to restore" in page.ask("bring_back")["message"]
    page.do("paint", tool="raise", points=[[200.0, 200.0]], radius=80.0, strength=30.0)
    page.steps(6)
    left = server.session.submit(server.session.terrain).result(60)
    page.do("reset")
    page.do("start", generator={"seed": 4})  # nothing happened in between: what is worth keeping stays kept
    assert page.until(lambda s: s["generator"]["seed"] == 4 and s["busy"] is None)["left"]["step"] == 6
    page.do("bring_back")
    state = page.until(lambda s: s["step"] == 6)
    assert state["left"] is None
    assert state["can_undo"]
    back = server.session.submit(server.session.terrain).result(60)
    for layer in left:
        assert np.array_equal(left[layer], back[layer])
    assert page.shown(6)[0]["run"] == state["run"]
    for steps in (2, 3):
        page.do("reset")
        page.until(lambda s: s["step"] == 0)
        page.steps(steps)
    for shown, next_one in ((2, 6), (6, 3), (3, 2)):  # each has its turn
        page.do("bring_back")
        assert page.until(lambda s, shown=shown: s["step"] == shown)["left"]["step"] == next_one


def test_runs_are_kept_within_bounds(page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "MOST_LEFT_CELLS", 2 * 48 * 48)
    for _ in range(4):
        page.do("step", count=1)
        page.until(lambda s: s["step"] == 1 and not s["playing"])
        page.do("reset")
        page.until(lambda s: s["step"] == 0)
    assert server.session.submit(lambda: len(server.session._left)).result(60) == 2
    page.do("start", size=80)
    page.until(lambda s: s["rows"] == 80)
    page.steps(1)
    page.do("reset")  # too large by itself, and kept all the same
    assert page.until(lambda s: s["step"] == 0)["left"]["step"] == 1
    assert server.session.submit(lambda: len(server.session._left)).result(60) == 1


def test_a_run_that_is_restored_makes_room_too(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        page.steps(1)
        page.do("reset")
        page.until(lambda s: s["step"] == 0)
    page.do("start", size=80)
    page.until(lambda s: s["rows"] == 80)
    page.steps(1)
    monkeypatch.setattr(earlier, "MOST_LEFT_CELLS", 80 * 80)
    page.do("bring_back")
    page.until(lambda s: s["rows"] == 48)
    left = server.session.submit(lambda: [max(run.start.shape) for run in server.session._left]).result(60)
    assert left == [80]  # the one just left, not an older one


def test_keyframes_of_all_runs_together_are_bounded(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_bytes() -> list[int]:
        runs = [*server.session._left, server.session.run]
        return [run.timeline.nbytes for run in runs]

    page.steps(130)  # with keyframes at 0 and 128
    (both,) = server.session.submit(all_bytes).result(60)
    monkeypatch.setattr(keyframes, "MOST_BYTES", both)
    page.do("start", generator={"seed": 4})
    page.until(lambda s: s["generator"]["seed"] == 4)
    page.steps(1)
    left, shown = server.session.submit(all_bytes).result(60)
    assert left == 0 < shown
    page.do("bring_back")
    page.until(lambda s: s["generator"]["seed"] == 3)
    page.steps(130)
    assert sum(server.session.submit(all_bytes).result(60)) <= both


def test_a_recipe_on_a_coarse_level_counts_with_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = first_recipe(size=96, backend="reference")
    staged = plain.replace(stages=(sw.Stage.of("landscape", steps=8),))
    assert Run(plain).cells == 96 * 96
    left, older = Run(staged), Run(staged)
    assert left.start.shape == (48, 48)
    monkeypatch.setattr(earlier, "MOST_LEFT_CELLS", 96 * 96 + 48 * 48 - 1)
    runs = earlier.EarlierRuns()
    for run in (older, left):
        run.advance(1)
        runs.add(run)
    assert list(runs) == [left]


def test_a_simulation_that_does_not_answer_is_reported(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "WATCH_SECONDS", 0.1)
    monkeypatch.setattr(hub, "STUCK_SECONDS", 0.5)
    stuck = server.session.submit(lambda: time.sleep(4.0))
    assert page.get("/health").status_code == 200
    while not any("answers again" in told["message"] for told in page.told):
        page.read()
    assert any("has not answered for" in told["message"] for told in page.told)
    stuck.result(60)


def test_compiling_is_not_reported_as_a_simulation_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first user of all would read it: kernels are compiled once."""
    monkeypatch.setattr(hub, "WATCH_SECONDS", 0.0)
    looks = iter([(20.0, "compiling kernels"), (50.0, "compiling kernels"), (51.0, None), (1.0, None), (12.0, None)])
    told: list[str] = []

    class Session:
        remedy = "Pause it."
        busy: str | None = None

        @property
        def silent_for(self) -> float:
            silent, self.busy = next(looks)
            return silent

    watched = SimpleNamespace(session=Session(), _take_message=lambda message: told.append(message["message"]))
    with pytest.raises(RuntimeError, match="StopIteration"):
        apart(lambda: asyncio.run(hub.Hub.watch(watched)))  # type: ignore[arg-type]
    assert told == [
        "The simulation has not answered for 50 s: compiling kernels takes long. Pause it.",
        "The simulation answers again.",
        "The simulation has not answered for 12 s: a step of the run takes long. Pause it.",
    ]


@pytest.mark.gpu
def test_a_gpu_that_is_only_software_is_said_to_be_slow(open_page: Open) -> None:
    if "gpu" not in sw.available_backends() or not sw.adapters()[0].software:
        pytest.skip("there is no gpu, or a real one")
    with StudioServer(first_recipe(preset="single_grid", size=32, backend="gpu"), port=0) as server:
        page = open_page(server)
        page.steps(1)
        while not any("has no card here" in told["message"] for told in page.told):
            page.read()
        assert any("which is slow; cpu is faster" in told["message"] for told in page.told)
        page.close()
