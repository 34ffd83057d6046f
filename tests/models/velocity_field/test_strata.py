from __future__ import annotations

import numpy as np
import pytest

from slopewash.models import VelocityField
from slopewash.simulation import Simulation
from slopewash.terrain import Strata, Stratum, Terrain

BACKENDS = ("reference", "cpu", "gpu")
SLOPE = np.linspace(40.0, 0.0, 21)[:, None] + np.random.default_rng(2).random((21, 9))


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_layer_with_the_models_own_rates_changes_nothing_but_loose_soil(backend: str) -> None:
    model = VelocityField(flow_erosion=1e-3, collision_erosion=1e-3)
    same = Strata([Stratum(thickness=10.0)])
    plain, layered = (Simulation(Terrain(SLOPE, strata=s), model, backend=backend) for s in (None, same))
    for simulation in (plain, layered):
        simulation.run(1)
    np.testing.assert_array_equal(plain.terrain["elevation"], layered.terrain["elevation"])
    assert "bedrock" in layered.terrain
    assert (layered.terrain["bedrock"] <= layered.terrain["elevation"]).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer_that_does_not_erode_stays(backend: str) -> None:
    rates = {"flow_erosion": 0.0, "collision_erosion": 0.0}
    strata = Strata([Stratum(thickness=15.0, flow_erosion=1.0), Stratum(thickness=1.0, **rates)])
    model = VelocityField(creep_rate=0.0, slide_rate=0.0)  # any rock creeps and slides, however slowly water erodes it
    simulation = Simulation(Terrain(SLOPE, strata=strata), model, backend=backend)
    simulation.run(20)
    after = simulation.terrain
    floor = SLOPE.max() - 15.0
    was_below = floor > SLOPE
    assert (after["bedrock"][was_below] == SLOPE.astype(np.float32)[was_below]).all()
    assert after["bedrock"][~was_below].min() >= floor - 1e-5  # one iteration erodes no further than its layer
    assert after["difference"][~was_below].min() < -1.0
    assert simulation.budget.solids_drift < 1e-9


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_run_knows_which_soil_is_loose(backend: str) -> None:
    strata = Strata([Stratum(thickness=1.0, flow_erosion=0.0, collision_erosion=0.0)])
    buried = Terrain(SLOPE, strata=strata, bedrock=SLOPE - 0.5)
    model = VelocityField(flow_erosion=1.0, creep_rate=0.0, slide_rate=0.0)
    simulation = Simulation(buried, model, backend=backend)
    simulation.run(30)
    assert simulation.terrain["difference"].min() == pytest.approx(-0.5, abs=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_strata_decide_over_an_erodibility_that_a_terrain_brings_along(backend: str) -> None:
    strata = Strata([Stratum(thickness=1000, erodibility=0.25)])
    terrain = Terrain(np.random.default_rng(4).random((9, 9)) * 30, cell_size=10.0, strata=strata)
    both = Simulation(terrain.replace(erodibility=0.9), VelocityField(), backend=backend)
    alone = Simulation(terrain, VelocityField(), backend=backend)
    for simulation in (both, alone):
        simulation.run(3)
    np.testing.assert_array_equal(both.terrain["elevation"], alone.terrain["elevation"])
    loose = both.terrain["elevation"] > both.terrain["bedrock"]
    np.testing.assert_array_equal(both.terrain["erodibility"], np.where(loose, 1.0, 0.25))
