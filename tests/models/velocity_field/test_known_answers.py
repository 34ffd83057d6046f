"""One particle on ground whose answer is known, read from the velocity field it leaves behind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash.models import VelocityField
from slopewash.models.velocity_field import reference, rows
from slopewash.simulation import Simulation
from slopewash.terrain import Terrain

BACKENDS = ("reference", "cpu", "gpu")
STEERINGS = ("steepest", "gradient")
STILL = {"flow_erosion": 0.0, "collision_erosion": 0.0, "creep_rate": 0.0, "slide_rate": 0.0}
QUIET = {**STILL, "breadth": 0}
"""Particles are points and the ground stays as it is."""
FIXED_POINT = 1 / reference.SCALE


def one_particle(profile: NDArray[np.float64], start: int, backend: str, model: VelocityField) -> Terrain:
    """Run a single particle down a profile that is the same in every row; the rest of the ground stays dry."""
    rain = np.zeros((5, len(profile)))
    rain[2, start] = 1.0
    terrain = Terrain(np.tile(profile, (5, 1)), rainfall=rain)
    simulation = Simulation(terrain, model, backend=backend)
    simulation.run(1)
    return simulation.terrain


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("steering", STEERINGS)
@pytest.mark.parametrize("slope", [0.1, 0.75, 2.0])
def test_on_an_incline_speed_grows_by_g_sin_phi_dt_each_step(backend: str, steering: str, slope: float) -> None:
    model = VelocityField(steering=steering, maximum_speed=60.0, **QUIET)  # type: ignore[arg-type]
    field = one_particle(-slope * np.arange(40.0), 2, backend, model)
    phi, dt = math.atan(slope), model.particle_time_step
    gain = model.gravity * math.sin(phi) * math.cos(phi) * dt  # of the level part of the velocity
    x, n = 2.0, 0
    expected: dict[int, float] = {}
    while (x := x + (n + 1) * gain * dt) < 39.4 and (n := n + 1):
        expected.setdefault(round(x), n * gain)
    assert len(expected) > 30
    rel = 1e-5 if backend == "gpu" else 1e-6  # some hundred sums in float32, or one float32 layer
    for column, speed in expected.items():
        assert field["flow"][2, column] == 1.0
        assert field["velocity_east"][2, column] == pytest.approx(speed, rel=rel, abs=60 * FIXED_POINT)
    assert field["collision_energy"].max() < 1e-9  # it never leaves the ground
    assert field["flow"][[0, 1, 3, 4]].max() == 0.0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("steering", STEERINGS)
@pytest.mark.parametrize("slope", [0.2, 1.0, 2.5])
def test_a_kink_keeps_the_cosine_of_its_angle_and_e_is_the_energy_lost(
    backend: str, steering: str, slope: float
) -> None:
    kink, theta = 12, math.atan(slope)
    profile = -slope * np.minimum(np.arange(30.0), kink)
    model = VelocityField(steering=steering, maximum_speed=30.0, **QUIET)  # type: ignore[arg-type]
    field = one_particle(profile, 2, backend, model)
    after = float(field["velocity_east"][2, kink + 3])
    before = after / math.cos(theta)
    tolerance = 1e-5  # float32 layers, and the pull of each step off its tangent by rounding
    assert field["collision_energy"].sum() == pytest.approx(0.5 * (before**2 - after**2), rel=tolerance)
    assert (np.ptp(field["velocity_east"][2, kink + 1 : -1])) <= 1e-6  # no friction on the flat
    if steering == "steepest":  # the cell of the kink sees flat ground ahead, so there is no pull within it
        entered = float(field["velocity_east"][2, kink]) / math.cos(theta)
        assert after == pytest.approx(entered * math.cos(theta), rel=tolerance)


@pytest.mark.parametrize("backend", BACKENDS[:2])
@pytest.mark.parametrize("angle", [0.1, 0.5, 1.2])
def test_turning_onto_the_ground_keeps_the_cosine_and_loses_the_rest(backend: str, angle: float) -> None:
    vy, vx, vz = 0.3, 0.4, -0.2
    level, pitch = math.hypot(vy, vx), math.atan2(vz, math.hypot(vy, vx))
    slope = math.tan(pitch + angle)  # ground that rises by the angle against the flight
    gy, gx = slope * vy / level, slope * vx / level
    if backend == "cpu":
        ny, nx, nz, e = rows.onto_ground(vy, vx, vz, gy, gx)
    else:
        ny, nx, nz, e = (float(a[0]) for a in reference.onto_ground(*(np.array([v]) for v in (vy, vx, vz, gy, gx))))
    speed, kept = math.sqrt(vy**2 + vx**2 + vz**2), math.sqrt(ny**2 + nx**2 + nz**2)
    assert kept == pytest.approx(speed * math.cos(angle), rel=1e-14)
    assert e == pytest.approx(0.5 * (speed**2 - kept**2), rel=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_speed_is_capped_and_leaves_no_gaps_in_the_trail(backend: str) -> None:
    field = one_particle(-3.0 * np.arange(60.0), 1, backend, VelocityField(maximum_speed=5.0, **QUIET))  # type: ignore[arg-type]
    assert (field["flow"][2, 1:] == 1.0).all()
    fastest = 5.0 * math.cos(math.atan(3.0))
    assert field["velocity"].max() == pytest.approx(fastest, rel=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("pits", "reached"), [("trap", True), ("stop", False)])
def test_a_fast_particle_crosses_a_shallow_pit_only_if_pits_are_traps(backend: str, pits: str, reached: bool) -> None:
    profile = -np.arange(30.0)
    profile[20] -= 1.05  # a little below the next cell
    field = one_particle(profile, 2, backend, VelocityField(pits=pits, **QUIET))  # type: ignore[arg-type]
    assert (field["flow"][2, 25] > 0) == reached


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("limit", "farthest"), [({"maximum_steps": 1}, 3), ({"minimum_speed": 24.0}, 2)])
def test_stop_rules_end_a_path(backend: str, limit: dict[str, float], farthest: int) -> None:
    field = one_particle(-3.0 * np.arange(30.0), 2, backend, VelocityField(**QUIET, **limit))  # type: ignore[arg-type]
    assert field["flow"][2, farthest + 1 :].max() == 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_flat_ground_stays_flat_and_keeps_its_water(backend: str) -> None:
    simulation = Simulation(Terrain(np.full((5, 7), 3.0)), VelocityField(flow_erosion=1.0), backend=backend)
    simulation.run(3)
    assert (simulation.terrain["elevation"] == 3.0).all()
    assert simulation.budget.water_exported == 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_enters_cells_without_data(backend: str) -> None:
    nodata = np.zeros((9, 11), bool)
    nodata[3:6, 5:7] = True
    ground = np.where(nodata, np.nan, -np.arange(11.0)[None, :] * np.ones((9, 1)))
    simulation = Simulation(Terrain(ground, nodata=nodata), VelocityField(flow_erosion=1e-3), backend=backend)
    simulation.run(4)
    after = simulation.terrain
    assert after["flow"][nodata].max() == 0.0
    assert after["difference"][nodata].max() == after["difference"][nodata].min() == 0.0
    assert simulation.budget.solids_drift < 1e-9
    assert simulation.budget.water_drift < 1e-8  # fixed point: half of 2^-30 for each particle


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("breadth", [1, 3])
def test_broad_water_runs_down_an_incline_like_a_point_and_keeps_its_sums(backend: str, breadth: int) -> None:
    profile = -0.5 * np.arange(30.0)  # halves add up exactly
    point, broad = (
        one_particle(profile, 2, backend, VelocityField(**STILL, breadth=n))  # type: ignore[arg-type]
        for n in (0, breadth)
    )
    assert broad["flow"].sum() == pytest.approx(point["flow"].sum(), rel=1e-6)  # float32 layers
    momentum, wanted = (float((f["flow"] * f["velocity_east"]).sum()) for f in (broad, point))
    assert momentum == pytest.approx(wanted, rel=1e-6)
    assert broad["flow"][2].max() < 1.0 < broad["flow"][:, 15].sum() + 1e-6
    np.testing.assert_allclose(broad["flow"], broad["flow"][::-1], atol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_broad_water_passes_over_a_pit_of_one_cell(backend: str) -> None:
    profile = -np.arange(30.0)
    profile[20] -= 1.5
    for breadth, reached in ((0, False), (1, True)):
        model = VelocityField(**STILL, breadth=breadth, pits="stop")  # type: ignore[arg-type]
        assert (one_particle(profile, 2, backend, model)["flow"][2, 25] > 0) == reached
