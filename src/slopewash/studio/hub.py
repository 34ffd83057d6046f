"""Distributes frames and states to all open pages: always the newest, and no more than a page can receive."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio.to_thread
import numpy as np

from slopewash.studio import protocol
from slopewash.studio.apart import SessionApart
from slopewash.studio.connection import Connection, View
from slopewash.studio.finishing import Finishing
from slopewash.studio.frames import Block, assemble, field_block
from slopewash.studio.session import Session
from slopewash.studio.snapshot import GROUND, HISTORY, Demand, Snapshot
from slopewash.studio.strata import strata_block, strata_top_block

GROUND_RESOLUTION = 512
"""Most cells per side of these: they are colours, which may be coarser than heights."""
MOST_CONNECTIONS = 16
MOST_UNREAD = 4
"""Errors that wait for a page to be opened: the last ones."""
WATCH_SECONDS = 2.0
STUCK_SECONDS = 10.0
"""Time without a look for commands after which pages are notified."""
BUSY_SECONDS = 45.0
"""The same while the page shows what takes long: compiling kernels alone takes 15 s, and more on a busy machine."""


class Hub:
    """All open pages of one session. Everything here runs in the server's event loop."""

    def __init__(self, session: Session | SessionApart, finishing: Finishing) -> None:
        self.session, self.finishing = session, finishing
        self.connections: set[Connection] = set()
        self.state_text = json.dumps(session.state(), allow_nan=False)
        self._unread: deque[protocol.Notice | protocol.Failure] = deque(maxlen=MOST_UNREAD)
        self._newest: Snapshot | None = None
        self._arrived = asyncio.Event()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Receive calls from the simulation's thread."""

        def later(call: Callable[..., None], *arguments: Any) -> None:
            with suppress(RuntimeError):  # the server has stopped, and its loop is closed
                loop.call_soon_threadsafe(call, *arguments)

        self.session.on_snapshot = lambda snapshot: later(self._take_snapshot, snapshot)
        self.session.on_state = lambda state: later(self._take_state, state)
        self.session.on_message = lambda message: later(self._take_message, message)
        self.finishing.on_message = lambda message: later(self._take_message, message)
        self.finishing.on_change = lambda finish: later(self._take_finish, finish)

    def add(self, connection: Connection) -> bool:
        """Add a page, unless there are too many."""
        if len(self.connections) >= MOST_CONNECTIONS:
            return False
        self.connections.add(connection)
        connection.set_state(self.state_text)
        connection.set_finish(json.dumps(self.finishing.state))
        while self._unread:
            connection.notify(self._unread.popleft())
        self.ask()
        return True

    def remove(self, connection: Connection) -> None:
        """Remove a page that disconnected."""
        self.connections.discard(connection)
        self.ask()

    def ask(self) -> None:
        """Ask the simulation for the frame that pages wait for, if any."""
        waiting = [c for c in self.connections if c.can_take_frame]
        if not waiting or self._newest is not None:
            self.session.want(None)
            return
        layers = {c.watch.overlay for c in waiting if c.watch.overlay is not None}
        grounded = [c.has_ground for c in waiting if c.watch.ground]
        now_and_then = GROUND if grounded and all(grounded) else frozenset[str]()
        if grounded and not now_and_then:
            layers.update(GROUND)
        against = frozenset(c.watch.against for c in waiting if c.watch.before and c.watch.against is not None)
        self.session.want(Demand(frozenset(layers), min(c.seen for c in waiting), against, now_and_then))

    def _take_snapshot(self, snapshot: Snapshot) -> None:
        self._newest = snapshot
        self._arrived.set()

    def _take_state(self, state: dict[str, Any]) -> None:
        self.state_text = json.dumps(state, allow_nan=False)
        for connection in self.connections:
            connection.set_state(self.state_text)

    def _take_finish(self, finish: protocol.FinishState) -> None:
        text = json.dumps(finish, allow_nan=False)
        for connection in self.connections:
            connection.set_finish(text)

    def _take_message(self, message: protocol.Notice | protocol.Failure) -> None:
        if message["type"] == "error" and not self.connections:
            self._unread.append(message)
        for connection in self.connections:
            connection.notify(message)

    def _encode(self, snapshot: Snapshot, views: tuple[View, ...]) -> list[bytes]:
        begin = time.thread_time()
        panes = snapshot.panes
        data = [encode(pane, view, panes=len(panes)) for pane, view in zip(panes, views, strict=True)]
        self.session.spend(time.thread_time() - begin)
        return data

    async def run(self) -> None:
        """Send each new snapshot to the pages."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            snapshot = self._newest
            if snapshot is None:
                continue
            try:
                await self._send(snapshot)
            except Exception as error:  # one bad frame must not stop the next ones
                reason = f"a frame could not be encoded: {type(error).__name__}: {error}"
                self._take_message({"type": "error", "message": reason})
                for connection in self.connections:
                    connection.seen = max(connection.seen, snapshot.version)
            if self._newest is snapshot:  # or else another has arrived meanwhile, and is sent next
                self._newest = None
            self.ask()

    async def watch(self) -> None:
        """Report a run that does not answer any more, once each time, and when it does again."""
        stuck = False
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            silent = self.session.silent_for
            patience = STUCK_SECONDS if self.session.busy is None else BUSY_SECONDS
            if silent > patience and not stuck:
                what = self.session.busy or "a step of the run"
                reason = f"The simulation has not answered for {silent:.0f} s: {what} takes long. {self.session.remedy}"
                self._take_message({"type": "notice", "message": reason})
                stuck = True
            elif stuck and silent < STUCK_SECONDS:
                self._take_message({"type": "notice", "message": "The simulation answers again."})
                stuck = False

    async def _send(self, snapshot: Snapshot) -> None:
        """Encode once for all pages that watch the same things."""
        kinds: dict[tuple[View, ...], list[Connection]] = {}
        for connection in self.connections:
            if connection.can_take_frame and connection.seen < snapshot.version:
                kinds.setdefault(connection.views(snapshot), []).append(connection)
        for views, takers in kinds.items():
            data = await anyio.to_thread.run_sync(self._encode, snapshot, views, abandon_on_cancel=True)
            for connection in takers:
                connection.set_frames(snapshot, views, data)


def encode(snapshot: Snapshot, view: View, panes: int = 1) -> bytes:
    """Encode one frame, perhaps of several panes."""
    layers, resolution, overlay = snapshot.layers, view.resolution, view.overlay
    start = snapshot.start
    if start is None:
        raise ValueError("the snapshot comes without the start of its run")
    blocks = [field_block("elevation", layers["elevation"], resolution, unit="m")]
    blocks += [
        field_block(name, layers[name], resolution, unit="m")
        for name in ("water", "suspended")
        if name in layers and layers[name].any()
    ]
    if view.ground:
        blocks += [
            field_block(name, layers[name], min(resolution, GROUND_RESOLUTION), unit=snapshot.units[name])
            for name in HISTORY
            if name in layers and layers[name].any()
        ]
        if "bedrock" in layers:
            soil = np.maximum(layers["elevation"] - layers["bedrock"], 0)
            if soil.any():
                blocks.append(field_block("soil", soil, min(resolution, GROUND_RESOLUTION), unit="m"))
    if overlay is not None and overlay in layers:
        blocks.append(field_block("overlay", layers[overlay], resolution, layer=overlay, unit=snapshot.units[overlay]))
    if view.before is not None:
        blocks.append(_before(snapshot, start["elevation"], view.before, resolution))
    if view.strata and start.strata is not None:
        blocks += [strata_block(start), strata_top_block(start)]
    blocks += _moving(snapshot, view)
    rows, columns = start.shape
    header: dict[str, Any] = {
        "frame": snapshot.version, "step": snapshot.step, "time": snapshot.time, "run": snapshot.run,
        "rows": rows, "columns": columns, "cell_size": snapshot.cell_size,
        "start_low": snapshot.start_range[0], "start_high": snapshot.start_range[1],
    }  # fmt: skip
    if view.ground_as_before:
        header["ground"] = "as before"
    if snapshot.pane is not None:
        header |= {"pane": snapshot.pane, "panes": panes}
    return assemble(header, blocks)


def _before(snapshot: Snapshot, start: Any, key: int, resolution: int) -> Block:
    """What the terrain is compared with: the start, or a keyframe of another branch."""
    for beside in snapshot.beside.values():
        if beside is not None and beside.key == key:
            facts = {"branch": beside.branch, "moment": beside.moment}
            return field_block("before", beside.elevation, resolution, unit="m", **facts)
    return field_block("before", start, resolution, unit="m")


def _moving(snapshot: Snapshot, view: View) -> list[Block]:
    """Particles and mesh of the models that have them."""
    blocks = []
    if snapshot.particles is not None:
        blocks.append(Block("particles", np.ascontiguousarray(snapshot.particles, np.float32), {"unit": "m"}))
    if snapshot.vertices is not None:
        blocks.append(Block("vertices", np.ascontiguousarray(snapshot.vertices, np.float32), {"unit": "m"}))
        if view.triangles:
            blocks.append(Block("triangles", np.ascontiguousarray(snapshot.triangles, np.uint32), {}))
    return blocks
