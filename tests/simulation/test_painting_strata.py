"""Edits of ground that has strata beneath it."""

from __future__ import annotations

import numpy as np
import pytest

import slopewash as sw

MODELS = ("virtual_pipes", "steepest_talus", "velocity_field")


def layered() -> sw.Terrain:
    strata = sw.Strata([sw.Stratum(thickness=30, erodibility=0.2), sw.Stratum(thickness=30, erodibility=0.9)])
    return sw.generate("hill", size=24, cell_size=10.0).replace(strata=strata)


def run_of(model: str, backend: str) -> sw.Simulation:
    return sw.Simulation(layered(), sw.find_model(model)(), backend=backend, edges="open")


@pytest.mark.parametrize("backend", ["gpu", "cpu", "reference"])
@pytest.mark.parametrize("model", MODELS)
def test_what_is_heaped_up_is_loose_and_what_is_dug_away_lays_bare(model: str, backend: str) -> None:
    simulation = run_of(model, backend)
    before = simulation.layers("elevation", "bedrock")
    simulation.paint("raise", points=[(60.0, 60.0)], radius=20.0, strength=5.0)
    heaped = simulation.layers("elevation", "bedrock")
    assert (heaped["bedrock"] == before["bedrock"]).all()
    assert heaped["elevation"].sum() > before["elevation"].sum()
    simulation.paint("lower", points=[(120.0, 120.0)], radius=20.0, strength=5.0)
    dug = simulation.layers("elevation", "bedrock")
    lowered = dug["elevation"] < before["elevation"]
    assert lowered.any()
    np.testing.assert_allclose(dug["bedrock"][lowered], dug["elevation"][lowered], atol=1e-3)  # float32 at 60 m


@pytest.mark.parametrize("backend", ["gpu", "cpu", "reference"])
@pytest.mark.parametrize("model", MODELS)
def test_taking_an_edit_back_puts_the_bedrock_back(model: str, backend: str) -> None:
    simulation = run_of(model, backend)
    before = simulation.terrain
    simulation.paint("lower", points=[(120.0, 120.0)], radius=40.0, strength=45.0)
    assert (simulation.terrain["bedrock"] != before["bedrock"]).any()
    simulation.undo()
    after = simulation.terrain
    for name in before:
        assert (after[name] == before[name]).all(), name


@pytest.mark.parametrize("model", MODELS)
def test_the_erodibility_of_strata_cannot_be_painted(model: str) -> None:
    with pytest.raises(sw.InvalidParameter, match="comes from this terrain's strata"):
        run_of(model, "cpu").paint("soften", points=[(60.0, 60.0)], radius=20.0, strength=0.5)
