"""Thumbnails of landscapes, generators and presets: one for each, and a click chooses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.studio import built_page

pytestmark = pytest.mark.slow


def test_everything_to_choose_from_has_a_thumbnail_and_all_are_small() -> None:
    folder = Path(built_page.__file__).parent / "web/public/thumbnails"
    drawn = {file.stem: file.stat().st_size for file in folder.iterdir()}
    wanted = {f"generator-{name}" for name in sw.generator_names()} | {f"preset-{name}" for name in sw.presets()}
    wanted |= {f"look-{name}" for name in sw.looks()}
    assert drawn.keys() == wanted, "run src/slopewash/studio/web/make_thumbnails.py"
    assert sum(drawn.values()) < 150_000


def test_the_page_with_its_thumbnails_stays_small(browser: Any) -> None:
    assert sum(file.stat().st_size for file in built_page.FOLDER.rglob("*") if file.is_file()) < 1_200_000


def test_a_thumbnail_chooses_a_generator(studio: Any) -> None:
    studio.tab("start")
    choice = studio.page.locator("[aria-label=Generators] [data-choice=ridged]")
    choice.scroll_into_view_if_needed()
    studio.wait("document.querySelector('[data-choice=ridged] img').naturalWidth === 144")
    choice.click()
    studio.wait("studio.store.state.generator.kind === 'ridged'")
    studio.wait("document.querySelector('[data-choice=ridged]').getAttribute('aria-pressed') === 'true'")
    assert studio.page.locator("[aria-label=Generators] [aria-pressed=true]").count() == 1


def test_a_thumbnail_chooses_a_preset(studio: Any) -> None:
    studio.tab("start")
    studio.page.click("[aria-label=Presets] [data-choice=outerrain]")
    studio.wait("studio.store.state.preset === 'outerrain'")
    studio.wait("document.querySelector('[data-choice=outerrain]').getAttribute('aria-pressed') === 'true'")


def test_a_thumbnail_starts_a_named_landscape_in_its_country(studio: Any) -> None:
    studio.tab("start")
    choice = studio.page.locator("[aria-label=Landscapes] [data-choice=mesas]")
    choice.click()
    studio.wait("studio.store.state.generator?.kind === 'scarp' && studio.store.state.busy === null")
    studio.wait("studio.stage.look.country === 'desert'")
    studio.wait("document.querySelector('[data-choice=mesas]').getAttribute('aria-pressed') === 'true'")
    expected = sw.recipe("mesas", size=128)
    assert (studio.state()["cells"], studio.state()["generator"]["seed"]) == (128, expected.seed)
    assert studio.page.input_value("select[aria-label=Country]") == "desert"
    assert not studio.page.evaluate("studio.stage.look.snow")
    assert not studio.page.locator("[aria-label=Snow]").is_checked()
    assert studio.page.evaluate("studio.store.state.usual_steps") > 0
    studio.ask(type="start", generator={"kind": "dome"})
    studio.wait("document.querySelector('[data-choice=mesas]').getAttribute('aria-pressed') === 'false'")
    studio.tab("view")
    studio.page.select_option("select[aria-label=Country]", "alpine")
    assert studio.page.evaluate("[studio.stage.look.snow, studio.stage.look.snowLine]") == [True, 0.84]
