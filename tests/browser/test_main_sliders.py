"""Five sliders on top move the parameters, which are folded below."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def test_five_sliders_stand_on_top_and_all_parameters_are_folded(studio: Any) -> None:
    studio.page.reload()  # whatever the test before unfolded
    studio.wait("window.studio && studio.stage.drawn > 0 && studio.store.state")
    studio.tab("model")
    titles = studio.page.locator(".main-slider .name").all_inner_texts()
    assert titles == ["Rain", "Rock strength", "Age", "Steepness", "Sediment"]
    folded = studio.page.locator("[data-role=all-parameters]")
    assert folded.get_attribute("open") is None
    assert not studio.page.locator("[data-parameter=rain_rate]").is_visible()
    top = studio.page.locator("[data-slider=sediment]").bounding_box()["y"]
    assert top < folded.bounding_box()["y"]


def test_a_slider_moves_its_symbols_and_shows_what_it_did(studio: Any) -> None:
    studio.tab("model")
    rain = studio.page.locator("[data-slider=rain]")
    rain.locator("input").fill("50")
    studio.wait("studio.store.state.sliders.rain === 0.5")
    rate = studio.state()["parameters"]["rain_rate"]
    assert rate == pytest.approx(0.05 * 3**0.5, rel=1e-3)
    studio.wait("document.querySelector('[data-slider=rain] .effect').innerText.includes('→ 0.0866')")
    studio.page.click("[data-role=all-parameters] > summary")
    row = studio.page.locator("[data-parameter=rain_rate]")
    assert "changed" in (row.get_attribute("class") or "")
    studio.wait("document.querySelector('[data-parameter=rain_rate] [data-role=value]').value === '0.0866'")
    rain.locator("button.reset").click()
    studio.wait("studio.store.state.sliders.rain === 0")
    assert studio.state()["parameters"]["rain_rate"] == 0.05
    studio.page.click("[data-role=all-parameters] > summary")


def test_a_value_typed_below_moves_the_slider(studio: Any) -> None:
    studio.ask(type="parameters", values={"talus_slope_bias": 0.3 * 1.8**-0.4})
    studio.tab("model")
    studio.wait("document.querySelector('[data-slider=steepness] input').value === '-40'")


def test_the_age_is_where_playing_pauses(studio: Any) -> None:
    studio.tab("model")
    studio.page.locator("[data-slider=age] input").fill("-100")
    studio.wait("studio.store.state.usual_steps === 1000")
    studio.wait("document.querySelector('[data-slider=age] .effect').innerText === 'pauses at step 1000'")
    studio.page.locator("[data-slider=age] button.reset").click()
    studio.wait("studio.store.state.usual_steps === 4000")


def test_a_model_without_counterpart_gives_the_reason(studio: Any) -> None:
    studio.ask(type="start", model="steepest_talus", backend="reference")
    studio.wait("studio.store.model.name === 'steepest_talus'")
    studio.tab("model")
    assert studio.page.locator("[data-slider=rain] .effect").inner_text() == "Not here: the model has no water."
    assert studio.page.locator("[data-slider=rain] input").is_disabled()
    assert studio.page.locator("[data-slider=steepness] input").is_enabled()
