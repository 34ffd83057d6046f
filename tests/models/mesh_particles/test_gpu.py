"""Particles on a card do what the specification says, as nearly as float32 does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import Simulation
from slopewash.errors import BackendUnavailable
from slopewash.models import MeshParticles
from slopewash.models.mesh_particles.prepare import surface_on
from slopewash.terrain import Emitter, Strata, Stratum, Terrain, TriangleMesh

pytestmark = pytest.mark.gpu

STREAM = Emitter(x=60, y=40, radius=25, rate=100, speed=3, direction=180)
MODEL: dict[str, Any] = {"triangles": 400, "erosion_rate": 0.1, "transport_time": 20, "update_every": 5}


def gpu_and_reference(lab: Any, model: MeshParticles, terrain: Terrain) -> tuple[Any, Any]:
    return lab.run(model, terrain, "gpu"), lab.run(model, terrain, "reference")


def all_three(lab: Any, model: MeshParticles, terrain: Terrain) -> tuple[Any, Any, Any]:
    """On the card, in float32 and in float64."""
    gpu, double = gpu_and_reference(lab, model, terrain)
    return gpu, lab.run(model, terrain, "reference", dtype=np.float32), double


def layered(terrain: Terrain) -> Terrain:
    beds = [Stratum(thickness=t, erodibility=r) for t, r in ((8.0, 1.0), (15.0, 0.2), (50.0, 0.7))]
    return terrain.replace(strata=Strata(beds))


VARIANTS: dict[str, dict[str, Any]] = {
    "vertical": {},
    "lateral": {"displacement": "lateral"},
    "uniform": {"weights": "uniform", "bounce": 0.4, "damping": 0.6},
    "short_lived": {"lifetime": 0.7, "update_every": 7},
    "divided": {"stiffness": 400.0},
    "layered": {},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_run_is_as_near_to_float64_as_a_float32_reference(lab: Any, name: str) -> None:
    terrain = lab.rough((17, 21), relief=20.0).replace(emitters=[STREAM, Emitter(x=150, y=50, radius=9, rate=13)])
    if name == "layered":
        terrain = layered(terrain)
    runs = all_three(lab, MeshParticles(**MODEL | VARIANTS[name]), terrain)
    for steps in (1, 9 if name == "divided" else 29):  # hard contacts are chaotic: soon float32 and float64 part
        for run in runs:
            run.advance(steps)
        gpu, single, double = runs
        assert gpu.flow.count == single.flow.count == double.flow.count
        assert (gpu.sums["left"], gpu.sums["evaporated"]) == (double.sums["left"], double.sums["evaporated"])
        assert len(gpu.grains.left) == len(double.grains.left)
        # Twice what float32 costs the reference; a micrometre, because a lucky float32 run may cost nothing.
        for field in ("z", "erosion", "waiting"):
            here, one, two = (e.surface.z if field == "z" else getattr(e, field) for e in runs)
            assert np.abs(here - two).max() <= 2 * np.abs(one - two).max() + 1e-6, (field, steps)
    assert double.sums["eroded"] > 100
    assert double.sums["deposited"] > 1 or name == "divided"
    assert (double.sums["evaporated"] > 0) == (name == "short_lived")


def crowd(lab: Any, run: Any, n: int = 500) -> Any:
    """Particles on and above the ground, many of them touching, each with its own time of birth to know it by."""
    random = np.random.default_rng(7)
    X = random.random((n, 3)) * [150, 150, 12] + [8, 8, 0]
    X[: n // 2, 2] = 0.01
    lab.place(run, X, 8 * random.normal(size=(n, 3)))
    run.flow.born[:n] = -1 - np.arange(n)
    return run


def by_birth(run: Any) -> NDArray[np.float64]:
    """Positions and velocities of the living."""
    flow = run.flow
    living = np.flatnonzero(flow.alive())
    which = living[np.argsort(flow.born[living])]
    rows: NDArray[np.float64] = np.concatenate([flow.X[which], flow.V[which]], axis=1).astype(np.float64)
    return rows


@pytest.mark.parametrize("height", [0.0, 2000.0])
def test_a_crowd_moves_as_the_specification_says(lab: Any, height: float) -> None:
    ground = lab.rough(relief=20.0).replace(emitters=[Emitter(x=1, y=1, radius=1, rate=0)])
    ground = ground.replace(elevation=ground["elevation"] + height)
    runs = all_three(lab, MeshParticles(**MODEL | {"update_every": 100}), ground)
    for run in runs:
        crowd(lab, run)
    for steps in (1, 4):
        for run in runs:
            run.advance(steps)
        gpu, single, double = (by_birth(run) for run in runs)
        assert gpu.shape == single.shape == double.shape
        # Quantiles, because a particle at an edge may slip off either way. Sums of a few float32 numbers each: three
        # times the error of the float32 reference, which takes them in float64 and rounds once.
        for share in (0.5, 0.9, 0.99):
            error, yardstick = (np.quantile(np.abs(a - double), share, axis=0) for a in (gpu, single))
            assert (error <= 3 * yardstick + 1e-6).all(), (steps, share)
    assert runs[0].erosion.sum() == pytest.approx(runs[2].erosion.sum(), rel=1e-4)


def test_neighbours_push_as_the_specification_says(lab: Any) -> None:
    ground = lab.rough().replace(emitters=[Emitter(x=1, y=1, radius=1, rate=0)])
    gpu, single, double = (crowd(lab, run) for run in all_three(lab, MeshParticles(triangles=600), ground))
    for run in (gpu, single, double):
        run.flow.X[7] = run.flow.X[3]  # in the same place: apart to the east and the west
    got, one, two = (run.backend._pair_forces()[:500] for run in (gpu, single, double))
    assert (np.abs(two).sum(axis=1) > 0).sum() > 300
    assert np.abs(got - two).max() <= 2 * np.abs(one - two).max()
    assert np.abs(got.sum(axis=0)).max() < 1e-6 * np.abs(got).sum()


@pytest.mark.parametrize("rate", [1e-12, 10.0])
def test_erosion_is_summed_as_finely_whatever_its_size(lab: Any, rate: float) -> None:
    ground = lab.rough(relief=20.0).replace(emitters=[STREAM])
    model = MeshParticles(**MODEL | {"erosion_rate": rate, "update_every": 100})
    gpu, double = gpu_and_reference(lab, model, ground)
    for run in (gpu, double):
        run.advance(12)
    assert double.erosion.max() > 0
    np.testing.assert_allclose(gpu.erosion, double.erosion, rtol=1e-3, atol=1e-5 * double.erosion.max())


def test_a_crowd_on_one_triangle_erodes_as_much_as_its_particles_one_by_one(lab: Any) -> None:
    # As fast as particles may be, so that a few of them fill the low half of a vertex's sum.
    ground = lab.slope(1.0).replace(emitters=[Emitter(x=1, y=1, radius=1, rate=0)])
    model = MeshParticles(triangles=600, particle_radius=0.02, stiffness=1.0, erosion_rate=0.1, update_every=100)
    gpu, double = gpu_and_reference(lab, model, ground)
    for run in (gpu, double):
        across = 50 + 0.6 * np.indices((12, 12)).reshape(2, -1).T
        lab.place(run, np.column_stack([across, np.full(144, 0.01)]), [20.0, 0.0, -30.0])
        run.advance(2)
    low_and_high = gpu.backend._lists.tables["eroded"].download(len(gpu.erosion))
    assert low_and_high[:, 1].max() > 10  # of 2^32 units each
    np.testing.assert_allclose(gpu.erosion, double.erosion, rtol=1e-5)


def test_triangles_meet_where_float32_does_not_have_their_corners(lab: Any) -> None:
    from slopewash.models.mesh_particles.gpu import PARTS, packed

    mesh = TriangleMesh.from_terrain(lab.rough(), budget=300)
    far = TriangleMesh(mesh.vertices + np.array([20_000.123, 30_000.456, 0.0]), mesh.triangles)
    surface = surface_on(far, 0.0)
    table, corners = surface.table, surface.vertices[surface.triangles]
    parts = packed(table, np.ones(len(table)), surface.triangles, surface.erosion_shares)
    assert parts.shape == (len(table), PARTS, 4)
    np.testing.assert_array_equal(parts[:, 3, :3], surface.triangles)
    real = parts.view(np.float32).astype(np.float64)
    for corner, weights in enumerate(((0, 0), (1, 0), (0, 1))):
        offset = corners[:, corner, :2] - real[:, 0, :2]
        height = real[:, 0, 2] + (real[:, 1, :2] * offset).sum(axis=1)
        # The corner in plan is off by up to 1 mm there, which would lift slopes of 45 degrees as much.
        np.testing.assert_allclose(height, corners[:, corner, 2], atol=5e-5)
        first = real[:, 1, 2] + (real[:, 2, :2] * offset).sum(axis=1)
        second = real[:, 1, 3] + (real[:, 2, 2:] * offset).sum(axis=1)
        np.testing.assert_allclose(np.stack([first, second]).T, np.tile(weights, (len(table), 1)), atol=1e-6)


def bits(run: Any) -> list[bytes]:
    n = run.flow.count
    arrays = (
        run.surface.vertices, run.erosion, run.waiting, run.flow.X[:n], run.flow.V[:n], run.flow.at[:n],
        run.grains.volume, run.grains.carrier, run.grains.left,
    )  # fmt: skip
    sums = np.array([run.sums["eroded"], run.sums["deposited"], run.sums["exported"], run.carried])
    return [np.ascontiguousarray(a).tobytes() for a in (*arrays, sums)]


def test_two_runs_and_one_in_parts_are_bit_identical(lab: Any) -> None:
    terrain = lab.rough(relief=20.0).replace(emitters=[replace(STREAM, rate=600)])
    runs = []
    for parts in ((60,), (60,), (1, 2, 30, 4, 23)):
        run = crowd(lab, lab.run(MeshParticles(**MODEL | {"lifetime": 2.0}), terrain, "gpu"), 300)
        for steps in parts:
            run.advance(steps)
        runs.append(bits(run))
    assert run.sums["exported"] > 0
    assert run.sums["evaporated"] > 0
    assert run.sums["deposited"] > 0
    assert runs[0] == runs[1]
    assert runs[0] == runs[2]


def test_emitters_pause_as_on_the_other_backends(lab: Any) -> None:
    terrain = lab.rough(relief=20.0).replace(emitters=[STREAM])
    model = MeshParticles(**MODEL | {"maximum_particles": 60, "lifetime": 1.0})
    gpu, double = gpu_and_reference(lab, model, terrain)
    for _ in range(6):
        for run in (gpu, double):
            run.advance(6)
        for name in ("born", "left", "evaporated"):
            assert gpu.sums[name] == double.sums[name]
    assert gpu.sums["evaporated"] > 0


@pytest.mark.parametrize(("displacement", "height"), [("lateral", 0.0), ("vertical", 2000.0)])
def test_eroded_is_carried_deposited_and_exported(lab: Any, displacement: str, height: float) -> None:
    terrain = lab.rough()
    terrain = terrain.replace(
        elevation=terrain["elevation"] + height, emitters=[STREAM, Emitter(x=90, y=90, radius=30, rate=40)]
    )
    model = MeshParticles(triangles=500, erosion_rate=0.05, transport_time=40, displacement=displacement, lifetime=6)
    with Simulation(terrain, model, backend="gpu") as simulation:
        simulation.run(150)
        run = lab.run.of(simulation)
        assert min(run.sums["eroded"], run.sums["deposited"], run.sums["exported"], run.carried) > 10
        kept = run.carried + run.sums["deposited"] + run.sums["exported"]
        assert abs(run.sums["eroded"] - kept) < 1e-9 * run.sums["eroded"]  # volumes are float64, on the cores
        assert simulation.budget.solids_drift < 1e-5
        assert simulation.budget.water_drift < 1e-12  # particles are counted
        assert run.sums["evaporated"] > 0


@pytest.mark.parametrize("displacement", ["vertical", "lateral"])
def test_no_particle_ends_below_the_surface_after_random_drops(lab: Any, displacement: str) -> None:
    random = np.random.default_rng(2)
    terrain = lab.rough((33, 33), relief=300.0, seed=2, cell_size=9.7)  # corners that float32 does not have
    terrain = terrain.replace(emitters=[Emitter(x=1, y=1, radius=1, rate=0)])
    model = MeshParticles(
        triangles=1500, erosion_rate=1.0, transport_time=3, update_every=1, smallest_grain=0.0, dig_limit=1.0,
        displacement=displacement,
    )  # fmt: skip
    run, n = lab.run(model, terrain, "gpu"), 2500
    lab.place(
        run, np.stack([*(10 + 300 * random.random((2, n))), 200 * random.random(n)], axis=1),
        60 * random.normal(size=(n, 3)),
    )  # fmt: skip
    for _ in range(25):
        run.advance(1)
        assert (lab.heights_above_ground(run) > 0).all()
    assert run.flow.alive().sum() > n / 4
    assert run.sums["eroded"] > 0


def test_other_parameters_and_emitters_take_effect_between_steps(lab: Any) -> None:
    model = MeshParticles(**MODEL)
    terrain = lab.rough(relief=20.0).replace(emitters=[STREAM])
    gpu, double = gpu_and_reference(lab, model, terrain)
    for run in (gpu, double):
        run.advance(8)
        run.use(model.replace(gravity=3.0, erosion_rate=0.3, weights="uniform"), 2)
        run.set_emitters(Emitter(x=100, y=90, radius=5, rate=50))
        run.advance(8)
    assert gpu.flow.count == double.flow.count
    np.testing.assert_allclose(gpu.surface.z, double.surface.z, atol=1e-5)
    assert gpu.sums["eroded"] == pytest.approx(double.sums["eroded"], rel=1e-5)


def test_a_mesh_that_no_binding_holds_is_refused_in_one_sentence(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from slopewash.backends.gpu.device import Device

    monkeypatch.setattr(Device, "largest_binding", property(lambda device: 1 << 14))
    run = lab.run(MeshParticles(triangles=400), lab.rough().replace(emitters=[STREAM]), "gpu")
    with pytest.raises(BackendUnavailable, match=r"\d+ triangles need .* per binding: take fewer, or backend cpu"):
        run.advance(1)
