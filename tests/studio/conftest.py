"""A real server on a free port of this machine, and a page without a screen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

import slopewash as sw
from slopewash.studio import StudioServer
from slopewash.studio.frames import disassemble
from slopewash.studio.protocol import FRAME_HEADER, PROBLEM, SERVER_MESSAGE, UPLOADED
from slopewash.studio.recipes import first_recipe

SECONDS = 60.0
"""Longest wait for anything: the machine may be busy."""


class Page:
    """Talks to the server as the page does, and validates everything that the server sends."""

    def __init__(self, address: str, cookie: str) -> None:
        self.address, self.cookie = address, cookie
        self._open = ExitStack()
        socket = connect(
            address.replace("http", "ws") + "/ws",
            origin=Origin(address),
            additional_headers={"Cookie": cookie},
            max_size=None,
            compression=None,
            open_timeout=SECONDS,
        )
        self.socket: ClientConnection = self._open.enter_context(socket)
        self.state: dict[str, Any] = {}
        self.finish: dict[str, Any] = {}
        self.frame: tuple[dict[str, Any], dict[str, Any]] | None = None
        self.told: list[dict[str, Any]] = []
        self.frames = 0
        self._number = 0
        self.welcome = self.read("welcome")

    def send(self, type: str, **keys: Any) -> None:
        self.socket.send(json.dumps({"type": type, **keys}))

    def read(self, type: str | None = None) -> Any:
        """Next message, or the next of that type; frames are acknowledged."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            received = self.socket.recv(timeout=SECONDS)
            if isinstance(received, bytes):
                self.frame = disassemble(received)
                FRAME_HEADER.validate_python(self.frame[0])
                self.frames += 1
                self.send("ack", frame=self.frame[0]["frame"])
                if type in (None, "frame"):
                    return self.frame
                continue
            message = json.loads(received)
            SERVER_MESSAGE.validate_json(received)
            if message["type"] == "state":
                self.state = message
            elif message["type"] == "finish":
                self.finish = message
            elif message["type"] in ("notice", "error") and message.get("id") is None:
                self.told.append(message)
            if type in (None, message["type"]):
                return message
        raise TimeoutError(f"no {type} came")

    def ask(self, type: str, **keys: Any) -> dict[str, Any]:
        """Send a message and wait for its answer."""
        self._number += 1
        self.send(type, id=self._number, **keys)
        while True:
            message = self.read()
            if isinstance(message, dict) and message.get("id") == self._number:
                return message

    def do(self, type: str, **keys: Any) -> None:
        answer = self.ask(type, **keys)
        assert answer["type"] == "done", answer

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a state."""
        end = time.monotonic() + SECONDS
        while not (self.state and holds(self.state)):
            assert time.monotonic() < end, f"the state stayed {self.state}"
            self.read("state")
        return self.state

    def steps(self, count: int) -> None:
        """Advance and wait until it is done."""
        target = self.until(lambda state: not state["playing"])["step"] + count
        self.do("step", count=count)
        self.until(lambda state: state["step"] == target and not state["playing"])

    def shown(self, step: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The frame of a step, which may have come already."""
        while self.frame is None or self.frame[0]["step"] != step:
            self.read("frame")
        return self.frame

    def get(self, path: str, **options: Any) -> httpx.Response:
        headers = {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"} | options.pop("headers", {})
        return httpx.get(self.address + path, headers=headers, timeout=SECONDS, **options)

    def post(self, path: str, content: Any, **options: Any) -> httpx.Response:
        headers = {"Cookie": self.cookie, "Origin": self.address} | options.pop("headers", {})
        answer = httpx.post(self.address + path, content=content, headers=headers, timeout=SECONDS, **options)
        if answer.headers.get("content-type") == "application/json":
            (PROBLEM if "message" in answer.json() else UPLOADED).validate_json(answer.content)
        return answer

    def close(self) -> None:
        self._open.close()


def cookie_of(server_url: str) -> str:
    """Exchange the key for the cookie, as a browser does when the user opens the address."""
    answer = httpx.get(server_url, headers={"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, timeout=SECONDS)
    assert answer.status_code == 303
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.fixture(autouse=True)
def own_secret(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave the user's own files alone, and the secret is in no folder of theirs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def replay(tmp_path: Path) -> Callable[[str], sw.Terrain]:
    """Runs a script in its own process and reads what it wrote."""

    def run(script: str) -> sw.Terrain:
        (tmp_path / "session.py").write_text(script)
        here = {**os.environ, "PYTHONPATH": str(Path(sw.__file__).parents[1])}
        command = [sys.executable, "session.py"]
        done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return sw.read(tmp_path / "session.npz")

    return run


@pytest.fixture
def server() -> Iterator[StudioServer]:
    recipe = first_recipe(preset="single_grid", size=48, extent=480.0, seed=3, backend="reference")
    with StudioServer(recipe, port=0, upload_limit=4 * 2**20) as running:
        yield running


@pytest.fixture
def open_page() -> Iterator[Callable[[StudioServer], Page]]:
    """Opens pages, which are closed at the end."""
    opened: list[Page] = []

    def open_one(server: StudioServer) -> Page:
        opened.append(Page(server.address, cookie_of(server.url)))
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()


@pytest.fixture
def page(server: StudioServer, open_page: Callable[[StudioServer], Page]) -> Page:
    return open_page(server)
