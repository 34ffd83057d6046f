"""What cannot be is refused where it is seen; strokes have a strength per second, and say why nothing happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SIDE = 1280.0


def refused(studio: Any, text: str) -> None:
    studio.page.locator(".message.error", has_text=text).first.wait_for()


@pytest.mark.parametrize(
    ("tab", "field", "sentence"),
    [
        ("start", "input[aria-label='Seed']", "Seed takes a number, not “mountain”."),
        ("start", "input[aria-label='Extent, km']", "Extent, km takes a number, not “mountain”."),
        ("view", "input[aria-label='Exposure, typed']", "Exposure takes a number, not “mountain”."),
    ],
)
def test_typed_nonsense_is_refused_visibly_and_the_value_returns(
    studio: Any, tab: str, field: str, sentence: str
) -> None:
    studio.tab(tab)
    run, before = studio.state()["run"], studio.page.input_value(field)
    studio.page.fill(field, "mountain")
    studio.page.press(field, "Enter")
    refused(studio, sentence)
    assert studio.page.get_attribute(field, "aria-invalid") == "true"
    assert studio.page.input_value(field) == before
    assert studio.state()["run"] == run


def test_steps_that_are_no_number_are_refused(studio: Any) -> None:
    field = "input[aria-label='Number of steps']"
    studio.page.fill(field, "-3.5")
    studio.click("step-many")
    refused(studio, "Number of steps takes a whole number, not “-3.5”.")
    assert studio.state()["step"] == 0
    studio.page.fill(field, "100")


def test_a_stroke_begun_beside_the_terrain_shows_why_nothing_happens(studio: Any) -> None:
    studio.take_tool("raise")
    studio.settle_picture()
    beside = studio.page.evaluate(
        "() => { for (let y = 120; y < 600; y += 40) for (let x = 100; x < 900; x += 40)"
        " if (!studio.stage.placeAt(x, y) && document.elementFromPoint(x, y) === studio.stage.canvas) return [x, y] }"
    )
    studio.page.mouse.click(*beside)
    studio.page.locator(".message", has_text="begin on the terrain").wait_for()
    assert not studio.state()["can_undo"]


def test_a_stroke_has_its_strength_per_second_and_a_cap(studio: Any) -> None:
    studio.take_tool("raise")
    label = studio.page.locator(".settings .line", has_text="Strength").first.inner_text()
    assert "Strength, m/s" in label
    before = studio.layer("elevation").astype(np.float64)
    click = studio.page.evaluate("studio.toolbar.strengthOf(studio.toolbar.tool.brush)")
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    studio.page.mouse.move(x, y)
    studio.page.evaluate("window.begun = performance.now()")
    studio.page.mouse.down()
    # A stroke that is held gives its two seconds, however long it is held, and not a dab more.
    studio.wait("[...studio.painting.stroke.given.values()].some(seconds => seconds > 1.7)")
    studio.wait("studio.painting.stroke.sent > begun + 4000")
    studio.page.mouse.up()
    studio.ask(type="pause")
    rise = (studio.layer("elevation") - before).max()
    assert 6 * click < rise <= 8 * click * 1.001  # a click counts as a quarter of a second
    studio.click("undo")
    studio.wait("!studio.store.state.can_undo")
    assert np.array_equal(studio.layer("elevation"), before)


def test_an_upload_without_a_cell_size_suggests_a_plausible_extent(studio: Any, tmp_path: Path) -> None:
    rows, columns = np.mgrid[0:64, 0:64]
    heights = 900.0 * np.exp(-((rows - 32.0) ** 2 + (columns - 32.0) ** 2) / 200.0)
    file = tmp_path / "peak.npy"
    np.save(file, heights.astype(np.float32))
    studio.page.set_input_files("input[type=file]", str(file))
    offer = studio.page.locator(".message", has_text="hardly right")
    offer.wait_for()
    assert "0.064 km wide" in offer.inner_text()
    offer.locator("button", has_text="4.5 km").click()
    studio.wait("Math.abs(studio.store.side - 4500) < 1e-6")
    assert studio.state()["cell_size"] == pytest.approx(4500 / 64)
