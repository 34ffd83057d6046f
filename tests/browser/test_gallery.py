"""Thumbnails of generators and presets: one for each, and a click chooses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.studio import built_page

pytestmark = pytest.mark.slow


def test_every_generator_and_preset_has_a_thumbnail_and_all_are_small() -> None:
    folder = Path(built_page.__file__).parent / "web/public/thumbnails"
    drawn = {file.stem: file.stat().st_size for file in folder.iterdir()}
    wanted = {f"generator-{name}" for name in sw.generator_names()} | {f"preset-{name}" for name in sw.presets()}
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
