"""Erodibility painted by hand, and parameter values that a run cannot go on with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import slopewash as sw

on_every_backend = pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
MIDDLE: dict[str, Any] = {"points": [(80.0, 80.0)], "radius": 60.0, "strength": 1.0}
TWO_KINDS = pytest.mark.parametrize("model", [sw.SteepestTalus(), sw.VelocityField()], ids=lambda model: model.name)


def cone(**given: Any) -> sw.Terrain:
    return sw.generate("cone", size=16, cell_size=10.0, relief=200.0).replace(**given)


@on_every_backend
def test_erodibility_painted_on_a_uniform_talus_acts_once_the_talus_depends_on_it(backend: str) -> None:
    painted, plain = (sw.Simulation(cone(), sw.SteepestTalus(), backend=backend, seed=4) for _ in range(2))
    assert painted.paint("soften", **MIDDLE)
    for simulation in (painted, plain):
        simulation.run(10)
    assert_array_equal(painted.terrain["elevation"], plain.terrain["elevation"])
    assert painted.budget == plain.budget
    guess = sw.erodibility_from_elevation(cone(), seed=4)
    softer = painted.terrain["erodibility"]
    assert (softer >= guess).all()
    assert softer[8, 8] == 1.0
    assert_array_equal(softer[0], guess[0])  # the brush did not touch it
    for simulation in (painted, plain):
        simulation.model = sw.SteepestTalus(talus_law="hard_stands_steeper")
        simulation.run(1000)
    assert_array_equal(painted.terrain["erodibility"], softer)
    assert_array_equal(plain.terrain["erodibility"], guess)
    softened, kept = (simulation.terrain["elevation"].max() for simulation in (painted, plain))
    assert softened < kept - 2 / 9 * 0.3 * cone().cell_size  # the softened peak slid at least once more


@on_every_backend
def test_undo_of_painted_erodibility_brings_back_what_was_guessed(backend: str) -> None:
    painted, plain = (sw.Simulation(cone(), sw.SteepestTalus(), backend=backend, seed=4) for _ in range(2))
    painted.run(5)
    assert painted.paint("harden", **MIDDLE)
    assert painted.undo()
    painted.model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    painted.run(5)
    plain.run(5)
    plain.model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    plain.run(5)
    for layer in plain.terrain:
        assert_array_equal(painted.terrain[layer], plain.terrain[layer], err_msg=layer)


@on_every_backend
@TWO_KINDS
def test_erodibility_of_strata_cannot_be_painted_and_the_refusal_changes_nothing(backend: str, model: sw.Model) -> None:
    terrain = cone(strata=sw.strata_bands(thickness=20.0))
    refused, plain = (sw.Simulation(terrain, model, backend=backend) for _ in range(2))
    for simulation in (refused, plain):
        simulation.run(2)
    before = refused._state.copy()
    with pytest.raises(sw.InvalidParameter, match="erodibility comes from this terrain's strata") as error:
        refused.paint("soften", **MIDDLE)
    assert str(error.value).count("\n") == str(error.value).count(". ") == 0
    assert not refused.can_undo
    after = refused._state
    assert list(after.arrays) == list(before.arrays)
    for name in before.arrays:
        assert_array_equal(after[name], before[name], err_msg=name)
    assert after.scalars == before.scalars
    for simulation in (refused, plain):
        simulation.run(2)
    assert_array_equal(refused.terrain["elevation"], plain.terrain["elevation"])
    assert refused.budget == plain.budget


@on_every_backend
@pytest.mark.parametrize("law", ["uniform", "hard_stands_steeper"])
def test_an_amplitude_too_small_is_refused_and_the_run_goes_on_unchanged(backend: str, law: str) -> None:
    model = sw.SteepestTalus()
    refused, plain = (sw.Simulation(cone(), model, backend=backend) for _ in range(2))
    for simulation in (refused, plain):
        simulation.run(3)
    with pytest.raises(sw.InvalidParameter, match="it must be at least") as error:
        refused.model = model.replace(amplitude=1e-12, talus_law=law)
    assert str(error.value).count("\n") == 0
    assert refused.model == model
    for simulation in (refused, plain):
        simulation.run(7)
    assert list(refused._state.arrays) == list(plain._state.arrays)
    for layer in plain.terrain:
        assert_array_equal(refused.terrain[layer], plain.terrain[layer], err_msg=layer)
    assert refused.budget == plain.budget
    assert refused.time == plain.time


@on_every_backend
def test_ground_raised_beyond_what_whole_numbers_hold_is_refused_and_changes_nothing(backend: str) -> None:
    simulation = sw.Simulation(cone(), sw.SteepestTalus(), backend=backend)
    before = simulation.terrain["elevation"]
    with pytest.raises(sw.InvalidParameter, match="it must stay within"):
        simulation.paint("raise", **MIDDLE | {"strength": 1e6})
    assert_array_equal(simulation.terrain["elevation"], before)
    assert not simulation.can_undo
    assert np.isfinite(simulation.budget.solids_now)
