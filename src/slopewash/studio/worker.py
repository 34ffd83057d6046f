"""The process of the run: a `Session` that the server talks to through a pipe, and that ends with the server."""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash import seals
from slopewash.errors import SlopewashError
from slopewash.remedies import read_in
from slopewash.studio import run
from slopewash.studio.given import Given
from slopewash.studio.keeping import Keeper
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import Project
from slopewash.studio.session import Session
from slopewash.studio.snapshot import Snapshot

BEAT_SECONDS = 0.5
"""Seconds between two reports of whether the simulation answers."""


@dataclasses.dataclass(frozen=True)
class Beginning:
    """What the run's process is started with."""

    recipe: sw.Recipe | None
    """None continues the run that is kept in the folder."""
    folder: Path | None
    """Where the run is kept."""
    adapter: str | None
    secret: bytes
    """The user's, or that of the server where none can be kept."""
    trust: bool = False
    """Whether to continue a run that another user, machine or version kept."""
    first_run: int = 1
    first_version: int = 1
    """Runs and frames are counted on from a process that ended: pages know some of its numbers."""


class Worker:
    """One session, and the server's wishes."""

    def __init__(self, pipe: Pipe, beginning: Beginning) -> None:
        self._pipe = pipe
        self._uploads = Given()
        seals.adopt(beginning.secret)
        sw.use_adapter(beginning.adapter)
        run.count_from(beginning.first_run)
        self._keeper = None if beginning.folder is None else Keeper(beginning.folder, trust=beginning.trust)
        self._session = Session(beginning.recipe, self._uploads, keeper=self._keeper, version=beginning.first_version)
        self._starts_sent: set[int] = set()
        """Runs whose start the server has."""
        self._beside_sent: set[int] = set()
        self._session.on_snapshot = self._send_snapshot
        self._session.on_state = lambda state: pipe.send(("state", state))
        self._session.on_message = lambda message: pipe.send(("message", message))
        self._session.on_run = lambda run: pipe.send(("run", run.recipe, run.identity))
        pipe.send(("ready", self._session.state(), self._session.run.recipe, self._session.run.identity))

    def serve(self) -> None:
        """Do what the server wishes until it closes the run."""
        threading.Thread(target=self._beat, name="slopewash-beat", daemon=True).start()
        self._session.start()
        while (wish := self._pipe.receive())[0] != "close":
            getattr(self, f"_do_{wish[0]}")(*wish[1:])
        self._session.close()
        self._pipe.send(("closed", None if self._keeper is None else self._keeper.failure))

    def _beat(self) -> None:
        while True:
            busy = self._session.busy  # before the silence, which is over by the time that it is not busy
            self._pipe.send(("beat", self._session.silent_for, busy))
            threading.Event().wait(BEAT_SECONDS)

    def _send_snapshot(self, snapshot: Snapshot) -> None:
        starts, self._starts_sent = self._starts_sent, {pane.run for pane in snapshot.panes}
        snapshot = snapshot.each(lambda pane: dataclasses.replace(pane, start=None) if pane.run in starts else pane)
        known, beside = self._beside_sent, snapshot.beside
        self._beside_sent = {b.key for b in beside.values() if b is not None}
        new = {
            n: b if b is None or b.key not in known else dataclasses.replace(b, elevation=None)
            for n, b in beside.items()
        }
        snapshot = dataclasses.replace(snapshot, beside=new)
        self._pipe.send(("snapshot", snapshot), then=self._session.spend)

    def _do_want(self, demand: Any) -> None:
        self._session.want(demand)

    def _do_spend(self, seconds: float) -> None:
        self._session.spend(seconds)

    def _do_find(self, number: int, what: str, arguments: tuple[Any, ...]) -> None:
        self._answer(number, lambda: self._session.find(what, *arguments))

    def _do_execute(self, number: int, message: Any, viewer: object, given: sw.FromTerrain | Project | None) -> None:
        if given is not None:
            self._uploads.put(message.upload, given)
        self._answer(number, lambda: self._session.execute(message, viewer))

    def _answer(self, number: int, ask: Callable[[], Any]) -> None:
        def failed(error: BaseException) -> None:
            self._pipe.send(("failed", number, sendable(error)))

        def done(future: Any) -> None:
            error = future.exception()
            if error is None:
                self._pipe.send(("done", number, future.result()), otherwise=failed)
            else:
                failed(error)

        try:
            ask().add_done_callback(done)
        except Exception as error:
            failed(error)


def sendable(error: BaseException) -> BaseException:
    """The error, or one with the same sentence if it does not survive the way to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        sentence = str(error) if isinstance(error, SlopewashError) else f"{type(error).__name__}: {error}"
        return SlopewashError(sentence)
    return error


def main() -> None:
    """Serve one run; the server closes it, also after a Ctrl-C, which reaches both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pipe = Pipe(FileIO(os.dup(0)), FileIO(os.dup(1), "wb"))
    os.dup2(2, 1)  # what libraries print is not for the server
    code = 0
    try:
        with read_in("page"):
            _serve(pipe)
    except EOFError:  # the server is gone
        pass
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        os._exit(code)  # threads of kernels and drivers may not end by themselves


def _serve(pipe: Pipe) -> None:
    beginning = pipe.receive()
    try:
        worker = Worker(pipe, beginning)
    except Exception as error:
        pipe.send(("refused", sendable(error)))
    else:
        worker.serve()
    pipe.finish()
