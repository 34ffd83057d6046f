"""Heights at the ends of single precision: the ground stays within its own range, or is refused (docs/limits.md)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import slopewash as sw

SMALL: dict[str, dict[str, Any]] = {
    "mesh_particles": {"triangles": 100, "maximum_particles": 50},
    "velocity_field": {"maximum_steps": 100},
}
BACKENDS = ["reference", pytest.param("gpu", marks=pytest.mark.gpu)]


def run(name: str, backend: str, top: float, **layers: Any) -> tuple[sw.Terrain, sw.Simulation]:
    if backend not in sw.available_backends():
        pytest.skip(f"backend {backend} does not work here")
    heights = np.random.default_rng(1).uniform(0.0, top, (8, 8))
    start = sw.Terrain(heights, cell_size=1.0, **layers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.StabilityWarning)
        simulation = sw.Simulation(start, sw.find_model(name)(**SMALL.get(name, {})), backend=backend)
        simulation.run(20)
    return start, simulation


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sw.model_names())
@pytest.mark.parametrize("top", [1e-44, 1e-40, 1e-20, 1e-4, 1e4, 9e6])
def test_the_ground_stays_within_its_range(name: str, backend: str, top: float) -> None:
    if name == "steepest_talus" and top > 1e6:
        with pytest.raises(sw.InvalidParameter, match="for the relief"):
            run(name, backend, top)
        return
    start, simulation = run(name, backend, top)
    ground = simulation.terrain["elevation"]
    low, high = start.range("elevation")
    assert ground.min() >= low - 1e-3  # what the rain of a few steps digs into flat ground
    assert ground.max() <= high * (1 + 1e-6)
    assert simulation.budget.solids_drift < 1e-5
    assert simulation.budget.water_drift < 1e-6
    simulation.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_water_of_the_smallest_depths_does_no_harm(backend: str) -> None:
    _, simulation = run("virtual_pipes", backend, 1e-40, water=1e-40)
    assert np.isfinite(simulation.terrain["water"]).all()
    assert simulation.terrain["water"].min() >= 0
    assert simulation.budget.water_drift < 1e-6  # with rain
    simulation.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sw.model_names())
def test_relief_beyond_single_precision_is_refused(name: str, backend: str) -> None:
    with pytest.raises(sw.InvalidParameter, match=r"more than 1e\+07 cells"):
        run(name, backend, 2e7)
