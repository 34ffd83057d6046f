"""What is painted on a coarse level is there on the finer ones, at the same place of the ground."""

from __future__ import annotations

import numpy as np
import pytest

import slopewash as sw

PLACE = (1000.0, 3500.0)
RADIUS = 700.0


@pytest.fixture
def recipe() -> sw.Recipe:
    """Of three levels, 48, 96 and 192 cells."""
    return sw.recipe("landscape", size=192, seed=3, steps=15, settle=3, gullies=0.0, backend="cpu")


def level(running: sw.Running) -> int:
    return max(running.simulation.start.shape)


def to_level(running: sw.Running, cells: int) -> None:
    while level(running) < cells:
        running.advance(1)


def inside(terrain: sw.Terrain, margin: float = 1.0) -> np.ndarray:
    rows, columns = terrain.shape
    y, x = np.mgrid[0:rows, 0:columns] * terrain.cell_size + 0.5 * terrain.cell_size
    return np.hypot(x - PLACE[0], y - PLACE[1]) < margin * RADIUS


@pytest.mark.parametrize(("tool", "layer", "sign"), [("rain", "rainfall", 1), ("harden", "erodibility", -1)])
def test_painted_layers_are_handed_on_to_finer_levels(recipe: sw.Recipe, tool: str, layer: str, sign: int) -> None:
    plain, edited = sw.Running(recipe), sw.Running(recipe)
    edited.simulation.paint(tool, points=[PLACE], radius=RADIUS, strength=0.3, falloff=0.0)
    for cells in (96, 192):
        to_level(plain, cells)
        to_level(edited, cells)
        change = edited.simulation.layers(layer)[layer] - plain.simulation.layers(layer)[layer]
        within, beyond = inside(edited.simulation.start, 0.7), ~inside(edited.simulation.start, 1.4)
        assert np.median(sign * change[within]) == pytest.approx(0.3, abs=0.1)
        assert np.median(np.abs(change[beyond])) < 1e-3


def test_strokes_of_two_levels_add_up_and_an_undone_one_is_gone(recipe: sw.Recipe) -> None:
    running = sw.Running(recipe)
    running.simulation.paint("rain", points=[PLACE], radius=RADIUS, strength=0.5, falloff=0.0)
    to_level(running, 96)
    running.simulation.paint("rain", points=[PLACE], radius=RADIUS, strength=0.25, falloff=0.0)
    running.simulation.paint("rain", points=[(4000.0, 1000.0)], radius=RADIUS, strength=9.0, falloff=0.0)
    running.simulation.undo()
    to_level(running, 192)
    rainfall = running.simulation.layers("rainfall")["rainfall"]
    assert np.median(rainfall[inside(running.simulation.start, 0.7)]) == pytest.approx(1.75)
    assert rainfall.max() < 2


def test_water_sources_are_handed_on(recipe: sw.Recipe) -> None:
    running = sw.Running(recipe)
    placed = sw.WaterSource(x=PLACE[0], y=PLACE[1], radius=300.0, rate=0.1)
    running.simulation.sources = placed
    to_level(running, 192)
    assert running.simulation.sources == (placed,)


def test_a_resumed_recipe_hands_on_the_same(recipe: sw.Recipe) -> None:
    whole = sw.Running(recipe)
    whole.simulation.paint("harden", points=[PLACE], radius=RADIUS, strength=0.5)
    whole.simulation.sources = sw.WaterSource(x=PLACE[0], y=PLACE[1], radius=300.0, rate=0.1)
    to_level(whole, 96)
    noted, extra = whole.parts()
    facts, arrays = whole.simulation.parts(recipe=noted)
    resumed = sw.Running.from_parts(facts, noted, {**arrays, **extra})
    for running in (whole, resumed):
        running.advance(10**6)
        assert running.finished
    first, second = whole.result().terrain, resumed.result().terrain
    assert set(first) == set(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
