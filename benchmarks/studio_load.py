"""Answers of the studio to a second page while others do everything wrong at once.

    python benchmarks/studio_load.py --rounds 5

300 sockets say nothing, two uploads stall, each step of the run takes seconds, and 10 000 messages a second arrive.
Prints how long the second page takes to load, pause, export and reset, and how much the memory of the server and its
run grows; fails where one takes a second or more, or memory grows by 150 MB.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

MEGABYTE = 2**20
LIMIT = 16 * MEGABYTE
"""Of an upload."""
SIZE = 384
"""Cells along a side of the run."""
MOST_SECONDS, MOST_MEGABYTES = 1.0, 150
PROGRAM = f"""
import sys
from slopewash.studio import StudioServer, patience, uploads
from slopewash.studio.recipes import first_recipe
uploads.STALLED_SECONDS, patience.HEADER_SECONDS = 2.0, 3.0
with StudioServer(first_recipe(size=64, backend="reference"), port=0, upload_limit={LIMIT}, apart=True) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


class Outside:
    """A server in a process of its own, whose memory can be measured."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url
        self.address = url.partition("/?")[0]
        self.port = int(self.address.rpartition(":")[2])
        opened = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
        self.cookie = httpx.get(url, headers=opened, timeout=60).headers["set-cookie"].partition(";")[0]
        self.headers = {"Cookie": self.cookie, "Origin": self.address}

    @property
    def memory(self) -> int:
        """Resident bytes of the server and of the process of its run."""
        server = self.process.pid
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        texts = [Path(f"/proc/{pid}/status").read_text() for pid in (server, *children)]
        return sum(int(text.partition("VmRSS:")[2].split()[0]) for text in texts) * 1024

    def healthy(self) -> bool:
        return httpx.get(self.address + "/health", headers=self.headers, timeout=60).text == "ok"

    def connect(self, **options: Any) -> Any:
        return connect(
            self.address.replace("http", "ws") + "/ws",
            origin=Origin(self.address),
            additional_headers={"Cookie": self.cookie},
            max_size=None,
            compression=None,
            open_timeout=60,
            **options,
        )

    def step(self) -> int:
        """Where the simulation is: from a new page's first state."""
        with self.connect() as page:
            page.recv(timeout=60)
            return int(json.loads(page.recv(timeout=60))["step"])

    def raw(self) -> socket.socket:
        """A socket past the handshake, to be mistreated."""
        plain = socket.create_connection(("127.0.0.1", self.port), 60)
        key = base64.b64encode(os.urandom(16)).decode()
        plain.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.address}\r\nCookie: {self.cookie}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        assert plain.recv(12) == b"HTTP/1.1 101"
        return plain


@contextmanager
def server_outside(state: Path, log: Path) -> Iterator[Outside]:
    """Start a server that keeps its work in `state` and complains into `log`."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": str(state)},
        )
        assert process.stdout is not None
        yield Outside(process, process.stdout.readline().strip())
        process.communicate(timeout=60)
    assert process.returncode == 0


def text_frame(text: str) -> bytes:
    """A client's text frame, masked with zeros."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
    return b"\x81" + length + b"\0\0\0\0" + data


def upload_head(outside: Outside, framing: str) -> bytes:
    return (
        f"POST /upload?name=a.npy HTTP/1.1\r\nHost: 127.0.0.1:{outside.port}\r\nOrigin: {outside.address}\r\n"
        f"Cookie: {outside.cookie}\r\n{framing}\r\n\r\n"
    ).encode()


def drain(flood: socket.socket) -> None:
    """Read what is there, so that answers do not hold the server back."""
    flood.setblocking(False)
    try:
        while flood.recv(65536):
            pass
    except BlockingIOError:
        pass
    flood.setblocking(True)
    flood.settimeout(0.2)


def ask(page: Any, **message: Any) -> dict[str, Any]:
    """Send a message and read until its answer."""
    page.send(json.dumps({**message, "id": "asked"}))
    while True:
        received = page.recv(timeout=60)
        if isinstance(received, str) and (answer := json.loads(received)).get("id") == "asked":
            return dict(answer)


class Flood:
    """Offers 10 000 messages a second in a thread of its own."""

    def __init__(self, target: socket.socket) -> None:
        self._target = target
        self._batch = b"".join(text_frame(json.dumps({"type": "nonsense", "k": k})) for k in range(100))
        self._begin, self._sent = time.monotonic(), 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self._target.settimeout(0.2)
        while not self._stopped.wait(0.01):
            due = int((time.monotonic() - self._begin) * 100) - self._sent // 100
            self._send(self._batch * min(due, 20))

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view and not self._stopped.is_set():
            drain(self._target)
            try:
                view = view[self._target.send(view) :]
            except TimeoutError:
                continue
        self._sent += 100 * ((len(data) - len(view)) // len(self._batch))

    def stop(self) -> float:
        """Messages per second that the server took."""
        seconds = time.monotonic() - self._begin
        self._stopped.set()
        self._thread.join()
        self._target.close()
        return self._sent / seconds


@dataclass(frozen=True)
class Answers:
    """How the second page fared, in seconds."""

    load: float
    pause: float
    export: float
    reset: float
    grown: float
    """MB by which memory grew"""
    messages: float
    """per second that the server took, of 10 000 offered"""

    @property
    def slowest(self) -> float:
        """The longest of the four."""
        return max(self.load, self.pause, self.export, self.reset)

    def __str__(self) -> str:
        took = ", ".join(f"{name} {getattr(self, name):.2f} s" for name in ("load", "pause", "export", "reset"))
        return f"{took}, {self.grown:.0f} MB more, {self.messages:.0f} messages per second taken of 10 000 offered"


def under_every_load(outside: Outside) -> Answers:
    """Put every load on the server at once, and use a second page."""
    with ExitStack() as opened:
        first = opened.enter_context(outside.connect())
        ask(first, type="start", generator={"size": SIZE}, preset="jako2011")
        ask(first, type="parameters", values={"time_step": 1.7})  # almost 100 sub-steps, seconds with NumPy
        assert "more than 100" in ask(first, type="parameters", values={"time_step": 1e6})["message"]
        ask(first, type="play")
        before = outside.memory
        for _ in range(300):
            opened.enter_context(socket.create_connection(("127.0.0.1", outside.port), 60))
        for _ in range(2):
            stalled = opened.enter_context(socket.create_connection(("127.0.0.1", outside.port), 60))
            stalled.sendall(upload_head(outside, "Content-Length: 1000") + b"half")
        flood = Flood(outside.raw())
        try:
            time.sleep(1.0)
            begin = time.monotonic()
            page = httpx.get(outside.address, headers={**outside.headers, "Sec-Fetch-Site": "same-origin"}, timeout=60)
            second = opened.enter_context(outside.connect())
            assert json.loads(second.recv(timeout=60))["type"] == "welcome"
            loaded = time.monotonic()
            assert page.status_code in (200, 503)  # 503 where the page is not built
            assert ask(second, type="pause")["type"] == "done"
            paused = time.monotonic()
            exported = httpx.get(f"{outside.address}/export/hill.npy", headers=outside.headers, timeout=60)
            written = time.monotonic()
            assert np.load(io.BytesIO(exported.content)).shape == (SIZE, SIZE)
            asked = time.monotonic()
            assert ask(second, type="reset")["type"] == "done"
            reset = time.monotonic()
            grown = (outside.memory - before) / MEGABYTE
        finally:
            messages = flood.stop()
        ask(second, type="start", generator={"size": 64}, preset="landscape")
    return Answers(loaded - begin, paused - loaded, written - paused, reset - asked, grown, messages)


def main() -> int:
    """Measure some rounds on one server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder, server_outside(Path(folder), Path(folder) / "log") as outside:
        for _ in range(options.rounds):
            answers = under_every_load(outside)
            print(answers, flush=True)
            failed |= answers.slowest >= MOST_SECONDS or answers.grown >= MOST_MEGABYTES
    if failed:
        print(f"at most {MOST_SECONDS:g} s and {MOST_MEGABYTES} MB are wanted", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
