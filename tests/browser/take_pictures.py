"""Takes the pictures of the studio in docs/pictures: python tests/browser/take_pictures.py [NAME ...].

Slow without a GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import slopewash as sw

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 1_000_000
"""Bytes a picture may take."""
LONG = 1_800_000
"""Milliseconds that eroding and drawing may take on a busy machine."""
OUTSIDE = (880, 600)
"""A place in the window beside the terrain and all panels."""
# Thumbnails load when they come near to the window.
IMAGES_ARE_THERE = """
() => [...document.images].every((image) => {
  const { top, bottom, width } = image.getBoundingClientRect();
  return !width || bottom < 0 || top > innerHeight || (image.complete && image.naturalWidth > 0);
})
"""


def main() -> None:
    """Take all pictures, or those named on the command line."""
    # Here and not above: pytest looks for doctests in every file, also where these are not installed.
    from playwright.sync_api import sync_playwright

    from slopewash.studio.recipes import first_recipe
    from slopewash.studio.server import StudioServer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PICTURES), help="of the pictures")
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder for the pictures")
    parser.add_argument("--draft", action="store_true", help="draw in low quality, to see how they are framed")
    options = parser.parse_args()
    helpers = _helpers()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=helpers.FLAGS)
        for name in options.names:
            recipe = _canyon() if name == "studio-mesh" else first_recipe(size=512, levels=True)
            with StudioServer(recipe, port=0) as server:
                page = chromium.new_context(viewport={"width": 1280, "height": 720}, bypass_csp=True).new_page()
                studio = helpers.Studio(page, server)
                page.set_default_timeout(LONG)
                studio.open(server.url)
                page.evaluate("studio.pace.fixed = true")  # pictures may take their time
                _draw_nothing(studio)
                PICTURES[name](studio)
                _show(studio, "low" if options.draft else "high")
                _keep(studio, name, options.to)
                page.context.close()
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


def _draw_again(studio: Any) -> None:
    studio.page.evaluate("delete studio.stage.request; studio.setTier('low')")
    studio.settle_picture()


def _show(studio: Any, tier: str) -> None:
    """Nothing but the page in its rest, with every thumbnail that is in sight."""
    studio.page.evaluate(
        "tier => { delete studio.stage.request; studio.stage.quality.movingScale = 1; studio.setTier(tier); }",
        tier,
    )
    studio.settle_picture()
    studio.page.evaluate("document.querySelector('.messages').replaceChildren()")
    studio.page.evaluate("document.activeElement.blur()")
    studio.wait(IMAGES_ARE_THERE)


def _landscape(studio: Any, name: str) -> None:
    """A named landscape at its end, chosen by its thumbnail."""
    studio.tab("start")
    studio.page.click(f"[aria-label=Landscapes] [data-choice={name}]")
    studio.wait("name => document.querySelector(`[data-choice=${name}]`).ariaPressed === 'true'", name)
    studio.wait("studio.store.state.busy === null")
    _play(studio, studio.state()["usual_steps"])
    _draw_again(studio)  # the block to frame is that of the newest frame
    studio.wait("studio.stage.landscape.rivers !== null")
    _frame(studio)


def _play(studio: Any, steps: int) -> None:
    studio.ask(type="run_to", step=steps)
    studio.wait("n => studio.store.state.step === n && !studio.store.state.playing", steps)


def _frame(studio: Any, *, above: int = 0) -> None:
    """Frame the block, so many pixels above the bar."""
    studio.page.evaluate(
        "above => { studio.stage.cameras.bars.bottom += above; studio.stage.frameWholeBlock(); }", above
    )
    studio.settle_picture()


def _alpine(studio: Any) -> None:
    """A range under the snow of early summer."""
    _landscape(studio, "alpine")
    studio.page.evaluate("studio.stage.look.snowLine = 0.7")


def _difference(studio: Any) -> None:
    """Where a run eroded a mountain front and where it deposited fans, above the legend."""
    _landscape(studio, "alluvial_fans")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "difference")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'difference'")
    _frame(studio, above=100)


def _strata(studio: Any) -> None:
    """Hard and soft layers, and the way of water down their steps."""
    _landscape(studio, "mesas")
    studio.tab("view")
    studio.page.set_checked("input[aria-label='Water']", False)
    studio.tab("inspect")
    side = studio.state()["cell_size"] * 512
    studio.page.mouse.click(*studio.place_on_screen(0.3 * side, 0.62 * side))
    studio.wait("document.querySelector('[data-role=cell] dl') !== null")
    studio.page.mouse.move(*OUTSIDE)


def _lakes(studio: Any) -> None:
    """Lakes in closed basins, and a brush over one."""
    _landscape(studio, "lake_district")
    studio.tab("budget")
    studio.take_tool("add_water")
    studio.page.get_by_label("Strength, m/s").last.fill("1")
    studio.page.keyboard.press("Enter")
    water = studio.layer("water")
    middle = slice(160, 352)
    row, column = np.unravel_index(water[middle, middle].argmax(), (192, 192))
    size = studio.state()["cell_size"]
    studio.page.mouse.move(*studio.place_on_screen((column + 160.5) * size, (row + 160.5) * size))


def _canyon() -> sw.Recipe:
    """The shallow valley of docs/papers/bezin2010.md, with a river at its head."""
    sys.path.insert(0, str(FOLDER.parents[1]))
    from examples.papers.bezin2010 import CUTTING, canyon

    terrain, river = canyon(193, seed=3)
    model = sw.MeshParticles(triangles=12_000, erosion_rate=CUTTING, transport_time=2000.0, drag=0.3)
    return sw.Recipe(
        source=sw.FromTerrain(name="canyon", terrain=terrain),
        stages=(sw.Stage.of(model, steps=6000, edges="open"),),
        emitters=(river,),
    )


def _mesh(studio: Any) -> None:
    """A river of particles in the canyon that it has cut, on the bare mesh."""
    studio.tab("view")
    for flag in ("Snow", "Trees"):
        studio.page.set_checked(f"input[aria-label='{flag}']", False)
    _play(studio, 6000)
    _draw_again(studio)
    _frame(studio)
    studio.page.locator("input[aria-label='Mesh']").scroll_into_view_if_needed()


def _side_by_side(studio: Any) -> None:
    """Four models on one dome, each to the end of its preset."""
    studio.ask(type="start", preset="landscape", levels=False, generator={"kind": "dome", "size": 512, "seed": 7})
    studio.ask(type="side_by_side", panes=4)
    studio.ask(type="play")
    studio.wait("studio.stage.isSideBySide && studio.store.state.step > 0 && !studio.store.state.playing")
    _draw_again(studio)
    _frame(studio)
    studio.wait("studio.stage.landscapes.every(l => l.frame?.header.frame === studio.stage.frame.header.frame)")


PICTURES = {
    "studio": _alpine,
    "studio-lakes": _lakes,
    "studio-difference": _difference,
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
