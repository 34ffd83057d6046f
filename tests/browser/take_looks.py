"""Takes the pictures of landscapes in docs/studio.md: python tests/browser/take_looks.py [NAME ...].

Slow without a GPU.
`--keep FOLDER` keeps the eroded runs there, so that the next pictures of them need no erosion.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

import slopewash as sw

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 350_000
"""Bytes a picture may take."""
LONG = 1_800_000
"""Milliseconds that eroding and drawing may take on a busy machine."""
SIDE = 512
"""Cells per side of the landscapes."""


@dataclass(frozen=True)
class Inside:
    """Where to look from: shares of the sides, metres above ground or water, degrees."""

    at: tuple[float, float]
    above: float
    heading: float
    pitch: float
    look: dict[str, Any] = field(default_factory=dict)
    """What differs from the view from outside, such as the sun where that would be against the light."""


@dataclass(frozen=True)
class Landscape:
    """One recipe, and how it is shown."""

    recipe: str
    inside: Inside
    country: str = "alpine"
    look: dict[str, Any] = field(default_factory=dict)


LANDSCAPES = {
    "alps": Landscape("alpine", Inside((0.904, 0.888), 60.0, 357.0, 3.0), look={"snowLine": 0.7}),
    "fjords": Landscape("fjords", Inside((0.5, 0.8), 120.0, 350.0, -7.0, {"fog": 0.14}), look={"snowLine": 0.625}),
    "mesas": Landscape("mesas", Inside((0.616, 0.755), 40.0, 32.0, 3.0), "desert", {"snow": False, "water": False}),
    "desert": Landscape(
        "desert_wash",
        Inside((0.64, 0.065), 40.0, 207.0, 0.0, {"sunAzimuth": 262.0, "sunElevation": 24.0}),
        "desert",
        {"snow": False, "water": False},
    ),
    "winter": Landscape(
        "winter_range", Inside((0.178, 0.947), 120.0, 330.0, 0.0), "winter", {"snowLine": 0.07, "water": False}
    ),
    "dome": Landscape("landscape", Inside((0.335, 0.281), 55.0, 146.0, 1.0)),
}

# Puts the eye over a place of the terrain, with the light that suits it.
STAND = """
({ at, above, heading, pitch, look }) => {
  const { stage } = studio, { ground, cameras } = stage;
  const side = (cells) => cells * ground.cellSize * ground.worldScale;
  const [x, z] = [(at[0] - 0.5) * side(ground.elevation.columns), (at[1] - 0.5) * side(ground.elevation.rows)];
  const surface = cameras.rig.lowest(x, z);
  const eye = [x, surface + above * ground.worldScale, z];
  cameras.restore({ pose: { eye, heading, pitch, walking: null }, plan: false, plan_view: [0, 0, 1] });
  Object.assign(stage.look, look);
  stage.lookChanged("sunAzimuth" in look);
}
"""
# Leaves the terrain alone in the window and shows all of it as a country in a quality. Every picture is drawn once
# and in full, and water only where there is some: without a GPU, that saves most of the time.
SHOW = """
({ look, country, quality }) => {
  const { stage, store } = studio;
  Object.assign(stage.look, look);
  stage.setTier(quality);
  Object.assign(stage.quality, { movingScale: 1, cullDryWater: true });
  stage.setCountry(country, store.welcome.palettes[country]);
  document.body.classList.add("bare");
  document.querySelector(".corner").hidden = true;
  document.querySelector(".messages").style.display = "none";
  stage.covered = { right: 0, bottom: 0 };
  stage.cameras.bars = { left: 30, right: 30, top: 30, bottom: 30 };
  stage.resize();
  stage.frameWholeBlock();
}
"""


def main() -> None:
    """Take all pictures, or those of the landscapes named on the command line."""
    # Here and not above: pytest looks for doctests in every file, also where this is not installed.
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(LANDSCAPES), help="of the landscapes")
    parser.add_argument("--keep", type=Path, help="folder for eroded runs")
    parser.add_argument("--only", choices=("outside", "inside"), help="only the views from there")
    parser.add_argument("--quality", default="high", help="low, medium or high")
    parser.add_argument("--size", default="1600x900", help="of the pictures, in pixels")
    options = parser.parse_args()
    wide, high = map(int, options.size.split("x"))
    helpers = _helpers()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=helpers.FLAGS)
        for name in options.names:
            with _eroded(LANDSCAPES[name], options.keep) as server:
                page = chromium.new_context(viewport={"width": wide, "height": high}, bypass_csp=True).new_page()
                studio = helpers.Studio(page, server)
                page.set_default_timeout(LONG)
                studio.open(server.url)
                _take(studio, name, options.quality, options.only)
                page.context.close()
        chromium.close()


@contextmanager
def _eroded(landscape: Landscape, kept: Path | None) -> Iterator[Any]:
    """A server whose run is complete."""
    from slopewash.studio import messages
    from slopewash.studio.keeping import Keeper
    from slopewash.studio.server import StudioServer

    with tempfile.TemporaryDirectory() as temporary:
        keeper = Keeper((kept or Path(temporary)) / landscape.recipe)
        recipe = None if keeper.has_run else sw.recipe(landscape.recipe, size=SIDE)
        try:
            with StudioServer(recipe, port=0, keeper=keeper) as server:
                session = server.session
                steps = session.submit(session.state).result(LONG)["usual_steps"]

                def step() -> int:
                    return int(session.submit(session.state).result(LONG)["step"])

                if step() < steps:  # also of a run that was interrupted
                    session.execute(messages.RunTo(type="run_to", step=steps)).result(LONG)
                while step() < steps:
                    time.sleep(0.5)
                yield server
        finally:
            keeper.close()


def _take(studio: Any, name: str, quality: str, only: str | None) -> None:
    page, landscape = studio.page, LANDSCAPES[name]
    page.evaluate("studio.pace.fixed = true; studio.stage.quality.movingScale = 0.05")
    studio.wait("studio.store.state.step === studio.store.state.usual_steps && !studio.store.state.playing")
    studio.settle_picture()
    show = {"look": landscape.look, "country": landscape.country, "quality": quality}
    stand = asdict(landscape.inside)
    if only == "inside":  # without an image of all of it
        page.evaluate(f"([show, stand]) => {{ ({SHOW.strip()})(show); ({STAND.strip()})(stand); }}", [show, stand])
    else:
        page.evaluate(SHOW, show)
        _keep(studio, f"studio-{name}-outside")
        if only == "outside":
            return
        page.evaluate(STAND, stand)
    _keep(studio, f"studio-{name}-inside")


def _keep(studio: Any, name: str) -> None:
    studio.settle_picture()
    shot = Image.open(io.BytesIO(studio.page.locator("#picture").screenshot(timeout=LONG))).convert("RGB")
    for quality in range(88, 50, -6):
        data = io.BytesIO()
        shot.save(data, "JPEG", quality=quality, optimize=True, progressive=True)
        if data.tell() <= LARGEST:
            break
    assert data.tell() <= LARGEST, f"{name} takes {data.tell()} bytes"
    assert studio.complaints == [], studio.complaints
    (FOLDER / f"{name}.jpg").write_bytes(data.getvalue())
    print(f"{name}.jpg: {data.tell()} bytes", flush=True)


def _helpers() -> Any:
    """The helpers of the browser tests; conftest.py cannot be imported by name."""
    spec = importlib.util.spec_from_file_location("browser_helpers", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PATIENCE = LONG  # type: ignore[attr-defined]
    return module


if __name__ == "__main__":
    main()
