from __future__ import annotations

import numpy as np
import pytest

from slopewash.models import VelocityField
from slopewash.models.velocity_field.hillslope import Hillslope, slide
from slopewash.simulation import Simulation
from slopewash.terrain import Strata, Stratum, Terrain

DRY = {"flow_erosion": 0.0, "collision_erosion": 0.0}


def pile(n: int = 41) -> np.ndarray:
    y, x = np.mgrid[:n, :n] - n // 2
    return np.where(y * y + x * x <= 9, 30.0, 0.0)


def test_a_pile_slides_down_to_a_round_cone_of_the_talus() -> None:
    T, law = pile(), Hillslope(creep=0.0, slide=0.2, talus=0.8)
    for _ in range(2000):
        T = T + slide(T, None, 1.0, law).gain
    gy, gx = np.gradient(T)
    share = T / T.max()
    slopes = np.hypot(gy, gx)[(share > 0.15) & (share < 0.85)]
    assert slopes.max() < 0.8 * 1.1  # it nears the talus without end, and one cell blurs the slope at the foot
    c = len(T) // 2
    straight, slanted = (np.interp(5.0, d, T[c + s, c + t]) for d, s, t in directions())
    assert slanted == pytest.approx(straight, abs=0.02 * T.max())  # round to a fiftieth of its height
    assert pile().sum() == pytest.approx(T.sum(), rel=1e-12)


def directions() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    k = np.arange(12)
    return [(k * 1.0, 0 * k, k), (k * np.sqrt(2.0), k, k)]


def test_ground_below_the_talus_stays_unless_it_creeps() -> None:
    ramp = 0.5 * np.add.outer(np.arange(9.0), np.arange(7.0))
    ramp[4, 3] += 0.1
    assert not slide(ramp, None, 1.0, Hillslope(creep=0.0, slide=0.2, talus=1.0)).gain.any()
    creeping = slide(ramp, None, 1.0, Hillslope(creep=0.01, slide=0.2, talus=1.0)).gain
    assert creeping[4, 3] == pytest.approx(-4 * 0.01 * 0.1, rel=1e-12)


def test_hard_ground_slides_less_and_nodata_takes_nothing() -> None:
    T, law = pile(15), Hillslope(creep=0.01, slide=0.1, talus=0.5)
    soft, hard = slide(T, None, 1.0, law), slide(T, None, 0.25, law)
    np.testing.assert_allclose(hard.gain, 0.25 * soft.gain, rtol=1e-12)
    nodata = np.zeros(T.shape, np.bool_)
    nodata[5:9, 11] = True
    beside = slide(np.where(nodata, np.nan, T), nodata, 1.0, law)
    assert not beside.gain[nodata].any()
    assert beside.gain.sum() + beside.exported == pytest.approx(0.0, abs=1e-12)


def test_what_slides_onto_the_edge_leaves_and_is_counted() -> None:
    slope = np.linspace(20.0, 0.0, 11)[:, None] + np.zeros(5)
    simulation = Simulation(Terrain(slope), VelocityField(**DRY, talus_slope=1.0), backend="reference")  # type: ignore[arg-type]
    simulation.run(10)
    assert (simulation.terrain["elevation"][-1] == 0.0).all()
    assert simulation.budget.solids_exported > 1.0
    assert simulation.budget.solids_drift < 1e-12


def test_hard_strata_stand_where_soft_ones_slide() -> None:
    cliff = np.where(np.arange(15)[:, None] < 7, 12.0, 0.0) + np.zeros(5)
    after = []
    for erodibility in (0.0, 1.0):
        strata = Strata([Stratum(thickness=100.0, erodibility=erodibility)])
        simulation = Simulation(Terrain(cliff, strata=strata), VelocityField(**DRY), backend="reference")  # type: ignore[arg-type]
        simulation.run(5)
        after.append(simulation.terrain["elevation"])
    np.testing.assert_array_equal(after[0], cliff)
    assert after[1][6].max() < 11.0
