"""Takes the pictures of the studio in docs/pictures: python tests/browser/take_pictures.py. Slow without a GPU."""

from __future__ import annotations

import importlib.util
import io
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 600_000
"""Bytes a picture may take."""
ACCENTS = ((255, 192, 77), (86, 180, 245), (255, 210, 63), (216, 134, 45), (255, 255, 255))
"""Colours of changed values, of what is chosen, of the brush, and of marks and their rims."""
LONG = 1_800_000
"""Milliseconds that eroding and drawing may take on a busy machine."""


def main() -> None:
    """Take all pictures, or those named on the command line."""
    # Here and not above: pytest looks for doctests in every file, also where these are not installed.
    from playwright.sync_api import sync_playwright

    from slopewash.studio.recipes import first_recipe
    from slopewash.studio.server import StudioServer

    helpers = _helpers()
    with StudioServer(first_recipe(size=512, levels=True), port=0) as server, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=helpers.FLAGS)
        page = chromium.new_context(viewport={"width": 1280, "height": 720}, bypass_csp=True).new_page()
        studio = helpers.Studio(page, server)
        page.set_default_timeout(LONG)
        studio.open(server.url)
        page.evaluate("studio.pace.fixed = true")  # pictures may take their time
        for name, prepare in PICTURES.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            prepare(studio)
            _keep(studio, name)
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


def _run(studio: Any, steps: int, **start: Any) -> None:
    # A tiny picture while it runs: all the time goes to the simulation.
    studio.page.evaluate("studio.stage.setTier('low'); studio.stage.quality.movingScale = 0.05")
    studio.ask(type="start", **start)
    studio.ask(type="run_to", step=steps)
    studio.wait("n => studio.store.state.step === n && !studio.store.state.playing", steps)
    _show_all(studio)


def _show_all(studio: Any, tier: str = "medium") -> None:
    studio.page.evaluate("tier => { studio.stage.quality.movingScale = 0.5; studio.stage.setTier(tier); }", tier)
    studio.page.click("button[aria-label^='Frame all']")


def _landscape(studio: Any) -> None:
    """What a new user sees: the first recipe, played to its end."""
    studio.page.evaluate("studio.stage.quality.movingScale = 0.05")
    studio.ask(type="run_to", step=studio.state()["usual_steps"])
    studio.wait("studio.store.state.step === studio.store.state.usual_steps && !studio.store.state.playing")
    studio.wait("studio.stage.landscape.rivers !== null")
    _show_all(studio, "high")


def _brush(studio: Any) -> None:
    _run(studio, 500, preset="single_grid", generator={"kind": "diamond_square", "size": 512, "seed": 7})
    studio.tab("budget")
    studio.take_tool("add_water")
    studio.page.mouse.move(500, 300)


def _overlay(studio: Any) -> None:
    studio.take_tool("look")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "difference")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'difference'")


def _strata(studio: Any) -> None:
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "")
    start = {"kind": "noisy_cylinder", "size": 128, "options": {"noise": 0.01}}
    _run(studio, 60, preset="chiba_strata", generator=start)
    studio.tab("start")
    # Turn the block: its strata come to light on the western wall.
    studio.page.mouse.move(500, 350)
    studio.page.mouse.down()
    studio.page.mouse.move(560, 350, steps=3)
    studio.page.mouse.up()
    studio.page.mouse.wheel(0, 300)


def _mesh(studio: Any) -> None:
    start = {"kind": "dome", "size": 129, "cell_size": 10.0}
    _run(studio, 400, preset="bezin2010", generator=start, parameters={"triangles": 12000})
    studio.tab("model")


def _side_by_side(studio: Any) -> None:
    """Four models on one dome, each to the end of its preset."""
    _run(studio, 1, preset="landscape", levels=False, generator={"kind": "dome", "size": 512, "seed": 7})
    studio.tab("model")
    studio.ask(type="side_by_side", panes=4)
    studio.page.evaluate("studio.stage.setTier('low'); studio.stage.quality.movingScale = 0.05")
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


def _keep(studio: Any, name: str) -> None:
    studio.settle_picture()
    picture = Image.open(io.BytesIO(studio.page.screenshot(timeout=LONG))).convert("RGB")
    data = io.BytesIO()
    _in_few_colours(picture).save(data, "PNG", optimize=True)
    assert data.tell() < LARGEST, f"{name} takes {data.tell()} bytes"
    (FOLDER / f"{name}.png").write_bytes(data.getvalue())
    print(f"{name}.png: {data.tell()} bytes", flush=True)


def _in_few_colours(picture: Image.Image) -> Image.Image:
    """256 colours: most of them the picture's own, dithered, and a few that only panels use, kept as they are."""
    most = 256 - len(ACCENTS)
    own = picture.quantize(most, kmeans=4)
    few = picture.quantize(palette=own, dither=Image.Dither.FLOYDSTEINBERG)  # Pillow dithers only to a given palette
    index, exact = np.array(few), np.asarray(picture).astype(int)
    palette = (few.getpalette() or [])[: 3 * most]
    for number, accent in enumerate(ACCENTS, start=most):
        index[np.abs(exact - accent).sum(axis=-1) < 40] = number
        palette += accent
    result = Image.fromarray(index, "P")
    result.putpalette(palette)
    return result


if __name__ == "__main__":
    main()
