"""Grids and layers at the edge of what a terrain can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import InvalidParameter, InvalidTerrain, SlopewashError

MODELS = {
    "virtual_pipes": sw.VirtualPipes(),
    "velocity_field": sw.VelocityField(maximum_steps=50),
    "steepest_talus": sw.SteepestTalus(),
    "mesh_particles": sw.MeshParticles(triangles=60, maximum_particles=40),
}
SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 40), (40, 1), (3, 3)]
BACKENDS = ["reference", "cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_the_smallest_grids_run_or_are_refused_in_one_sentence(name: str, backend: str) -> None:
    if backend not in sw.available_backends():
        pytest.skip(f"there is no {backend}")
    refused = []
    for shape in SHAPES:
        for ground in (np.zeros(shape), np.random.default_rng(1).normal(50.0, 20.0, shape)):
            for edges in ("open", "closed", "periodic"):
                try:
                    simulation = sw.Simulation(
                        sw.Terrain(ground, cell_size=10.0), MODELS[name], backend=backend, edges=edges
                    )
                except SlopewashError as error:
                    refused.append(str(error))
                    continue
                simulation.run(3)
                assert np.isfinite(simulation.terrain["elevation"]).all(), (shape, edges)
                simulation.close()
    assert not any("\n" in sentence for sentence in refused)
    assert len(refused) < len(SHAPES) * 6  # of every model some run


@pytest.mark.parametrize("layer", ["elevation", "water", "suspended", "erodibility", "rainfall"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
def test_what_is_not_finite_is_refused_with_its_cell_in_every_layer(layer: str, value: float) -> None:
    values = np.full((4, 5), 0.5)
    values[2, 3] = value
    layers: dict[str, Any] = {"elevation": np.zeros((4, 5)), layer: values}
    with np.errstate(over="ignore"), pytest.raises(InvalidTerrain, match=rf"layer {layer} is .* at row 2, column 3"):
        sw.Terrain(layers.pop("elevation"), **layers)


@pytest.mark.parametrize("name", ["virtual_pipes", "velocity_field", "steepest_talus"])
@pytest.mark.parametrize("kept", [0, 1, 3])
def test_ground_with_hardly_any_data_runs_or_is_refused(name: str, kept: int) -> None:
    nodata = np.ones((6, 7), bool)
    nodata.flat[[17, 18, 25][:kept]] = False
    try:
        terrain = sw.Terrain(np.arange(42.0).reshape(6, 7), nodata=nodata, cell_size=10.0)
        simulation = sw.Simulation(terrain, MODELS[name], backend="reference")
    except (InvalidTerrain, InvalidParameter) as error:
        assert kept == 0, error  # noqa: PT017
        return
    simulation.run(3)
    assert np.isfinite(simulation.terrain["elevation"][~nodata]).all()
