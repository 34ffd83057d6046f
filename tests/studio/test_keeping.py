"""A studio keeps its run on disk: a server that is started again continues it, bit for bit."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import BackendUnavailable, CheckpointError, CheckpointWarning
from slopewash.simulation import checkpoints
from slopewash.studio import StudioServer, keeping, server
from slopewash.studio.keeping import AFTER_EDIT, AT_REST, BETWEEN_EDITS, NEXT_TRY, WHILE_RUNNING, Keeper
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session

Page = Any
Open = Callable[[Any], Page]
Replay = Callable[[str], sw.Terrain]
SECONDS = 60.0
MARKS = itertools.count(1000)
RESTARTED = {"run", "playing", "busy", "target", "steps_per_second", "speed", "left", "type"}
"""Keys of a state that a restart changes."""


@contextmanager
def serving(folder: Path, recipe: sw.Recipe | None = None, **options: Any) -> Iterator[StudioServer]:
    """A server that keeps its run in a folder; without a recipe it continues the run that is there."""
    keeper = Keeper(folder)
    try:
        with StudioServer(recipe, port=0, keeper=keeper, **options) as server:
            yield server
    finally:
        keeper.close()


def facts(page: Page) -> dict[str, Any]:
    """What the page is told of the run."""
    mark = next(MARKS)
    page.do("speed", steps_per_second=mark)  # a state with it is not older than this question
    page.until(lambda state: state["speed"] == mark and state["busy"] is None)
    return {name: value for name, value in page.state.items() if name not in RESTARTED}


def now(server: StudioServer) -> dict[str, Any]:
    return dict(server.session.submit(server.session.terrain).result(SECONDS).items())


def assert_same(terrain: sw.Terrain, layers: dict[str, Any]) -> None:
    for name, layer in layers.items():
        np.testing.assert_array_equal(terrain[name], layer, err_msg=name)


def wait_for(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def saved_step(folder: Path) -> int | None:
    manifest = sw.newest_manifest(folder)
    return None if manifest is None else manifest["step"]


def work_on_pipes(page: Page) -> None:
    page.steps(4)
    page.do("parameters", values={"rain_rate": 0.07, "dig_limit": "inf"})
    page.do("paint", tool="raise", points=[[120.3, 200.7], [150.1, 210.9]], radius=61.7, strength=7.3, stroke=1)
    page.do("paint", tool="raise", points=[[180.1, 220.9]], radius=61.7, strength=7.3, stroke=1)
    page.steps(3)
    page.do("sources", sources=[{"x": 100.0, "y": 120.5, "radius": 25.0, "rate": 0.4}])
    page.do("settle", steps=25, dry=False)
    page.steps(3)
    page.do("paint", tool="soften", points=[[250.0, 250.0]], radius=80.0)
    page.do("undo")


def work_on_a_mesh(page: Page) -> None:
    page.steps(4)
    page.do("parameters", values={"erosion_rate": 0.7})
    emitter = {"x": 150.0, "y": 160.0, "radius": 30.0, "rate": 40.0, "speed": 2.0, "direction": 180.0}
    page.do("emitters", emitters=[emitter])
    page.steps(6)
    page.do("emitters", emitters=[])
    page.do("undo")


@pytest.mark.parametrize(
    ("preset", "backend", "work"),
    [
        ("single_grid", "reference", work_on_pipes),
        ("single_grid", "cpu", work_on_pipes),
        ("bezin2010", "cpu", work_on_a_mesh),
    ],
)
def test_a_server_started_again_continues_as_if_it_had_never_stopped(
    preset: str, backend: str, work: Callable[[Page], None], tmp_path: Path, open_page: Open, replay: Replay
) -> None:
    recipe = first_recipe(preset=preset, size=40, extent=400.0, seed=9, backend=backend)
    with serving(tmp_path / "kept", recipe) as server:
        page = open_page(server)
        work(page)
        before, layers, script = facts(page), now(server), page.get("/script").text
        page.close()
    with serving(tmp_path / "kept") as server:
        page = open_page(server)
        assert facts(page) == before
        assert before["can_undo"]
        assert before["can_redo"]
        for name, layer in now(server).items():
            np.testing.assert_array_equal(layer, layers[name], err_msg=name)
        assert page.get("/script").text == script
        page.do("undo")
        page.steps(5)
        script, layers = page.get("/script").text, now(server)
        page.close()
    assert_same(replay(script), layers)  # which the script computes without a stop


def test_an_uploaded_file_survives_with_its_script_and_its_own_cells(
    tmp_path: Path, open_page: Open, replay: Replay
) -> None:
    file = sw.write(sw.generate("ridged", size=64, seed=2, relief=90.0), tmp_path / "own.npy")
    with serving(tmp_path / "kept", first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        key = page.post("/upload?name=own.npy", file.read_bytes()).json()["upload"]
        page.do("start", upload=key, size=40, preset="chiba_strata")
        facts(page)
        page.steps(2)
        page.close()
    with serving(tmp_path / "kept") as server:
        page = open_page(server)
        page.steps(2)
        assert_same(replay(page.get("/script").text), now(server))
        page.do(
            "start", size=64, preset="single_grid"
        )  # the file itself: neither resampled nor with the preset's strata
        facts(page)
        start = server.session.run.start
        np.testing.assert_array_equal(start["elevation"], sw.read(file)["elevation"])
        assert start.strata is None
        page.steps(1)
        assert_same(replay(page.get("/script").text), now(server))
        page.close()


def test_a_terrain_of_one_s_own_program_is_kept_without_a_script(tmp_path: Path, open_page: Open) -> None:
    terrain = sw.generate("cone", size=32).replace(water=0.5)
    recipe = first_recipe(source=sw.FromTerrain(name="mine", terrain=terrain), backend="reference")
    with serving(tmp_path, recipe) as server:
        page = open_page(server)
        page.steps(2)
        layers = now(server)
        page.close()
    with serving(tmp_path) as server:
        page = open_page(server)
        assert page.until(bool)["name"] == "mine"
        assert_same(server.session.terrain(), layers)
        assert page.get("/script").status_code == 409
        page.do("reset")
        facts(page)
        page.steps(2)
        assert_same(server.session.terrain(), layers)
        page.close()


def test_a_new_run_replaces_the_one_that_is_kept(tmp_path: Path, open_page: Open) -> None:
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.steps(5)
        page.do("reset")
        page.close()
    assert saved_step(tmp_path) == 0
    with serving(tmp_path) as server:
        page = open_page(server)
        assert page.until(bool)["step"] == 0
        page.do("start", preset="chiba_fig2", generator={"kind": "cone", "size": 24})
        facts(page)
        page.steps(1)
        page.close()
    with serving(tmp_path) as server:
        assert server.session.run.simulation.model.name == "velocity_field"
        assert server.session.run.simulation.step == 1


def test_changed_parameters_alone_are_kept(tmp_path: Path, open_page: Open) -> None:
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.do("parameters", values={"rain_rate": 0.0625})
        page.close()
    with serving(tmp_path) as server:
        assert server.session.run.simulation.model.values()["rain_rate"] == 0.0625


def test_nothing_is_written_while_nothing_changes(tmp_path: Path, open_page: Open) -> None:
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        open_page(server).close()
    assert sw.find_checkpoints(tmp_path) == []
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.steps(1)
        page.close()
    (written,) = sw.find_checkpoints(tmp_path)
    moment = written.stat().st_mtime_ns
    with serving(tmp_path) as server:
        open_page(server).close()
    assert [path.stat().st_mtime_ns for path in sw.find_checkpoints(tmp_path)] == [moment]


def test_a_paused_run_is_saved_soon(tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 0.1)
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.steps(3)
        wait_for(lambda: saved_step(tmp_path) == 3)
        page.steps(2)
        wait_for(lambda: saved_step(tmp_path) == 5)
        page.close()


def test_a_run_that_plays_is_saved_now_and_then(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.2)
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.do("play")
        wait_for(lambda: (saved_step(tmp_path) or 0) > 0)
        page.close()


def test_a_run_that_settles_is_saved_as_if_it_was_cancelled_then(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, replay: Replay
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.2)
    kept, copy = tmp_path / "kept", tmp_path / "copy"
    with serving(kept, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        page.steps(2)
        page.send("settle", steps=100_000)
        wait_for(lambda: (sw.newest_manifest(kept) or {"settled": 0})["settled"] > 0)
        facts_kept, arrays = sw.read_checkpoint(kept)
        checkpoints.write_checkpoint(copy, 0, facts_kept, arrays)
        page.do("pause")
        page.close()
    with serving(copy) as server:
        page = open_page(server)
        script = page.get("/script").text
        assert f"stop_after={facts_kept['settled']}" in script
        assert_same(replay(script), now(server))
        page.close()


def test_the_run_goes_on_while_a_checkpoint_is_written(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, write = threading.Event(), checkpoints.write_checkpoint
    begun: list[int] = []

    def write_slowly(folder: Path, number: int, *parts: Any, **options: Any) -> Path:
        begun.append(number)
        assert slow.wait(SECONDS)
        return write(folder, number, *parts, **options)

    monkeypatch.setattr(sw, "write_checkpoint", write_slowly)
    monkeypatch.setattr(keeping, "AT_REST", 0.05)
    with serving(tmp_path, first_recipe(size=32, extent=320.0, backend="reference")) as server:
        page = open_page(server)
        page.steps(3)
        wait_for(lambda: begun)
        layers = now(server)
        page.steps(4)
        page.do("paint", tool="raise", points=[[100.0, 100.0]], radius=60.0)
        assert begun == [3]  # one at a time
        slow.set()
        wait_for(lambda: saved_step(tmp_path) == 7)
        page.close()
    older = sw.Simulation.resume(sw.find_checkpoints(tmp_path)[1])
    assert older.step == 3
    assert_same(older.terrain, layers)  # as it was when the writing began


def test_a_full_disk_is_reported_once_and_the_run_goes_on(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def full(handle: int) -> None:
        tries.append(handle)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(keeping, "AT_REST", 0.05)
    monkeypatch.setattr(keeping, "NEXT_TRY", 0.2)
    with serving(tmp_path, first_recipe(size=32, backend="reference")) as server:
        page = open_page(server)
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", full)
            page.steps(2)
            while not page.told:
                page.read()
            wait_for(lambda: len(tries) > 2)
            page.steps(2)
        wait_for(lambda: saved_step(tmp_path) == 4)
        page.do("pause")
        page.close()
    (told,) = page.told
    assert told["type"] == "notice"
    assert told["message"].startswith("The run is not kept on disk at the moment: cannot write a checkpoint to")
    assert "No space left on device" in told["message"]


def test_a_run_that_a_notebook_holds_is_never_kept(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 0.0)
    simulation = sw.Simulation(sw.generate("cone", size=32), sw.VirtualPipes(), backend="reference")
    recipe = first_recipe(source=sw.FromTerrain(terrain=simulation.start), backend="reference")
    with serving(tmp_path, recipe, simulation=simulation) as server:
        page = open_page(server)
        page.steps(3)
        page.do("pause")
        page.close()
    assert sw.find_checkpoints(tmp_path) == []


def damage(checkpoint: Path) -> None:
    file = checkpoint / "000.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


@pytest.fixture
def kept(tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the checkpoints of steps 2 and 5 of a run."""
    with monkeypatch.context() as soon:
        soon.setattr(keeping, "AT_REST", 0.0)
        with serving(tmp_path / "kept", first_recipe(size=32, seed=4, backend="reference")) as server:
            page = open_page(server)
            page.steps(2)
            wait_for(lambda: saved_step(tmp_path / "kept") == 2)
            page.steps(3)
            wait_for(lambda: saved_step(tmp_path / "kept") == 5)
            page.close()
    return tmp_path / "kept"


def test_a_damaged_checkpoint_gives_way_to_the_one_before(kept: Path) -> None:
    damage(sw.find_checkpoints(kept)[0])
    with pytest.warns(CheckpointWarning, match="step-000005"), serving(kept) as server:
        assert server.session.run.simulation.step == 2


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[StudioServer]:
    """Servers that `sw.studio` opens, none of which serves."""
    servers: list[StudioServer] = []

    def run(self: StudioServer, ready: Any = None) -> None:
        servers.append(self)
        self._socket.close()

    monkeypatch.setattr(StudioServer, "run", run)
    monkeypatch.setattr(server, "SessionApart", Session)  # so that tests can look into the run
    return servers


def steps_of(servers: list[StudioServer]) -> list[int]:
    return [server.session.run.simulation.step for server in servers]


def test_the_studio_continues_the_last_run_unless_another_is_asked_for(
    kept: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str]
) -> None:
    def open_studio(**options: Any) -> str:
        sw.studio(keep=kept, browser=False, port=0, **options)
        return capsys.readouterr().err

    assert open_studio().startswith("continuing the last run (dome, 32 x 32, step 5); --new starts another\n")
    open_studio(backend="reference")
    assert steps_of(opened) == [5, 5]
    for other in ({"new": True}, {"size": 24}, {"preset": "jako2011"}, {"seed": 1}, {"model": "steepest_talus"}):
        assert open_studio(backend="reference", **other).startswith(
            "note: the last run (dome, step 5) is replaced once this one changes; "
            f"`slopewash studio --keep {kept}` alone continues it\n"
        )
    open_studio(backend="cpu")
    assert steps_of(opened)[2:] == [0] * 6
    assert saved_step(kept) == 5  # runs to which nothing was done replace nothing


def test_where_nothing_can_be_read_a_new_run_is_started_with_a_note(
    kept: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str]
) -> None:
    for checkpoint in sw.find_checkpoints(kept):
        damage(checkpoint)
    sw.studio(keep=kept, browser=False, port=0)
    assert steps_of(opened) == [0]
    assert "note: the last run is lost, a new one is started: no checkpoint in" in capsys.readouterr().err


def test_a_studio_does_not_take_over_the_folder_of_another_run(tmp_path: Path, opened: list[StudioServer]) -> None:
    sw.Simulation(sw.generate("cone", size=32), sw.VirtualPipes(), backend="reference").checkpoint(tmp_path)
    for new in (False, True):
        with pytest.raises(CheckpointError) as caught:
            sw.studio(keep=tmp_path, browser=False, port=0, new=new)
        assert str(caught.value) == (
            f"{tmp_path} holds a run at step 0 that is not a studio's; keep the studio's run in another folder"
        )
    assert opened == []


@pytest.mark.parametrize("name", ["finish", "finish.new", "finish.unreadable"])
def test_a_studio_keeps_nothing_beside_folders_of_others_that_a_finish_would_remove(
    tmp_path: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    sw.studio(keep=tmp_path, browser=False, port=0, size=32)
    assert f"{tmp_path / name} holds files that the studio did not write" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == [name, "thesis.txt"]
    assert len(opened) == 1


@pytest.mark.parametrize("name", ["finish", "finish.new", "finish.unreadable"])
@pytest.mark.parametrize(
    "held",
    [
        {"terrain.npz"}, {"project.slopewash", "preview.png"}, {"run/a.txt"}, {"plan/a.txt"}, {"end.json"},
        {"plan/end.json", "terrain.npz"},
    ],
    ids=lambda held: "+".join(sorted(held)),
)  # fmt: skip
def test_names_alone_do_not_make_a_finish(
    tmp_path: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str], name: str, held: set[str]
) -> None:
    for file in held:
        (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name / file).write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    sw.studio(keep=tmp_path, browser=False, port=0, size=32)
    assert f"{tmp_path / name} holds files that the studio did not write" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_that_a_studio_replaces_is_kept_until_the_next_one_is(
    kept: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 0.0)
    with serving(kept, first_recipe(size=32, seed=9, backend="reference")) as server:
        page = open_page(server)
        page.steps(1)
        wait_for(lambda: saved_step(kept) == 1)
        page.close()
    assert sw.Simulation.resume(kept).step == 1
    with serving(kept / "previous") as server:
        assert server.session.run.simulation.step == 5


def test_a_run_whose_backend_is_missing_today_is_not_given_up(
    kept: Path, opened: list[StudioServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any) -> str:
        raise BackendUnavailable("no adapter today")

    monkeypatch.setattr("slopewash.simulation.parts.choose_backend", missing)
    with pytest.raises(BackendUnavailable, match=r'backend "reference", .* no adapter today; .* --new'):
        sw.studio(keep=kept, browser=False, port=0)
    assert opened == []
    assert saved_step(kept) == 5


def test_a_second_studio_on_the_same_folder_keeps_nothing_and_reports_it(
    kept: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str]
) -> None:
    first = Keeper(kept)
    sw.studio(keep=kept, browser=False, port=0)
    assert f"note: this run is not kept: {kept} is in use by another run; " in capsys.readouterr().err
    assert steps_of(opened) == [0]
    first.close()
    sw.studio(keep=kept, browser=False, port=0)
    assert steps_of(opened) == [0, 5]


def test_a_folder_that_cannot_be_made_is_reported_and_the_studio_opens(
    tmp_path: Path, opened: list[StudioServer], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    sw.studio(keep=tmp_path / "file" / "kept", browser=False, port=0, size=32)
    assert "note: this run is not kept: " in capsys.readouterr().err
    assert len(opened) == 1


def test_a_run_that_cannot_be_saved_at_the_end_is_reported(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper(tmp_path)
    with StudioServer(first_recipe(size=32, backend="reference"), port=0, keeper=keeper) as server:
        page = open_page(server)
        page.steps(1)
        page.close()
        monkeypatch.setattr(sw.Simulation, "parts", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
    assert keeper.failure == "MemoryError"
    keeper.close()


def test_checkpoints_come_at_rest_and_at_most_once_a_minute_while_it_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    written: list[int] = []
    monkeypatch.setattr(sw, "write_checkpoint", lambda folder, number, *_, **__: written.append(number))
    keeper = Keeper(tmp_path)

    def save() -> None:
        keeper.save(lambda: ({"step": len(written), "settled": 0}, {}), lambda: None)
        keeper.finish(lambda: pytest.fail("nothing is left to save"))

    assert keeper.due_at(running=True) == keeper.due_at(running=False) == float("inf")
    clock[0] += 500
    keeper.note_change()  # a long idle time before the first steps does not make them due at once
    assert keeper.due_at(running=True) == clock[0] + WHILE_RUNNING
    assert keeper.due_at(running=False) == clock[0] + AT_REST
    clock[0] += WHILE_RUNNING
    keeper.note_change()
    assert keeper.due_at(running=True) == keeper.due_at(running=False) == clock[0]
    save()
    assert keeper.due_at(running=True) == keeper.due_at(running=False) == float("inf")
    keeper.note_change()
    for _ in range(100):  # strokes that never leave it at rest do not put saving off for ever
        clock[0] += 0.9 * AT_REST
        keeper.note_change()
    assert keeper.due_at(running=False) < clock[0]
    save()
    assert written == [0, 1]
    keeper.note_edit()  # what a person did is saved earlier than steps, but not with every stroke
    assert keeper.due_at(running=True) == clock[0] + BETWEEN_EDITS
    clock[0] += 2 * BETWEEN_EDITS
    save()
    clock[0] += 2 * BETWEEN_EDITS
    keeper.note_edit()
    assert keeper.due_at(running=True) == clock[0] + AFTER_EDIT
    save()
    monkeypatch.setattr(sw, "write_checkpoint", lambda *_, **__: (_ for _ in ()).throw(OSError("the disk is full")))
    keeper.note_change()
    clock[0] += 100
    keeper.finish(lambda: ({"step": 2, "settled": 0}, {}))
    assert keeper.failure == "the disk is full"
    assert keeper.due_at(running=False) == clock[0] + NEXT_TRY
    keeper.close()


def start_studio(folder: Path, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "slopewash", "studio", "--no-browser", "--port", "0", "--keep", str(folder)]
    return subprocess.Popen([*command, *map(str, words)], stderr=subprocess.PIPE, text=True)


def place_of(process: subprocess.Popen[str]) -> SimpleNamespace:
    """Address of a server, with and without its key, once it has printed it."""
    assert process.stderr is not None
    for line in process.stderr:
        if "http://" in line:
            url = line.split()[-1]
            return SimpleNamespace(url=url, address=url.partition("/?")[0])
    pytest.fail("no address was printed")


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_studio_that_is_killed_continues_where_it_rested(
    end: signal.Signals, tmp_path: Path, open_page: Open, replay: Replay
) -> None:
    kept = tmp_path / "kept"
    first = start_studio(kept, "--size", 40, "--extent", 400, "--seed", 3, "--backend", "reference")
    try:
        page = open_page(place_of(first))
        page.steps(4)
        page.do("paint", tool="raise", points=[[120.0, 200.0]], radius=60.0, strength=7.0)
        page.steps(2)
        before, terrain = facts(page), page.get("/export/terrain.npz").content
        if end == signal.SIGKILL:
            wait_for(lambda: saved_step(kept) == 6)
        first.send_signal(end)
        first.wait(SECONDS)
        page.close()
    finally:
        first.kill()
        first.communicate()
    again = start_studio(kept)
    try:
        page = open_page(place_of(again))
        assert facts(page) == before
        assert page.get("/export/terrain.npz").content == terrain
        page.do("undo")
        page.steps(3)
        layers = page.get("/export/terrain.npz").content
        script = page.get("/script").text
        page.close()
    finally:
        again.kill()
        again.communicate()
    (tmp_path / "kept.npz").write_bytes(layers)
    assert_same(replay(script), dict(sw.read(tmp_path / "kept.npz").items()))
