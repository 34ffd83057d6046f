"""What is drawn: the pictures themselves are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow
looked_at = pytest.mark.usefixtures("in_every_pixel")

SIDE = 1280.0
SCALE = 0.5
"""Pixels of a picture per unit of the window, as the fixture opens it."""
COLOURS = "layer => studio.store.welcome.maps[studio.store.model.layers[layer].map]"
"""The colour map of a layer, in the page."""


def chroma(colours: np.ndarray) -> np.ndarray:
    """Colour without brightness: shares of red and green."""
    total = np.maximum(colours.sum(axis=-1, keepdims=True), 1.0)
    return (colours / total)[..., :2]


def terrain_pixels(studio: Any, picture: np.ndarray, count: int = 400) -> np.ndarray:
    """Pixels over places of the terrain that face the viewer."""
    places = np.random.default_rng(3).uniform([0.1, 0.72], [0.9, 0.97], (count, 2)) * SIDE
    spots = studio.page.evaluate("places => places.map(([x, y]) => studio.stage.screenPlace(x, y))", places.tolist())
    rows, columns = (np.array([int(SCALE * spot[key]) for spot in spots]) for key in ("top", "left"))
    seen = (rows >= 0) & (rows < picture.shape[0]) & (columns >= 0) & (columns < picture.shape[1])
    assert seen.sum() > count // 2
    return picture[rows[seen], columns[seen]]


@looked_at
def test_the_terrain_fills_the_view_without_clipped_whites(studio: Any, tmp_path: Path) -> None:
    studio.ask(type="start", generator={"relief": None})  # whatever the test before left
    studio.settle_picture()
    studio.tab("export")
    studio.page.set_checked("input[aria-label='Transparent background']", True)
    file = studio.download(lambda: studio.click("screenshot"), tmp_path)
    studio.page.set_checked("input[aria-label='Transparent background']", False)
    picture = np.asarray(Image.open(file))
    assert picture.shape == (360, 640, 4)
    covered = picture[..., 3] > 128
    # The panel takes a quarter of the window, and the block stands in what it leaves free.
    assert covered.mean() > 0.25
    assert covered.any(axis=0).mean() > 0.65
    light = picture[..., :3][covered].astype(float).mean(axis=-1)
    assert np.percentile(light, 95) - np.percentile(light, 5) > 40  # shaded, not one flat colour
    assert (picture[..., :3][covered].min(axis=-1) >= 254).mean() < 0.001


@looked_at
def test_a_larger_picture_shows_the_same_in_more_pixels(studio: Any, tmp_path: Path) -> None:
    studio.tab("export")
    plain = np.asarray(Image.open(studio.download(lambda: studio.click("screenshot"), tmp_path)).convert("RGB"))
    studio.page.select_option("select[aria-label='Image size']", "2")
    file = studio.download(lambda: studio.click("screenshot"), tmp_path)
    studio.page.select_option("select[aria-label='Image size']", "1")
    large = Image.open(file).convert("RGB")
    assert large.size == (1280, 720)
    shrunk = np.asarray(large.resize((640, 360), Image.Resampling.BOX)).astype(float)
    assert np.abs(shrunk - plain).mean() < 6.0  # of 255: only what finer pixels resolve


@looked_at
def test_a_lake_is_blue(studio: Any) -> None:
    dry = studio.picture()
    x, y = 0.5 * SIDE, 0.8 * SIDE
    lake = {"points": [[x, y]], "radius": 0.12 * SIDE, "falloff": 0.2}
    studio.ask(type="paint", tool="flatten", strength=1.0, **lake)
    studio.ask(type="paint", tool="add_water", strength=30.0, **lake)
    left, top = studio.place_on_screen(x, y)
    wet = studio.picture()
    row, column = int(SCALE * top), int(SCALE * left)
    spot = np.s_[row - 3 : row + 3, column - 5 : column + 5]
    red, _, blue = wet[spot].mean(axis=(0, 1))
    assert blue > 1.3 * red
    red, _, blue = dry[spot].mean(axis=(0, 1))
    assert blue < 1.1 * red


@looked_at
def test_an_overlay_uses_its_map_and_the_legend_shows_its_range(studio: Any) -> None:
    studio.ask(type="step", count=5)
    studio.wait("studio.store.state.step === 5 && !studio.store.state.playing")
    plain = chroma(terrain_pixels(studio, studio.picture()))
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "elevation")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'elevation'")
    legend = studio.page.locator(".legend")
    legend.wait_for()
    assert "Elevation, m" in legend.inner_text()
    assert legend.get_attribute("data-scale") == "linear"
    low, _, high = (float(text.strip("≤≥ ")) for text in legend.locator(".ticks span").all_inner_texts())
    heights = studio.layer("elevation")
    ends = np.percentile(heights, [0.5, 99.5])  # a few outliers are left out
    assert (low, high) == pytest.approx(tuple(ends), abs=0.01 * float(np.ptp(heights)))
    shown = chroma(terrain_pixels(studio, studio.picture()))
    assert studio.page.evaluate("studio.stage.uniforms.snowLine.value") > 1  # no snow on top of it
    table = chroma(np.array(studio.page.evaluate(COLOURS, "elevation"), dtype=float))
    distance = np.linalg.norm(shown[:, None] - table[None], axis=-1).min(axis=1)
    # Shading changes brightness and the filmic curve bends hues a little (0.013).
    assert np.median(distance) < 0.025
    assert np.median(np.linalg.norm(shown - plain, axis=-1)) > 0.02  # grass and rock are about 0.06 from it
    x, y = studio.place_on_screen(0.5 * SIDE, 0.8 * SIDE)
    studio.page.keyboard.press("Escape")
    studio.page.mouse.move(x, y)
    reading, unit = legend.locator("[data-role=reading]").inner_text().split()
    assert unit == "m"
    height = heights[int(0.8 * 128), 64]
    assert float(reading) == pytest.approx(height, abs=25.0)  # a pixel at this distance covers metres
    studio.page.select_option("select[aria-label='Overlay']", "")
    studio.wait("document.querySelector('.legend').hidden")


# What the overlay shows, in the unit of its layer.
OVERLAY_VALUES = """
() => {
  const { values, low, high } = studio.stage.frame.overlay;
  return [...values].map((value) => low + ((high - low) * value) / 65535);
}
"""


# How high the summit counts for the snow line, if it is eroded to half of the relief, and if somebody raises it.
SUMMIT = """
() => {
  const [landscape] = studio.stage.landscapes, { own, frame } = landscape;
  const at = (share) => {
    const high = own.datum.value + share * own.relief.value;
    landscape.take({ ...frame, elevation: { ...frame.elevation, high } });
    return own.summit.value;
  };
  const found = [at(0.5), at(3)];
  landscape.take(frame);
  return found;
}
"""


def test_the_snow_line_follows_a_summit_that_erodes(studio: Any) -> None:
    assert studio.page.evaluate(SUMMIT) == pytest.approx([0.5, 1.0])


def test_a_diverging_layer_has_zero_in_the_middle_and_each_side_its_own_range(studio: Any) -> None:
    studio.ask(type="step", count=5)
    studio.wait("studio.store.state.step === 5 && !studio.store.state.playing")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "difference")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'difference'")
    legend = studio.page.locator(".legend")
    assert legend.get_attribute("data-scale") == "diverging"
    low, middle, high = (float(text.strip("≤≥ ")) for text in legend.locator(".ticks span").all_inner_texts())
    assert middle == 0
    changes = np.array(studio.page.evaluate(OVERLAY_VALUES))
    ends = np.percentile(changes, [0.5, 99.5])  # a few outliers are left out
    least = np.abs(ends).max() / 20
    assert low == pytest.approx(min(ends[0], -least), rel=0.02)
    assert high == pytest.approx(max(ends[1], least), rel=0.02)
    assert high != pytest.approx(-low, rel=0.05), "the sides of these changes differ"
    studio.page.select_option("select[aria-label='Overlay']", "")


@looked_at
def test_flow_is_shown_on_a_log_scale(studio: Any) -> None:
    studio.ask(type="step", count=20)
    studio.wait("studio.store.state.step === 20 && !studio.store.state.playing")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "flow")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'flow'")
    legend = studio.page.locator(".legend")
    assert legend.get_attribute("data-scale") == "log"
    low, middle, high = (float(text.strip("≤≥ ")) for text in legend.locator(".ticks span").all_inner_texts())
    assert 0 < low < high
    assert middle == pytest.approx((low * high) ** 0.5, rel=1e-2)  # four digits are shown
    table = chroma(np.array(studio.page.evaluate(COLOURS, "flow"), dtype=float))
    shown = chroma(terrain_pixels(studio, studio.picture()))
    places = np.linalg.norm(shown[:, None] - table[None], axis=-1).argmin(axis=1) / 255
    front = np.maximum(studio.layer("flow")[92:124, 13:115], low)  # the part whose pixels are compared
    expected = np.log(front / low) / np.log(high / low)
    assert np.median(places) == pytest.approx(np.median(expected), abs=0.1)
    assert np.median(front / high) < np.median(expected) - 0.3  # a linear scale would show other colours
    studio.page.select_option("select[aria-label='Overlay']", "")


@looked_at
def test_the_sun_follows_a_drag_and_shades_the_other_side(studio: Any) -> None:
    before = studio.picture()
    azimuth = studio.page.evaluate("studio.stage.look.sunAzimuth")
    studio.page.mouse.move(400, 300)
    studio.page.keyboard.down("Alt")
    studio.page.mouse.down()
    studio.page.mouse.move(700, 300, steps=3)
    studio.page.mouse.up()
    studio.page.keyboard.up("Alt")
    turned = studio.page.evaluate("studio.stage.look.sunAzimuth")
    assert turned != azimuth
    after = studio.picture()
    assert np.abs(after - before).mean() > 5.0
    studio.page.evaluate("a => { studio.stage.look.sunAzimuth = a; studio.stage.lookChanged(true) }", azimuth)


@looked_at
def test_the_plan_shows_the_square_from_above(studio: Any) -> None:
    studio.click("plan")
    studio.settle_picture()
    corners = [studio.page.evaluate("([x, y]) => studio.stage.screenPlace(x, y)", p) for p in ([0, 0], [SIDE, SIDE])]
    width, height = (corners[1][k] - corners[0][k] for k in ("left", "top"))
    assert width == pytest.approx(height, rel=0.01)
    assert height > 400
    picture = studio.picture()
    assert picture[180, 320].sum() > 2 * picture[5, 5].sum()
    studio.click("plan")


@looked_at
def test_before_and_after_stand_side_by_side(studio: Any) -> None:
    x, y = 0.5 * SIDE, 0.75 * SIDE
    studio.ask(type="paint", tool="raise", strength=150.0, points=[[x, y]], radius=0.3 * SIDE, falloff=0.9)
    whole = studio.picture()
    studio.click("compare")
    studio.wait("studio.stage.before !== null")
    halves = studio.picture()
    difference = np.abs(halves - whole).mean(axis=-1)
    assert difference[:, :300].mean() > 3.0
    assert difference[:, 340:].mean() < 1.0
    studio.click("compare")


def test_keys_fly_and_wheel_zooms(studio: Any) -> None:
    def eye() -> np.ndarray:
        return np.array(studio.page.evaluate("studio.stage.cameras.perspective.position.toArray()"))

    start = eye()
    studio.page.focus("#picture")
    studio.page.keyboard.down("w")
    studio.wait("z => Math.abs(studio.stage.cameras.perspective.position.z - z) > 0.2", float(start[2]))
    studio.page.keyboard.up("w")
    studio.page.keyboard.press("f")
    assert eye() == pytest.approx(start)
    studio.page.mouse.move(450, 400)
    studio.page.mouse.wheel(0, -400)
    studio.wait("d => studio.stage.cameras.perspective.position.length() < d - 0.3", float(np.linalg.norm(start)))
    studio.page.keyboard.press("f")


def test_a_page_that_comes_later_shows_the_same_levels(studio: Any) -> None:
    studio.ask(type="step", count=6)
    studio.wait("studio.stage.frame.header.step === 6")
    levels = "[studio.stage.landscape.datum, studio.stage.uniforms.relief.value]"
    before = studio.page.evaluate(levels)
    studio.ask(type="reset")
    studio.wait("studio.stage.frame.header.step === 0")
    studio.ask(type="bring_back")
    studio.wait("studio.stage.frame.header.step === 6")
    assert studio.page.evaluate(levels) == before


def test_exaggeration_makes_it_taller(studio: Any) -> None:
    top = studio.place_on_screen(0.5 * SIDE, 0.5 * SIDE)[1]
    studio.tab("view")
    field = studio.page.locator(".view .line", has_text="Exaggeration").locator("[data-role=value]")
    field.fill("2")
    field.press("Enter")
    studio.wait("studio.stage.look.exaggeration === 2")
    assert studio.place_on_screen(0.5 * SIDE, 0.5 * SIDE)[1] < top - 20
    field.fill("1")
    field.press("Enter")
    studio.wait("studio.stage.look.exaggeration === 1")


def test_strata_colour_the_walls(studio: Any) -> None:
    with_strata = studio.page.evaluate("studio.store.welcome.presets.find(p => p.strata)?.name")
    assert with_strata
    studio.ask(type="start", preset=with_strata, backend="reference", generator={"kind": "dome", "size": 128})
    studio.wait("studio.stage.frame.header.run === studio.store.state.run")
    assert studio.page.evaluate("studio.stage.strataLayers") == 5


@looked_at
def test_particles_and_the_mesh_are_drawn_where_they_are(studio: Any) -> None:
    from slopewash.studio.frames import Block, assemble, field_block

    before = studio.picture()
    heights = studio.layer("elevation")
    header = studio.page.evaluate("studio.stage.frame.header")
    rng = np.random.default_rng(5)
    x, y = rng.uniform([0.2, 0.7], [0.8, 0.9], (300, 2)).T * SIDE
    z = heights[(y / 10).astype(int), (x / 10).astype(int)] + 15.0
    corners = np.array([[200, 900, 900], [1100, 900, 900], [1100, 1200, 700], [200, 1200, 700]], np.float32)
    blocks = [
        field_block("elevation", heights.astype(np.float32), 128),
        Block("particles", np.stack([x, y, z, rng.random(300)], axis=1).astype(np.float32), {}),
        Block("vertices", corners, {}),
        Block("triangles", np.array([[0, 1, 2], [0, 2, 3]], np.uint32), {}),
    ]
    del header["blocks"]
    frame = assemble({**header, "frame": header["frame"] + 1}, blocks)
    studio.page.evaluate("bytes => studio.connection.receive(new Uint8Array(bytes).buffer)", list(frame))
    drawn = "studio.stage.landscape.particles.points.geometry.getAttribute('position').count"
    assert studio.page.evaluate(drawn) == 300
    assert studio.page.evaluate("studio.stage.landscape.wireframe.lines.geometry.index.count") == 10  # five edges
    after = studio.picture()
    bluer = (after[..., 2] - after[..., 0]) - (before[..., 2] - before[..., 0])
    assert (bluer > 40).sum() > 300


def test_the_budget_balances_in_the_panel(studio: Any) -> None:
    studio.ask(type="step", count=20)
    studio.wait("studio.store.state.step === 20 && !studio.store.state.playing")
    studio.tab("budget")
    assert float(studio.page.inner_text("[data-budget=water_drift]")) < 1e-5
    assert "m³" in studio.page.inner_text("[data-budget=water_rain]")
    labels = studio.page.locator(".plot canvas").evaluate_all("plots => plots.map(p => p.ariaLabel)")
    assert any("step 20" in label for label in labels)


def test_help_opens_and_every_control_has_a_name(studio: Any) -> None:
    studio.page.focus("#picture")
    studio.page.keyboard.press("?")
    studio.page.locator("dialog[open]").wait_for()
    assert "play or pause" in studio.page.inner_text("dialog")
    studio.page.keyboard.press("Escape")
    nameless = studio.page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(e => !(e.ariaLabel || e.textContent.trim()"
        " || e.closest('label')?.textContent.trim())).map(e => e.outerHTML)"
    )
    assert nameless == []
