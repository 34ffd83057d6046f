"""Known answers for water alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import Simulation, Terrain, VirtualPipes

CALM = VirtualPipes(rain_rate=0.0, evaporation_rate=0.0, processes="hydraulic", suspension_rate=0.0)


def test_a_lake_at_rest_over_a_rough_bed_with_islands_stays_at_rest(backend: str, rough: NDArray[Any]) -> None:
    level = np.float32(7.0)
    water = np.maximum(level - rough.astype(np.float32), 0)
    islands = water == 0
    assert islands.any()
    simulation = Simulation(Terrain(rough, water=water), CALM, backend=backend, edges="closed")
    simulation.run(300)
    surface = simulation.terrain["elevation"] + simulation.terrain["water"]
    # Depth is level minus bed, rounded: surfaces start out an ulp apart, and waves add some of those up.
    assert np.abs(surface - level)[~islands].max() <= 32 * np.spacing(level)
    assert simulation.terrain["water"][islands].max() <= 32 * np.spacing(level)


@pytest.mark.parametrize("erodes", [False, True])
def test_rain_and_evaporation_balance_on_any_closed_terrain(backend: str, erodes: bool, rough: NDArray[Any]) -> None:
    model = VirtualPipes(rain_rate=0.05, evaporation_rate=0.5, suspension_rate=0.5 if erodes else 0.0)
    simulation = Simulation(Terrain(rough), model, backend=backend, edges="closed")
    for _ in range(3):
        simulation.run(60)
        decay = 1 - model.evaporation_rate * model.time_step
        limit = model.rain_rate * (1 / model.evaporation_rate - model.time_step)
        expected = limit * (1 - decay**simulation.step)
        # Each step adds a 1000th of the depth, which float32 rounds to some 1e-5 of that; errors of cells average out.
        assert simulation.terrain["water"].mean(dtype=np.float64) == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize(("share", "grows"), [(0.97, False), (1.02, True)])
def test_noise_on_a_flat_lake_grows_beyond_the_stability_limit_only(backend: str, share: float, grows: bool) -> None:
    model = CALM.replace(pipe_area=5.0)
    model = model.replace(time_step=share / np.sqrt(4 * model.gravity * model.pipe_area))
    noise = 1e-3 * np.random.default_rng(1).standard_normal((32, 32))
    lake = Terrain(np.zeros((32, 32)), water=10.0 + noise)
    simulation = Simulation(lake, model, backend=backend, edges="periodic", substeps=1)
    simulation.run(400)
    ripple = np.ptp(simulation.terrain["water"])
    assert (ripple > 1.0) if grows else (ripple < 0.05)


def test_a_closed_basin_keeps_its_water(backend: str, rough: NDArray[Any]) -> None:
    basin = Terrain(rough, water=1.0, cell_size=5.0)
    model = VirtualPipes(evaporation_rate=0.0, rain_rate=0.0)
    simulation = Simulation(basin, model, backend=backend, edges="closed")
    simulation.run(steps=20)
    assert simulation.budget.water_drift < 1e-6  # float32 fields, float64 sums
    assert simulation.terrain["water"].min() >= 0


def test_open_edges_drain_a_terrain_once_the_rain_stops(backend: str) -> None:
    slope = np.repeat(np.linspace(0, 10, 24)[:, None], 16, axis=1)
    simulation = Simulation(Terrain(slope, water=0.5), CALM, backend=backend, edges="open")
    simulation.run(400)
    budget = simulation.budget
    assert budget.water_exported > 0.99 * budget.water_start
    assert budget.water_drift < 1e-6


def test_uniform_rain_on_a_flat_closed_plain_stays_flat(backend: str) -> None:
    simulation = Simulation(Terrain(np.full((9, 14), 3.0)), VirtualPipes(), backend=backend, edges="closed")
    simulation.run(50)
    for layer in ("elevation", "water", "suspended"):
        assert np.ptp(simulation.terrain[layer]) == 0
