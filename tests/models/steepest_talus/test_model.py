"""Parameters, presets, units and layers of the talus model."""

from __future__ import annotations

import math

import numpy as np
import pytest

import slopewash as sw
from slopewash.models import Sides
from slopewash.models.steepest_talus.prepare import RELIEF_BITS, prepare, units_per_cell


def test_defaults_are_the_posts_threshold_and_the_largest_calm_amplitude() -> None:
    model = sw.SteepestTalus()
    assert math.tan(math.radians(model.talus_angle)) == pytest.approx(0.6)
    assert model.amplitude == 2 / 9


def test_the_outerrain_preset_is_as_published() -> None:
    preset = sw.find_preset("outerrain")
    assert preset.model == sw.SteepestTalus(diagonals="printed")
    assert preset.steps == 300


@pytest.mark.parametrize("amplitude", [1.001, 0.0, -1.0, math.nan, math.inf])
def test_an_amplitude_that_would_swing_for_ever_is_refused_in_one_sentence(amplitude: float) -> None:
    with pytest.raises(sw.InvalidParameter, match="forever") as error:
        sw.SteepestTalus(amplitude=amplitude)
    assert str(error.value).count(". ") == 0


@pytest.mark.parametrize("angle", [0.0, 90.0, -5.0, math.nan])
def test_an_angle_that_is_no_slope_is_refused(angle: float) -> None:
    with pytest.raises(sw.InvalidParameter, match="above 0 and below 90"):
        sw.SteepestTalus(talus_angle=angle)


def test_an_amplitude_finer_than_the_unit_is_refused() -> None:
    terrain = sw.Terrain([[0.0, 1e7]])
    with pytest.raises(sw.InvalidParameter, match="at least"):
        sw.Simulation(terrain, sw.SteepestTalus(talus_angle=0.1), backend="reference")


@pytest.mark.parametrize("relief", [1e-3, 0.7, 1.0, 140.0, 9000.0, 3e6])
def test_relief_fills_the_bits_and_units_are_powers_of_two(relief: float) -> None:
    scale = units_per_cell(relief)
    assert math.frexp(scale)[0] == 0.5
    assert relief * scale < 2**RELIEF_BITS
    assert relief * scale >= 2 ** (RELIEF_BITS - 1) or scale == 2**RELIEF_BITS


def test_heights_are_converted_to_half_a_unit() -> None:
    heights = np.random.default_rng(2).random((6, 7)) * 300 - 2000
    terrain = sw.Terrain(heights, cell_size=10.0)
    domain, state = prepare(terrain, sides=Sides.of("open"), seed=0, guess_erodibility=False)
    assert domain.datum == terrain.range("elevation")[0]
    metres = domain.datum + state["elevation"] / domain.scale * 10.0
    np.testing.assert_allclose(metres, terrain["elevation"], atol=0.5 / domain.scale * 10.0, rtol=0)


def test_layers_show_what_changed() -> None:
    terrain = sw.generate("cone", size=24, cell_size=10.0, relief=30.0)
    after = sw.erode(terrain, sw.SteepestTalus(), steps=20, backend="reference")
    assert set(after) == {"elevation", "wear", "deposit", "difference", "slope"}
    np.testing.assert_array_equal(after["difference"], after["deposit"] - after["wear"])
    assert after["slope"].max() <= 90


def test_erodibility_is_guessed_from_the_seed_where_the_talus_needs_it() -> None:
    terrain = sw.generate("dome", size=16, cell_size=10.0, relief=30.0)
    model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    after = [sw.erode(terrain, model, steps=5, backend="reference", seed=s) for s in (1, 1, 2)]
    np.testing.assert_array_equal(after[0]["erodibility"], sw.erodibility_from_elevation(terrain, seed=1))
    np.testing.assert_array_equal(after[0]["elevation"], after[1]["elevation"])
    assert not np.array_equal(after[0]["elevation"], after[2]["elevation"])


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_parameters_may_change_between_steps_and_solids_stay(backend: str) -> None:
    terrain = sw.generate("cone", size=20, cell_size=10.0, relief=30.0)
    simulation = sw.Simulation(terrain, sw.SteepestTalus(talus_angle=60), backend=backend)
    simulation.run(10)
    first = simulation.budget.solids_moved
    simulation.model = sw.SteepestTalus(talus_angle=20, diagonals="printed")
    simulation.run(10)
    assert simulation.budget.solids_moved > first
    assert simulation.budget.solids_drift == 0.0


def test_settling_changes_nothing_because_nothing_is_carried() -> None:
    simulation = sw.Simulation(sw.generate("cone", size=12), sw.SteepestTalus(), backend="reference")
    simulation.run(3)
    before = simulation.terrain["elevation"]
    simulation.settle(5)
    np.testing.assert_array_equal(simulation.terrain["elevation"], before)
