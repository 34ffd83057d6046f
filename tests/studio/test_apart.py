"""A run in a process of its own: whatever happens to that process, the server and its pages stay, and the work too."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import CheckpointError
from slopewash.studio import StudioServer, apart, messages
from slopewash.studio.apart import RunEnded, SessionApart
from slopewash.studio.keeping import Keeper
from slopewash.studio.pipe import Pipe
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session
from slopewash.studio.uploads import Uploads
from slopewash.studio.worker import Beginning

Page = Any
Open = Callable[[StudioServer], Page]
SECONDS = 60.0
RECIPE = first_recipe(size=32, extent=320.0, seed=4, backend="reference")


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    kept = Keeper(tmp_path / "kept")
    yield kept
    kept.close()


@pytest.fixture
def server(keeper: Keeper) -> Iterator[StudioServer]:
    with StudioServer(RECIPE, port=0, keeper=keeper, apart=True) as running:
        yield running


def wait_for(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def saved_step(keeper: Keeper) -> int | None:
    return None if keeper.kept is None else int(keeper.kept["step"])


def terrain(server: StudioServer) -> sw.Terrain:
    result: sw.Terrain = server.session.find("terrain").result(SECONDS)
    return result


def told(page: Page, words: str) -> str:
    """Wait until the page is told something with these words."""
    while not any(words in message["message"] for message in page.told):
        page.read()
    return next(message["message"] for message in page.told if words in message["message"])


def test_a_crashed_run_continues_where_it_was_saved(server: StudioServer, keeper: Keeper, open_page: Open) -> None:
    page = open_page(server)
    page.do("paint", tool="raise", points=[[100, 100]], radius=60, strength=5)
    page.steps(3)
    wait_for(lambda: saved_step(keeper) == 3)
    before, shown = page.state["run"], page.frame[0]["frame"] if page.frame else 0
    for crash in (signal.SIGSEGV, signal.SIGKILL):
        page.told.clear()
        os.kill(server.session.process_id, crash)
        sentence = told(page, "process of the run")
        assert sentence == (
            f"The process of the run ended (signal {crash.name}). It continues where it was last saved, at step 3, "
            "and is paused."
        )
        assert page.until(lambda state, run=before: state["run"] > run)["step"] == 3
        before = page.state["run"]
    assert page.state["can_undo"]
    page.steps(2)
    assert page.shown(5)[0]["frame"] > shown  # numbers that the page knows do not come again

    through = sw.Simulation(RECIPE.terrain(), RECIPE.stage.model, backend="reference", edges=RECIPE.stage.edges, seed=4)
    through.paint("raise", points=[(100, 100)], radius=60, strength=5)
    through.run(5)
    np.testing.assert_array_equal(terrain(server)["elevation"], through.terrain["elevation"])


def test_a_stuck_run_can_be_paused_or_replaced(
    server: StudioServer, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "STUCK_SECONDS", 1.5)
    monkeypatch.setattr(apart, "WAITED_SECONDS", 0.2)
    page = open_page(server)
    for message in ({"type": "pause"}, {"type": "start", "preset": "jako2011"}):
        page.told.clear()
        page.do("run_to", step=10**6)
        page.until(lambda state: state["step"] > 5 and state["busy"] is None)
        stuck = server.session.process_id
        os.kill(stuck, signal.SIGSTOP)  # as in a kernel that does not return, and not even a thread answers
        assert page.ask(**message)["type"] == "done"
        assert server.session.process_id != stuck
        assert "did not answer and was ended" in told(page, "process of the run")
        page.until(lambda state: not state["playing"])
    page.steps(1)
    assert page.state["preset"] == "jako2011"


def test_what_does_not_cancel_waits_and_fails_in_one_sentence(server: StudioServer) -> None:
    os.kill(server.session.process_id, signal.SIGSTOP)
    script = server.session.find("script")
    time.sleep(0.3)
    assert not script.done()
    os.kill(server.session.process_id, signal.SIGKILL)
    with pytest.raises(sw.SlopewashError, match=r"^the process of the run ended \(signal SIGKILL\) before it could"):
        script.result(SECONDS)
    assert "import slopewash" in server.session.find("script").result(SECONDS)  # by the next process


def test_a_run_that_is_not_kept_begins_again(keeper: Keeper) -> None:
    before = Session(RECIPE, Uploads(), keeper=keeper)
    before.execute(messages.parse('{"type": "paint", "tool": "raise", "points": [[90, 90]], "radius": 60}'))
    before.start()
    before.close()
    assert keeper.has_run
    session, told = SessionApart(None, Uploads(), keeper=keeper), list[str]()
    session.on_message = lambda message: told.append(message["message"])
    session.start()
    session.execute(messages.parse('{"type": "start", "preset": "jako2011", "size": 40}')).result(SECONDS)
    os.kill(session.process_id or 0, signal.SIGKILL)  # the folder still holds the run before it
    wait_for(lambda: told)
    assert "begins again" in told[0]
    assert (session.state()["preset"], session.state()["rows"]) == ("jako2011", 40)
    session.close()


def test_everything_else_works_through_the_pipe(server: StudioServer, keeper: Keeper, open_page: Open) -> None:
    page = open_page(server)
    hill = np.outer(np.hanning(24), np.hanning(24)).astype(np.float32) * 100
    page.do("watch", overlay="slope", resolution=64)
    while "overlay" not in page.read("frame")[1]:  # one may be on its way already
        pass
    assert "no layer" in page.ask("watch", overlay="sloth")["message"]
    file = io.BytesIO()
    np.save(file, hill)
    upload = page.post("/upload?name=hill.npy&cell_size=10", file.getvalue()).json()["upload"]
    page.do("start", upload=upload)
    page.until(lambda state: state["rows"] == 24)
    assert "no upload" in page.ask("start", upload="gone")["message"]
    assert "already" in page.ask("run_to", step=0)["message"]
    page.do("settle", steps=30, dry=True)
    assert page.get("/export/hill.npy").status_code == 200
    assert "hill.npy" in page.get("/script").text
    assert page.get("/recipe").status_code == 200
    page.do("start", model="mesh_particles", generator={"kind": "cone", "size": 24})
    page.steps(1)
    assert "vertices" in page.shown(1)[1]
    assert page.get("/export/hill.glb").content[:4] == b"glTF"
    page.do("bring_back")
    page.until(lambda state: state["rows"] == 24 and state["model"] != "mesh_particles")


def test_it_saves_when_the_server_stops_and_the_next_continues(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    session = SessionApart(RECIPE, Uploads(), keeper=keeper)
    session.start()
    session.execute(messages.parse('{"type": "step", "count": 2}')).result(SECONDS)
    wait_for(lambda: session.state()["step"] == 2)
    session.close()
    session.close()
    assert saved_step(keeper) == 2
    assert keeper.failure is None
    again = SessionApart(None, Uploads(), keeper=keeper)
    assert again.state()["step"] == 2
    again.close()  # without having been started
    for checkpoint in sw.find_checkpoints(keeper.folder):
        (checkpoint / "000.npy").write_bytes(b"")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        SessionApart(None, Uploads(), keeper=keeper)


PROGRAM = """
import sys
from slopewash.studio import StudioServer
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session
with StudioServer(first_recipe(size=32, backend="reference"), port=0, apart=True) as server:
    print(server.session.process_id, flush=True)
    sys.stdin.read()
"""


def test_it_ends_with_the_server(tmp_path: Path) -> None:
    here = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(Path(sw.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here
    ) as outer:
        assert outer.stdout is not None
        inner = int(outer.stdout.readline())
        os.kill(inner, signal.SIGINT)  # Ctrl-C reaches both; only the server decides
        os.kill(inner, signal.SIGTERM)
        time.sleep(0.3)
        assert Path(f"/proc/{inner}/stat").exists() or not Path("/proc").exists()
        outer.kill()

    def is_gone() -> bool:
        try:
            os.kill(inner, 0)
        except ProcessLookupError:
            return True
        return Path(f"/proc/{inner}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

    wait_for(is_gone)


class Silent:
    """In place of a process, or of the thread that reads from it."""

    pid = ident = 1
    stdin = stdout = None

    def __init__(self, *_: Any, **__: Any) -> None:
        self.ended, self.joined = False, 0

    def kill(self) -> None:
        self.ended = True

    def wait(self, seconds: float | None = None) -> int:
        return -9

    def is_alive(self) -> bool:
        return not self.ended

    def join(self, seconds: float) -> None:
        self.joined += 1
        time.sleep(0.01)


class Told:
    """In place of a pipe."""

    def __init__(self, *comes: tuple[Any, ...]) -> None:
        self.sent: list[Any] = []
        self._comes = list(comes)

    def send(self, item: Any, **_: Any) -> None:
        self.sent.append(item)

    def receive(self) -> tuple[Any, ...]:
        if not self._comes:
            raise EOFError
        return self._comes.pop(0)

    def close(self) -> None:
        pass


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the server has of a session, without a process."""
    with monkeypatch.context() as patched:
        patched.setattr(SessionApart, "_begin", lambda self, recipe: None)
        session: Any = SessionApart(RECIPE, Uploads())
    session._process, session._pipe = Silent(), Told()
    return session


def test_a_wish_is_passed_on_once(alone: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = ("ready", {"run": 2, "busy": None}, RECIPE, "id")
    monkeypatch.setattr(apart, "Pipe", lambda *_: Told(ready))
    monkeypatch.setattr(subprocess, "Popen", Silent)
    begin, wishes = alone._begin, []

    def begin_slowly(recipe: Any) -> None:
        wishes.append(alone.find("script"))
        begin(recipe)
        wishes.append(alone.find("terrain"))

    alone._begin = begin_slowly
    wishes.append(alone.execute(messages.parse('{"type": "pause"}')))
    alone._take_end()
    numbers = [item[1] for item in alone._pipe.sent[1:] if item[0] != "want"]
    assert numbers == [1, 2, 3]
    for number in numbers:
        alone._take_done(number, "done")
    assert [wish.result(0) for wish in wishes] == ["done"] * 3


def test_what_cannot_be_understood_ends_the_process(alone: Any) -> None:
    told: list[str] = []
    alone.on_message = lambda message: told.append(message["message"])
    alone._begin = lambda recipe: (_ for _ in ()).throw(RunEnded("no more"))
    process, alone._pipe = alone._process, Told(("done", 99, None), ("nonsense",))
    alone._read()
    assert process.ended
    assert told[0].startswith("The process of the run could not be understood (AttributeError: ")
    with pytest.raises(RunEnded, match="cannot be started again: no more"):
        alone.find("script")


def test_what_cannot_be_sent_holds_up_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    source, target = os.pipe()
    pipe, problems = Pipe(io.FileIO(source), io.FileIO(target, "wb")), list[Exception]()
    pipe.send(lambda: None)
    pipe.send(lambda: None, otherwise=problems.append)
    pipe.send("next")
    pipe.finish()
    assert "lambda" in str(problems[0])
    assert "lambda" in capfd.readouterr().err
    assert pipe.receive() == "next"
    pipe.close()


def test_closing_waits_for_what_takes_long_but_not_for_ever(alone: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "CLOSING_SECONDS", 0.1)
    for silence, busy, waits in ((20.0, None, False), (20.0, "compiling", True), (70.0, "compiling", False)):
        alone._process = alone._reader = Silent()
        alone._take_beat(silence, busy)
        alone.close()
        assert (alone._reader.joined > 1) == waits
        assert alone._process.ended


@pytest.mark.parametrize("closing", [True, False])
def test_a_process_that_never_gets_ready_is_ended(alone: Any, monkeypatch: pytest.MonkeyPatch, closing: bool) -> None:
    monkeypatch.setattr(apart, "STARTING_SECONDS", 60.0 if closing else 0.1)
    monkeypatch.setattr(apart, "LATE_BEATS", 0)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def hang(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen([sys.executable, "-S", "-c", "import time; time.sleep(20)"], **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", hang)
    alone.start()
    wait_for(lambda: started)
    if not closing:
        wait_for(lambda: alone._lost)
        assert alone._lost == (
            "The process of the run ended (signal SIGKILL). It cannot be started again: the process of the run did not "
            "answer and was ended; stop the studio and start it again."
        )
    alone.close()
    assert [process.returncode for process in started] == [-signal.SIGKILL]


REFUSED = """
import threading
threading.Thread(target=threading.Event().wait).start()
from slopewash.studio.worker import main
main()
"""


def test_a_process_that_refuses_ends_whatever_its_threads_do() -> None:
    here = {**os.environ, "PYTHONPATH": str(Path(sw.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-c", REFUSED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=here
    )
    pipe = Pipe(cast("io.FileIO", process.stdout), cast("io.FileIO", process.stdin))
    pipe.send(Beginning(recipe=None, folder=None, adapter=None, secret=b""))
    assert pipe.receive()[0] == "refused"
    try:
        assert process.wait(10.0) == 0
    finally:
        process.kill()
        process.wait()
        pipe.close()


def test_a_run_that_was_busy_is_not_stuck_when_it_is_done(alone: Any) -> None:
    alone._take_beat(30.0, "compiling")
    alone._take_state({"run": 1, "busy": None})
    assert alone.busy is None
    assert not alone._is_stuck
    alone._beat -= apart.STUCK_SECONDS + 1
    assert alone._is_stuck
    session = Session(RECIPE, Uploads())
    with session._at_work("compiling"):
        session._looked -= 30.0
    assert time.monotonic() - session._looked < 30.0


def test_silence_counts_from_the_last_beat(alone: Any) -> None:
    alone._take_beat(0.0, None)
    assert alone.silent_for == 0
    alone._take_beat(20.0, "preparing")
    assert alone.silent_for >= 20
    assert alone.busy == "preparing"
    alone._take_beat(0.0, None)
    alone._beat -= 30
    assert alone.silent_for >= 30
