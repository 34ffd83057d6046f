"""The one finish of a server: started, watched and cancelled here, done by a process of its own (`finisher.py`)."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from typing import Any, cast

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError
from slopewash.processes import environment, python
from slopewash.studio import messages, protocol
from slopewash.studio.finisher import PREVIEW_FILE, PROJECT_FILE, TERRAIN_FILE, Task
from slopewash.studio.pipe import Pipe
from slopewash.studio.projects import read_project
from slopewash.studio.recipes import fitted
from slopewash.studio.scratch import Scratch, remove_abandoned
from slopewash.studio.uploads import Uploads

NICENESS = 19
FITTED_FILE = "fitted.npz"
ASKING_SECONDS = 60.0
"""Longest wait for what the run is; it may be in a long step."""
CONVERT = f"""\
import sys
import slopewash as sw
from slopewash.processes import stand_back
stand_back({NICENESS})
terrain, cells = sw.read(sys.argv[1]), int(sys.argv[3])
sw.write(terrain.replace(mask=None).resampled(cells) if cells else terrain, sys.argv[2])
"""
"""Without its mask, which has done its work, where it is resampled for another run."""
IDLE: protocol.FinishState = {
    "type": "finish", "status": "idle", "size": 0, "name": "", "words": "", "step": 0, "steps": 0, "share": 0.0,
    "seconds_left": None, "message": None, "preview": 0,
}  # fmt: skip


class Finishing:
    """At most one job, and the last result.

    `on_change`, with how it is doing, and `on_message` are called from any thread.
    """

    def __init__(self, session: Any, uploads: Uploads, secret: bytes) -> None:
        self._session, self._uploads, self._secret = session, uploads, secret
        self.on_change: Callable[[protocol.FinishState], None] = lambda state: None
        self.on_message: Callable[[protocol.Notice], None] = lambda message: None
        self.state: protocol.FinishState = IDLE
        self.niceness = NICENESS
        """Of the process: how far it stands back behind all others, 0 to 19."""
        self._doing = ThreadPoolExecutor(1, thread_name_prefix="slopewash-finish")
        self._turn = threading.Lock()
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: Scratch | None = None
        remove_abandoned()

    def execute(self, message: Any) -> Future[None]:
        """Start, cancel or open a finish."""
        return self._doing.submit(getattr(self, f"_do_{message.type}"), message)

    def close(self) -> None:
        """End a job, and remove results."""
        self._closed = True
        self._doing.shutdown(wait=False, cancel_futures=True)
        self._end()
        if self._scratch is not None:
            self._scratch.remove()

    def preview(self) -> Path:
        """Picture of the level under way."""
        return self._file(PREVIEW_FILE)

    def project(self) -> Path:
        """The result as a project."""
        self._check_done()
        return self._file(PROJECT_FILE)

    def write(self, file: Path) -> None:
        """Write the result in the format of a file's suffix."""
        self._check_done()
        self._convert(file)

    def _convert(self, file: Path, cells: int = 0) -> None:
        """Write the result, on so many cells along the longer side, in a process of its own: it may be large."""
        command = python("-c", CONVERT, str(self._file(TERRAIN_FILE)), str(file), str(cells))
        done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode or not file.exists():
            words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it was ended"]
            raise SlopewashError(f"the result cannot be written as {file.suffix}: {words[-1]}")

    def _file(self, name: str) -> Path:
        file = None if self._scratch is None else self._scratch.path / name
        if file is None or not file.exists():
            raise InvalidParameter("there is nothing finished yet; start a finish first")
        return file

    def _check_done(self) -> None:
        if self.state["status"] != "done":
            raise InvalidParameter("there is nothing finished yet; start a finish, and wait for its end")

    def _change(self, **changes: Any) -> None:
        with self._turn:
            self.state = cast("protocol.FinishState", {**self.state, **changes})
            self.on_change(self.state)

    # Commands, each named as its message type.

    def _do_finish(self, message: messages.Finish) -> None:
        if self.state["status"] == "running":
            raise InvalidParameter("a finish is under way already; cancel it first")
        plan = self._session.find("plan", message.size).result(ASKING_SECONDS)
        if self._closed:
            raise InvalidParameter("the studio is closing")
        if self._scratch is not None:
            self._scratch.remove()
        self._scratch = Scratch()
        process = subprocess.Popen(
            python("-c", "from slopewash.studio.finisher import main; main()"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment(),
        )  # fmt: skip
        pipe = Pipe(cast("FileIO", process.stdout), cast("FileIO", process.stdin))
        pipe.send(Task(plan, self._scratch.path, self._secret, sw.named_adapter(), self.niceness))
        self._process = process
        self._change(**{**IDLE, "status": "running", "size": message.size, "name": plan.name})
        threading.Thread(target=self._read, args=(process, pipe), name="slopewash-finish-reader", daemon=True).start()

    def _do_cancel_finish(self, message: messages.CancelFinish) -> None:
        if self.state["status"] != "running":
            raise InvalidParameter("no finish is under way")
        self._change(status="cancelled", seconds_left=None)
        self._end()

    def _do_open_finish(self, message: messages.OpenFinish) -> None:
        self._check_done()
        if self.state["size"] <= messages.SIZES[1]:
            project = read_project(self._file(PROJECT_FILE), self.state["name"], self._secret)
            opening: Any = messages.Open(type="open", upload=self._uploads.keep_project(project))
        else:  # more than the studio runs: shown on as many cells as it does
            opening = messages.Start(type="start", upload=self._uploads.keep(self._fitted()), levels=False)
            # Side by side, it would be the start of all panes.
            self._session.execute(messages.LeaveSideBySide(type="leave_side_by_side")).result()
        self._session.execute(opening).result()

    def _fitted(self) -> sw.FromTerrain:
        """The result on as many cells as the studio runs."""
        cells = messages.SIZES[1]
        file = self._file(TERRAIN_FILE).with_name(FITTED_FILE)
        self._convert(file, cells)
        terrain = sw.read(file)
        file.unlink()
        return fitted(self.state["name"], terrain, f"sw.read({TERRAIN_FILE!r}).replace(mask=None).resampled({cells})")

    def _end(self) -> None:
        process = self._process
        if process is not None:
            process.kill()
            process.wait()
            self._process = None

    def _read(self, process: subprocess.Popen[bytes], pipe: Pipe) -> None:
        """Pass on what the process reports until it ends."""
        over = False
        try:
            while True:
                kind, *reported = pipe.receive()
                if process is not self._process:  # cancelled meanwhile
                    break
                if kind == "progress":
                    self._change(**reported[0])
                elif kind == "notice":
                    self.on_message({"type": "notice", "message": f"The finish: {reported[0]}"})
                elif kind == "preview":
                    self._change(preview=self.state["preview"] + 1)
                elif kind == "failed":
                    over = True
                    self._change(status="failed", message=reported[0], seconds_left=None)
                elif kind == "done":
                    over = True
                    self._change(status="done", step=reported[0], share=1.0, seconds_left=None)
        except EOFError:
            pass
        pipe.close()
        code = process.wait()
        if process is self._process:
            self._process = None
            if not over:
                self._change(status="failed", message=f"its process ended ({code})", seconds_left=None)
