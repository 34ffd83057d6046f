"""Models side by side: one camera, one clock, and a caption on each that says what it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.browser.conftest import SCALE
from tests.browser.test_accessibility import CONTRASTS, MISNAMED
from tests.browser.test_parameters import open_all

pytestmark = pytest.mark.slow


@pytest.fixture
def panes(studio: Any) -> Iterator[Any]:
    """Two panes: the present settings, and the same model with another preset."""
    studio.page.keyboard.press("f")
    studio.page.keyboard.press("m")
    wait_for_panes(studio, 2)
    yield studio
    studio.ask(type="leave_side_by_side")
    studio.wait("studio.stage.landscapes.length === 1")


def wait_for_panes(studio: Any, count: int) -> None:
    studio.wait(
        "count => studio.stage.landscapes.length === count && studio.stage.landscapes.every(l => l.frame)"
        " && document.querySelectorAll('.pane').length === count && studio.store.state.busy === null",
        count,
    )


def boxes(studio: Any) -> list[dict[str, float]]:
    found: list[dict[str, float]] = studio.page.evaluate("studio.stage.viewports.boxes")
    return found


def pictures(studio: Any) -> list[np.ndarray]:
    """What is drawn below the captions, of each pane."""
    whole = studio.picture()
    parts = []
    for box in boxes(studio):
        left, top = (round(SCALE * box[side]) for side in ("left", "top"))
        wide, tall = (int(SCALE * box[side]) for side in ("width", "height"))
        parts.append(whole[top + tall // 3 : top + tall * 4 // 5, left + 4 : left + wide - 4])
    return parts


@pytest.mark.usefixtures("in_every_pixel")
def test_panes_share_their_start_their_clock_and_their_camera(panes: Any) -> None:
    studio = panes
    first, second = pictures(studio)
    assert np.abs(first - second).mean() < 2  # the same ground from the same place; panes may differ by half a pixel
    assert first.std() > 10
    assert studio.page.locator("[data-role=did]").all_inner_texts() == ["nothing eroded yet"] * 2
    assert not studio.page.locator("[data-role=settle-menu]").is_visible()
    box = boxes(studio)[1]
    studio.page.mouse.move(box["left"] + 200, box["top"] + 300)
    studio.page.mouse.down()
    studio.page.mouse.move(box["left"] + 260, box["top"] + 300, steps=3)
    studio.page.mouse.up()
    studio.wait("studio.store.state.side_by_side.chosen === 1")  # the pane that was touched
    studio.page.mouse.move(1200, 300)
    turned = pictures(studio)
    assert np.abs(turned[0] - first).mean() > 6
    assert np.abs(turned[0] - turned[1]).mean() < 2
    studio.ask(type="step", count=20)
    studio.wait("studio.stage.landscapes.every(l => l.frame.header.step === 20) && !studio.store.state.playing")
    highest = studio.page.evaluate("studio.stage.landscapes.map(l => l.frame.elevation.high)")
    assert highest[0] != highest[1]
    did = studio.page.locator("[data-role=did]").all_inner_texts()
    assert did[0].startswith("eroded ")
    assert "× pane 1)" in did[1]
    assert "step 20 of 3200" in studio.page.locator("[data-role=differs]").nth(1).inner_text()


def test_the_chosen_pane_has_the_sliders_and_can_be_kept(panes: Any) -> None:
    studio = panes
    studio.page.locator("[data-role=choose-pane]").nth(1).click()
    studio.wait("studio.store.state.preset === 'landscape'")
    x, y = studio.place_on_screen(640.0, 640.0)
    assert x > boxes(studio)[1]["left"]
    studio.page.mouse.move(x, y)
    here = studio.page.locator("[data-role=here]")
    values = [text.split(" · ")[0] for text in here.all_inner_texts()]
    assert values[0] == values[1]
    assert values[0].startswith("here ")
    first, second = studio.page.evaluate("studio.store.state.side_by_side.panes.map(p => p.run)")
    studio.ask(type="slide", name="rain", position=1)
    studio.wait("Object.keys(studio.store.state.side_by_side.panes[1].differs).includes('rain_rate')")
    assert studio.page.evaluate("studio.store.state.side_by_side.panes[0].differs") == {}
    studio.page.locator("[data-role=keep-pane]").nth(1).click()
    studio.wait("studio.store.state.side_by_side === null && studio.stage.landscapes.length === 1")
    assert studio.page.evaluate("studio.store.state.run") == second != first
    assert not studio.page.locator(".pane-bar").is_visible()


def beside(studio: Any, x: float, y: float) -> tuple[float, float]:
    """Where a point of the terrain appears in the second pane, while the first is chosen."""
    left, top = studio.place_on_screen(x, y)
    first, second = boxes(studio)
    return left + second["left"] - first["left"], top


def test_what_was_typed_goes_to_the_pane_that_was_chosen_then(panes: Any) -> None:
    studio = panes
    studio.ask(type="choose_pane", pane=1)
    own = studio.state()["parameters"]["rain_rate"]
    studio.ask(type="choose_pane", pane=0)
    studio.wait("studio.store.state.side_by_side.chosen === 0")
    open_all(studio)
    field = "[data-parameter=rain_rate] [data-role=value]"
    studio.page.fill(field, "0.0123")
    studio.page.mouse.click(*beside(studio, 640.0, 1024.0))
    studio.wait("studio.store.state.side_by_side.chosen === 1")
    studio.ask(type="pause")  # answered after all that the click sent
    assert studio.state()["parameters"]["rain_rate"] == own
    studio.wait(
        "([field, own]) => Math.abs(document.querySelector(field).value - own) <= 1e-3 * Math.abs(own)", [field, own]
    )
    studio.ask(type="choose_pane", pane=0)
    assert studio.state()["parameters"]["rain_rate"] == 0.0123


def test_sources_stay_in_their_pane_and_the_first_click_only_chooses(panes: Any) -> None:
    studio = panes
    studio.take_tool("source")
    in_second = beside(studio, 640.0, 1024.0)
    studio.page.mouse.click(*studio.place_on_screen(640.0, 1024.0))
    studio.wait("studio.store.state.sources.length === 1")
    studio.page.mouse.click(*in_second)
    studio.wait("studio.store.state.side_by_side.chosen === 1")
    studio.ask(type="pause")  # answered after all that the click sent
    assert studio.state()["sources"] == []
    studio.page.mouse.click(*in_second)
    studio.wait("studio.store.state.sources.length === 1")
    studio.ask(type="choose_pane", pane=0)
    assert len(studio.state()["sources"]) == 1


def test_a_stroke_ends_at_the_border_of_its_pane(panes: Any) -> None:
    studio = panes
    studio.take_tool("raise")
    before = studio.layer("elevation")
    end = beside(studio, 256.0, 768.0)
    studio.page.mouse.move(*studio.place_on_screen(1024.0, 1024.0))
    studio.page.mouse.down()
    studio.page.mouse.move(*end, steps=8)
    studio.page.mouse.up()
    studio.ask(type="pause")  # answered after all that the stroke sent
    change = studio.layer("elevation") - before
    assert change[102, 102] > 0
    assert np.all(change[72:82, 21:31] == 0)  # where the pointer was in the other pane


def test_panes_that_are_left_free_their_memory(studio: Any) -> None:
    held, frames = [], "studio.connection.frames.last.size"
    for more in (False, True):
        studio.ask(type="side_by_side", panes=4 if more else 2)
        wait_for_panes(studio, 4 if more else 2)
        if more:
            studio.ask(type="side_by_side", panes=2)
            wait_for_panes(studio, 2)
            studio.wait(f"{frames} === 2")
        studio.settle_picture()
        studio.ask(type="leave_side_by_side")
        studio.wait("studio.stage.landscapes.length === 1 && studio.store.state.side_by_side === null")
        studio.settle_picture()
        held.append(
            studio.page.evaluate(
                "(({ memory, programs }) => [memory.geometries, programs.reduce((n, p) => n + p.usedTimes, 0)])"
                "(studio.stage.renderer.info)"
            )
        )
        assert studio.page.evaluate(frames) == 1
    assert held[0] == held[1]


def test_four_panes_say_that_they_are_resampled_and_are_readable(panes: Any) -> None:
    studio = panes
    studio.ask(type="start", size=256)
    studio.click("panes-4")
    wait_for_panes(studio, 4)
    assert studio.page.inner_text("[data-role=pane-size]") == "192 cells instead of 256: resampled for speed"
    assert len({(box["left"], box["top"]) for box in boxes(studio)}) == 4
    assert studio.page.evaluate(MISNAMED) == []
    assert [text for contrast, text in studio.page.evaluate(CONTRASTS) if contrast < 4.5] == []
    studio.page.keyboard.press("c")
    studio.wait("document.querySelector('.messages').textContent.includes('Compare is for one run')")
    studio.page.select_option("[aria-label='Preset of pane 3']", "gentle")
    studio.wait("studio.store.state.side_by_side.panes[2].preset === 'gentle'")
    studio.page.locator("[data-role=leave-panes]").click()
    studio.wait("studio.store.state.side_by_side === null && studio.store.state.columns === 128")
