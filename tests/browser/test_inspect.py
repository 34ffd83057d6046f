"""Ask a cell with a click, and measure the terrain."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow

SIDE = 1280.0


def click(studio: Any, x: float, y: float) -> None:
    studio.page.mouse.click(*studio.place_on_screen(x, y))


def test_a_click_asks_the_cell_and_shows_the_path_of_its_water(studio: Any) -> None:
    studio.ask(type="step", count=130)
    studio.wait("studio.store.state.step === 130 && !studio.store.state.playing")
    studio.tab("inspect")
    click(studio, 0.5 * SIDE, 0.8 * SIDE)
    studio.wait("document.querySelector('[data-role=cell] dl') !== null")
    text = studio.page.inner_text("[data-role=cell]")
    for name in ("Height", "Upstream area", "Wear", "Deposit", "Path of its water"):
        assert name in text, name
    plots = studio.page.locator("[data-role=cell] canvas").evaluate_all("all => all.map(c => c.ariaLabel)")
    assert plots[0].startswith("Height, m ")
    assert plots[1].startswith("Along its water, m ")
    studio.settle_picture()
    points = studio.page.get_attribute(".water-path polyline", "points").split()
    assert len(points) > 10
    # The path passes the cell that was clicked.
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    apart = min(abs(float(left) - x) + abs(float(top) - y) for left, top in (p.split(",") for p in points))
    assert apart < 30
    studio.page.get_by_text("Remove the path").click()
    studio.wait("document.querySelector('.water-path').hasAttribute('hidden')")


def test_a_click_elsewhere_asks_nothing(studio: Any) -> None:
    studio.tab("model")
    asked: list[str] = []
    studio.page.on("request", lambda request: asked.append(request.url))
    click(studio, 0.5 * SIDE, 0.8 * SIDE)
    studio.ask(type="pause")
    assert not [url for url in asked if "/cell" in url]


def test_the_terrain_is_measured_beside_published_ranges(studio: Any) -> None:
    studio.tab("inspect")
    studio.click("measure")
    studio.wait("document.querySelectorAll('.finding').length === 5")
    text = studio.page.inner_text("[data-role=survey]")
    for name in ("Concavity of channels", "0.225 to 0.575", "Hypsometric integral", "Drainage density", "km/km²"):
        assert name in text, name
    assert studio.page.locator("[data-role=survey] canvas").count() == 2
    inside = studio.page.locator(".finding[data-verdict=within] .here")
    for i in range(inside.count()):
        assert 33 <= float(inside.nth(i).evaluate("e => e.style.left").rstrip("%")) <= 67
