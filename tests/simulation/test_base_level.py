"""Open borders that were dug, and base levels that change: the ground stays where it is."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import slopewash as sw

BACKENDS = ("reference", "cpu", "gpu")
STILL = sw.preset("single_grid").replace(rain_rate=0.0, suspension_rate=0.0, deposition_rate=0.0, processes="hydraulic")
"""No ground moves but what holds the border."""
HILL = sw.generate("dome", size=32, seed=3, cell_size=5.0)
LAYERED = HILL.replace(strata=sw.strata_bands(thickness=4.0))


def dig(simulation: sw.Simulation, depth: float = 20.0) -> None:
    for point in ((80.0, 0.0), (0.0, 0.0), (159.0, 90.0)):  # an edge, a corner and another edge
        simulation.paint("lower", points=[point], radius=18.0, strength=depth, falloff=0.3)


@pytest.mark.parametrize("terrain", [HILL, LAYERED], ids=["plain", "strata"])
@pytest.mark.parametrize("first", ["initial", "graded"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_dug_border_stays_dug_when_the_base_law_changes_and_changes_back(
    backend: str, first: str, terrain: sw.Terrain
) -> None:
    simulation = sw.Simulation(terrain, STILL.replace(edge_base=first), backend=backend)
    dig(simulation)
    dug = simulation.layers("elevation")["elevation"]
    assert (HILL["elevation"] - dug)[0, 16] == pytest.approx(20.0, abs=1e-3)
    for law in ("graded", "initial", "graded", "initial", first):
        simulation.model = STILL.replace(edge_base=law)
    after = simulation.layers("elevation")["elevation"]
    np.testing.assert_allclose(after, dug, atol=1e-5)  # the gpu rounds heights anew when their level moves
    simulation.run(1)
    np.testing.assert_array_equal(simulation.layers("elevation")["elevation"], after)
    assert simulation.budget.solids_exported == 0
    assert simulation.budget.solids_drift < 1e-6  # float32 fields, float64 sums


@pytest.mark.parametrize("terrain", [HILL, LAYERED], ids=["plain", "strata"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_undoing_a_dug_border_gives_every_layer_back_to_the_bit(backend: str, terrain: sw.Terrain) -> None:
    simulation = sw.Simulation(terrain, sw.preset("single_grid"), backend=backend)
    simulation.run(30)  # until the border lies above its graded base level by odd amounts
    untouched = copy.deepcopy(simulation)
    dig(simulation)
    dug = simulation.terrain
    while simulation.undo():
        pass
    for name in untouched.terrain:
        np.testing.assert_array_equal(simulation.terrain[name], untouched.terrain[name], err_msg=name)
    while simulation.redo():
        pass
    for name in dug:
        np.testing.assert_array_equal(simulation.terrain[name], dug[name], err_msg=name)
    while simulation.undo():
        pass
    for each in (simulation, untouched):
        each.run(10)
    for name in untouched.terrain:
        np.testing.assert_array_equal(simulation.terrain[name], untouched.terrain[name], err_msg=name)


@pytest.mark.parametrize("tool", ["raise", "lower"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_undoing_an_edit_after_another_base_law_came_into_force_leaves_the_rest_of_the_border(
    backend: str, tool: str
) -> None:
    model: Any = sw.preset("single_grid")
    simulation = sw.Simulation(HILL, model.replace(edge_base="initial"), backend=backend)
    before = simulation.layers("elevation")["elevation"]
    simulation.paint(tool, points=[(80.0, 0.0)], radius=18.0, strength=20.0)
    simulation.model = model
    simulation.undo()
    # The level that changes are counted from is another: the height is right to a float32 ulp at 50 m.
    np.testing.assert_allclose(simulation.layers("elevation")["elevation"], before, atol=1e-5)
    simulation.run(60)
    eroded = simulation.layers("elevation")["elevation"]
    assert (before[0] - eroded[0]).max() > 0.1  # down towards the graded level
    simulation.redo()
    simulation.undo()
    np.testing.assert_allclose(simulation.layers("elevation")["elevation"], eroded, atol=1e-5)
    exported = simulation.budget.solids_exported
    simulation.model = STILL
    simulation.run(1)
    np.testing.assert_allclose(simulation.layers("elevation")["elevation"][0], eroded[0], atol=1e-3)
    assert simulation.budget.solids_exported >= exported  # nothing came from outside to lift it


@pytest.mark.parametrize("terrain", [HILL, LAYERED], ids=["plain", "strata"])
@pytest.mark.parametrize(("first", "then"), [("graded", "initial"), ("initial", "graded")])
@pytest.mark.parametrize("backend", BACKENDS)
def test_undoing_a_dug_border_under_another_base_law_leaves_the_base_level_of_that_law(
    backend: str, first: str, then: str, terrain: sw.Terrain
) -> None:
    model: Any = sw.preset("single_grid")
    simulation = sw.Simulation(terrain, model.replace(edge_base=first), backend=backend)
    untouched = copy.deepcopy(simulation)
    dig(simulation)
    for each in (simulation, untouched):
        each.model = model.replace(edge_base=then)
    dug = levels(simulation)
    for _ in range(2):
        while simulation.undo():
            pass
        for name, level in levels(untouched).items():
            # The gpu adds heights of two float32 fields, which are rounded anew when their level moves.
            np.testing.assert_allclose(levels(simulation)[name], level, atol=1e-5, err_msg=name)
        while simulation.redo():
            pass
        for name, level in dug.items():
            np.testing.assert_allclose(levels(simulation)[name], level, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_undoing_lifts_no_ground_that_eroded_while_another_base_law_was_in_force(backend: str) -> None:
    model: Any = sw.preset("single_grid")
    simulation = sw.Simulation(HILL, model.replace(edge_base="initial"), backend=backend)
    dig(simulation)
    simulation.model = model
    simulation.run(60)
    simulation.model = STILL.replace(edge_base="initial")
    while simulation.undo():
        pass
    before = simulation.layers("elevation")["elevation"]
    simulation.run(1)
    np.testing.assert_array_equal(simulation.layers("elevation")["elevation"], before)


def levels(simulation: sw.Simulation) -> dict[str, Any]:
    _, arrays = simulation.parts()
    return {name: array for name, array in arrays.items() if name.startswith("state.base_")}
