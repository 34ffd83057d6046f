"""A session in a process of its own: a run that crashes or is stuck takes neither the server nor the pages with it."""

from __future__ import annotations

import dataclasses
import itertools
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from io import FileIO
from typing import Any, cast

import slopewash as sw
from slopewash import seals
from slopewash.errors import SlopewashError
from slopewash.processes import environment, python
from slopewash.studio import protocol
from slopewash.studio.keeping import Keeper
from slopewash.studio.pipe import Pipe
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import CANCELLING, OpeningCancelled
from slopewash.studio.snapshot import Beside, Demand, Snapshot
from slopewash.studio.uploads import Uploads
from slopewash.studio.worker import BEAT_SECONDS, Beginning

STUCK_SECONDS = 10.0
"""Time without a look for commands after which a command that cancels ends the process of the run."""
BUSY_SECONDS = 60.0
"""The same while it says what takes long, such as compiling kernels."""
STARTING_SECONDS = 120.0
"""Longest wait for a process that takes the place of another."""
WAITED_SECONDS = 3.0
"""Time that a command that cancels has waited itself."""
LATE_BEATS = 4
CLOSING_SECONDS = 120.0
"""Longest wait for the checkpoint of a large run."""
ENDING_SECONDS = 5.0
"""Time from the last word of a process to its end."""
PIPE_BYTES = 1 << 20


class RunEnded(SlopewashError):
    """The process of the run ended before it could answer."""


@dataclasses.dataclass
class Pending:
    """A wish that is not answered yet."""

    kind: str
    arguments: tuple[Any, ...]
    cancels: bool = False
    """Whether it is to end what is under way, and is worth another try if the process ends first."""
    asked: float = dataclasses.field(default_factory=time.monotonic)
    answer: Future[Any] = dataclasses.field(default_factory=Future)


class SessionApart:
    """What `Session` offers to the server, done by another process.

    If that process ends, or is ended because it does not answer, another one takes its place with the run as it was
    last kept on disk, or from its beginning if it is not kept. `Session` describes the methods.
    """

    remedy = "Pause or reset it, or start another run, to end it."

    def __init__(self, recipe: sw.Recipe | None, uploads: Uploads, keeper: Keeper | None = None) -> None:
        self.uploads = uploads
        self.resumed = recipe is None
        self.on_snapshot: Callable[[Snapshot], None] = lambda snapshot: None
        self.on_state: Callable[[dict[str, Any]], None] = lambda state: None
        self.on_message: Callable[[protocol.Notice | protocol.Failure], None] = lambda message: None
        self._keeper = keeper
        if keeper is not None:
            keeper.hand_over()
        self._recipe = recipe
        self._identity: str | None = None
        self._demand: Demand | None = None
        self._numbers = itertools.count(1)
        self._pending: dict[int, Pending] = {}
        self._turn = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Pipe | None = None
        self._highest_run = self._highest_version = 0
        self._closing = False
        self._why_ended: str | None = None
        """Why the process was ended by the server, in words."""
        self._lost: str | None = None
        """Why there is no process any more."""
        self._starts: dict[int, sw.Terrain] = {}
        """Starts of the runs that are shown."""
        self._beside: dict[int, Beside] = {}
        """Keyframes of other branches that the process has sent, and still refers to."""
        self._silent, self._beat = 0.0, time.monotonic()
        self._busy: str | None = None
        self._state: dict[str, Any] = {}
        self._begin(recipe)
        self._reader = threading.Thread(target=self._read, name="slopewash-run", daemon=True)
        self._guard = threading.Thread(target=self._watch, name="slopewash-guard", daemon=True)

    @property
    def process_id(self) -> int | None:
        """Of the process of the run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start to execute commands."""
        self._reader.start()
        self._guard.start()

    def close(self) -> None:
        """Stop after the current steps, and save the run."""
        self._closing = True
        if self._reader.ident is None:  # a server that was never started
            self._reader.start()
        end, told = time.monotonic() + CLOSING_SECONDS, None
        while self._reader.is_alive():
            if self._pipe is not told:
                told = self._pipe
                self._send(("close",))
            # One that is only being started has nothing to save.
            if told is None or time.monotonic() > end or self._is_stuck:
                self._end()
            self._reader.join(0.1)

    def find(self, what: str, *arguments: Any) -> Future[Any]:
        """Ask the run between two steps."""
        return self._ask(Pending("find", (what, arguments)))

    def execute(self, message: Any, viewer: object = None) -> Future[Any]:
        """Execute a message between two steps."""
        upload = getattr(message, "upload", None)
        find = self.uploads.find_project if message.type == "open" else self.uploads.find
        given = None if upload is None else find(upload)
        pending = Pending("execute", (message, viewer, given), cancels=message.type in CANCELLING)
        if message.type == "open":
            pending.answer.add_done_callback(lambda answer: self._forget(message.upload, answer))
        return self._ask(pending)

    def _forget(self, upload: str, answer: Future[Any]) -> None:
        """Release a project that was opened, if only as far as it was repeated."""
        if not answer.cancelled() and isinstance(answer.exception(), OpeningCancelled | None):
            self.uploads.forget_project(upload)

    @property
    def silent_for(self) -> float:
        """Seconds since commands were last looked for, or since the process reported anything."""
        late = time.monotonic() - self._beat
        return self._silent + late if self._silent > 0 or late > LATE_BEATS * BEAT_SECONDS else 0.0

    @property
    def _is_stuck(self) -> bool:
        if self._pipe is None:
            return self.silent_for > STARTING_SECONDS
        return self.silent_for > (STUCK_SECONDS if self._busy is None else BUSY_SECONDS)

    @property
    def busy(self) -> str | None:
        """What takes long at the moment, in words."""
        return self._busy

    def want(self, demand: Demand | None) -> None:
        """Set which frame is wanted next."""
        if demand != self._demand:
            self._demand = demand
            self._send(("want", demand))

    def spend(self, seconds: float) -> None:
        """Count CPU time spent on the current frame."""
        self._send(("spend", seconds))

    def state(self) -> dict[str, Any]:
        """The last `state` message."""
        return self._state

    def _send(self, wish: tuple[Any, ...]) -> None:
        pipe = self._pipe
        if pipe is not None:
            pipe.send(wish)

    def _ask(self, pending: Pending) -> Future[Any]:
        with self._turn:
            if self._lost is not None:
                raise RunEnded(self._lost)
            number = next(self._numbers)
            self._pending[number] = pending
            self._pass_on(number, pending)  # or else `_begin` does
        return pending.answer

    def _pass_on(self, number: int, wish: Pending) -> None:
        if self._pipe is not None:
            words = (wish.kind, number, *wish.arguments)
            self._pipe.send(words, otherwise=lambda error: self._take_failed(number, error))

    def _begin(self, recipe: sw.Recipe | None) -> None:
        """Start a process with the recipe, or with the run that is kept if there is none; raises what it raises."""
        command = python("-c", "from slopewash.studio.worker import main; main()")
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pipesize=PIPE_BYTES,
            env=environment(),
        )
        with self._turn:  # from now on it can be ended, also if it never gets ready
            self._process, self._why_ended = process, None
            self._silent, self._beat, self._busy = 0.0, time.monotonic(), "starting the process of the run"
        pipe = Pipe(cast("FileIO", process.stdout), cast("FileIO", process.stdin))
        keeper = self._keeper
        pipe.send(Beginning(
            recipe, None if keeper is None else keeper.folder, sw.named_adapter(), seals.secret(),
            trust=keeper is not None and keeper.trust, first_run=self._highest_run + 1,
            first_version=self._highest_version + 1,
        ))  # fmt: skip
        answer: Any = None
        try:
            answer = pipe.receive()
        except EOFError:
            code = _ended(process)
            reason = self._why_ended or f"did not start ({_ending(code)})"
            answer = ("refused", RunEnded(f"the process of the run {reason}"))
        finally:
            if answer is None or answer[0] == "refused":  # None after Ctrl-C, which the process itself ignores
                process.kill()
                process.wait()
                pipe.close()
        if answer[0] == "refused":
            raise answer[1]
        with self._turn:
            self._silent, self._beat, self._busy = 0.0, time.monotonic(), None
            self._take_state(answer[1])
            self._take_run(*answer[2:])
            self._pipe = pipe
            for number, wish in self._pending.items():  # in the same turn, so that nothing is passed on twice
                self._pass_on(number, wish)
            self._send(("want", self._demand))

    # What follows runs in the threads of this class.

    def _read(self) -> None:
        """Pass on what the process says; if it ends, start the next."""
        while self._pipe is not None:
            try:
                while True:
                    begin = time.thread_time()
                    kind, *said = self._pipe.receive()
                    getattr(self, f"_take_{kind}")(*said)
                    if kind == "snapshot":
                        self.spend(time.thread_time() - begin)
            except EOFError:
                pass
            except Exception as error:  # without this thread, nobody would hear of the process any more
                self._end(f"could not be understood ({type(error).__name__}: {error}) and was ended")
            self._take_end()

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        self._demand = None
        panes = snapshot.panes
        self._starts |= {pane.run: pane.start for pane in panes if pane.start is not None}
        self._starts = {pane.run: self._starts[pane.run] for pane in panes if pane.run in self._starts}
        self._beside |= {b.key: b for b in snapshot.beside.values() if b is not None and b.elevation is not None}
        beside = {branch: None if b is None else self._beside.get(b.key) for branch, b in snapshot.beside.items()}
        self._beside = {b.key: b for b in beside.values() if b is not None}
        snapshot = dataclasses.replace(snapshot, beside=beside)
        snapshot = snapshot.each(lambda pane: dataclasses.replace(pane, start=self._starts.get(pane.run)))
        self._highest_version = max(self._highest_version, snapshot.version)
        self._highest_run = max(self._highest_run, *(max(pane.run, pane.triangulation) for pane in panes))
        self.on_snapshot(snapshot)

    def _take_state(self, state: dict[str, Any]) -> None:
        panes = (state.get("side_by_side") or {"panes": []})["panes"]
        self._highest_run = max(self._highest_run, state["run"], *(pane["run"] for pane in panes))
        if state["busy"] is None:  # the silence of what took long is over too: the simulation itself says so
            self._silent, self._beat = 0.0, time.monotonic()
        self._state, self._busy = state, state["busy"]
        self.on_state(state)

    def _take_run(self, recipe: sw.Recipe, identity: str | None) -> None:
        self._recipe, self._identity = recipe, identity

    def _take_message(self, message: protocol.Notice | protocol.Failure) -> None:
        self.on_message(message)

    def _take_beat(self, silent: float, busy: str | None) -> None:
        self._silent, self._beat, self._busy = silent, time.monotonic(), busy

    def _take_done(self, number: int, result: Any) -> None:
        with self._turn:
            wish = self._pending.pop(number, None)
        if wish is not None:
            _settle(wish, result)

    def _take_failed(self, number: int, error: BaseException) -> None:
        with self._turn:
            wish = self._pending.pop(number, None)
        if wish is not None:
            _settle(wish, error=error)

    def _take_closed(self, failure: str | None) -> None:
        if self._keeper is not None:
            self._keeper.failure = failure

    def _take_end(self) -> None:
        """Let another process continue the run, and do there what was asked to cancel it."""
        process, pipe = self._process, self._pipe
        if process is None or pipe is None:
            return
        with self._turn:
            self._pipe = None
            given_up = [wish for wish in self._pending.values() if not wish.cancels]
            self._pending = {number: wish for number, wish in self._pending.items() if wish.cancels}
            for wish in self._pending.values():
                wish.cancels = False  # it is tried once more only
        code = _ended(process)
        reason, self._why_ended = self._why_ended or f"ended ({_ending(code)})", None
        pipe.close()
        for wish in given_up:
            _settle(wish, error=RunEnded(f"the process of the run {reason} before it could do this"))
        sentence = f"The process of the run {reason}. {self._continue()}"
        with self._turn:
            if self._pipe is None:
                self._lost = sentence
                given_up, self._pending = [*self._pending.values()], {}
                for wish in given_up:
                    _settle(wish, error=RunEnded(sentence))
        if not self._closing:
            self.on_message({"type": "error", "message": sentence})
            self.on_state(self._state)

    def _continue(self) -> str:
        """Start another process with the newest of what is left; say in a sentence what that is."""
        ways: list[sw.Recipe | None] = [self._recipe or first_recipe()]
        if self._keeper is not None and self._keeper.keeps(self._identity):  # and not still the run before it
            ways.insert(0, None)
        problem: Exception | None = None
        for recipe in ways:
            if self._closing:
                return "The studio is closing."
            try:
                self._begin(recipe)
            except Exception as error:
                problem = error
                continue
            if recipe is None:
                return f"It continues where it was last saved, at step {self._state['step']}, and is paused."
            return "It begins again, because it was not saved."
        return f"It cannot be started again: {problem}; stop the studio and start it again."

    def _watch(self) -> None:
        """End a process that is stuck, if somebody waits for it to stop, or if it does not get ready."""
        while not self._closing and self._lost is None:
            time.sleep(BEAT_SECONDS)
            now = time.monotonic()
            with self._turn:
                waits = any(wish.cancels and now - wish.asked > WAITED_SECONDS for wish in self._pending.values())
                if (waits or self._pipe is None) and self._is_stuck:
                    self._end("did not answer and was ended")

    def _end(self, why: str | None = None) -> None:
        if self._process is not None:
            self._why_ended = why
            self._process.kill()


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Exit code of a process whose pipe has ended; if it does not exit by itself, it is killed."""
    try:
        return process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _settle(wish: Pending, result: Any = None, error: BaseException | None = None) -> None:
    """Answer it, unless the page that asked is gone."""
    if wish.answer.set_running_or_notify_cancel():
        if error is None:
            wish.answer.set_result(result)
        else:
            wish.answer.set_exception(error)


def _ending(code: int) -> str:
    """How a process ended, in words.

    >>> _ending(-11), _ending(1)
    ('signal SIGSEGV', 'exit code 1')
    """
    if code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"
