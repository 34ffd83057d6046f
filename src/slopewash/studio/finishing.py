"""The one finish of a server: started, watched and cancelled here, done by a process of its own (`finisher.py`)."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, cast

import slopewash as sw
from slopewash.errors import CheckpointError, InvalidParameter, SlopewashError
from slopewash.paths import remove_file
from slopewash.processes import environment, python
from slopewash.studio import finish_files, messages, protocol
from slopewash.studio.finish_files import IDLE, PREVIEW_FILE, PROJECT_FILE, SHOWN_FILE, TERRAIN_FILE
from slopewash.studio.finisher import ENDING_SECONDS, Task
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import read_project
from slopewash.studio.scratch import Scratch, remove_abandoned
from slopewash.studio.uploads import Uploads

NICENESS = 19
ASKING_SECONDS = 60.0
"""Longest wait for what the run is; it may be in a long step."""
CONVERT = f"""\
import sys
import slopewash as sw
from slopewash.processes import stand_back
stand_back({NICENESS})
sw.write(sw.read(sys.argv[1]), sys.argv[2])
"""


QUESTION = (
    "it does not carry your seal: an older slopewash, another user or another machine began it, or it was changed; if "
    "you trust whoever did, choose Continue"
)


class Finishing:
    """At most one job, and the last result.

    With a `folder`, both outlive the server: the next one goes on with the job. `on_change`, with how it is doing, and
    `on_message` are called from any thread.
    """

    def __init__(
        self, session: Any, uploads: Uploads, secret: bytes, folder: Path | None = None, *, trust: bool = False
    ) -> None:
        self._session, self._uploads, self._secret = session, uploads, secret
        self.on_change: Callable[[protocol.FinishState], None] = lambda state: None
        self.on_message: Callable[[protocol.Notice], None] = lambda message: None
        self.state: protocol.FinishState = IDLE
        self.niceness = NICENESS
        """Of the process: how far it stands back behind all others, 0 to 19."""
        self._doing = ThreadPoolExecutor(1, thread_name_prefix="slopewash-finish")
        self._turn, self._launching = threading.RLock(), threading.Lock()
        """Held while the state, or whose reports it takes, changes; and while a process is started."""
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Pipe | None = None
        self._kept, self._folder = folder, folder
        """Where results go if they are kept; and where they are, if there are any."""
        self._trust, self._asking = trust, False
        """Whether to go on with what another user, machine or version began, and whether that is being asked."""
        self._scratch: Scratch | None = None
        self._converting: set[subprocess.Popen[bytes]] = set()
        """Processes that write the result in another format."""
        remove_abandoned()

    def start(self) -> None:
        """Take over what a server before this one has left: its result, or what it did not finish."""
        if self._kept is not None:
            self._doing.submit(self._take_over)

    def execute(self, message: Any) -> Future[None]:
        """Start, cancel or open a finish."""
        return self._doing.submit(getattr(self, f"_do_{message.type}"), message)

    def stop(self) -> None:
        """Accept nothing more, and let a job that is kept write its last checkpoint; `close` waits for it."""
        with self._launching:
            self._closed = True
        self._doing.shutdown(wait=False, cancel_futures=True)
        pipe = self._pipe
        if self._kept is not None and pipe is not None:
            pipe.send(("stop",))

    def close(self) -> None:
        """Stop a job, which is continued by the next server if it is kept; else remove results.

        It comes after the session is closed, which answers whatever a message under way waits for.
        """
        if not self._closed:
            self.stop()
        self._doing.shutdown()  # a message under way may have begun to write a plan
        with self._turn:
            for converting in self._converting:
                converting.kill()
        process = self._process
        if self._kept is not None and process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_SECONDS)
        self._end()
        if self._scratch is not None:
            self._scratch.remove()

    def preview(self) -> Path:
        """Picture of the level under way."""
        return self._file(PREVIEW_FILE)

    def project(self) -> Path:
        """The result as a project."""
        self._check_done()
        size, most = self.state["size"], messages.SIZES[1]
        if size > most:
            raise InvalidParameter(
                f"this finish has {size} cells along a side, too many for a project, which has at most {most}; "
                "save it in another format"
            )
        return self._file(PROJECT_FILE)

    def write(self, file: Path) -> None:
        """Write the result in the format of a file's suffix, in a process of its own: it may be large."""
        self._check_done()
        command = python("-c", CONVERT, str(self._file(TERRAIN_FILE)), str(file))
        with self._turn:
            if self._closed:
                raise InvalidParameter("the studio is closing")
            process = subprocess.Popen(
                command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            self._converting.add(process)
        try:
            _, said = process.communicate()
        finally:
            with self._turn:
                self._converting.discard(process)
        if process.returncode or not file.exists():
            words = said.decode("utf-8", "replace").strip().splitlines() or ["it was ended"]
            raise SlopewashError(f"the result cannot be written as {file.suffix}: {words[-1]}")

    def _file(self, name: str) -> Path:
        file = None if self._folder is None else self._folder / name
        if file is None or not file.is_file():
            raise InvalidParameter("there is nothing finished yet; start a finish first")
        return file

    def _shown(self) -> str:
        """File that a page opens."""
        if self._folder is not None and (self._folder / SHOWN_FILE).is_file():
            return SHOWN_FILE
        if self.state["size"] > messages.SIZES[1]:
            raise InvalidParameter("this finish cannot be shown on fewer cells; save it instead")
        return PROJECT_FILE

    def _check_done(self) -> None:
        if self.state["status"] != "done":
            raise InvalidParameter("there is nothing finished yet; start a finish, and wait for its end")

    def _change(self, **changes: Any) -> None:
        with self._turn:
            self.state = cast("protocol.FinishState", {**self.state, **changes})
            self.on_change(self.state)

    def _take_over(self) -> None:
        folder = cast("Path", self._kept)
        finish_files.clear_new(folder)
        for left_over in (folder, finish_files.beside(folder, finish_files.UNREADABLE)):
            if left_over.exists() and finish_files.is_verified(left_over) and finish_files.is_forgotten(left_over):
                finish_files.clear(left_over)
        if not folder.exists():
            return
        try:
            left = finish_files.read_state(folder)
        except CheckpointError as error:
            place = finish_files.set_aside(folder)
            words = f"the one before cannot be read ({error}); its files are in {place}"
            self._change(status="failed", message=words, resumed=True)
            return
        if left is None:
            finish_files.set_aside(folder)
            return
        if left["status"] == "done":
            finish_files.remove_work(folder)  # which a process that was killed may have left
        self._change(**{**left, "resumed": True, "preview": int((folder / PREVIEW_FILE).exists())})
        if left["status"] == "running":
            self._launch()

    # Commands, each named as its message type.

    def _do_finish(self, message: messages.Finish) -> None:
        if self.state["status"] == "running":
            raise InvalidParameter("a finish is under way already; cancel it first")
        plan = self._session.find("plan", message.size).result(ASKING_SECONDS)
        if self._closed:
            raise InvalidParameter("the studio is closing")
        # The result before is removed only once the plan is on disk: that may be full.
        if self._kept is None:
            scratch = Scratch()
            try:
                finish_files.write_plan(plan, scratch.path)
            except BaseException:
                scratch.remove()
                raise
            self._discard("idle")
            self._scratch, self._folder = scratch, scratch.path
        else:
            self._end()
            finish_files.begin(plan, self._kept)
        self._change(**finish_files.beginning(plan))
        self._launch()

    def _do_cancel_finish(self, message: messages.CancelFinish) -> None:
        if self.state["status"] not in ("running", "done", "failed"):
            raise InvalidParameter("no finish is under way")
        self._discard("cancelled" if self.state["status"] == "running" else "idle")

    def _do_continue_finish(self, message: messages.ContinueFinish) -> None:
        if not self.state["can_continue"]:
            raise InvalidParameter("there is no finish to continue; start one")
        self._trust |= self._asking
        remove_file(cast("Path", self._folder) / finish_files.END_FILE)
        self._change(status="running", message=None, can_continue=False)
        self._launch()

    def _do_open_finish(self, message: messages.OpenFinish) -> None:
        self._check_done()
        project = read_project(self._file(self._shown()), self.state["name"], self._secret)
        opening = messages.Open(type="open", upload=self._uploads.keep_project(project))
        self._session.execute(opening).result()

    def _launch(self) -> None:
        """Start the process that does what the folder holds; that it cannot be is how the finish fails."""
        with self._launching:
            if self._closed or self._folder is None:
                return
            self._asking = self._kept is not None and not self._trust and not finish_files.is_own(self._folder)
            if self._asking:
                self._change(status="failed", message=QUESTION, can_continue=True)
                return
            try:
                process = subprocess.Popen(
                    python("-c", "from slopewash.studio.finisher import main; main()"),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment(),
                    process_group=0 if os.name == "posix" else None,  # a Ctrl-C in the terminal is for the server
                )  # fmt: skip
            except OSError as error:  # such as no memory for a process
                self._fail(f"its process cannot be started: {error}", None)
                return
            pipe = Pipe(cast("FileIO", process.stdout), cast("FileIO", process.stdin))
            pipe.send(Task(
                folder=self._folder, kept=self._kept is not None, secret=self._secret, trust=self._trust,
                adapter=sw.named_adapter(), niceness=self.niceness, largest=messages.SIZES[1],
            ))  # fmt: skip
            with self._turn:
                self._process, self._pipe = process, pipe
        threading.Thread(target=self._read, args=(process, pipe), name="slopewash-finish-reader", daemon=True).start()

    def _discard(self, status: str) -> None:
        """End the job, and remove what it has written."""
        self._end()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = self._folder = None
        elif self._kept is not None:
            finish_files.clear(self._kept)
        self._change(**{**IDLE, "status": status, "size": self.state["size"], "name": self.state["name"]})

    def _end(self) -> None:
        with self._turn:  # what it reports from now on counts no more
            process = self._process
            self._process = self._pipe = None
        if process is not None:
            process.kill()
            process.wait()

    def _fail(self, message: str, process: subprocess.Popen[bytes] | None) -> None:
        """Note that the process ended early, or could not be started; what it has written stays, to go on from."""
        with self._turn:
            if process is not self._process:  # cancelled meanwhile
                return
            self._process = self._pipe = None
            failed = {"status": "failed", "message": message, "seconds_left": None}
            self.state = cast("protocol.FinishState", {**self.state, **failed, "can_continue": self._kept is not None})
            if self._kept is not None:
                with suppress(OSError):  # then the next server goes on without being asked
                    finish_files.write_end(self.state, self._kept)
            self.on_change(self.state)

    def _read(self, process: subprocess.Popen[bytes], pipe: Pipe) -> None:
        """Pass on what the process reports until it ends."""
        done, failure = False, None
        with suppress(EOFError):
            while True:
                kind, *reported = pipe.receive()
                with self._turn:
                    if process is not self._process:  # cancelled meanwhile
                        break
                    if kind in ("progress", "done"):
                        done = kind == "done"
                        self._change(**reported[0])
                    elif kind == "notice":
                        self.on_message({"type": "notice", "message": f"The finish: {reported[0]}"})
                    elif kind == "preview":
                        self._change(preview=self.state["preview"] + 1)
                    elif kind == "failed":
                        failure = reported[0]
        pipe.close()
        code = process.wait()
        with self._turn:
            if process is not self._process:
                return
            if not done and not self._closed:  # else the next server goes on with it
                result = self._unreported_result()
                if result is None:
                    self._fail(failure or f"its process ended ({code})", process)
                else:
                    self._change(**result)
            self._process = self._pipe = None

    def _unreported_result(self) -> protocol.FinishState | None:
        """The end of a finish whose process was killed between noting and reporting it."""
        if self._kept is not None:
            with suppress(OSError, ValueError):
                end = finish_files.read_end(self._kept)
                return end if end is not None and end["status"] == "done" else None
        return None
