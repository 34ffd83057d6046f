"""A real server and a real browser: Debian's Chromium with software rendering, steered by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import numpy as np
import pytest

from slopewash.errors import SlopewashError

FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
SIZE = 128
"""Cells per side: small enough for the reference backend, which compiles nothing, to step many times a second."""
WIDTH, HEIGHT, SCALE = 1280, 720, 0.5
"""The window, and pixels per unit of it: half as many as usual make a quarter of the work without a GPU."""
LEAN = {
    "mesh": 65, "light": 64, "shadowSteps": 6, "skyDirections": 2, "pixelRatio": 0.25, "surroundings": 9,
    "flowSamples": 1,
}  # fmt: skip
"""How coarsely tests draw that do not look at the picture: without a GPU, drawing is most of what they cost."""
LOOKED_AT = {"mesh": 129, "light": 192}
"""The same for tests that do: every pixel, and no more vertices and shadows than a terrain of this size shows."""
PATIENCE = 120_000
"""Milliseconds before a wait fails: software rendering shares few cores with the simulation and other tests."""


def missing(what: str) -> NoReturn:
    """Skip here, but fail where everything is meant to be installed."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from slopewash.studio import built_page
    except SlopewashError as error:
        missing(str(error))
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        missing("the studio's page is tested in Chromium, which is not on PATH: apt-get install chromium")
    if not built_page.is_built():
        missing(built_page.HOW_TO_BUILD)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the studio's page is tested with Playwright: pip install playwright")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        yield launched
        launched.close()


class Studio:
    """A page on a server of its own process or thread, and what tests ask of both."""

    def __init__(self, page: Any, server: Any, *, lean: bool = False) -> None:
        self.page, self._lean = page, lean
        self.server = server
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._take_request)

    def _take_request(self, request: Any) -> None:
        """Complain of whatever leaves this machine."""
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in ("127.0.0.1", "localhost"):
            self.complaints.append(f"the page asked for {request.url}")

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.wait("window.studio && studio.stage.drawn > 0 && studio.store.state")
        if self._lean:
            self.draw(**LEAN)

    def draw(self, **quality: Any) -> None:
        """Draw with another quality than that of the page; with nothing named, as the page does."""
        self.page.evaluate(
            """quality => {
              const { stage } = studio;
              const usual = (window.usualQualities ??= {});
              usual[stage.tier] ??= { ...stage.quality };
              Object.assign(stage.quality, usual[stage.tier], quality);
              stage.setTier(stage.tier);
            }""",
            quality,
        )

    def wait(self, condition: str, argument: Any = None) -> None:
        """Wait until JavaScript holds in the page."""
        self.page.wait_for_function(condition, arg=argument, timeout=PATIENCE, polling=50)

    def promised(self, script: str, argument: Any = None) -> Any:
        """What a promise brings that a function of JavaScript returns; `evaluate` would wait for it for ever."""
        late = f"new Promise((_, fail) => setTimeout(() => fail(new Error('not kept in {PATIENCE} ms')), {PATIENCE}))"
        return self.page.evaluate(f"(given) => Promise.race([({script})(given), {late}])", argument)

    def ask(self, **message: Any) -> None:
        """Send a message as the page would, and wait for the answer and for a state that is not busy."""
        self.promised("message => studio.connection.ask(message)", message)
        self.wait("studio.store.state.busy === null")

    def state(self) -> dict[str, Any]:
        """What the server itself says."""
        session = self.server.session
        return session.submit(session.state).result(timeout=60)

    def layer(self, name: str) -> np.ndarray:
        """A layer of the terrain on the server."""
        session = self.server.session
        terrain = session.submit(session.terrain).result(timeout=60)
        return np.array(terrain[name])

    def click(self, role: str) -> None:
        self.page.click(f"[data-role={role}]")

    def tab(self, name: str) -> None:
        self.page.click(f"#tab-{name}")

    def step(self) -> int:
        return int(self.page.inner_text("[data-role=step]"))

    def take_tool(self, name: str) -> None:
        self.page.click(f"[data-tool={name}]")

    def place_on_screen(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the terrain appears, with the newest frame drawn."""
        self.settle_picture()
        at = self.page.evaluate("([x, y]) => studio.stage.screenPlace(x, y)", [x, y])
        return at["left"], at["top"]

    def settle_picture(self) -> None:
        """Wait until the newest state of the run is drawn in full."""
        self.wait(
            "studio.stage.frame && studio.stage.frame.header.run === studio.store.state.run"
            " && studio.stage.frame.header.step === studio.store.state.step"
            " && studio.stage.isAtRest"
        )

    def picture(self) -> np.ndarray:
        """The canvas alone as it is shown, red, green and blue."""
        import io

        from PIL import Image

        self.settle_picture()
        self.page.evaluate("document.body.classList.add('bare')")
        shot = self.page.locator("#picture").screenshot(timeout=PATIENCE)
        self.page.evaluate("document.body.classList.remove('bare')")
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(float)

    def download(self, action: Callable[[], None], folder: Path) -> Path:
        with self.page.expect_download(timeout=PATIENCE) as started:
            action()
        file = folder / started.value.suggested_filename
        started.value.save_as(file)
        return file


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Studio]]:
    """Open further pages, each with cookies of its own."""
    contexts = []

    def open_page(width: int = 800, height: int = 500, **options: Any) -> Studio:
        context = browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SCALE, **{"bypass_csp": True, **options}
        )
        contexts.append(context)
        return Studio(context.new_page(), None, lean=True)

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def shared_studio(browser: Any, state_folder: Path) -> Iterator[Studio]:
    """One server and one page for most tests: loading the page compiles shaders, which is slow without a GPU."""
    from slopewash.studio.recipes import first_recipe
    from slopewash.studio.server import StudioServer

    previous = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(state_folder)
    try:
        with StudioServer(first_recipe(size=SIZE, extent=10.0 * SIZE, seed=7, backend="reference"), port=0) as server:
            # Playwright's waits evaluate strings, which the page's own policy rightly forbids.
            context = browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE, bypass_csp=True
            )
            studio = Studio(context.new_page(), server, lean=True)
            studio.open(server.url)
            yield studio
            context.close()
    finally:
        if previous is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = previous


@pytest.fixture
def in_every_pixel(shared_studio: Studio) -> Iterator[None]:
    """Let the shared page draw all pixels, with the shaders and the light that users see."""
    shared_studio.draw(**LOOKED_AT)
    yield
    shared_studio.draw(**LEAN)


@pytest.fixture
def studio(shared_studio: Studio) -> Iterator[Studio]:
    """The shared studio at the start of a fresh run; a test that leaves complaints in the console fails."""
    shared_studio.complaints.clear()
    shared_studio.ask(type="pause")
    start = {"kind": "dome", "size": SIZE, "cell_size": 10.0, "seed": 7, "relief": None}
    shared_studio.ask(type="start", preset="single_grid", backend="reference", generator=start)
    shared_studio.page.keyboard.press("Escape")
    shared_studio.take_tool("look")
    yield shared_studio
    assert shared_studio.complaints == []
