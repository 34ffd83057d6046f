"""The camera: above the ground, never before a wall only, on foot, and where it was after a reload."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import slopewash as sw

pytestmark = pytest.mark.slow

CELLS = 96
POSE = "studio.stage.cameras.rig.pose"

# Drives a camera of its own over a height field with random turns of the wheel and drags, and judges by its own march
# over the field: how deep the eye was in the ground at worst, and how often a view from outside showed walls but hardly
# any ground.
DRIVE = """
({ heights, cells, cellSize, sequences, seed }) => {
  const bytes = Uint8Array.from(atob(heights), (c) => c.charCodeAt(0));
  const metres = new Float32Array(bytes.buffer);
  const low = Math.min(...metres), high = Math.max(...metres);
  const values = Uint16Array.from(metres, (h) => Math.round((65535 * (h - low)) / Math.max(high - low, 1e-6)));
  const elevation = { rows: cells, columns: cells, values, low, high, unit: "m", layer: "elevation" };
  const scale = 10 / (cells * cellSize);
  const ground = { elevation, water: null, cellSize, datum: low, exaggeration: 1, worldScale: scale };
  const cell = 10 / cells;
  const surface = (x, z) => {
    const column = Math.min(Math.max(Math.floor((x + 5) / cell), 0), cells - 1);
    const row = Math.min(Math.max(Math.floor((z + 5) / cell), 0), cells - 1);
    return (metres[row * cells + column] - low) * scale;
  };
  const meets = (eye, d) => {
    for (let t = 0; t < 70; t += 0.05) {
      const [x, y, z] = [eye.x + d.x * t, eye.y + d.y * t, eye.z + d.z * t];
      if (y < -0.4) return "floor";
      if (Math.abs(x) > 5 || Math.abs(z) > 5) continue;
      if (y < surface(x, z)) {
        const [a, b] = [eye.x + d.x * (t - 0.05), eye.z + d.z * (t - 0.05)];
        return Math.abs(a) > 5 || Math.abs(b) > 5 ? "wall" : "ground";
      }
      if (y > (high - low) * scale && d.y > 0) return "sky";
    }
    return "sky";
  };
  let state = seed;
  const random = () => ((state = (state * 1103515245 + 12345) % 2147483648), state / 2147483648);
  const { cameras } = studio.stage;
  let [deepest, walled, outside, way] = [-Infinity, 0, 0, 0];
  for (let sequence = 0; sequence < sequences; sequence++) {
    const own = new cameras.constructor(() => {});
    own.resize(1280, 720, { right: 332, bottom: 0 });
    const Vector = own.rig.eye.constructor;
    own.frame([-5, 5].flatMap((x) => [-5, 5].map((z) => new Vector(x, surface(x, z), z))));
    own.setGround(ground);
    const start = own.rig.eye.clone();
    for (let i = 0; i < 12; i++) {
      const [x, y] = [1.5 * random() - 1, 1.6 * random() - 0.8];
      const about = own.rig.pivot(own.ray(x, y));
      const kind = random();
      if (kind < 0.5) for (let n = 8 * random(); n > 0; n--) own.zoom(about, random() < 0.75 ? 0.85 : 1.2, { x, y });
      const [dx, dy] = [240 * random() - 120, 160 * random() - 80];
      for (let n = 0; n < 4; n++) {
        if (kind >= 0.5 && kind < 0.9) own.orbit(about, dx / 2, dy / 2);
        if (kind >= 0.9) own.pan(about, dx, dy);
      }
      const { eye, axes, opening } = own.rig;
      deepest = Math.max(deepest, surface(eye.x, eye.z) - eye.y);
      if (Math.abs(eye.x) <= 5 && Math.abs(eye.z) <= 5) continue;
      outside++;
      const seen = { wall: 0, ground: 0, sky: 0, floor: 0 };
      for (let v = -4; v <= 4; v++)
        for (let u = -4; u <= 4; u++)
          seen[meets(eye, axes.forward.clone().addScaledVector(axes.right, (u / 4.5) * opening.x)
            .addScaledVector(axes.up, (v / 4.5) * opening.y).normalize())]++;
      if (seen.wall > 2 && seen.ground < 0.5 * seen.wall) walled++;
    }
    way += own.rig.eye.distanceTo(start);
  }
  return { deepest, walled, outside, way: way / sequences };
}
"""


def fields() -> dict[str, np.ndarray]:
    made = {
        "dome": sw.generate("dome", size=CELLS, extent=5120.0, seed=7)["elevation"],
        "ridged": sw.generate("ridged", size=CELLS, extent=5120.0, seed=3)["elevation"],
        "fbm": sw.generate("fbm", size=CELLS, extent=5120.0, seed=1)["elevation"],
        "flat": np.zeros((CELLS, CELLS)),
        # Cut along its crest: one wall is as high as the mountain.
        "cliff": np.tile(np.linspace(0.0, 2500.0, CELLS), (CELLS, 1)),
    }
    return {name: np.ascontiguousarray(heights, np.float32) for name, heights in made.items()}


@pytest.mark.parametrize("name", ["dome", "ridged", "fbm", "flat", "cliff"])
def test_no_wheel_and_drag_lead_underground_or_before_a_wall(studio: Any, name: str) -> None:
    heights = base64.b64encode(fields()[name].tobytes()).decode()
    given = {"heights": heights, "cells": CELLS, "cellSize": 5120.0 / CELLS, "sequences": 200, "seed": 11}
    found = studio.page.evaluate(DRIVE, given)
    assert found["deepest"] < 0
    assert found["outside"] > 100  # else the rest would show nothing
    assert found["walled"] == 0
    assert found["way"] > 1.0  # the camera goes somewhere: refusing every move would be no answer


# How far the eye is below the ground of the page, and what its view meets.
JUDGE = """
() => {
  const { rig } = studio.stage.cameras;
  return { outside: rig.isOutside, below: rig.lowest(rig.eye.x, rig.eye.z) - rig.eye.y, ...rig.visible(9) };
}
"""


def test_the_mouse_itself_keeps_above_the_ground_and_sees_it(studio: Any) -> None:
    random = np.random.default_rng(5)
    for _ in range(2):
        studio.page.keyboard.press("f")
        for _ in range(4):
            x, y = random.uniform([90, 80], [920, 620])
            studio.page.mouse.move(x, y)
            if random.random() < 0.5:
                studio.page.mouse.wheel(0, float(random.choice([-900, -400, 300])))
            else:
                studio.page.mouse.down(button=str(random.choice(["left", "left", "right"])))
                studio.page.mouse.move(x + random.uniform(-300, 300), y + random.uniform(-200, 200), steps=3)
                for button in ("left", "right"):
                    studio.page.mouse.up(button=button)
            found = studio.page.evaluate(JUDGE)
            assert found["below"] <= 1e-6
            assert not found["outside"] or found["surface"] >= 0.5 * found["wall"]
    studio.page.keyboard.press("f")


def test_a_drag_turns_about_the_ground_under_the_pointer(studio: Any) -> None:
    studio.page.keyboard.press("f")
    studio.page.mouse.move(400, 420)
    studio.page.mouse.wheel(0, -300)
    studio.wait("!studio.stage.cameras.isFramed")
    place = studio.page.evaluate("studio.stage.placeAt(400, 420)")
    before = studio.page.evaluate(POSE)
    studio.page.mouse.down()
    studio.page.mouse.move(460, 440, steps=4)
    studio.page.mouse.up()
    after = studio.page.evaluate(POSE)
    assert after["heading"] != pytest.approx(before["heading"], abs=5.0)
    left, top = studio.place_on_screen(place["x"], place["y"])
    assert (left, top) == pytest.approx((400, 420), abs=6.0)
    studio.page.keyboard.press("f")


def test_on_foot_the_eye_is_at_its_height_over_the_ground(studio: Any) -> None:
    studio.page.keyboard.press("f")
    free = studio.page.evaluate(POSE)
    studio.page.mouse.move(400, 400)
    place = studio.page.evaluate("studio.stage.placeAt(400, 400)")
    studio.page.keyboard.press("g")
    metres = "1 / studio.stage.ground.worldScale"
    eye = np.array(studio.page.evaluate(POSE)["eye"]) * studio.page.evaluate(metres)
    assert eye[[0, 2]] + 640.0 == pytest.approx([place["x"], place["y"]], abs=1.0)
    level = eye[1] + studio.page.evaluate("studio.stage.landscape.datum")
    assert level - place["height"] == pytest.approx(6.0, abs=0.5)  # 0.6 cells of 10 m
    studio.page.keyboard.down("w")
    studio.wait("([x, z]) => Math.hypot(studio.stage.cameras.rig.eye.x - x, studio.stage.cameras.rig.eye.z - z) > 0.3",
                (eye[[0, 2]] / studio.page.evaluate(metres)).tolist())  # fmt: skip
    studio.page.keyboard.up("w")
    found = studio.page.evaluate(
        "(({ rig }) => [rig.eye.y - rig.lowest(rig.eye.x, rig.eye.z), rig.walking])(studio.stage.cameras)"
    )
    assert found[0] == pytest.approx(0.5 * found[1])
    assert studio.page.get_attribute("[data-role=walk]", "aria-pressed") == "true"
    studio.page.keyboard.press("g")
    back = studio.page.evaluate(POSE)
    assert back["walking"] is None
    assert back["eye"] == pytest.approx(free["eye"])


def test_arrow_keys_turn_the_view_but_not_under_a_slider(studio: Any) -> None:
    studio.page.keyboard.press("f")
    heading = "studio.stage.cameras.rig.heading"
    before = studio.page.evaluate(heading)
    studio.page.focus("#picture")
    studio.page.keyboard.down("ArrowRight")
    studio.wait(f"before => Math.abs({heading} - before) > 5", before)
    studio.page.keyboard.up("ArrowRight")
    studio.tab("view")
    turned = studio.page.evaluate(heading)
    studio.page.focus("input[type=range][aria-label^='Exposure']")
    studio.page.keyboard.press("ArrowRight")
    studio.page.keyboard.press("ArrowLeft")
    assert studio.page.evaluate(heading) == turned
    studio.page.keyboard.press("f")


def test_the_view_follows_terrain_and_window_until_it_is_moved(studio: Any) -> None:
    studio.page.keyboard.press("f")
    framed = studio.page.evaluate(POSE)
    studio.page.set_viewport_size({"width": 1000, "height": 720})
    studio.wait("eye => Math.abs(studio.stage.cameras.rig.eye.y - eye) > 0.2", framed["eye"][1])
    studio.page.mouse.move(400, 400)
    studio.page.mouse.wheel(0, -300)
    studio.wait("!studio.stage.cameras.isFramed")
    moved = studio.page.evaluate(POSE)
    studio.page.set_viewport_size({"width": 1280, "height": 720})
    studio.settle_picture()
    assert studio.page.evaluate(POSE)["eye"] == pytest.approx(moved["eye"])
    studio.ask(type="start", generator={"kind": "fbm", "seed": 3})
    studio.settle_picture()
    assert studio.page.evaluate("studio.stage.cameras.isFramed")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1000, 600), (640, 900)])
def test_the_bar_at_the_bottom_covers_nothing(studio: Any, width: int, height: int) -> None:
    studio.page.set_viewport_size({"width": width, "height": height})
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "elevation")
    studio.page.locator(".legend").wait_for()
    studio.settle_picture()
    boxes = {part: studio.page.locator(part).bounding_box() for part in (".transport", ".panel", ".tools", ".readings")}
    bar = boxes.pop(".transport")
    for part, box in boxes.items():
        apart = (box["x"] >= bar["x"] + bar["width"] or box["x"] + box["width"] <= bar["x"]
                 or box["y"] >= bar["y"] + bar["height"] or box["y"] + box["height"] <= bar["y"])  # fmt: skip
        assert apart, part
    for corner in ([0, 0], [1280, 0], [0, 1280], [1280, 1280]):
        assert studio.page.evaluate("([x, y]) => studio.stage.screenPlace(x, y)", corner)["top"] < bar["y"]
    studio.page.select_option("select[aria-label='Overlay']", "")
    studio.page.set_viewport_size({"width": 1280, "height": 720})


def test_a_reload_returns_to_the_view(open_page: Callable[..., Any], studio: Any) -> None:
    other = open_page(1000, 500)
    other.open(studio.server.url)
    other.page.mouse.move(300, 250)
    other.page.mouse.wheel(0, -300)
    other.wait("!studio.stage.cameras.isFramed")
    before = other.page.evaluate(POSE)
    other.page.reload()
    other.wait("window.studio && studio.stage.drawn > 0 && studio.store.state")
    after = other.page.evaluate(POSE)
    assert after["eye"] == pytest.approx(before["eye"], abs=1e-6)
    assert after["heading"] == pytest.approx(before["heading"])
