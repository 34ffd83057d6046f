"""One open page: reads its messages no faster than they are executed, and sends no more than it can receive."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from slopewash.errors import SlopewashError
from slopewash.studio import messages, protocol
from slopewash.studio.run import RecipeComplete
from slopewash.studio.snapshot import GROUND

if TYPE_CHECKING:
    from slopewash.studio.hub import Hub
    from slopewash.studio.snapshot import Snapshot

MOST_UNACKNOWLEDGED = 2
MOST_PENDING = 64
"""Messages that are read but not answered yet; beyond that, reading waits."""
MOST_NOTICES = 20
"""Notices kept for a page that does not read; older ones are dropped."""
REFUSED = 1013
FINISHING = ("finish", "cancel_finish", "continue_finish", "open_finish")

_numbers = itertools.count(1)


class View(NamedTuple):
    """What one frame holds."""

    overlay: str | None
    resolution: int
    before: int | None
    """What the terrain is compared with, if that is to be sent: 0 for the start, or the key of a keyframe."""
    ground: bool
    strata: bool
    triangles: bool
    ground_as_before: bool = False
    """Whether the page keeps what the frame before had of the ground."""


class Sent(NamedTuple):
    """What the page has of one pane, and need not be sent again."""

    run: int = 0
    before: tuple[int, int] = (0, 0)
    """Run, and key of what it was compared with last."""
    triangulation: int = 0


class Connection:
    """The server's side of one WebSocket."""

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket = socket
        self._hub = hub
        self._number = next(_numbers)
        self.watch = messages.Watch(type="watch")
        self.seen = 0
        """Version of the last frame that was sent."""
        self.has_ground = False
        """Whether it has the colours of the ground, perhaps of a moment ago: else the next frame must hold them."""
        self._sent: dict[int, Sent] = {}
        """What was sent of each pane; a single run is the first."""
        self._frames: list[bytes] = []
        """Of all panes at one moment."""
        self._unacknowledged: deque[int] = deque()
        self._state: str | None = None
        self._finish: str | None = None
        self._answers: deque[str] = deque()
        self._notices: deque[str] = deque(maxlen=MOST_NOTICES)
        self._room = asyncio.Semaphore(MOST_PENDING)
        self._something = asyncio.Event()
        self._reports: set[asyncio.Future[None]] = set()

    @property
    def can_take_frame(self) -> bool:
        """Whether there is room for one more frame."""
        return not self._frames and len(self._unacknowledged) < MOST_UNACKNOWLEDGED

    def views(self, snapshot: Snapshot) -> tuple[View, ...]:
        """What the next frame of each pane holds; pages with equal views share one encoding."""
        return tuple(self._view(pane) for pane in snapshot.panes)

    def _view(self, snapshot: Snapshot) -> View:
        beside = None if self.watch.against is None else snapshot.beside.get(self.watch.against)
        key = 0 if beside is None else beside.key
        sent = self._sent.get(snapshot.pane or 0, Sent())
        ground = self.watch.ground and snapshot.asked >= GROUND
        return View(
            overlay=self.watch.overlay,
            resolution=self.watch.resolution,
            before=key if self.watch.before and sent.before != (snapshot.run, key) else None,
            ground=ground,
            ground_as_before=self.watch.ground and not ground and self.has_ground and sent.run == snapshot.run,
            strata=sent.run != snapshot.run,
            triangles=sent.triangulation != snapshot.triangulation,
        )

    def set_frames(self, snapshot: Snapshot, views: tuple[View, ...], frames: list[bytes]) -> None:
        """Send a frame of each pane. Those made before the page asked for something else do not count as seen."""
        wanted = self.views(snapshot)
        self.has_ground = all(view.ground or view.ground_as_before for view in views)
        for pane, view in zip(snapshot.panes, views, strict=True):
            known = self._sent.get(pane.pane or 0, Sent())
            # A page drops it with the run: where that returns, it is sent again.
            before = known.before if known.run == pane.run else Sent().before
            if view.before is not None:
                before = (pane.run, view.before)
            self._sent[pane.pane or 0] = Sent(pane.run, before, pane.triangulation)
        self._frames = frames
        self._unacknowledged.append(snapshot.version)
        asked = self.watch.overlay is None or self.watch.overlay in snapshot.asked
        if self.watch.before and self.watch.against is not None:
            asked = asked and self.watch.against in snapshot.beside
        if self.watch.ground:  # some frames are made for other pages, and lack it without being abridged
            asked = asked and all(view.ground or (view.ground_as_before and snapshot.abridged) for view in views)
        self.seen = snapshot.version if views == wanted and asked else 0
        self._something.set()

    def set_state(self, text: str) -> None:
        """Send a state; it replaces one that is not sent yet."""
        self._state = text
        self._something.set()

    def set_finish(self, text: str) -> None:
        """Send how a finish is doing; it replaces what is not sent yet."""
        self._finish = text
        self._something.set()

    def notify(self, message: protocol.Notice | protocol.Failure) -> None:
        """Send a notice."""
        self._notices.append(json.dumps(message))
        self._something.set()

    async def run(self, welcome: str) -> None:
        """Serve the page until it disconnects."""
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
                await asyncio.sleep(0)  # sending seldom waits, and the loop must notice pages that disconnected
            while self._notices:
                await self._socket.send_text(self._notices.popleft())
            if self._state is not None:
                text, self._state = self._state, None
                await self._socket.send_text(text)
            if self._finish is not None:
                text, self._finish = self._finish, None
                await self._socket.send_text(text)
            if self._frames:
                frames, self._frames = self._frames, []
                begin = time.thread_time()
                for data in frames:
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
                # Also where there is nothing to check: the answer waits for its turn between two steps.
                job = self._hub.session.find("check_layer", message.overlay)
            elif message.type in FINISHING:
                job = self._hub.finishing.execute(message)
            else:
                job = self._hub.session.execute(message, self._number)
        except SlopewashError as error:
            self._answer(messages.id_of(text), error)
            return
        report = asyncio.ensure_future(self._report(message, job))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)

    async def _report(self, message: Any, job: Any) -> None:
        """Answer when the simulation has executed the message."""
        try:
            await asyncio.wrap_future(job)
        except SlopewashError as error:
            self._answer(message.id, error)
            return
        except Exception as error:
            self._answer(message.id, SlopewashError(f"{message.type} failed: {type(error).__name__}: {error}"))
            return
        if message.type == "watch":
            self.watch, self.seen = message, 0
            self._hub.ask()
        if message.id is None:
            self._room.release()
        else:
            self._answer(message.id, None)

    def _answer(self, key: int | str | None, error: SlopewashError | None) -> None:
        answer: protocol.Done | protocol.Failure = {"type": "done", "id": key}
        if error is not None:
            answer = {"type": "error", "id": key, "message": str(error)}
            if isinstance(error, RecipeComplete):
                answer["wants"] = "go_on"
        self._answers.append(json.dumps(answer))
        self._something.set()

    def _acknowledge(self, frame: int) -> None:
        """Note that a frame, and those before it, are drawn."""
        while self._unacknowledged and self._unacknowledged[0] <= frame:
            self._unacknowledged.popleft()
        self._hub.ask()
