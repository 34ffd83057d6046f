"""A finish: what was done to a draft, done again on more cells in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import slopewash as sw
from slopewash.processes import environment, python
from slopewash.studio import StudioServer, messages, scratch
from slopewash.studio.finish_files import TERRAIN_FILE
from slopewash.studio.finisher import Task, end_with_the_server, matching_step, on_levels, on_one_grid
from slopewash.studio.pipe import Pipe
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run
from slopewash.studio.scratch import Scratch, remove_abandoned

Page = Any
Open = Callable[[Any], Page]
SECONDS = 120.0
SENDS_A_NOTICE = """
from io import FileIO
from slopewash.studio.pipe import Pipe
pipe = Pipe(FileIO(0, closefd=False), FileIO(1, "wb", closefd=False))
pipe.send(("notice", "7 sub-steps"))
pipe.send(("done", {"step": 1}))
pipe.finish()
"""


@pytest.fixture
def levels() -> sw.Recipe:
    """A draft of two levels, 48 and 96 cells; the reference needs no compiling, and low water would take long."""
    recipe = sw.recipe("landscape", size=96, seed=4, strength=0.005, gullies=0.0, backend="reference")
    return recipe.replace(low_water={})


@pytest.fixture
def server(levels: sw.Recipe) -> Iterator[StudioServer]:
    with serving(levels) as running:
        yield running


def serving(recipe: sw.Recipe, **options: Any) -> StudioServer:
    """A server whose finishes do not stand back: a busy machine would let tests wait for long."""
    server = StudioServer(recipe, port=0, **options)
    server.studio.finishing.niceness = 0
    return server


def until(page: Page, status: str) -> dict[str, Any]:
    """Wait for a finish with that status, which may have been told already."""
    while page.finish.get("status") != status:
        finish = page.read("finish")
        assert finish["status"] in ("idle", "running", status), finish
    finished: dict[str, Any] = page.finish
    return finished


def heights(page: Page, path: str) -> np.ndarray:
    answer = page.get(path)
    assert answer.status_code == 200, answer.text
    return np.load(io.BytesIO(answer.content))


def test_a_draft_without_edits_is_finished_as_its_recipe_runs_on_those_cells(
    page: Page, levels: sw.Recipe, server: StudioServer, tmp_path: Path
) -> None:
    page.steps(3)
    page.do("finish", size=192)
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["status"] == "running":
        seen.append(page.read("finish"))
        seen = [finish for finish in seen if finish["status"] != "idle"]
    assert seen[-1]["status"] == "done", seen[-1]
    shares = [finish["share"] for finish in seen]
    assert shares == sorted(shares)
    assert seen[-1]["words"] == "level 3 of 3 (192 x 192)"
    assert seen[-1]["step"] == seen[-1]["steps"]
    expected = levels.replace(size=192).run().terrain
    assert np.array_equal(heights(page, "/finish/a.npy"), expected["elevation"])
    assert page.get("/finish/preview.png").content[:4] == b"\x89PNG"
    for name in ("a.r16", "a.r16.json"):
        (tmp_path / name).write_bytes(page.get(f"/finish/{name}").content)
    quantized = np.abs(sw.read(tmp_path / "a.r16")["elevation"] - expected["elevation"])
    assert quantized.max() < 1e-4 * expected.relief  # 16 bits over the height range
    assert page.state["step"] == 3  # the draft is as it was
    page.do("open_finish")
    state = page.until(lambda state: state["rows"] == 192 and state["busy"] is None)
    assert state["step"] == seen[-1]["step"]
    assert state["left"]["step"] == 3
    assert np.array_equal(server.session.find("terrain").result(SECONDS)["elevation"], expected["elevation"])


def test_edits_stand_at_the_same_place_of_the_ground(levels: sw.Recipe, open_page: Open) -> None:
    with serving(levels) as server:
        page = open_page(server)
        page.do("paint", tool="raise", points=[[1000.0, 3500.0]], radius=700.0, strength=400.0, falloff=0.0)
        page.do("paint", tool="raise", points=[[4000.0, 1000.0]], radius=700.0, strength=900.0)
        page.do("undo")
        page.do("finish", size=144)
        until(page, "done")
        made = heights(page, "/finish/a.npy")
    plain = levels.replace(size=144).run().terrain["elevation"]
    change = made - plain
    y, x = (np.mgrid[0:144, 0:144] + 0.5) * (5120 / 144)
    assert np.median(change[np.hypot(x - 1000, y - 3500) < 500]) > 150
    assert np.median(np.abs(change[np.hypot(x - 4000, y - 1000) < 500])) < 50


def test_a_run_on_one_grid_is_repeated_on_more_cells(open_page: Open) -> None:
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, seed=3, backend="reference")
    with serving(recipe, apart=True) as server:
        page = open_page(server)
        page.steps(2)
        page.do("parameters", values={"rain_rate": 0.07})
        page.steps(3)
        page.do("settle", steps=4, dry=False)
        page.do("finish", size=64)
        assert until(page, "done")["steps"] == 9
        made = heights(page, "/finish/a.npy")
    simulation = sw.Simulation(recipe.replace(size=64).terrain(), recipe.stage.model, backend="reference", seed=3)
    simulation.run(2)
    simulation.model = simulation.model.replace(rain_rate=0.07)
    simulation.run(3)
    simulation.settle(4)
    assert np.array_equal(made, simulation.terrain["elevation"])


def test_a_run_on_one_grid_that_is_not_begun_is_finished_to_the_age_that_is_set() -> None:
    run = Run(first_recipe(preset="single_grid", size=32, backend="reference"))
    preset = sw.find_preset("single_grid")
    assert on_one_grid(run.plan(64))[0] == ["run", preset.steps]
    run.slide("age", -1.0)
    younger = run.usual_steps
    assert younger is not None
    assert younger < preset.steps
    assert on_one_grid(run.plan(64)) == [["run", younger], ["settle", preset.settling(younger), False, None]]


def process_of(server: StudioServer) -> Any:
    return server.studio.finishing._process


def test_a_finish_can_be_cancelled_while_the_run_plays_on(page: Page, server: StudioServer) -> None:
    assert page.ask("cancel_finish")["message"] == "no finish is under way"
    assert page.get("/finish/a.npy").status_code == 409
    page.do("finish", size=1024)
    process = process_of(server)
    assert "is under way already" in page.ask("finish", size=64)["message"]
    page.steps(2)  # the page is usable
    page.do("cancel_finish")
    assert until(page, "cancelled")["size"] == 1024
    assert process.poll() is not None
    assert "nothing finished" in page.ask("open_finish")["message"]
    page.steps(2)


def test_a_process_that_ends_is_reported_and_another_can_be_started(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.do("finish", size=1024)
    process_of(server).kill()
    assert until(page, "failed")["message"] == "its process ended (-9)"
    assert "no finish to continue" in page.ask("continue_finish")["message"]  # it was kept in memory only
    page.do("side_by_side", panes=2)
    monkeypatch.setattr(messages, "SIZES", (16, 64))
    page.do("finish", size=96)  # more cells than the studio runs now
    until(page, "done")
    refused = page.get("/finish/a.slopewash")
    assert refused.status_code == 404
    assert "96 cells along a side, too many for a project" in refused.json()["message"]
    page.do("open_finish")
    state = page.until(lambda state: state["rows"] == 64)
    assert (state["name"], state["stage"], state["step"]) == ("dome", None, 0)
    assert state["side_by_side"] is None


def test_a_large_finish_of_a_pane_is_shown_with_the_model_of_that_pane(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, seed=3, backend="reference")
    with serving(recipe) as server:
        page = open_page(server)
        page.steps(2)
        page.do("side_by_side", panes=2)
        page.do("choose_pane", pane=1)
        page.do("start", preset="chiba_fig2")
        page.do("parameters", values={"flow_erosion": 0.0123})
        page.until(lambda state: state["model"] == "velocity_field" and state["busy"] is None)
        page.do("step", count=1)
        page.until(lambda state: state["step"] == 1 and not state["playing"])
        with monkeypatch.context() as limits:
            limits.setattr(messages, "SIZES", (16, 40))
            page.do("finish", size=48)
            until(page, "done")
            page.do("open_finish")
        state = page.until(lambda state: state["rows"] == 40)
        assert (state["model"], state["preset"], state["side_by_side"]) == ("velocity_field", "chiba_fig2", None)
        assert state["parameters"]["flow_erosion"] == 0.0123
        assert state["left"]["step"] == 2  # the run before can be restored


def test_a_finish_shown_on_fewer_cells_goes_on_without_its_mask(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = sw.Terrain(np.add.outer(np.arange(32.0), np.arange(32.0)), mask=0.5, water=0.25)
    stage = first_recipe(preset="single_grid", size=32).stage.replace(steps=1, settle=None)
    recipe = sw.Recipe(source=sw.FromTerrain(name="mine", terrain=ground), stages=(stage,), backend="reference")
    monkeypatch.setattr(messages, "SIZES", (16, 32))
    with serving(recipe) as server:
        page = open_page(server)
        page.steps(1)
        page.do("finish", size=48)
        until(page, "done")
        made = heights(page, "/finish/a.npy")
        page.do("open_finish")
        page.until(lambda state: state["step"] == 0 and state["left"] is not None)
        shown = server.session.find("terrain").result(SECONDS)
        assert "mask" not in shown
        expected = sw.Terrain(made, cell_size=32 / 48).resampled(32)["elevation"]
        np.testing.assert_allclose(shown["elevation"], expected, rtol=1e-6)  # once to cells and back


def test_a_finish_of_an_own_terrain_can_be_saved_in_every_way(open_page: Open, tmp_path: Path) -> None:
    ground = sw.generate("cone", size=32)
    recipe = first_recipe(preset="single_grid", source=sw.FromTerrain(name="mine", terrain=ground), backend="reference")
    with serving(recipe) as server:
        page = open_page(server)
        page.steps(2)
        page.do("finish", size=48)
        until(page, "done")
        made = heights(page, "/finish/a.npy")
        assert page.get("/finish/a.slopewash").content[:2] == b"PK"
        page.do("open_finish")
        page.until(lambda state: state["rows"] == 48)
        assert np.array_equal(server.session.find("terrain").result(SECONDS)["elevation"], made)


def test_notices_of_a_finish_reach_the_pages(page: Page, server: StudioServer) -> None:
    finishing = server.studio.finishing
    with subprocess.Popen(python("-c", SENDS_A_NOTICE), env=environment(), stdout=subprocess.PIPE, bufsize=0) as child:
        finishing._process = child
        finishing._read(child, Pipe(cast("FileIO", child.stdout), FileIO(os.devnull, "wb")))
    while not any(told["message"] == "The finish: 7 sub-steps" for told in page.told):
        page.read()


def test_a_file_that_is_removed_meanwhile_is_not_found(
    page: Page, server: StudioServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for what, name in (("preview", "preview.png"), ("project", "a.slopewash")):
        monkeypatch.setattr(server.studio.finishing, what, lambda: tmp_path / "gone")
        assert page.get(f"/finish/{name}").status_code == 404


def test_the_process_ends_with_the_server(levels: sw.Recipe, open_page: Open) -> None:
    with serving(levels) as server:
        page = open_page(server)
        page.do("finish", size=1024)
        process = process_of(server)
        page.close()
    assert process.poll() is not None


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_results_of_a_server_that_was_killed_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "YOUNG_SECONDS", -1.0)
    own, other = Scratch(), tmp_path / "slopewash-other"
    other.mkdir()
    code = "from slopewash.studio.scratch import Scratch; s = Scratch(); print(s.path, flush=True); input()"
    child = subprocess.Popen(
        python("-c", code), env={**environment(), "TMPDIR": str(tmp_path)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with child:
        assert child.stdout is not None
        folder = Path(child.stdout.readline().strip())
        (folder / TERRAIN_FILE).touch()
        remove_abandoned()
        assert (folder / TERRAIN_FILE).exists()
        child.kill()
    remove_abandoned()
    assert set(tmp_path.iterdir()) == {own.path, other}
    own.remove()
    assert not own.path.exists()


def test_the_process_removes_its_folder_when_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / TERRAIN_FILE).touch()
    with (tmp_path / "nothing").open("w+b", buffering=0) as gone:
        task = Task(tmp_path / "results", kept=False, secret=b"", trust=False, adapter=None, niceness=0, largest=64)
        end_with_the_server(Pipe(gone, gone), task, threading.Event())
    assert ends == [1]
    assert not (tmp_path / "results").exists()


def test_more_cells_than_a_finish_takes_are_refused(page: Page) -> None:
    assert "less than or equal to 4096" in page.ask("finish", size=5000)["message"]


@pytest.mark.parametrize(
    ("step", "draft", "finish", "expected"),
    [
        (0, [(1, 64, 10)], [(1, 64, 20), (1, 128, 5)], 0),
        (5, [(1, 64, 10)], [(1, 64, 20), (1, 128, 5)], 10),
        (10, [(1, 64, 10), (1, 128, 10)], [(1, 64, 20), (1, 128, 30)], 20),  # where the second level begins
        (19, [(1, 64, 10), (1, 128, 10)], [(1, 64, 20), (1, 128, 30)], 47),
        (12, [(1, 75, 10), (1, 150, 10)], [(1, 64, 10), (1, 128, 10), (1, 256, 10)], 12),
        (15, [(1, 64, 10), (2, 64, 10)], [(1, 64, 4), (1, 128, 4), (2, 128, 20)], 18),  # of its own stage
        (15, [(1, 64, 10), (1, 128, 10)], [(1, 64, 10)], 5),
    ],
)
def test_steps_of_a_finish_match_those_of_the_draft(step: int, draft: Any, finish: Any, expected: int) -> None:
    assert matching_step(step, draft, finish) == expected


def test_every_action_keeps_its_order_and_the_recipe_is_run_to_its_end() -> None:
    draft, finish = [(1, 64, 10), (1, 128, 10)], [(1, 64, 10)]
    actions = [["run", 8], ["undo"], ["run", 4], ["interrupted", 2], ["redo"]]
    assert on_levels(actions, draft, finish) == [["run", 8], ["undo"], ["redo"], ["run", 2]]
