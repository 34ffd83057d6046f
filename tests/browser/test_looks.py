"""Colours that come from the simulation, light and air."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow
looked_at = pytest.mark.usefixtures("in_every_pixel")

SIDE = 1280.0
SCALE = 0.5
"""Pixels of a picture per unit of the window, as the fixture opens it."""


def pixels(studio: Any, picture: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Pixels over places of the terrain, given as shares of its side."""
    spots = studio.page.evaluate(
        "places => places.map(([x, y]) => studio.stage.screenPlace(x, y))", (places * SIDE).tolist()
    )
    rows, columns = (np.array([int(SCALE * spot[key]) for spot in spots]) for key in ("top", "left"))
    return picture[rows.clip(0, picture.shape[0] - 1), columns.clip(0, picture.shape[1] - 1)]


def spread(x: tuple[float, float], y: tuple[float, float], count: int = 300) -> np.ndarray:
    return np.random.default_rng(2).uniform([x[0], y[0]], [x[1], y[1]], (count, 2))


def choose_light(studio: Any, name: str) -> np.ndarray:
    studio.tab("view")
    studio.page.select_option("select[aria-label='Light']", name)
    return studio.picture()


# Gives the page deposits in the western part, up to a share of the width, as if the server had sent them.
DEPOSIT = """
(share) => {
  const { stage } = studio;
  const values = Uint16Array.from({ length: 128 * 128 }, (_, i) => (i % 128 < share * 128 ? 65535 : 0));
  const deposit = { rows: 128, columns: 128, values, low: 0, high: 20, unit: "m", layer: "deposit" };
  stage.landscape.history.set({ wear: null, deposit, flow: null, soil: null }, stage.uniforms.relief.value);
  stage.invalidate();
}
"""


@looked_at
def test_deposits_colour_the_ground_they_lie_on(studio: Any) -> None:
    studio.settle_picture()
    pictures = []
    for share in (0.0, 0.5):
        studio.page.evaluate(DEPOSIT, share)
        pictures.append(studio.picture())
    changed = [
        np.abs(pixels(studio, pictures[1], places) - pixels(studio, pictures[0], places)).mean()
        for places in (spread((0.1, 0.4), (0.75, 0.95)), spread((0.6, 0.9), (0.75, 0.95)))
    ]
    assert changed[0] > 5.0
    assert changed[1] < 0.1 * changed[0]


def test_the_server_sends_what_the_colours_need(studio: Any) -> None:
    studio.ask(type="step", count=30)
    studio.wait("studio.stage.frame.header.step === 30")
    assert studio.page.evaluate("studio.stage.landscape.history.isKnown")
    known = np.array(studio.page.evaluate("[...studio.stage.landscape.history.texture.image.data]"))
    flow = known.reshape(128, 128, 4)[..., 2]
    truth = studio.layer("flow")
    large = truth > np.quantile(truth, 0.95)
    assert flow[large].mean() > 1.5 * flow[~large].mean()  # large streams are seen as such


@looked_at
def test_shaded_flanks_are_not_black(studio: Any) -> None:
    studio.ask(type="start", generator={"kind": "ridged", "seed": 3})
    picture = choose_light(studio, "afternoon")
    light = pixels(studio, picture, spread((0.05, 0.95), (0.05, 0.95), 2000)).mean(axis=-1)
    assert np.percentile(light, 2) > 22.0  # of 255
    assert np.percentile(light, 95) > 100.0


@looked_at
def test_light_presets_differ_as_their_names_say(studio: Any) -> None:
    places = spread((0.1, 0.9), (0.6, 0.95), 600)
    seen = {
        name: pixels(studio, choose_light(studio, name), places)
        for name in ("golden hour", "overcast", "clay", "satellite", "afternoon")
    }
    contrast = {name: np.std(colours.mean(axis=-1)) / colours.mean() for name, colours in seen.items()}
    sunny = {
        name: colours[colours.sum(axis=-1) > np.quantile(colours.sum(axis=-1), 0.8)] for name, colours in seen.items()
    }
    warmth = {name: (colours[:, 0] / np.maximum(colours[:, 2], 1.0)).mean() for name, colours in sunny.items()}
    hue = {name: np.std(colours[:, 0] - colours[:, 1]) for name, colours in seen.items()}
    assert contrast["overcast"] < 0.8 * contrast["afternoon"]
    assert warmth["golden hour"] > warmth["afternoon"]
    assert hue["clay"] < 0.5 * hue["afternoon"]  # one colour
    assert studio.page.input_value("input[aria-label='Sun elevation, °, typed']") == "32"


def test_stones_have_their_size_in_metres(studio: Any) -> None:
    scales = []
    for extent in (2500.0, 19_000.0):
        studio.ask(type="start", generator={"kind": "dome", "extent": extent})
        studio.settle_picture()
        scales.append(studio.page.evaluate("studio.stage.uniforms.grainScale.value"))
    assert scales == [5120.0, 5120.0]


@looked_at
def test_distance_fades_inside_the_terrain(studio: Any) -> None:
    studio.page.keyboard.press("f")
    studio.page.mouse.move(450, 560)
    studio.page.keyboard.press("g")
    studio.wait("studio.stage.cameras.isWalking")
    studio.page.evaluate(
        "studio.stage.cameras.rig.fly(0, 0, 0.8); studio.stage.cameras.restore(studio.stage.cameras.saved)"
    )
    hazy = studio.picture()
    studio.page.evaluate("studio.stage.look.fog = 0; studio.stage.lookChanged()")
    clear = studio.picture()
    studio.page.evaluate("studio.stage.look.fog = 0.25; studio.stage.lookChanged()")
    studio.page.keyboard.press("g")
    faded = np.abs(hazy - clear).mean(axis=-1)[:, :470]
    near, far = faded[300:].mean(), faded.max(axis=0).mean()
    assert far > near + 4.0
    studio.page.keyboard.press("f")
