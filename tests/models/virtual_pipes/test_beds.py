"""Tilted beds: the erodibility of the rock varies with the height at which it lies bare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import InvalidParameter, Simulation, Terrain, VirtualPipes, preset
from slopewash.terrain import bed_phase

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
BEDS: Any = preset("jako2011").replace(transport="donor_cell", bed_contrast=0.2, bed_thickness=8.0, bed_dip=10.0)
LEVEL: Any = BEDS.replace(bed_dip=0.0, processes="thermal", talus_slope_bias=50.0, bed_contrast=0.1)


def bands(u: NDArray[Any] | float) -> Any:
    """The law as it is written."""
    return np.sin(2 * np.pi * u) + 0.6 * np.sin(4.6 * np.pi * u + 1)


def hills(shape: tuple[int, int], cell: float = 1.0) -> NDArray[Any]:
    """The same hills on any grid."""
    y, x = ((np.arange(n) + 0.5)[:, None] * cell for n in shape)
    result: NDArray[Any] = 9 * np.sin(y / 7) + 7 * np.cos(x.T / 9 + y / 30) + 20
    return result


@on_every_backend
def test_level_beds_follow_the_height(start: Any, backend: str) -> None:
    """A ramp shows every bed: without bends, R is the law of its height alone."""
    ramp = np.repeat(np.linspace(100.0, 140.0, 60)[None], 4, axis=0)
    run = start(backend, LEVEL, Terrain(ramp, erodibility=0.5, cell_size=2.0), "closed")
    run.state["bed_phase"] = np.full(ramp.shape, 100.0 / 8.0, np.float32)  # the datum is 100 m
    run.state["rock_erodibility"] = np.full(ramp.shape, 0.5, np.float32)
    run.advance(1)
    expected = 0.5 + 0.1 * bands(ramp / 8.0)
    # A sine of parabolas is within 0.0012 of a sine; a third of the range would show half a bed of error.
    np.testing.assert_allclose(run.layer("erodibility"), expected, atol=0.1 * 1.6 * 1.2e-3 + 1e-5)
    assert np.ptp(expected) > 0.25


@on_every_backend
def test_ground_that_is_lowered_lies_bare_in_another_bed(start: Any, backend: str) -> None:
    ground = hills((24, 30))
    run = start(backend, LEVEL, Terrain(ground), "closed")
    before, phase = np.array(run.state["rock_erodibility"]), np.array(run.state["bed_phase"])
    lowered = np.asarray(run.state["elevation"], np.float32) - 3.0  # 3 of 8 m: from the middle of a bed to another
    run.state["elevation"] = lowered
    run.advance(1)
    u = lowered / 8.0 + phase
    expected = np.clip(before + 0.1 * bands(u), 0.05, 1)
    np.testing.assert_allclose(run.state["erodibility"], expected, atol=2.5e-4)
    assert np.abs(0.1 * bands(u) - 0.1 * bands(u + 3 / 8)).mean() > 0.05


def test_finer_grids_and_parts_see_the_same_beds() -> None:
    facts: dict[str, Any] = {"thickness": 40.0, "dip": 9.0, "direction": 70.0, "seed": 5}
    coarse = bed_phase((20, 30), 4.0, **facts)
    fine = bed_phase((40, 60), 2.0, **facts)
    turn = 2 * np.pi / 10  # phases go round
    middle = np.exp(1j * turn * fine).reshape(20, 2, 30, 2).mean(axis=(1, 3))
    assert np.abs(np.angle(middle / np.exp(1j * turn * coarse))).max() < 0.02 * turn
    np.testing.assert_array_equal(bed_phase((7, 9), 4.0, origin=(5, 11), **facts), coarse[5:12, 11:20])
    assert np.abs(bed_phase((20, 30), 4.0, **(facts | {"seed": 6})) - coarse).max() > 0.1


def test_beds_sink_by_the_dip_in_its_direction() -> None:
    """Without bends the phase would rise by tan 20° per metre to the east: bends of a bed are the same in both."""
    facts: dict[str, Any] = {"thickness": 40.0, "direction": 90.0, "seed": 5}
    rise = bed_phase((3, 50), 1.0, dip=20.0, **facts) - bed_phase((3, 50), 1.0, dip=0.0, **facts)
    steps = np.mod(np.diff(rise, axis=1), 10)
    np.testing.assert_allclose(steps, math.tan(math.radians(20)) / 40, rtol=1e-6)
    north = bed_phase((50, 3), 1.0, dip=20.0, **(facts | {"direction": 0.0}))
    flat = bed_phase((50, 3), 1.0, dip=0.0, **facts)
    np.testing.assert_allclose(np.mod(-np.diff(north - flat, axis=0), 10), math.tan(math.radians(20)) / 40, rtol=1e-6)


def test_every_level_of_detail_starts_with_the_same_rock() -> None:
    """With a stated datum, whatever the grid and its lowest ground, which is what heights are counted from."""
    model = BEDS.replace(bed_thickness=60.0, default_erodibility="uniform", bed_datum=0.0)
    wide = Simulation(Terrain(hills((40, 60)), cell_size=1.0), model, backend="reference", seed=4).terrain
    deep = hills((40, 60))
    deep[0, 0] -= 35.0
    other = Simulation(Terrain(deep, cell_size=1.0), model, backend="reference", seed=4).terrain
    R, again = wide["erodibility"], other["erodibility"]
    np.testing.assert_allclose(again[1:], R[1:], atol=1e-5)
    fine = Simulation(Terrain(hills((80, 120), 0.5), cell_size=0.5), model, backend="reference", seed=4).terrain
    mean = fine["erodibility"].reshape(40, 2, 60, 2).mean(axis=(1, 3))
    assert np.abs(mean - R).mean() < 0.003
    assert R.std() > 0.05


@on_every_backend
def test_a_second_run_goes_on_where_the_first_ended(backend: str) -> None:
    """Its erodibility is that of the beds which lie bare: they are not laid twice."""
    beds = BEDS.replace(bed_datum=0.0)  # the lowest ground is another one by then
    first = Simulation(Terrain(hills((24, 30)), cell_size=2.0), beds, backend=backend, edges="open", seed=3)
    first.run(40)
    second = Simulation(first.terrain, beds, backend=backend, edges="open", seed=3)
    np.testing.assert_allclose(second.terrain["erodibility"], first.terrain["erodibility"], atol=1e-4)
    for simulation in (first, second):
        simulation.run(20)
    R, again = first.terrain["erodibility"], second.terrain["erodibility"]
    # Hardest beds are cut off at 0.05, and what was cut off is not known to the second run.
    assert np.quantile(np.abs(R - again), 0.9) < 0.02


@on_every_backend
def test_painted_erodibility_is_what_lies_bare(backend: str) -> None:
    with Simulation(Terrain(hills((24, 30))), BEDS, backend=backend, edges="closed") as simulation:
        before = simulation.terrain["erodibility"]
        simulation.paint("harden", points=[(15.0, 12.0)], radius=6.0, strength=0.1)
        painted = simulation.terrain["erodibility"]
        assert painted[12, 15] == pytest.approx(before[12, 15] - 0.1, abs=1e-6)
        simulation.model = simulation.model.replace(suspension_rate=0.0, deposition_rate=0.0, thermal_rate=0.0)
        simulation.run(1)
        np.testing.assert_allclose(simulation.terrain["erodibility"], painted, atol=1e-5)
        simulation.undo()
        simulation.run(1)
        np.testing.assert_allclose(simulation.terrain["erodibility"], before, atol=1e-5)


@on_every_backend
def test_beds_can_be_laid_and_taken_away_during_a_run(start: Any, backend: str) -> None:
    plain = BEDS.replace(bed_contrast=0.0, softening_rate=0.0)
    run = start(backend, plain, Terrain(hills((24, 30))), "open")
    run.advance(3)
    rock = np.array(run.state["erodibility"])
    run.set_model(plain.replace(bed_contrast=0.1))
    with_beds = np.array(run.state["erodibility"])
    assert 0.05 < np.abs(with_beds - rock).mean() < 0.12
    run.advance(3)
    run.set_model(plain.replace(bed_contrast=0.1, bed_dip=30.0))
    assert np.abs(run.state["erodibility"] - with_beds).mean() > 0.03
    run.advance(3)
    run.set_model(plain)
    np.testing.assert_array_equal(run.state["erodibility"], rock)
    run.advance(3)
    np.testing.assert_array_equal(run.state["erodibility"], rock)


def test_too_strong_beds_are_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match=r"^bed_contrast \(a\) is 0.3; it must be between 0 and 0.2$"):
        VirtualPipes(bed_contrast=0.3)
