"""Water, ground, fine relief and surroundings: what a picture must satisfy, at the lowest quality unless said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.browser.conftest import LOOKED_AT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_every_pixel")]

SIDE = 128
SCALE = 0.5
"""Pixels of a picture per unit of the window, as the fixture opens it."""

# Gives the page its own ground and water, as if a frame had brought them; values in metres, row by row.
SHOW = """
({ ground, water }) => {
  const { stage } = studio;
  const field = (values, layer) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const steps = Uint16Array.from(values, (value) => Math.round((65535 * (value - low)) / Math.max(high - low, 1e-9)));
    return { rows: 128, columns: 128, values: steps, low, high, unit: "m", layer };
  };
  const frame = { ...stage.frame, elevation: field(ground, "elevation"), water: water && field(water, "water") };
  stage.show({ ...frame, suspended: null, wear: null, deposit: null, flow: null, soil: null });
}
"""
# The depths over the cells, below zero where it is dry, as the shaders compute them: half floats.
WATERLINE = """
() => {
  const { stage } = studio, values = new Uint16Array(4 * 128 * 128);
  stage.renderer.readRenderTargetPixels(stage.now.waterlineTarget, 0, 0, 128, 128, values);
  return [...values];
}
"""
# The fine relief by the shaders and by the camera's own computation, over cells and parts of them.
RELIEF = """
() => {
  const { stage } = studio, n = 64;
  stage.quality = { ...stage.quality, nearLevels: 1 };
  const u = stage.uniforms, { detail } = stage.ground;
  stage.landscape.use(u);
  Object.assign(u.detailHeight, { value: detail.height });
  Object.assign(u.detailReach, { value: 1e9 });
  Object.assign(u.detailSteep, { value: detail.steep });
  Object.assign(u.detailDry, { value: detail.dry });
  const source = stage.block.terrain.material.vertexShader.split("uniform bool finerThanField")[0];
  const main = "out vec4 c; void main() { c = vec4(detailAt(gl_FragCoord.xy / 64.0 * 0.9 + 0.05, 0.0)); }";
  const pass = new stage.block.plan.constructor(source + main, u);
  const target = stage.now.newFields(n, n), drawn = new Float32Array(4 * n * n);
  pass.run(stage.renderer, target);
  stage.renderer.readRenderTargetPixels(target, 0, 0, n, n, drawn);
  const ground = stage.ground, without = { ...ground, detail: undefined };
  const scale = ground.worldScale * ground.exaggeration, side = 128 * ground.cellSize * ground.worldScale;
  const felt = [];
  const { rig } = stage.cameras;
  const heightOf = (of, x, z) => {
    rig.ground = of;
    rig.walking = 0;
    return rig.lowest(x, z) - 0.5 * rig.eyeHeight;
  };
  for (let i = 0; i < n * n; i++) {
    const [x, z] = [(i % n) + 0.5, Math.floor(i / n) + 0.5].map((at) => ((at / n) * 0.9 + 0.05 - 0.5) * side);
    felt.push((heightOf(ground, x, z) - heightOf(without, x, z)) / scale);
  }
  rig.walking = null;
  stage.setTier("low");
  return { drawn: [...drawn].filter((_, i) => i % 4 === 0), felt, cell: ground.cellSize };
}
"""
PLACES = "studio.stage.block.trees.places"
# Places for trees on either side of one image that compares.
EACH_SIDE = """
() => new Promise((done) => {
  const { stage } = studio, { trees } = stage.block, places = [];
  trees.show = (sight, most) => {
    Object.getPrototypeOf(trees).show.call(trees, sight, most);
    places.push(trees.places);
  };
  let listening = true; // a listener stays: later, others change `show`
  stage.onDraw(() => {
    if (!listening || places.length === 0) return;
    listening = false;
    delete trees.show;
    done(places);
  });
  stage.invalidate();
})
"""
# Lets a stream have run from west to east between two distances from the north, in metres.
FLOW = """
([from, to]) => {
  const { stage } = studio;
  const wet = (i) => Math.floor(i / 128) * 10 >= from && Math.floor(i / 128) * 10 < to;
  const values = Uint16Array.from({ length: 128 * 128 }, (_, i) => (wet(i) ? 65535 : 1));
  const flow = { rows: 128, columns: 128, values, low: 0, high: 20, unit: "m", layer: "flow" };
  stage.landscape.history.set({ wear: null, deposit: null, flow, soil: null }, stage.uniforms.relief.value);
  stage.invalidate();
}
"""
# Draws no crowns, and shadows only if asked.
CROWNS_AWAY = """
(shadows) => {
  const { trees } = studio.stage.block;
  trees.show = (...to) => {
    Object.getPrototypeOf(trees).show.call(trees, ...to);
    for (const ring of trees.rings) {
      ring.trees.visible = false;
      ring.shadows.visible &&= shadows;
    }
  };
  studio.stage.invalidate();
}
"""
# Trees as a view from inside a large terrain would have them: how many there are of either kind, where either begins.
BOUNDED = """
(most) => {
  const { trees } = studio.stage.block, at = studio.stage.cameras.current.position.clone();
  const [eye, forward] = [at.clone().set(0, 0.3, 0), at.clone().set(0.7, -0.1, 0.7)];
  const side = { halfSides: [5, 5], beyond: 1, worldScale: 10 / 20480 };
  trees.show({ eye, forward, opening: { left: -1, right: 1, up: 0.6 }, ...side, pixelsPerUnit: 3000 }, most);
  const kinds = { tiered: { count: 0, from: Infinity }, plain: { count: 0, from: Infinity } };
  for (const { trees: mesh, own } of trees.rings.filter(({ trees: mesh }) => mesh.visible)) {
    const { count } = mesh.geometry.getAttribute("position");
    const kind = kinds[count > 20 ? "tiered" : "plain"];
    kind.count += mesh.geometry.instanceCount;
    kind.from = Math.min(kind.from, own.ring.x);
  }
  const { places } = trees;
  trees.hide();
  return { ...kinds, places };
}
"""
# Pixels per unit by which the trees of a small image on trial are chosen, and those of the full one after it.
ON_TRIAL = """
() => new Promise((done) => {
  const { stage } = studio, { trees } = stage.block, seen = {};
  trees.show = (sight, most) => {
    seen[stage.trials > 0 ? "trial" : "full"] = sight.pixelsPerUnit;
    Object.getPrototypeOf(trees).show.call(trees, sight, most);
    if (!("trial" in seen && "full" in seen)) return;
    delete trees.show;
    done(seen);
  };
  stage.setTier("medium", true);
})
"""
# How often the passes of light and of gullies run from now on.
COUNT_PASSES = """
() => {
  window.passes = { lighting: 0, carving: 0 };
  for (const name of ["lighting", "carving"]) {
    const pass = studio.stage.now[name];
    pass.run = (...to) => {
      window.passes[name]++;
      Object.getPrototypeOf(pass).run.call(pass, ...to);
    };
  }
}
"""


def show(studio: Any, ground: np.ndarray, water: np.ndarray | None) -> None:
    lists = {"ground": ground.ravel().tolist(), "water": None if water is None else water.ravel().tolist()}
    studio.settle_picture()
    studio.page.evaluate(SHOW, lists)


def cells() -> tuple[np.ndarray, np.ndarray]:
    row, column = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    return row * 10.0, column * 10.0  # metres


def pixels(studio: Any, picture: np.ndarray, places: np.ndarray) -> np.ndarray:
    spots = studio.page.evaluate("places => places.map(([x, y]) => studio.stage.screenPlace(x, y))", places.tolist())
    rows, columns = (np.array([int(SCALE * spot[key]) for spot in spots]) for key in ("top", "left"))
    return picture[rows.clip(0, picture.shape[0] - 1), columns.clip(0, picture.shape[1] - 1)]


def test_the_shore_of_a_lake_is_where_its_level_meets_the_ground(studio: Any) -> None:
    south, east = cells()
    ground = 0.05 * np.hypot(east - 640.0, south - 640.0)
    level = 17.3
    show(studio, ground, np.maximum(level - ground, 0.0))
    studio.picture()
    words = np.array(studio.page.evaluate(WATERLINE), np.uint16)
    depth = words.view(np.float16).reshape(SIDE, SIDE, 4)[..., 0].astype(float)
    middle = depth[64]
    last = int(np.flatnonzero(middle > 0)[-1])
    assert middle[last + 1] < 0
    between = last + middle[last] / (middle[last] - middle[last + 1])
    shallowest = 0.035 * 10.0
    truth = (640.0 + (level - shallowest) / 0.05) / 10.0 - 0.5
    assert abs(between - truth) < 0.1  # of a cell: no steps along the shore


def test_water_is_white_where_it_falls(studio: Any) -> None:
    south, east = cells()
    # A terrace in the west and one in the east, and a steep slope between; a stream runs over all three.
    ground = 260.0 * np.clip((900.0 - east) / 500.0, 0.0, 1.0)
    stream = np.where(np.abs(south - 640.0) < 60.0, 3.0, 0.0)
    show(studio, ground, stream)
    picture = studio.picture()
    line = np.full(40, 640.0)
    steep = pixels(studio, picture, np.stack([np.linspace(500.0, 800.0, 40), line], axis=-1))
    level = pixels(studio, picture, np.stack([np.linspace(1000.0, 1200.0, 40), line], axis=-1))
    assert np.median(steep.min(axis=-1)) > 1.5 * np.median(level.min(axis=-1))


def test_a_shallow_river_is_dark_and_not_grey(studio: Any) -> None:
    south, east = cells()
    ground = 0.06 * (1280.0 - east) + 0.02 * np.abs(south - 640.0)
    show(studio, ground, np.where(np.abs(south - 640.0) < 50.0, 0.9, 0.0))  # metres: a tenth of a cell
    picture = studio.picture()
    along = np.linspace(300.0, 1000.0, 60)
    river = pixels(studio, picture, np.stack([along, np.full(60, 640.0)], axis=-1))
    banks = pixels(studio, picture, np.stack([along, np.full(60, 760.0)], axis=-1))
    assert np.median(river.mean(axis=-1)) < 0.8 * np.median(banks.mean(axis=-1))
    red, _, blue = np.median(river, axis=0)
    assert blue > 1.2 * red
    assert np.percentile(river.min(axis=-1), 90) < 140.0  # no foam on so gentle a slope


# Looks down on the middle of the terrain from so many metres.
ABOVE = """
(metres) => {
  const { stage } = studio, [middle] = [stage.cameras.rig.lowest(0, 0)];
  const eye = [0, middle + metres * stage.ground.worldScale, 0];
  stage.cameras.restore({ pose: { eye, heading: 0, pitch: -85, walking: null }, plan: false, plan_view: [0, 0, 1] });
  stage.lookChanged();
}
"""


def test_a_river_is_narrower_from_near(studio: Any) -> None:
    south, east = cells()
    ground = 0.05 * (1280.0 - east) + 0.02 * np.abs(south - 640.0)
    river = 4.0 * np.maximum(1.0 - (np.abs(south - 640.0) / 19.0) ** 2, 0.0) ** 2  # as add_water draws the largest
    show(studio, ground, river)
    studio.page.evaluate("studio.stage.setRivers(studio.stage.frame.water)")
    studio.page.emulate_media(reduced_motion="reduce")
    width = {}
    for metres in (2500.0, 150.0):
        studio.page.evaluate(ABOVE, metres)
        wet = studio.picture()
        studio.page.evaluate("studio.stage.look.water = false; studio.stage.lookChanged()")
        dry = studio.picture()
        studio.page.evaluate("studio.stage.look.water = true; studio.stage.lookChanged()")
        across = np.abs(wet - dry).mean(axis=-1)[:, wet.shape[1] // 2 - 20 : wet.shape[1] // 2 + 20] > 8.0
        width[metres] = across.sum(axis=0).mean() * metres
    studio.page.emulate_media(reduced_motion="no-preference")
    studio.page.evaluate("studio.stage.frameWholeBlock()")
    assert 0.2 < width[150.0] / width[2500.0] < 0.7, width


def test_countries_differ_in_colour(studio: Any) -> None:
    studio.tab("view")
    places = np.random.default_rng(1).uniform(300.0, 1000.0, (400, 2))
    seen = {}
    for name in ("desert", "winter", "green", "alpine"):
        studio.page.select_option("select[aria-label='Country']", name)
        seen[name] = pixels(studio, studio.picture(), places).mean(axis=0)
    warmth = {name: red / blue for name, (red, _, blue) in seen.items()}
    assert warmth["desert"] > 1.05 * max(warmth[name] for name in ("winter", "green", "alpine"))
    lush = {name: green / red for name, (red, green, _) in seen.items()}
    assert lush["green"] > 1.02 * lush["desert"]


def test_strata_come_to_light_on_slopes(studio: Any) -> None:
    studio.ask(type="start", preset="chiba_strata", generator={"kind": "noisy_cylinder", "size": 128})
    studio.settle_picture()
    depth, strata = studio.page.evaluate("[studio.stage.uniforms.bedDepth.value, studio.stage.strataLayers]")
    assert depth > 0
    assert strata == 5
    studio.ask(type="start", preset="single_grid", generator={"kind": "dome", "size": 128})
    studio.settle_picture()
    assert studio.page.evaluate("studio.stage.uniforms.bedDepth.value") == 0


def test_the_camera_stands_on_the_fine_relief_that_is_drawn(studio: Any) -> None:
    south, east = cells()
    ground = 0.9 * np.abs(east - 640.0)
    water = np.where(south > 900.0, 4.0, 0.0)
    show(studio, ground, water)
    studio.picture()
    found = studio.page.evaluate(RELIEF)
    drawn, felt = (np.array(found[key]).reshape(64, 64) for key in ("drawn", "felt"))
    assert np.ptp(drawn[:40]) > 0.1 * found["cell"]
    assert np.abs(drawn - felt).max() < 0.03 * found["cell"]
    assert not drawn[-12:].any()  # under water


QUICK = {
    **LOOKED_AT, "shadowSteps": 12, "skyDirections": 2, "gullies": 256, "gullyOctaves": 1, "surroundings": 9,
    "nearLevels": 1, "flowSamples": 1, "reflectionSteps": 0,
}  # fmt: skip
"""What of a quality with trees costs most without a GPU and says nothing of them."""


@pytest.fixture
def medium(studio: Any) -> Iterator[Any]:
    """The studio in a quality that has trees; afterwards in low, with the look it had before."""
    usual = studio.page.evaluate(
        """quick => {
          const { pace, stage } = studio;
          pace.fixed = true;
          stage.setTier("medium");
          const usual = { ...stage.quality };
          Object.assign(stage.quality, quick);
          stage.setTier("medium"); // again, before the next image
          return usual;
        }""",
        QUICK,
    )
    yield studio
    # Low first, since everything else draws.
    studio.page.evaluate(
        "usual => { studio.stage.setTier('medium'); Object.assign(studio.stage.quality, usual);"
        " studio.stage.setTier('low'); studio.pace.fixed = false;"
        " Object.assign(studio.stage.look, { snow: true, trees: true, paintedWoods: false });"
        " studio.stage.lookChanged() }",
        usual,
    )
    studio.page.emulate_media(reduced_motion="no-preference")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "")
    studio.page.select_option("select[aria-label='Light']", "afternoon")
    studio.page.set_checked("input[aria-label='Trees']", True)


@pytest.fixture
def passes(studio: Any) -> Iterator[Callable[[], dict[str, int]]]:
    """How often light and gullies were drawn since the start of the test."""
    studio.settle_picture()
    studio.page.evaluate(COUNT_PASSES)
    sun = studio.page.evaluate("studio.stage.look.sunAzimuth")
    yield lambda: studio.page.evaluate("window.passes")
    studio.page.evaluate(
        "sun => { studio.stage.look.sunAzimuth = sun; studio.stage.lookChanged(true);"
        " delete studio.stage.now.lighting.run; delete studio.stage.now.carving.run }",
        sun,
    )


def test_gullies_are_not_drawn_again_for_another_sun(studio: Any, passes: Callable[[], dict[str, int]]) -> None:
    studio.page.evaluate("studio.stage.look.sunAzimuth += 20; studio.stage.lookChanged(true)")
    studio.wait("window.passes.lighting > 0")
    assert passes()["carving"] == 0
    studio.ask(type="step", count=1)
    studio.wait("window.passes.carving > 0")


def see_trees(studio: Any, shown: bool) -> np.ndarray:
    """A picture with trees, or with woods that are only painted."""
    studio.page.evaluate("shown => { studio.stage.look.paintedWoods = !shown; studio.stage.lookChanged(); }", shown)
    return studio.picture()


def test_trees_stand_below_the_tree_line_and_not_in_water(medium: Any) -> None:
    studio = medium
    datum, relief = studio.page.evaluate("[studio.stage.uniforms.datum.value, studio.stage.uniforms.relief.value]")
    south, east = cells()
    ground = datum + relief * south / 1280.0  # highest in the south: the shady side is moist
    lake = (np.abs(east - 350.0) < 200.0) & (np.abs(south - 300.0) < 150.0)
    show(studio, ground, np.where(lake, 6.0, 0.0))
    studio.page.emulate_media(reduced_motion="reduce")  # waves would differ too
    studio.page.evaluate("studio.stage.look.snow = false")
    changed = np.abs(see_trees(studio, True) - see_trees(studio, False)).mean(axis=-1, keepdims=True) > 6.0
    zones = {"wood": ([600.0, 80.0], [1200.0, 580.0]), "bare": ([100.0, 960.0], [1200.0, 1220.0])}
    zones["lake"] = ([220.0, 220.0], [480.0, 380.0])
    random = np.random.default_rng(4)
    share = {
        name: pixels(studio, changed, random.uniform(low, high, (600, 2))).mean() for name, (low, high) in zones.items()
    }
    assert share["wood"] > 0.1, share
    assert share["bare"] == 0.0, share
    assert share["lake"] < 0.02, share  # a tree on the shore may hide a little of it


def wooded_slope(studio: Any) -> Any:
    """Show a slope towards the south with trees on it, without snow."""
    datum, relief = studio.page.evaluate("[studio.stage.uniforms.datum.value, studio.stage.uniforms.relief.value]")
    south, _ = cells()
    show(studio, datum + relief * south / 1280.0, None)
    studio.page.evaluate("studio.stage.look.snow = false")
    studio.picture()
    return studio


def test_trees_keep_out_of_the_beds_of_streams(medium: Any) -> None:
    studio = wooded_slope(medium)
    studio.page.evaluate(FLOW, [250, 400])
    changed = np.abs(see_trees(studio, True) - see_trees(studio, False)).mean(axis=-1, keepdims=True) > 6.0
    random = np.random.default_rng(5)
    share = {
        name: pixels(studio, changed, random.uniform(low, high, (600, 2))).mean()
        for name, (low, high) in {
            "bed": ([200.0, 280.0], [1100.0, 340.0]),  # trees on the near bank hide the rest
            "wood": ([200.0, 440.0], [1100.0, 600.0]),
        }.items()
    }
    assert share["wood"] > 0.1, share
    assert share["bed"] < 0.02, share


def test_shadows_of_many_trees_are_no_darker_than_that_of_one(medium: Any) -> None:
    studio = wooded_slope(medium)
    seen = []
    for shadows in (True, False):
        studio.page.evaluate(CROWNS_AWAY, shadows)
        seen.append(studio.picture().mean(axis=-1))
    studio.page.evaluate("delete studio.stage.block.trees.show")
    shaded = seen[0] / np.maximum(seen[1], 1.0)
    assert (shaded < 0.9).mean() > 0.005, "no shadows"
    assert np.percentile(shaded[shaded < 0.9], 1) > 0.5


def test_both_sides_of_a_comparison_share_the_trees(medium: Any) -> None:
    studio = medium
    studio.ask(type="step", count=1)
    studio.picture()
    whole = studio.page.evaluate(PLACES)
    studio.page.keyboard.press("c")
    studio.wait("studio.stage.before !== null && studio.stage.split !== null")
    places = studio.promised(EACH_SIDE)
    studio.page.keyboard.press("c")
    assert len(places) == 2
    assert min(places) > 0
    assert sum(places) < 1.3 * whole  # the rectangles around two halves overlap


def test_low_quality_paints_its_woods(studio: Any) -> None:
    studio.settle_picture()
    assert studio.page.evaluate(PLACES) == 0


@pytest.mark.parametrize("snow_line", [9.0, 0.0])
def test_painted_woods_are_darker_than_the_ground_also_in_winter(studio: Any, snow_line: float) -> None:
    wooded_slope(studio)
    look = "look => { Object.assign(studio.stage.look, look); studio.stage.lookChanged(); }"
    usual = studio.page.evaluate(
        "({ snow, snowLine }) => ({ snow, snowLine })", studio.page.evaluate("studio.stage.look")
    )
    places = np.random.default_rng(6).uniform([300.0, 100.0], [1000.0, 500.0], (600, 2))
    seen = {}
    for trees in (True, False):
        studio.page.evaluate(look, {"trees": trees, "snow": True, "snowLine": snow_line})
        seen[trees] = pixels(studio, studio.picture(), places).mean(axis=-1)
    studio.page.evaluate(look, {**usual, "trees": True, "snow": True})
    assert (seen[True] < 0.9 * seen[False]).mean() > 0.1
    assert (seen[True] > 1.1 * seen[False]).mean() < 0.02


@pytest.mark.parametrize("most", [15_000, 60_000, 200_000])
def test_trees_and_their_vertices_are_bounded(studio: Any, most: int) -> None:
    found = studio.page.evaluate(BOUNDED, most)
    assert found["tiered"]["from"] == 0.0  # the nearest
    assert found["tiered"]["from"] < found["plain"]["from"]
    assert 0.05 * most < found["tiered"]["count"] <= 0.2 * most
    assert 0.5 * most < found["places"] == found["tiered"]["count"] + found["plain"]["count"] <= most


def test_a_sliver_of_an_image_has_few_trees(studio: Any) -> None:
    assert studio.page.evaluate(BOUNDED, 5)["places"] < 400  # the search for fewer ends


def test_an_image_on_trial_has_the_trees_of_the_full_one(medium: Any) -> None:
    seen = medium.promised(ON_TRIAL)
    assert seen["trial"] == pytest.approx(seen["full"], rel=0.02)  # whole pixels


def test_trees_give_way_to_maps_and_plain_light(medium: Any) -> None:
    studio = medium
    studio.picture()
    assert 1000 < studio.page.evaluate(PLACES) <= studio.page.evaluate("studio.stage.quality.trees")
    studio.tab("view")
    studio.page.select_option("select[aria-label='Overlay']", "elevation")
    studio.wait("studio.stage.frame.overlay && studio.stage.frame.overlay.layer === 'elevation'")
    studio.picture()
    assert studio.page.evaluate(PLACES) == 0
    studio.page.select_option("select[aria-label='Overlay']", "")
    for light, some in (("clay", False), ("satellite", False), ("afternoon", True)):
        studio.page.select_option("select[aria-label='Light']", light)
        studio.picture()
        assert (studio.page.evaluate(PLACES) > 0) == some
    studio.page.set_checked("input[aria-label='Trees']", False)
    studio.picture()
    assert studio.page.evaluate(PLACES) == 0


def test_the_ground_goes_on_to_the_horizon_from_inside(studio: Any) -> None:
    risen = "studio.stage.uniforms.surroundings.value"
    studio.page.keyboard.press("f")
    studio.settle_picture()
    assert studio.page.evaluate(risen) == 0
    studio.page.mouse.move(450, 560)
    studio.page.keyboard.press("g")
    studio.wait("studio.stage.cameras.isWalking")
    # To the edge, looking out over it.
    studio.page.evaluate(
        "const { rig } = studio.stage.cameras; rig.heading = 180; rig.fly(0, 20, 0.3);"
        " studio.stage.cameras.restore(studio.stage.cameras.saved)"
    )
    around = studio.picture()
    assert studio.page.evaluate(risen) == 1
    studio.tab("view")
    studio.page.select_option("select[aria-label='Surroundings']", "block")
    block = studio.picture()
    studio.page.select_option("select[aria-label='Surroundings']", "auto")
    changed = np.abs(around - block).mean(axis=-1) > 8.0
    assert changed[:, :450].mean() > 0.1
    assert np.percentile(around.mean(axis=-1), 1) > 15.0  # nothing black
    studio.page.keyboard.press("g")
    studio.page.keyboard.press("f")


def test_rivers_are_shown_at_the_end_of_a_run(studio: Any) -> None:
    studio.ask(type="start", preset="salamin", generator={"kind": "dome", "size": 128})
    studio.ask(type="run_to", step=50)
    studio.wait("studio.store.state.step === 50 && !studio.store.state.playing")
    studio.wait("studio.stage.landscape.rivers !== null")
    studio.settle_picture()
    shown, found = studio.page.evaluate("['water', 'rivers'].map(name => studio.stage.landscape[name].high)")
    assert shown == found
    studio.ask(type="undo") if studio.state()["can_undo"] else studio.ask(type="reset")
    studio.settle_picture()
    assert studio.page.evaluate("studio.stage.landscape.rivers") is None
