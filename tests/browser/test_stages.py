"""A recipe of stages and levels in the page: it names where it is, shows each grid, and ends as the file does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

pytestmark = pytest.mark.slow


@pytest.fixture
def staged() -> sw.Recipe:
    return sw.Recipe(
        source=sw.Generated(kind="dome", size=96, seed=4),
        stages=(
            sw.Stage.of("landscape", steps=12, gullies=0.0),
            sw.Stage.of("outerrain", steps=4).replace(name="scree"),
        ),
        layers={"mask": 0.8},
        seed=4,
        backend="reference",
    )


def test_the_page_plays_a_recipe_to_its_end(
    staged: sw.Recipe, open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from slopewash.studio.server import StudioServer

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    expected = staged.run().terrain
    with StudioServer(staged, port=0) as server:
        studio = open_page(1100, 600)
        studio.server = server
        studio.open(server.url)
        studio.settle_picture()
        assert studio.page.inner_text("[data-role=stage]") == "stage 1 of 2 (landscape), level 1 of 2 (48 x 48)"
        assert studio.page.evaluate("studio.stage.frame.header.rows") == 48
        assert not studio.page.locator("[data-role=settle-menu]").is_visible()
        studio.click("play")
        studio.wait("studio.store.state.step === studio.store.state.usual_steps && !studio.store.state.playing")
        studio.settle_picture()
        assert studio.page.inner_text("[data-role=stage]") == "stage 2 of 2 (scree)"
        assert studio.page.evaluate("studio.stage.frame.header.rows") == 96
        assert np.array_equal(studio.layer("elevation"), expected["elevation"])
        studio.tab("export")
        saved = studio.download(lambda: studio.click("recipe"), tmp_path)
        assert sw.Recipe.read(saved).as_dict() == staged.as_dict()
        studio.page.get_by_role("button", name="Dismiss").click()
        studio.click("step-one")
        refusal = studio.page.locator(".message.error", has_text="The recipe is complete; reset it, or go on")
        refusal.get_by_role("button", name="Go on from here").click()
        studio.wait("studio.store.state.stage === null && studio.store.state.step === 0")
        assert np.allclose(studio.layer("elevation"), expected["elevation"], atol=1e-3)
        assert studio.complaints == []


def test_the_landscape_preset_goes_from_coarse_to_fine_if_asked_to(studio: Any) -> None:
    studio.ask(type="start", preset="landscape")
    studio.tab("start")
    box = studio.page.get_by_label("Coarse to fine")
    assert not box.is_checked()
    box.click()
    studio.wait("studio.store.state.levels && studio.store.state.busy === null")
    studio.settle_picture()
    assert studio.page.inner_text("[data-role=stage]") == "level 1 of 2 (64 x 64)"
    assert studio.page.evaluate("studio.stage.frame.header.rows") == 64
    assert studio.page.locator("[aria-label='Cells per side']").input_value() == "128"
    box.click()
    studio.wait("!studio.store.state.levels && studio.store.state.rows === 128")
    studio.ask(type="start", preset="single_grid")
    assert not box.is_visible()
