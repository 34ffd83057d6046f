"""A finish that is kept on disk: however the server or the process of the finish ends, the result is bit-identical."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.studio.test_finish import heights, process_of, serving, until
from tests.studio.test_keeping import wait_for

import slopewash as sw
from slopewash.paths import remove_folder
from slopewash.processes import environment, python
from slopewash.simulation import checkpoint_files
from slopewash.studio import finish_files, keeping
from slopewash.studio.finish_files import (
    END_FILE,
    FOLDER,
    PLAN_FOLDER,
    PROJECT_FILE,
    RUN_FOLDER,
    TERRAIN_FILE,
    WRITING_FOLDER,
    read_end,
    read_state,
    write_plan,
)
from slopewash.studio.finisher import Finisher, Task, finish, keeper_of
from slopewash.studio.keeping import Keeper
from slopewash.studio.opening import _print_finish
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import read_project
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Plan, Run

Page = Any
Open = Callable[[Any], Page]
SECONDS = 120.0
SECRET = b"of this user"
SERVER = """
import sys
from pathlib import Path
import slopewash as sw
from slopewash.studio import StudioServer
from slopewash.studio.keeping import Keeper
folder, new = Path(sys.argv[1]), sys.argv[2] == "new"
recipe = sw.recipe("landscape", size=96, seed=4, strength=0.02, gullies=0.0, backend="reference") if new else None
server = StudioServer(recipe, port=0, keeper=Keeper(folder), apart=True)
server.studio.finishing.niceness = 0
print(server.url, flush=True)
try:
    server.run()
except KeyboardInterrupt:
    pass
"""
FAILS = """
from io import FileIO
from slopewash.studio.pipe import Pipe
pipe = Pipe(FileIO(0, closefd=False), FileIO(1, "wb", closefd=False))
pipe.send(("failed", "no space left on device"))
pipe.finish()
"""


class Killed(Exception):
    """Takes the place of SIGKILL within one process."""


class Interruption:
    """Stops a finish, or kills it, when it was asked so often."""

    def __init__(self, after: float, *, kills: bool = False) -> None:
        self.left, self.kills = after, kills

    def is_set(self) -> bool:
        self.left -= 1
        if self.left < 0 and self.kills:
            raise Killed
        return self.left < 0


def task_in(folder: Path) -> Task:
    return Task(folder, kept=True, secret=SECRET, trust=False, adapter=None, niceness=0, largest=2048)


def begun(task: Task, send: Callable[[Any], None], stop: Any = None) -> Finisher:
    """A finish in this process, which reports to `send`."""
    stop = stop or Interruption(np.inf)
    return Finisher(task, SimpleNamespace(send=send), stop, keeper_of(task, stop))  # type: ignore[arg-type]


def finished(folder: Path, interruptions: Iterator[Interruption]) -> tuple[dict[str, Any], tuple[Any, ...], int]:
    """Layers of the result, what was recorded of it, and how many processes it took."""
    task = task_in(folder)
    for number, interruption in enumerate(interruptions, 1):
        finisher = begun(task, lambda message: None, interruption)
        with suppress(Killed):
            finisher.work()
        assert finisher._keeper is not None
        finisher._keeper.close()
        if (folder / END_FILE).exists():
            actions = read_project(folder / PROJECT_FILE, "it", SECRET).actions
            return dict(sw.read(folder / TERRAIN_FILE).items()), actions, number
    raise AssertionError("it was not finished")


def on_levels() -> Plan:
    """Strokes that join across steps, one of them undone, on two levels."""
    run = Run(sw.recipe("landscape", size=64, seed=4, strength=0.005, gullies=0.0, backend="reference"))
    stroke = {"tool": "raise", "radius": 700.0, "strength": 300.0, "falloff": 0.5}
    actions = [
        ["paint", {**stroke, "points": [[1000.0, 3500.0]]}, False], ["run", 3],
        ["paint", {**stroke, "points": [[1500.0, 3500.0]]}, True], ["run", 2], ["undo"], ["run", 2], ["redo"],
        ["model", {"rain_rate": 0.004}], ["run", 2],
    ]  # fmt: skip
    return Plan(**{**vars(run.plan(96)), "actions": actions})


def on_one_grid() -> Plan:
    """Two settlings, the first of them cancelled."""
    run = Run(first_recipe(preset="single_grid", size=32, extent=320.0, seed=3, backend="reference"))
    actions = [["run", 7], ["settle", 90, False, 45], ["run", 5], ["settle", 70, True, None], ["run", 3]]
    return Plan(**{**vars(run.plan(40)), "actions": actions})


def of_a_terrain() -> Plan:
    """Of a terrain that no generator can make again."""
    ground = sw.generate("cone", size=32).replace(water=0.5)
    source = sw.FromTerrain(name="mine", terrain=ground)
    run = Run(first_recipe(preset="single_grid", source=source, backend="reference"))
    return Plan(**{**vars(run.plan(48)), "actions": [["run", 12]]})


@pytest.mark.parametrize("made", [on_levels, on_one_grid, of_a_terrain])
@pytest.mark.parametrize("kills", [False, True])
def test_a_finish_that_is_interrupted_again_and_again_is_bit_identical(
    made: Callable[[], Plan], kills: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.0)  # a checkpoint whenever it looks
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nothing here ends with the machine
    plan = made()
    for folder in ("whole", "torn"):
        write_plan(plan, tmp_path / folder)
    whole, actions, _ = finished(tmp_path / "whole", iter([Interruption(np.inf)]))
    torn = (Interruption(after, kills=kills) for after in (9, 40, 25, 60, 33, np.inf))
    layers, recorded, processes = finished(tmp_path / "torn", torn)
    assert processes > 3
    assert recorded == actions
    assert layers.keys() == whole.keys()
    for name, layer in whole.items():
        np.testing.assert_array_equal(layers[name], layer, err_msg=name)
    assert not (tmp_path / "torn" / RUN_FOLDER).exists()  # results need no checkpoints


class Process:
    """A server in a process of its own, with all others that it starts."""

    def __init__(self, folder: Path, new: str) -> None:
        command = python("-c", SERVER, str(folder), new)
        self.process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.address = self.url.partition("/?")[0]

    def end(self, how: signal.Signals, *, all_of_them: bool = False) -> None:
        if all_of_them:
            for child in self.children():  # some have a process group of their own
                os.kill(child, how)
            os.killpg(self.process.pid, how)
        else:
            self.process.send_signal(how)
        self.process.wait(SECONDS)

    def children(self) -> list[int]:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        pairs = [line.split() for line in listed.splitlines()]
        return [int(child) for child, parent in pairs if int(parent) == self.process.pid]

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def start_one(folder: Path, new: str = "") -> Process:
        started.append(Process(folder, new))
        return started[-1]

    yield start_one
    for process in started:
        process.close()


def until_further(page: Page, step: int) -> int:
    """Wait until a finish is some steps further."""
    while not (page.finish.get("status") == "running" and page.finish["step"] > step + 3):
        page.read("finish")
    reached: int = page.finish["step"]
    return reached


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups there")
def test_a_finish_survives_its_server(tmp_path: Path, open_page: Open, start: Callable[..., Process]) -> None:
    kept, reached = tmp_path / "kept", 0
    first = start(kept, "new")
    page = open_page(first)
    recipe = sw.recipe("landscape", size=96, seed=4, strength=0.02, gullies=0.0, backend="reference")
    page.steps(2)
    page.do("finish", size=192)
    for how, all_of_them in ((signal.SIGINT, False), (signal.SIGKILL, True), (signal.SIGKILL, False)):
        running = page.finish if reached else None
        reached = until_further(page, 0 if running is None else running["step"])
        page.close()
        first.end(how, all_of_them=all_of_them)
        first = start(kept)
        page = open_page(first)
        assert page.finish.get("resumed") or page.read("finish")["resumed"]
        assert (page.finish["name"], page.finish["size"], page.finish["preset"]) == ("dome", 192, "landscape")
        if how == signal.SIGINT:
            until_further(page, -3)
            assert page.finish["step"] >= reached - 1  # nothing was lost
    until(page, "done")
    page.close()
    first.end(signal.SIGKILL, all_of_them=True)
    page = open_page(start(kept))  # complete, and not yet saved or opened
    until(page, "done")
    expected = recipe.replace(size=192).run().terrain["elevation"]
    assert np.array_equal(heights(page, "/finish/a.npy"), expected)
    page.do("open_finish")
    page.until(lambda state: state["rows"] == 192 and state["busy"] is None)
    assert np.array_equal(heights(page, "/export/a.npy"), expected)


@pytest.fixture
def levels() -> sw.Recipe:
    """A draft of two levels; the reference needs no compiling, and low water would take long."""
    recipe = sw.recipe("landscape", size=96, seed=4, strength=0.005, gullies=0.0, backend="reference")
    return recipe.replace(low_water={})


def test_a_finish_whose_process_ends_goes_on_when_asked_and_is_removed_when_discarded(
    levels: sw.Recipe, open_page: Open, tmp_path: Path
) -> None:
    keeper, folder = Keeper(tmp_path), tmp_path / FOLDER
    with serving(levels, keeper=keeper) as server:
        page = open_page(server)
        page.do("finish", size=144)
        if hasattr(os, "getpgid"):  # a Ctrl-C in the terminal of the server does not reach it
            assert os.getpgid(process_of(server).pid) != os.getpgid(0)
        process_of(server).kill()
        assert until(page, "failed")["can_continue"]
        page.close()
    keeper.close()
    keeper = Keeper(tmp_path)
    with serving(levels, keeper=keeper) as server:
        page = open_page(server)
        assert until(page, "failed")["message"] == "its process ended (-9)"  # not again without being asked
        page.do("continue_finish")
        until(page, "done")
        expected = levels.replace(size=144).run().terrain["elevation"]
        assert np.array_equal(heights(page, "/finish/a.npy"), expected)
        assert {path.name for path in folder.iterdir()} == {TERRAIN_FILE, PROJECT_FILE, "preview.png", END_FILE}
        page.do("cancel_finish")
        until(page, "idle")
        assert not folder.exists()
        page.do("finish", size=1024)
        page.do("cancel_finish")
        until(page, "cancelled")
        assert not folder.exists()
        page.close()
    keeper.close()


def test_checkpoints_of_another_version_are_set_aside(levels: sw.Recipe, tmp_path: Path) -> None:
    write_plan(Run(levels).plan(96), tmp_path)
    task, said = task_in(tmp_path), list[Any]()
    stopped = begun(task, said.append, Interruption(2))
    stopped.work()
    assert stopped._keeper is not None
    stopped._keeper.close()
    (written,) = sw.find_checkpoints(tmp_path / RUN_FOLDER)
    manifest = {**checkpoint_files.read_manifest(written).facts, "schema": 99}
    text = checkpoint_files.encoded(manifest)
    (written / "manifest.json").write_bytes(text)
    aside = tmp_path / "aside" / "4" / written.name
    for number in (1, 2, 3):  # of other versions
        (aside.parents[1] / str(number) / "step-000001").mkdir(parents=True)
    again = begun(task, said.append)
    assert {path.name for path in aside.parents[1].iterdir()} == {"3", "4"}
    assert said[-1][1].startswith("it begins again, because it cannot be continued: ")
    assert "has schema 99" in said[-1][1]
    assert said[-1][1].endswith(f"its checkpoints are in {aside.parent}")
    assert (aside / "manifest.json").read_bytes() == text  # for the version that wrote it
    again.work()
    assert read_state(tmp_path)["status"] == "done"  # type: ignore[index]
    assert not aside.exists()
    expected = levels.replace(size=96).run().terrain["elevation"]
    assert np.array_equal(sw.read(tmp_path / TERRAIN_FILE)["elevation"], expected)


def test_a_finish_that_cannot_be_continued_begins_again(levels: sw.Recipe, tmp_path: Path) -> None:
    write_plan(Run(levels).plan(96), tmp_path)
    said: list[Any] = []
    task = task_in(tmp_path)
    (tmp_path / RUN_FOLDER / "step-000003").mkdir(parents=True)
    (tmp_path / RUN_FOLDER / "step-000003" / "manifest.json").write_text("{")
    finisher = begun(task, said.append)
    finisher.work()
    assert said[0][0] == "notice"
    assert said[0][1].startswith("it begins again, because it cannot be continued: no checkpoint in")
    assert np.array_equal(sw.read(tmp_path / TERRAIN_FILE)["elevation"], levels.run().terrain["elevation"])


def test_a_full_disk_is_reported_and_the_finish_goes_on(
    levels: sw.Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.0)
    write_plan(Run(levels).plan(96), tmp_path)
    said: list[Any] = []

    def full(*_: Any, **__: Any) -> None:
        raise sw.CheckpointError("the disk is full")

    monkeypatch.setattr(sw, "write_checkpoint", full)
    task = task_in(tmp_path)
    finisher = begun(task, said.append)
    finisher.work()
    notices = [message[1] for message in said if message[0] == "notice"]
    assert notices == ["it is not kept on disk at the moment: the disk is full"]
    assert said[-1][0] == "done"


def test_what_is_left_of_a_finish_that_nobody_asked_for_is_removed(
    levels: sw.Recipe, open_page: Open, tmp_path: Path
) -> None:
    folder = tmp_path / FOLDER
    write_plan(Run(levels).plan(96), folder)
    before = time.time() - 1.01 * 86400 * finish_files.FORGOTTEN_DAYS
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (before, before))
    keeper = Keeper(tmp_path)
    with serving(levels, keeper=keeper) as server:
        page = open_page(server)
        wait_for(lambda: not folder.exists())
        assert server.studio.finishing.state["status"] == "idle"
        page.close()
    keeper.close()


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_picture_that_cannot_be_written_is_reported_and_the_finish_goes_on(
    levels: sw.Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plan(Run(levels).plan(96), tmp_path)
    said: list[Any] = []
    monkeypatch.setattr(sw, "hillshade", full_disk)
    begun(task_in(tmp_path), said.append).work()
    assert ("notice", "its picture cannot be written: [Errno 28] No space left on device") in said
    assert said[-1][0] == "done"


def test_a_finish_whose_results_cannot_be_written_is_continued_once_there_is_room(
    levels: sw.Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plan(Run(levels).plan(96), tmp_path)
    finisher = begun(task_in(tmp_path), lambda message: None)
    with monkeypatch.context() as disk:
        disk.setattr(sw, "write", full_disk)
        with pytest.raises(OSError, match="No space left"):
            finisher.work()
    assert finisher._keeper is not None
    finisher._keeper.close()
    (tmp_path / WRITING_FOLDER).mkdir()
    (tmp_path / WRITING_FOLDER / "terrain.npz.tmp").touch()  # left over by another failure
    begun(task_in(tmp_path), lambda message: None).work()
    assert np.array_equal(sw.read(tmp_path / TERRAIN_FILE)["elevation"], levels.run().terrain["elevation"])
    assert {path.name for path in tmp_path.iterdir()} == {TERRAIN_FILE, PROJECT_FILE, "preview.png", END_FILE}


@pytest.mark.parametrize("closing", [False, True])
def test_a_process_that_fails_leaves_everything_to_continue_from(
    closing: bool, levels: sw.Recipe, tmp_path: Path
) -> None:
    keeper, folder = Keeper(tmp_path), tmp_path / FOLDER
    with serving(levels, keeper=keeper) as server:
        finishing = server.studio.finishing
        finishing._doing.submit(lambda: None).result(SECONDS)  # it has looked for what a server before left
        write_plan(Run(levels).plan(96), folder)
        (folder / TERRAIN_FILE).touch()
        finishing._closed = closing
        with subprocess.Popen(python("-c", FAILS), env=environment(), stdout=subprocess.PIPE, bufsize=0) as child:
            finishing._process = child
            finishing._read(child, Pipe(cast("FileIO", child.stdout), FileIO(os.devnull, "wb")))
        assert finishing._process is None
        assert (folder / TERRAIN_FILE).exists()
        left = read_state(folder)
        assert left is not None
        # A server that is closing cannot tell why it failed; the next one tries again.
        assert left["status"] == ("running" if closing else "failed")
        assert left["can_continue"] != closing
        finishing._closed = False
    keeper.close()


@pytest.mark.parametrize("damage", ["of another version", "damaged plan"])
def test_a_finish_that_cannot_be_read_is_set_aside(damage: str, levels: sw.Recipe, tmp_path: Path) -> None:
    folder, aside = tmp_path / FOLDER, tmp_path / f"{FOLDER}.unreadable"
    aside.mkdir()  # an older one
    write_plan(Run(levels).plan(96), folder)
    (folder / TERRAIN_FILE).touch()
    if damage == "damaged plan":
        next((folder / PLAN_FOLDER).glob("*/manifest.json")).write_text("{")
    else:
        (folder / END_FILE).write_text('{"status": "done", "of a later version": 1}')
        shutil.rmtree(folder / PLAN_FOLDER)
    keeper = Keeper(tmp_path)
    with serving(levels, keeper=keeper) as server:
        wait_for(lambda: server.studio.finishing.state["status"] == "failed")
        state = server.studio.finishing.state
        assert "cannot be read" in (state["message"] or "")
        assert not state["can_continue"]
        assert not folder.exists()
        assert (aside / TERRAIN_FILE).exists()
    keeper.close()


def test_the_result_before_stays_if_the_next_finish_cannot_begin(
    levels: sw.Recipe, open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, folder = Keeper(tmp_path), tmp_path / FOLDER
    with serving(levels, keeper=keeper) as server:
        page = open_page(server)
        page.do("finish", size=64)
        until(page, "done")
        with monkeypatch.context() as disk:
            disk.setattr(finish_files, "write_plan", full_disk)
            assert "No space left" in page.ask("finish", size=96)["message"]
        assert page.get("/finish/a.npy").status_code == 200
        with monkeypatch.context() as memory:
            memory.setattr(subprocess, "Popen", full_disk)
            page.do("finish", size=96)
            failed = server.studio.finishing.state
        assert (failed["status"], failed["can_continue"]) == ("failed", True)
        assert "cannot be started" in (failed["message"] or "")
        while page.finish.get("status") != "failed":
            page.read("finish")
        page.do("continue_finish")
        while page.finish["status"] == "failed":
            page.read("finish")
        until(page, "done")
        assert sw.read(folder / TERRAIN_FILE).shape == (96, 96)
        page.close()
    keeper.close()


def test_a_finish_that_another_process_completed_is_not_computed_again(levels: sw.Recipe, tmp_path: Path) -> None:
    write_plan(Run(levels).plan(64), tmp_path)
    begun(task_in(tmp_path), lambda message: None).work()
    said: list[Any] = []
    finish(task_in(tmp_path), cast("Pipe", SimpleNamespace(send=said.append)), threading.Event())
    assert [(kind, end["status"], end["size"]) for kind, end in said] == [("done", "done", 64)]
    assert not (tmp_path / RUN_FOLDER).exists()


def test_a_process_of_an_earlier_server_leaves_the_finish_of_the_next_alone(levels: sw.Recipe, tmp_path: Path) -> None:
    write_plan(Run(levels).plan(64), tmp_path)
    orphan = begun(task_in(tmp_path), lambda message: None)
    remove_folder(tmp_path)
    write_plan(Run(levels).plan(96), tmp_path)
    with pytest.raises(sw.CheckpointError, match="its plan is gone"):
        orphan.work()
    assert orphan._keeper is not None
    orphan._keeper.close()
    assert {path.name for path in tmp_path.iterdir()} == {PLAN_FOLDER}
    (tmp_path / END_FILE).write_text('{"status": "done", "id": "of another"}')
    assert read_end(tmp_path) is None


def test_checkpoints_of_another_finish_are_refused(
    levels: sw.Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.0)
    write_plan(Run(levels).plan(64), tmp_path)
    interrupted = begun(task_in(tmp_path), lambda message: None, Interruption(9))
    interrupted.work()
    assert interrupted._keeper is not None
    interrupted._keeper.close()
    shutil.rmtree(tmp_path / PLAN_FOLDER)
    write_plan(Run(levels).plan(96), tmp_path)
    said: list[Any] = []
    begun(task_in(tmp_path), said.append).work()
    assert "holds checkpoints of another finish; its checkpoints are in" in said[0][1]  # until this one is done
    assert sw.read(tmp_path / TERRAIN_FILE).shape == (96, 96)


def test_a_process_that_waits_for_its_folder_can_be_stopped(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    other = Keeper(tmp_path / RUN_FOLDER)
    begin = time.monotonic()
    with pytest.raises(sw.CheckpointError, match="in use"):
        keeper_of(task_in(tmp_path), stop)
    assert time.monotonic() - begin < 5.0
    other.close()


def test_a_settling_goes_on_when_too_much_was_done_to_be_recorded() -> None:
    run = Run(first_recipe(preset="single_grid", size=32, extent=320.0, seed=3, backend="reference"))
    run.advance(2)
    run.settle(6, dry=False, look=lambda: None, stop_after=2)
    run._recording.full = True
    run._recording.actions.clear()
    run.settle(6, dry=False, look=lambda: None, done=2)
    assert run.simulation.settled == 6


def test_a_studio_opens_without_a_finish_and_with_one_that_cannot_be_read(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / FOLDER
    assert read_state(folder) is None
    _print_finish(tmp_path)
    folder.mkdir()
    assert read_state(folder) is None
    (folder / END_FILE).write_text("damaged")
    with pytest.raises(sw.CheckpointError):
        read_state(folder)
    _print_finish(tmp_path)
    assert capsys.readouterr().err == ""


def test_files_of_others_in_the_folder_of_a_finish_stay_through_the_next_finish(
    levels: sw.Recipe, open_page: Open, tmp_path: Path
) -> None:
    keeper, folder = Keeper(tmp_path), tmp_path / FOLDER
    with serving(levels, keeper=keeper) as server:
        page = open_page(server)
        page.do("finish", size=64)
        until(page, "done")
        (folder / "notes.txt").write_text("mine")
        page.do("finish", size=96)
        until(page, "done")
        assert sw.read(folder / TERRAIN_FILE).shape == (96, 96)
        assert (folder / "notes.txt").read_text() == "mine"
        page.do("cancel_finish")
        wait_for(lambda: [path.name for path in folder.iterdir()] == ["notes.txt"])
        page.close()
    keeper.close()


def test_a_finish_that_cannot_be_read_takes_the_place_of_no_other(levels: sw.Recipe, tmp_path: Path) -> None:
    for number in range(2):
        write_plan(Run(levels).plan(96), tmp_path / FOLDER)
        (tmp_path / FOLDER / "number").write_text(str(number))
        next((tmp_path / FOLDER / PLAN_FOLDER).glob("*/manifest.json")).write_text("{")
        finish_files.clear(tmp_path / FOLDER)
    assert {path.parent.name: path.read_text() for path in tmp_path.glob("*/number")} == {
        f"{FOLDER}.unreadable": "0", f"{FOLDER}.unreadable2": "1",
    }  # fmt: skip


def test_what_a_killed_server_left_of_a_plan_is_removed_and_nothing_else(levels: sw.Recipe, tmp_path: Path) -> None:
    new = tmp_path / f"{FOLDER}.new"
    write_plan(Run(levels).plan(96), new)
    (whole,) = (new / PLAN_FOLDER).iterdir()
    whole.rename(whole.with_name(f"{whole.name}.tmp"))
    (new / "notes.txt").write_text("mine")
    finish_files.clear_new(tmp_path / FOLDER)
    assert [path.name for path in new.rglob("*")] == ["notes.txt"]
