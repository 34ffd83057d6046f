"""Takes the pictures of the studio in docs/pictures: python tests/browser/take_pictures.py [NAME ...].

Slow without a GPU.
`--keep FOLDER` begins with the complete run that `take_looks.py --keep FOLDER` has left there, if any.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 1_000_000
"""Bytes a picture may take."""
LONG = 1_800_000
"""Milliseconds that eroding and drawing may take on a busy machine."""


def main() -> None:
    """Take all pictures, or those named on the command line."""
    # Here and not above: pytest looks for doctests in every file, also where these are not installed.
    from playwright.sync_api import sync_playwright

    from slopewash.studio.keeping import Keeper
    from slopewash.studio.recipes import first_recipe
    from slopewash.studio.server import StudioServer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PICTURES), help="of the pictures")
    parser.add_argument("--keep", type=Path, help="folder with eroded runs")
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder for the pictures")
    parser.add_argument("--draft", action="store_true", help="draw in low quality, to see how they are framed")
    options = parser.parse_args()
    helpers = _helpers()
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        kept = options.keep and options.keep / "landscape"
        if kept and kept.exists():
            shutil.copytree(kept, temporary, dirs_exist_ok=True)  # the other pictures begin runs of their own
        keeper = Keeper(Path(temporary))
        stack.callback(keeper.close)
        recipe = None if keeper.has_run else first_recipe(size=512, levels=True)
        server = stack.enter_context(StudioServer(recipe, port=0, keeper=keeper))
        playwright = stack.enter_context(sync_playwright())
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=helpers.FLAGS)
        page = chromium.new_context(viewport={"width": 1280, "height": 720}, bypass_csp=True).new_page()
        studio = helpers.Studio(page, server)
        page.set_default_timeout(LONG)
        studio.open(server.url)
        page.evaluate("studio.pace.fixed = true")  # pictures may take their time
        if options.draft:
            page.evaluate("const { stage } = studio, set = stage.setTier; stage.setTier = () => set.call(stage, 'low')")
        for name, prepare in PICTURES.items():
            if name in options.names:
                prepare(studio)
                _keep(studio, name, options.to)
        chromium.close()


def _helpers() -> Any:
    """The helpers of the browser tests; conftest.py cannot be imported by name."""
    spec = importlib.util.spec_from_file_location("browser_helpers", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PATIENCE = LONG  # type: ignore[attr-defined]
    return module


def _draw_nothing(studio: Any) -> None:
    """No picture while it runs: all the time goes to the simulation."""
    studio.page.evaluate("studio.stage.request = () => {}")


def _run(studio: Any, steps: int, tier: str = "medium", **start: Any) -> None:
    _draw_nothing(studio)
    studio.ask(type="start", **start)
    _play(studio, steps)
    _show_all(studio, tier)


def _play(studio: Any, steps: int) -> None:
    studio.ask(type="run_to", step=steps)
    studio.wait("n => studio.store.state.step === n && !studio.store.state.playing", steps)


def _show_all(studio: Any, tier: str = "medium") -> None:
    studio.page.evaluate("delete studio.stage.request; studio.stage.setTier('low')")
    studio.settle_picture()  # the block to frame is that of the newest frame
    studio.page.click("button[aria-label^='Frame all']")
    studio.page.evaluate("document.querySelector('.messages').replaceChildren()")
    studio.page.evaluate("tier => { studio.stage.quality.movingScale = 1; studio.stage.setTier(tier); }", tier)


def _landscape(studio: Any) -> None:
    """The first recipe, or the same one on another dome if a kept run is given, played to its end."""
    _draw_nothing(studio)
    if studio.state()["step"] < studio.state()["usual_steps"]:
        _play(studio, studio.state()["usual_steps"])
    _show_all(studio, "high")
    studio.wait("studio.stage.landscape.rivers !== null")


def _brush(studio: Any) -> None:
    """Water poured into the deepest lake of the middle, and spread since."""
    _run(studio, 500, "low", preset="single_grid", generator={"kind": "diamond_square", "size": 512, "seed": 7})
    studio.tab("budget")
    water = studio.layer("water")
    middle = slice(160, 352)
    row, column = np.unravel_index(water[middle, middle].argmax(), (192, 192))
    size = studio.state()["cell_size"]
    at = studio.place_on_screen((column + 160.5) * size, (row + 160.5) * size)
    studio.take_tool("add_water")
    studio.page.mouse.move(*at)
    studio.page.mouse.down()
    studio.page.mouse.up()
    _draw_nothing(studio)
    _play(studio, 560)
    _show_all(studio)
    studio.page.mouse.move(*at)


def _overlay(studio: Any) -> None:
    studio.take_tool("look")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "difference")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'difference'")


def _strata(studio: Any) -> None:
    _draw_nothing(studio)
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "")
    studio.page.select_option("select[aria-label='Country']", "desert")
    studio.page.set_checked("input[aria-label='Snow']", False)
    _run(studio, 100, "high", preset="chiba_strata", generator={"kind": "scarp", "size": 192})
    studio.tab("start")


def _mesh(studio: Any) -> None:
    """Two streams in the channels that they have cut down a mountain's flank."""
    _draw_nothing(studio)
    studio.tab("view")
    studio.page.select_option("select[aria-label='Country']", "alpine")
    studio.page.set_checked("input[aria-label='Snow']", False)  # particles are as bright
    studio.ask(
        type="start",
        preset="bezin2010",
        generator={"kind": "dome", "size": 129, "cell_size": 10.0},
        parameters={"triangles": 12000},
    )
    places = [(560.0, 760.0), (500.0, 640.0)]
    streams = [{"x": x, "y": y, "radius": 25.0, "rate": 12.0, "speed": 1.0, "direction": 215.0} for x, y in places]
    studio.ask(type="emitters", emitters=streams)
    _play(studio, 6000)
    _show_all(studio, "high")
    studio.tab("model")


def _side_by_side(studio: Any) -> None:
    """Four models on one dome, each to the end of its preset."""
    _draw_nothing(studio)
    studio.tab("view")
    studio.page.set_checked("input[aria-label='Snow']", True)
    _run(studio, 1, preset="landscape", levels=False, generator={"kind": "dome", "size": 512, "seed": 7})
    studio.tab("model")
    studio.ask(type="side_by_side", panes=4)
    studio.ask(type="play")
    studio.wait("studio.stage.isSideBySide && studio.store.state.step > 0 && !studio.store.state.playing")
    _show_all(studio)
    studio.wait("studio.stage.landscapes.every(l => l.frame?.header.frame === studio.stage.frame.header.frame)")


PICTURES = {
    "studio": _landscape,
    "studio-lakes": _brush,
    "studio-difference": _overlay,
    "studio-strata": _strata,
    "studio-mesh": _mesh,
    "studio-side-by-side": _side_by_side,
}


def _keep(studio: Any, name: str, folder: Path) -> None:
    studio.settle_picture()
    picture = Image.open(io.BytesIO(studio.page.screenshot(timeout=LONG))).convert("RGB")
    data = _as_png(picture)
    assert len(data) < LARGEST, f"{name} takes {len(data)} bytes"
    (folder / f"{name}.png").write_bytes(data)
    print(f"{name}.png: {len(data)} bytes", flush=True)


def _as_png(picture: Image.Image) -> bytes:
    """In all its colours, or without the last bit of them, or the last two, where that is what it takes to be small."""
    for dropped in range(3):
        data = io.BytesIO()
        picture.point([value >> dropped << dropped for value in range(256)] * 3).save(data, "PNG", optimize=True)
        if data.tell() < LARGEST:
            break
    return data.getvalue()


if __name__ == "__main__":
    main()
