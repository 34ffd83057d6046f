"""Every slider, box and list reaches the simulation, and the simulation's values come back."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def rows(studio: Any, kind: str) -> list[dict[str, Any]]:
    declared = studio.page.evaluate("studio.store.model.parameters")
    return [p for p in declared if p["kind"] == kind]


def open_all(studio: Any) -> None:
    studio.tab("model")
    studio.page.evaluate("document.querySelectorAll('.parameters details').forEach(d => d.open = true)")


def test_every_slider_reaches_the_simulation_and_back(studio: Any) -> None:
    open_all(studio)
    numbers = rows(studio, "number")
    assert len(numbers) > 10
    before = studio.state()["parameters"]
    for p in numbers:
        slider = studio.page.locator(f"[data-parameter={p['name']}] [data-role=slider]")
        middle = slider.evaluate("s => Number(s.value) > 500")
        slider.focus()
        for _ in range(3):
            studio.page.keyboard.press("ArrowLeft" if middle else "ArrowRight")
    studio.page.wait_for_timeout(1500)  # sliders send a few times a second, and hold against echoes for less than this
    now = studio.state()["parameters"]
    for p in numbers:
        name = p["name"]
        assert now[name] != before[name], name
        field = studio.page.locator(f"[data-parameter={name}] [data-role=value]").input_value()
        assert float(field) == pytest.approx(now[name], rel=1e-3), name
    # And back: values set elsewhere move the sliders.
    studio.ask(type="parameters", values={p["name"]: before[p["name"]] for p in numbers})
    for p in numbers:
        text = {"inf": "∞", "-inf": "–"}.get(before[p["name"]])
        studio.wait(
            "([name, value, text]) => {"
            " const shown = document.querySelector(`[data-parameter=${name}] [data-role=value]`).value;"
            " return text ? shown === text : Math.abs(Number(shown) - value) <= 1e-3 * Math.abs(value) }",
            [p["name"], before[p["name"]], text],
        )


def test_sliders_of_whole_numbers_send_whole_numbers(studio: Any) -> None:
    studio.ask(type="start", model="velocity_field", backend="reference", generator={"kind": "dome", "size": 32})
    studio.wait("studio.store.model.name === 'velocity_field'")
    open_all(studio)
    whole = [p["name"] for p in rows(studio, "number") if p["whole"]]
    assert "breadth" in whole
    before = studio.state()["parameters"]
    for name in whole:
        studio.page.locator(f"[data-parameter={name}] [data-role=slider]").focus()
        studio.page.keyboard.press("ArrowRight")
        studio.wait("([name, value]) => studio.store.state.parameters[name] > value", [name, before[name]])
        assert studio.state()["parameters"][name] % 1 == 0
    assert studio.state()["parameters"]["breadth"] == before["breadth"] + 1
    assert studio.page.locator(".message.error").count() == 0


def test_every_law_can_be_chosen_and_comes_back(studio: Any) -> None:
    open_all(studio)
    for p in rows(studio, "choice"):
        list_ = studio.page.locator(f"[data-parameter={p['name']}] select")
        other = next(c for c in p["choices"] if c != list_.input_value())
        list_.select_option(other)
        studio.wait("([name, value]) => studio.store.state.parameters[name] === value", [p["name"], other])
        assert studio.state()["parameters"][p["name"]] == other
        alone = {"pipes": "four", "hillslope": "fall_line", "cover": "none"}  # the others do not go with some laws
        if p["name"] in alone:
            list_.select_option(alone[p["name"]])
            usual = [p["name"], alone[p["name"]]]
            studio.wait("([name, value]) => studio.store.state.parameters[name] === value", usual)
    for p in rows(studio, "flag"):
        box = studio.page.locator(f"[data-parameter={p['name']}] input[type=checkbox]")
        wanted = not box.is_checked()
        box.set_checked(wanted)
        studio.wait("([name, value]) => studio.store.state.parameters[name] === value", [p["name"], wanted])


def test_typing_goes_beyond_the_slider_and_reset_takes_it_back(studio: Any) -> None:
    open_all(studio)
    row = studio.page.locator("[data-parameter=rain_rate]")
    field = row.locator("[data-role=value]")
    field.fill("0.4")
    field.press("Enter")
    studio.wait("studio.store.state.parameters.rain_rate === 0.4")
    assert "changed" in (row.get_attribute("class") or "")
    assert row.locator("[data-role=slider]").input_value() == "1000"
    row.locator("button.reset").click()
    studio.wait("studio.store.state.parameters.rain_rate === 0.05")  # what the preset says
    studio.wait("!document.querySelector('[data-parameter=rain_rate]').classList.contains('changed')")


def test_a_value_that_cannot_be_is_refused_in_one_sentence(studio: Any) -> None:
    open_all(studio)
    field = studio.page.locator("[data-parameter=pipe_area] [data-role=value]")
    field.fill("-1")
    field.press("Enter")
    studio.page.locator(".message.error", has_text="it must be positive").first.wait_for()
    assert studio.state()["parameters"]["pipe_area"] == 20.0
    studio.wait("document.querySelector('[data-parameter=pipe_area] [data-role=value]').value === '20'")


def test_rows_show_symbol_unit_and_help(studio: Any) -> None:
    open_all(studio)
    row = studio.page.locator("[data-parameter=rain_rate]")
    assert "cells/time" in row.inner_text()
    assert row.locator("sub").inner_text() == "r"
    help_ = row.get_attribute("title")
    assert "Typical: 0 … 0.05" in help_
    assert "Default: 0.012" in help_
