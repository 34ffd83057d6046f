"""A lost connection, the page's own policy, browsers that cannot draw, small screens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """The studio as a user starts it, in a process that can be killed."""

    def __init__(self, state_folder: Path) -> None:
        self.port = free_port()
        source = Path(sys.modules["slopewash"].__file__ or "").parents[1]
        self.environment = os.environ | {"PYTHONPATH": str(source), "XDG_STATE_HOME": str(state_folder)}
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self, *words: str) -> None:
        command = [sys.executable, "-m", "slopewash", "studio", "--no-browser", "--port", str(self.port),
                   *(words or ("--size", "64", "--backend", "reference"))]  # fmt: skip
        self.process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            line = self.process.stdout.readline()
            if "http://" in line:
                self.url = line[line.index("http://") :].strip()
                return
            assert line or self.process.poll() is None, "the server ended before it was ready"
        raise AssertionError("the server did not print its address")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@pytest.fixture
def server(state_folder: Path) -> Iterator[Server]:
    made = Server(state_folder)
    try:
        made.start()
        yield made
    finally:
        made.kill()


def test_a_page_goes_on_after_its_server_was_killed_and_started_again(
    open_page: Callable[..., Any], server: Server
) -> None:
    studio = open_page()
    studio.open(server.url)
    studio.ask(type="step", count=3)
    studio.wait("studio.store.state.step === 3")
    server.kill()
    banner = studio.page.locator(".banner")
    banner.wait_for(state="visible")
    assert "connection" in banner.inner_text()
    server.start()
    banner.wait_for(state="hidden")
    studio.page.locator(".message", has_text="the server was restarted").wait_for()
    studio.wait("studio.store.state.step === 0")  # a new server begins anew
    studio.click("step-one")
    studio.wait("studio.store.state.step === 1 && studio.stage.frame.header.step === 1")
    # The browser itself notes each try that found no server; the page adds nothing.
    assert all("ERR_CONNECTION_REFUSED" in text or "WebSocket connection" in text for text in studio.complaints)


def test_a_page_continues_its_run_when_the_server_does(
    open_page: Callable[..., Any], server: Server, state_folder: Path
) -> None:
    studio = open_page()
    studio.open(server.url)
    studio.ask(type="step", count=3)
    studio.wait("studio.store.state.step === 3 && !studio.store.state.playing")
    kept = state_folder / "slopewash" / "studio"
    deadline = time.monotonic() + 60
    while (sw.newest_manifest(kept) or {"step": 0})["step"] != 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.kill()
    studio.page.locator(".banner").wait_for(state="visible")
    server.start("--backend", "reference")
    studio.page.locator(".message", has_text="continues the run as it was last saved").wait_for()
    studio.wait("studio.store.state.step === 3")
    studio.click("step-one")
    studio.wait("studio.store.state.step === 4 && studio.stage.frame.header.step === 4")


def test_a_page_stays_connected_when_only_the_run_crashes(open_page: Callable[..., Any], server: Server) -> None:
    studio = open_page()
    studio.open(server.url)
    studio.click("step-one")
    studio.wait("studio.store.state.step === 1 && !studio.store.state.playing")
    assert server.process is not None
    pid = server.process.pid
    (run,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(int(run), signal.SIGKILL)
    studio.page.locator(".message", has_text="The process of the run ended (signal SIGKILL)").wait_for()
    before = studio.page.evaluate("studio.store.state.step")
    studio.click("step-one")
    studio.wait("step => studio.store.state.step === step && studio.stage.frame.header.step === step", before + 1)
    assert not studio.page.locator(".banner").is_visible()  # it never lost its connection
    assert studio.complaints == []


def test_the_page_runs_under_the_servers_own_policy(open_page: Callable[..., Any], studio: Any) -> None:
    other = open_page(bypass_csp=False)
    other.page.goto(studio.server.url)
    other.page.locator("[data-role=step-one]").click()
    other.page.locator("[data-role=step]", has_text="1").wait_for()
    other.page.locator("[data-tool=raise]").click()
    other.page.locator("[aria-label='Tool settings']").wait_for()
    assert other.complaints == []


def test_without_webgl2_the_page_says_what_to_do(open_page: Callable[..., Any], shared_studio: Any) -> None:
    page = open_page().page
    page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest) }"
    )
    page.goto(shared_studio.server.url)
    message = page.locator("[role=alert]", has_text="WebGL2")
    message.wait_for()
    assert "Chromium" in message.inner_text()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (820, 1180)])
def test_controls_fit_the_screen(open_page: Callable[..., Any], shared_studio: Any, width: int, height: int) -> None:
    studio = open_page(width, height, has_touch=width < 1000)
    studio.open(shared_studio.server.url)
    for part in (".panel", ".tools", ".transport", ".corner"):
        box = studio.page.locator(part).bounding_box()
        assert box["x"] >= 0, part
        assert box["y"] >= 0, part
        assert box["x"] + box["width"] <= width, part
        assert box["y"] + box["height"] <= height, part
    boxes = [studio.page.locator(part).bounding_box() for part in (".panel", ".transport")]
    apart = boxes[0]["x"] >= boxes[1]["x"] + boxes[1]["width"] or boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    assert apart


def test_the_camera_stays_for_the_same_terrain_and_follows_another(studio: Any) -> None:
    studio.page.keyboard.press("f")
    eye = "studio.stage.cameras.current.position.toArray()"
    studio.page.mouse.move(300, 250)
    studio.page.mouse.wheel(0, -300)
    studio.wait("!studio.stage.cameras.isFramed")
    studio.settle_picture()
    moved = studio.page.evaluate(eye)
    for generator, stays in (({"seed": 11}, True), ({"relief": 900.0}, False)):
        run = studio.page.evaluate("studio.store.state.run")
        studio.ask(type="start", generator=generator)
        studio.wait("run => studio.stage.frame.header.run !== run", run)
        assert (studio.page.evaluate(eye) == pytest.approx(moved, abs=0.02)) is stays


def test_two_pages_watch_one_simulation(open_page: Callable[..., Any], studio: Any) -> None:
    second = open_page(500, 400)
    second.open(studio.server.url)
    studio.ask(type="step", count=2)
    second.wait("studio.store.state.step === 2 && studio.stage.frame.header.step === 2")
