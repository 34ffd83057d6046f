"""Brushes, sources, undo: what the hand does on the picture happens on the server, to the right layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

LAYERS = ("elevation", "water", "rainfall", "erodibility")
SIDE = 1280.0


def paint_middle(studio: Any, tool: str) -> None:
    """One dab on the near flank of the dome, where no ground stands in front."""
    studio.take_tool(tool)
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    studio.page.mouse.move(x, y)
    studio.page.mouse.click(x, y)
    studio.wait("studio.store.state.can_undo")


def layers(studio: Any) -> dict[str, np.ndarray]:
    return {name: studio.layer(name) for name in LAYERS}


def prepare(studio: Any) -> None:
    """Some water and a few steps, so that every brush has something to change."""
    middle = {"points": [[0.5 * SIDE, 0.5 * SIDE]], "radius": 0.4 * SIDE, "falloff": 0.5}
    studio.ask(type="paint", tool="add_water", strength=3.0, **middle)
    studio.ask(type="paint", tool="rain", strength=0.25, **middle)
    studio.ask(type="step", count=3)
    studio.wait("studio.store.state.step === 3 && !studio.store.state.playing")


@pytest.mark.parametrize(  # one of each layer; tests/simulation tries every tool
    ("tool", "layer", "sign"),
    [
        ("raise", "elevation", 1),
        ("smooth", "elevation", 0),
        ("remove_water", "water", -1),
        ("rain", "rainfall", 1),
        ("harden", "erodibility", -1),
    ],
)
def test_a_brush_changes_its_layer_and_undo_restores_every_bit(studio: Any, tool: str, layer: str, sign: int) -> None:
    prepare(studio)
    before = layers(studio)
    paint_middle(studio, tool)
    studio.page.wait_for_timeout(300)
    after = layers(studio)
    change = after[layer].astype(np.float64) - before[layer]
    assert np.any(change != 0)
    if sign:
        assert np.all(sign * change >= 0)
    rows, columns = np.nonzero(change)
    # The default radius is 4 % of the side, 5 cells: one dab stays near where it was put.
    assert abs(np.median(rows) - 0.8 * 128) < 6
    assert abs(np.median(columns) - 0.5 * 128) < 6
    for other in set(LAYERS) - {layer}:
        assert np.array_equal(after[other], before[other]), other
    studio.click("undo")
    studio.wait("studio.store.state.can_redo")
    restored = layers(studio)
    for name in LAYERS:
        assert np.array_equal(restored[name], before[name]), name
    studio.click("redo")
    studio.wait("!studio.store.state.can_redo")
    assert np.array_equal(studio.layer(layer), after[layer])


def test_every_tool_the_server_has_is_on_the_bar(studio: Any) -> None:
    tools = studio.page.evaluate("studio.store.welcome.tools.map(t => t.name)")
    for name in tools:
        assert studio.page.locator(f"[data-tool={name}]").is_visible(), name


def test_a_drag_is_one_stroke_and_one_undo(studio: Any) -> None:
    before = studio.layer("elevation")
    studio.take_tool("raise")
    x0, y0 = studio.place_on_screen(0.4 * SIDE, 0.8 * SIDE)
    x1, y1 = studio.place_on_screen(0.6 * SIDE, 0.82 * SIDE)
    studio.page.mouse.move(x0, y0)
    studio.page.mouse.down()
    studio.page.mouse.move(x1, y1, steps=8)
    studio.page.mouse.up()
    studio.wait("studio.store.state.can_undo")
    studio.page.wait_for_timeout(300)
    raised = studio.layer("elevation") - before
    assert np.ptp(np.nonzero(raised > 0)[1]) > 20  # a fifth of the 128 cells and the brush itself
    studio.page.keyboard.press("Control+z")
    studio.wait("!studio.store.state.can_undo")
    assert np.array_equal(studio.layer("elevation"), before)


def test_shift_paints_the_opposite(studio: Any) -> None:
    before = studio.layer("elevation")
    studio.page.keyboard.down("Shift")
    paint_middle(studio, "raise")
    studio.page.keyboard.up("Shift")
    assert np.min(studio.layer("elevation") - before) < 0


def test_shift_lets_less_rain_fall(studio: Any) -> None:
    studio.page.keyboard.down("Shift")
    paint_middle(studio, "rain")
    studio.page.keyboard.up("Shift")
    assert np.min(studio.layer("rainfall")) < 1  # what falls where nothing is painted
    assert np.max(studio.layer("rainfall")) == 1


def test_a_brush_whose_paint_is_unseen_shows_its_layer(studio: Any) -> None:
    studio.take_tool("harden")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'erodibility'")
    studio.take_tool("rain")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'rainfall'")
    studio.take_tool("raise")
    studio.wait("document.querySelector('select[aria-label=Overlay]').value === ''")


def test_a_ring_lies_under_the_brush(studio: Any) -> None:
    studio.take_tool("raise")
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    studio.page.mouse.move(x, y)
    ring = studio.page.evaluate("studio.stage.ring")
    assert ring["radius"] == pytest.approx(0.04 * SIDE)
    assert (ring["x"], ring["y"]) == pytest.approx((0.5 * SIDE, 0.8 * SIDE), abs=0.02 * SIDE)
    studio.page.focus("#picture")
    studio.page.keyboard.press("]")
    assert studio.page.evaluate("studio.stage.ring.radius") == pytest.approx(0.05 * SIDE)
    studio.page.keyboard.press("[")


def test_a_source_is_placed_moved_and_removed(studio: Any) -> None:
    studio.take_tool("source")
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    studio.page.mouse.click(x, y)
    studio.wait("studio.store.state.sources.length === 1")
    first = studio.state()["sources"][0]
    assert (first["x"], first["y"]) == pytest.approx((0.5 * SIDE, 0.8 * SIDE), abs=0.02 * SIDE)
    mark = studio.page.locator("[data-mark=source-0]")
    mark.focus()
    for _ in range(3):
        studio.page.keyboard.press("ArrowRight")
    studio.wait("x => studio.store.state.sources[0].x > x + 25", first["x"])
    studio.ask(type="step", count=5)
    studio.wait("studio.store.state.step === 5 && !studio.store.state.playing")
    assert studio.state()["budget"]["water_sources"] > 0
    mark.focus()
    studio.page.keyboard.press("Delete")
    studio.wait("studio.store.state.sources.length === 0")
    assert studio.page.locator(".mark").count() == 0


def test_an_emitter_lets_particles_run_over_the_mesh(studio: Any) -> None:
    start = {"kind": "dome", "size": 65, "cell_size": 10.0}
    studio.ask(type="start", preset="bezin2010", backend="reference", generator=start, parameters={"triangles": 1000})
    studio.ask(type="emitters", emitters=[])
    studio.wait("studio.store.state.emitters.length === 0")
    assert not studio.page.locator("[data-tool=raise]").is_visible()  # nothing of this model can be painted
    studio.take_tool("emitter")
    studio.page.mouse.click(*studio.place_on_screen(325.0, 480.0))
    studio.wait("studio.store.state.emitters.length === 1")
    emitter = studio.state()["emitters"][0]
    assert (emitter["x"], emitter["y"]) == pytest.approx((325.0, 480.0), abs=15.0)
    studio.ask(type="step", count=20)
    studio.wait("studio.store.state.step === 20 && !studio.store.state.playing")
    studio.wait("studio.stage.frame.particles && studio.stage.frame.particles.length > 0")
    assert studio.page.evaluate("studio.stage.landscape.wireframe.lines.visible")
    assert studio.page.evaluate("studio.stage.landscape.particles.points.visible")


def set_line(studio: Any, panel: str, label: str, value: str) -> None:
    field = studio.page.locator(f"[aria-label='{panel}'] input[aria-label='{label}, typed']")
    field.fill(value)
    field.press("Enter")


def test_a_placed_water_source_is_given_another_rate(studio: Any) -> None:
    studio.ask(type="sources", sources=[{"x": 0.5 * SIDE, "y": 0.8 * SIDE, "radius": 40.0, "rate": 1.0}])
    studio.page.locator("[data-mark=source-0]").press("Enter")
    panel = "Settings of the selected marker"
    set_line(studio, panel, "Rate, m per model time", "7.5")
    studio.wait("studio.store.state.sources[0].rate === 7.5")
    set_line(studio, panel, "Radius, m", "55")
    studio.wait("studio.store.state.sources[0].radius === 55")
    set_line(studio, panel, "Radius, m", "1e9")  # refused, and not left standing
    studio.page.locator(".message.error", has_text="radius").wait_for()
    radius = f"[aria-label='{panel}'] input[aria-label='Radius, m, typed']"
    studio.wait("field => document.querySelector(field).value === '55'", radius)
    studio.page.focus("#picture")
    studio.click("undo")  # what was changed of one mark is one edit
    studio.wait("studio.store.state.sources[0].rate === 1 && studio.store.state.sources[0].radius === 40")
    rate = f"[aria-label='{panel}'] input[aria-label='Rate, m per model time, typed']"
    studio.wait("field => document.querySelector(field).value === '1'", rate)
    studio.page.locator("[data-mark=source-0]").press("Enter")
    studio.click("remove-mark")
    studio.wait("studio.store.state.sources.length === 0")
    assert not studio.page.is_visible(f"[aria-label='{panel}']")


def test_a_panel_of_a_mark_stays_while_it_runs_and_others_change_theirs(studio: Any) -> None:
    places = [{"x": x * SIDE, "y": 0.8 * SIDE, "radius": 40.0, "rate": 1.0} for x in (0.4, 0.6)]
    studio.ask(type="sources", sources=places)
    studio.page.locator("[data-mark=source-1]").press("Enter")
    field = studio.page.locator(
        "[aria-label='Settings of the selected marker'] input[aria-label='Rate, m per model time, typed']"
    )
    field.fill("")
    field.press_sequentially("12")
    studio.ask(type="sources", sources=[{**places[0], "rate": 9.0}, places[1]])  # as another page would
    studio.wait("studio.store.state.sources[0].rate === 9")
    studio.page.wait_for_timeout(900)
    assert field.input_value() == "12"
    field.press("Enter")
    studio.wait("studio.store.state.sources[1].rate === 12 && studio.store.state.sources[0].rate === 9")


def test_emitters_have_a_speed_and_a_direction(studio: Any) -> None:
    start = {"kind": "dome", "size": 65, "cell_size": 10.0}
    studio.ask(type="start", preset="bezin2010", backend="reference", generator=start, parameters={"triangles": 1000})
    studio.ask(type="emitters", emitters=[])
    studio.take_tool("emitter")
    set_line(studio, "Tool settings", "Speed, m/s", "3")
    set_line(studio, "Tool settings", "Direction, ° from north", "90")
    studio.page.mouse.click(*studio.place_on_screen(325.0, 480.0))
    studio.wait("studio.store.state.emitters.length === 1")
    placed = studio.state()["emitters"][0]
    assert (placed["speed"], placed["direction"]) == (3, 90)
    studio.page.locator("[data-mark=emitter-0]").press("Enter")
    set_line(studio, "Settings of the selected marker", "Speed, m/s", "6")
    studio.wait("studio.store.state.emitters[0].speed === 6")
    studio.click("undo")
    studio.wait("studio.store.state.emitters[0].speed === 3")
    assert studio.page.locator("[data-mark=emitter-0] .arrow").is_visible()


def test_markers_of_another_run_do_not_wait_for_edits_of_the_one_before(studio: Any) -> None:
    studio.page.evaluate("studio.markers.touched = performance.now() + 60_000")  # an edit just now, on a slow machine
    start = {"kind": "dome", "size": 65, "cell_size": 10.0}
    studio.ask(type="start", preset="bezin2010", backend="reference", generator=start, parameters={"triangles": 1000})
    studio.wait("studio.store.state.emitters.length === 1 && studio.markers.marks.length === 1")  # of the preset
    studio.ask(type="emitters", emitters=[])
    studio.wait("studio.store.state.emitters.length === 0")
    assert studio.page.locator(".mark").count() == 0  # a marker placed now is the only one


def test_a_dab_shows_on_any_relief(studio: Any) -> None:
    changes = []
    for relief in (20.0, 400.0):
        studio.ask(type="start", generator={"relief": relief})
        before = studio.layer("elevation")
        studio.take_tool("look")
        studio.take_tool("raise")
        studio.page.mouse.click(*studio.place_on_screen(0.5 * SIDE, 0.7 * SIDE))
        studio.wait("studio.store.state.can_undo")
        changes.append(float((studio.layer("elevation") - before).max()) / relief)
    assert changes == pytest.approx([0.01, 0.01], rel=0.05)
    studio.ask(type="start", generator={"relief": None})


def test_a_source_follows_the_pointer(studio: Any) -> None:
    studio.ask(type="sources", sources=[{"x": 0.5 * SIDE, "y": 0.8 * SIDE, "radius": 40.0, "rate": 1.0}])
    mark = studio.page.locator("[data-mark=source-0]")
    mark.wait_for()
    studio.settle_picture()
    box = mark.bounding_box()
    x, y = studio.place_on_screen(0.6 * SIDE, 0.85 * SIDE)
    studio.page.mouse.move(box["x"] + 15, box["y"] + 15)
    studio.page.mouse.down()
    studio.page.mouse.move(0.5 * (box["x"] + x), 0.5 * (box["y"] + y))
    studio.wait("x => studio.store.state.sources[0].x > x", 0.51 * SIDE)  # it is told on the way
    studio.page.mouse.move(x, y, steps=4)
    studio.page.mouse.up()
    studio.wait("x => Math.abs(studio.store.state.sources[0].x - x) < 40", 0.6 * SIDE)
    studio.click("undo")  # the whole way is one edit
    studio.wait("x => studio.store.state.sources[0].x === x", 0.5 * SIDE)
