"""One open page: reads its messages no faster than they are carried out, sends it no more than it takes."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from slopewash.errors import SlopewashError
from slopewash.studio import messages, protocol

if TYPE_CHECKING:
    from slopewash.studio.hub import Hub
    from slopewash.studio.snapshot import Snapshot

MOST_UNACKNOWLEDGED = 2
MOST_PENDING = 64
"""Messages that are read and not yet answered; then reading waits, and the sender's own buffers fill."""
MOST_TOLD = 20
"""Notices that wait for a page that does not read; older ones go."""
REFUSED = 1013


class View(NamedTuple):
    """What one frame holds."""

    overlay: str | None
    resolution: int
    before: bool
    strata: bool
    triangles: bool


class Connection:
    """The server's side of one WebSocket."""

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket = socket
        self._hub = hub
        self.watch = messages.Watch(type="watch")
        self.seen = 0
        """Version of the last frame handed over."""
        self._run_sent = 0
        self._before_sent = 0
        self._triangulation_sent = 0
        self._frame: bytes | None = None
        self._unacknowledged: deque[int] = deque()
        self._state: str | None = None
        self._answers: deque[str] = deque()
        self._told: deque[str] = deque(maxlen=MOST_TOLD)
        self._room = asyncio.Semaphore(MOST_PENDING)
        self._something = asyncio.Event()
        self._reports: set[asyncio.Future[None]] = set()

    @property
    def can_take_frame(self) -> bool:
        """Whether there is room for one more frame."""
        return self._frame is None and len(self._unacknowledged) < MOST_UNACKNOWLEDGED

    def view(self, snapshot: Snapshot) -> View:
        """What the next frame holds; pages that hold the same share one encoding."""
        return View(
            overlay=self.watch.overlay,
            resolution=self.watch.resolution,
            before=self.watch.before and self._before_sent != snapshot.run,
            strata=self._run_sent != snapshot.run,
            triangles=self._triangulation_sent != snapshot.triangulation,
        )

    def set_frame(self, snapshot: Snapshot, view: View, data: bytes) -> None:
        """Hand a frame over. One made before the page asked for something else does not count as seen."""
        wanted = self.view(snapshot)
        if view.before:
            self._before_sent = snapshot.run
        self._triangulation_sent = snapshot.triangulation
        self._frame = data
        self._unacknowledged.append(snapshot.version)
        self.seen = snapshot.version if view == wanted else 0
        self._run_sent = snapshot.run
        self._something.set()

    def set_state(self, text: str) -> None:
        """Hand a state over; one not yet sent is replaced."""
        self._state = text
        self._something.set()

    def tell(self, message: protocol.Notice | protocol.Failure) -> None:
        """Hand a notice over."""
        self._told.append(json.dumps(message))
        self._something.set()

    async def run(self, welcome: str) -> None:
        """Serve the page until it goes away."""
        await self._socket.accept()
        if not self._hub.add(self):
            await self._socket.close(REFUSED, "too many pages are open")
            return
        writer = asyncio.create_task(self._write(welcome))
        reader = asyncio.create_task(self._read())
        try:
            await asyncio.wait((writer, reader), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.remove(self)
            for task in (writer, reader):
                task.cancel()
            await asyncio.gather(writer, reader, return_exceptions=True)

    async def _write(self, welcome: str) -> None:
        await self._socket.send_text(welcome)
        while True:
            await self._something.wait()
            self._something.clear()
            while self._answers:
                await self._socket.send_text(self._answers.popleft())
                self._room.release()
                await asyncio.sleep(0)  # sending seldom waits, and the loop must notice pages that went away
            while self._told:
                await self._socket.send_text(self._told.popleft())
            if self._state is not None:
                text, self._state = self._state, None
                await self._socket.send_text(text)
            if self._frame is not None:
                data, self._frame = self._frame, None
                begin = time.thread_time()
                await self._socket.send_bytes(data)
                self._hub.session.spend(time.thread_time() - begin)
                self._hub.ask()

    async def _read(self) -> None:
        try:
            while True:
                received = await self._socket.receive()
                if received["type"] == "websocket.disconnect":
                    return
                await self._room.acquire()
                text = received.get("text")
                self._take(text if text is not None else received.get("bytes") or b"")
        except WebSocketDisconnect:
            return

    def _take(self, text: str | bytes) -> None:
        try:
            message = messages.parse(text)
            if message.type == "ack":
                self._acknowledge(message.frame)
                self._room.release()
                return
            if message.type == "watch":
                job = self._hub.session.submit(lambda: self._check_watch(message))
            else:
                job = self._hub.session.tell(message, self)
        except SlopewashError as error:
            self._answer(messages.id_of(text), str(error))
            return
        report = asyncio.ensure_future(self._report(message, job))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)

    def _check_watch(self, message: messages.Watch) -> None:
        if message.overlay is not None:
            self._hub.session.run.check_layer(message.overlay)

    async def _report(self, message: Any, job: Any) -> None:
        """Answer when the simulation has carried the message out."""
        try:
            await asyncio.wrap_future(job)
        except SlopewashError as error:
            self._answer(message.id, str(error))
            return
        except Exception as error:
            self._answer(message.id, f"{message.type} failed: {type(error).__name__}: {error}")
            return
        if message.type == "watch":
            self.watch, self.seen = message, 0
            self._hub.ask()
        if message.id is None:
            self._room.release()
        else:
            self._answer(message.id, None)

    def _answer(self, key: int | str | None, sentence: str | None) -> None:
        answer: protocol.Done | protocol.Failure = {"type": "done", "id": key}
        if sentence is not None:
            answer = {"type": "error", "id": key, "message": sentence}
        self._answers.append(json.dumps(answer))
        self._something.set()

    def _acknowledge(self, frame: int) -> None:
        """Take a frame, and those before it, for drawn."""
        while self._unacknowledged and self._unacknowledged[0] <= frame:
            self._unacknowledged.popleft()
        self._hub.ask()
