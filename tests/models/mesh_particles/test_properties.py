"""What holds for any ground and any parameters."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import slopewash as sw
from slopewash.errors import InvalidMesh, InvalidParameter, StabilityWarning
from slopewash.models import MeshParticles
from slopewash.simulation import Simulation
from slopewash.terrain import Emitter, Strata, Stratum, Terrain, TriangleMesh

models = st.builds(
    MeshParticles,
    triangles=st.sampled_from((300, 500)),
    erosion_rate=st.floats(0, 2),
    transport_time=st.integers(1, 50),
    grain_size=st.floats(0.01, 5),
    smallest_grain=st.floats(0, 0.2),
    update_every=st.integers(1, 5),
    dig_limit=st.floats(0, 1),
    bounce=st.floats(0, 1),
    drag=st.floats(0, 3),
    damping=st.floats(0, 1),
    friction=st.floats(0, 1),
    gravity=st.floats(0, 20),
    lifetime=st.floats(0.1, 10),
    weights=st.sampled_from(("height", "uniform")),
    displacement=st.sampled_from(("vertical", "lateral")),
)


def streams(seed: int, count: int = 3) -> list[Emitter]:
    random = np.random.default_rng(seed)
    x, y = 30 + 100 * random.random((2, count))
    turn = 360 * random.random(count)
    return [
        Emitter(x=a, y=b, radius=20, rate=60, speed=10, direction=t)
        for a, b, t in zip(x.tolist(), y.tolist(), turn.tolist(), strict=True)
    ]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=models, seed=st.integers(0, 1000), relief=st.floats(0, 100), datum=st.sampled_from((0.0, 2000.0)))
def test_mass_is_conserved_no_triangle_flips_and_no_particle_sinks(
    lab: Any, model: MeshParticles, seed: int, relief: float, datum: float
) -> None:
    terrain = lab.rough(relief=relief, seed=seed)
    terrain = terrain.replace(elevation=terrain["elevation"] + datum, emitters=streams(seed))
    run = lab.run(model, terrain)
    area_before = run.surface.areas.copy()
    for _ in range(3):
        run.advance(15)
        mesh = run.mesh()  # raises if a triangle is degenerate or faces down
        assert (mesh.areas >= 0.2499 * area_before).all()
        assert (lab.heights_above_ground(run) > 0).all()
        assert np.isfinite(run.flow.V[: run.flow.count]).all()
        kept = run.carried + run.sums["deposited"] + run.sums["exported"]
        assert abs(run.sums["eroded"] - kept) <= 1e-9 * (run.sums["eroded"] + 1e-9)
        ground = run.sums["solids_start"] - run.sums["eroded"] + run.sums["deposited"]
        assert run.surface.volume() == pytest.approx(ground, rel=1e-12, abs=1e-6)
        budget = run.budget
        water = budget.water_now + budget.water_exported + budget.water_evaporated
        assert water == pytest.approx(budget.water_sources)


@pytest.mark.parametrize("displacement", ["vertical", "lateral"])
def test_eroded_is_carried_deposited_and_exported_after_2000_steps(lab: Any, displacement: str) -> None:
    terrain = lab.rough().replace(emitters=streams(4))
    model = MeshParticles(triangles=500, erosion_rate=0.05, transport_time=200, displacement=displacement)
    simulation = Simulation(terrain, model, backend="cpu")
    simulation.run(2000)
    run = lab.run.of(simulation)
    assert min(run.sums["eroded"], run.sums["deposited"], run.sums["exported"], run.carried) > 10
    kept = run.carried + run.sums["deposited"] + run.sums["exported"]
    assert abs(run.sums["eroded"] - kept) < 1e-5 * run.sums["eroded"]
    assert simulation.budget.solids_drift < 1e-5
    assert simulation.budget.water_drift < 1e-12  # particles are counted


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("displacement", ["vertical", "lateral"])
def test_no_particle_ends_below_the_surface_after_random_drops(lab: Any, seed: int, displacement: str) -> None:
    random = np.random.default_rng(seed)
    terrain = lab.rough((33, 33), relief=float(random.choice([5.0, 60.0, 300.0])), seed=seed)
    # Erosion far beyond reason and vertices moved at every step: ground rises and falls under the particles.
    run = lab.start(
        terrain, triangles=1500, erosion_rate=1.0, transport_time=3, update_every=1, smallest_grain=0.0,
        displacement=displacement, dig_limit=1.0,
    )  # fmt: skip
    n = 2500  # times four seeds: ten thousand drops
    X = np.stack([*(10 + 310 * random.random((2, n))), 200 * random.random(n)], axis=1)
    lab.place(run, X, 60 * random.normal(size=(n, 3)))
    for _ in range(40):
        run.advance(1)
        assert (lab.heights_above_ground(run) > 0).all()
    assert run.flow.alive().sum() > n / 4
    assert run.sums["eroded"] > 0


def test_a_fast_particle_does_not_pass_through_a_thin_ridge(backend: str, lab: Any) -> None:
    heights = np.zeros((17, 17))
    heights[:, 8] = 300.0
    # One step of 500 m/s takes a particle 25 m: right across the ridge, which is 20 m wide at its foot.
    run = lab.start(Terrain(heights, cell_size=10.0), backend, triangles=512, particle_radius=0.5)
    lab.place(run, [[70.0, 85.0, 2.0]], [[500.0, 0.0, 0.0]])
    run.advance(1)
    assert run.flow.X[0, 0] < 85.0
    assert (lab.heights_above_ground(run) > 0).all()


def digest(run: Any) -> str:
    n = run.flow.count
    parts = (run.surface.vertices, run.flow.X[:n], run.flow.V[:n], run.grains.volume, run.grains.carrier)
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in parts)).hexdigest()


CODE = """
import sys, hashlib, numpy as np, slopewash as sw
terrain = sw.generate("dome", size=65, cell_size=10.0, seed=3)
terrain = terrain.replace(emitters=[sw.Emitter(x=320, y=320, radius=80, rate=2000, speed=5, direction=90)])
model = sw.MeshParticles(triangles=4000, erosion_rate=0.05, transport_time=40, displacement=sys.argv[1])
simulation = sw.Simulation(terrain, model, backend="cpu")
simulation.run(60)
e = simulation._device
n = e.flow.count
parts = (e.surface.vertices, e.flow.X[:n], e.flow.V[:n], e.grains.volume, e.grains.carrier)
stamp = hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in parts)).hexdigest()
print(n > 5000, len(e.grains.volume) > 100, stamp)
"""


@pytest.mark.slow
@pytest.mark.parametrize("displacement", ["vertical", "lateral"])
def test_any_number_of_threads_is_bit_identical(displacement: str) -> None:
    results = {
        subprocess.run(
            [sys.executable, "-c", CODE, displacement],
            env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 3, 3)
    }
    assert len(results) == 1
    assert results.pop().startswith("True True")


def test_a_run_in_parts_or_again_is_bit_identical(lab: Any) -> None:
    digests = set()
    for parts in ((30,), (1, 9, 20), (30,)):
        run = lab.run(MeshParticles(triangles=500, erosion_rate=0.1), lab.rough().replace(emitters=streams(1)))
        for steps in parts:
            run.advance(steps)
        digests.add(digest(run))
    assert len(digests) == 1


def test_every_parameter_may_change_between_steps(lab: Any, backend: str) -> None:
    simulation = Simulation(lab.rough().replace(emitters=streams(1)), MeshParticles(triangles=500), backend=backend)
    simulation.run(20)
    changes = {
        "time_step": 0.02, "gravity": 5.0, "particle_radius": 0.6, "stiffness": 60.0, "damping": 0.5, "friction": 0.2,
        "drag": 0.1, "bounce": 0.2, "lifetime": 0.5, "maximum_particles": 300, "erosion_rate": 0.1,
        "transport_time": 5, "grain_size": 2.0, "smallest_grain": 0.0, "update_every": 3, "dig_limit": 0.2,
        "weights": "uniform", "displacement": "lateral", "triangles": 300, "gradient_weight": 1.0, "depth_weight": 2.0,
    }  # fmt: skip
    assert set(changes) == {p.name for p in MeshParticles.parameters()}
    for name, value in changes.items():
        simulation.model = simulation.model.replace(**{name: value})
        simulation.run(3)
        assert (lab.heights_above_ground(lab.run.of(simulation)) > 0).all()
    assert simulation.budget.solids_drift < 1e-9
    assert len(simulation.mesh.triangles) == 300


def test_refining_anew_keeps_the_ground_and_what_was_done_to_it(lab: Any) -> None:
    terrain = lab.slope(0.5, 33).replace(emitters=[Emitter(x=60, y=160, radius=20, rate=60)])
    simulation = Simulation(terrain, MeshParticles(triangles=2048, erosion_rate=0.1), backend="cpu")
    simulation.run(200)
    before, budget = simulation.terrain, simulation.budget
    simulation.model = simulation.model.replace(triangles=1500)
    after = simulation.terrain
    assert len(simulation.mesh.triangles) == 1500
    assert simulation.budget.solids_now == pytest.approx(budget.solids_now, rel=1e-12)
    # A quarter of the triangles fewer: what is left out is less than what the stream did.
    assert np.abs(after["elevation"] - before["elevation"]).max() < 0.5 * before["wear"].max()
    assert np.corrcoef(after["difference"].ravel(), before["difference"].ravel())[0, 1] > 0.95
    simulation.run(50)
    assert simulation.budget.solids_drift < 1e-9


def test_emitters_may_change_between_steps(lab: Any) -> None:
    simulation = Simulation(lab.rough().replace(emitters=streams(1)), MeshParticles(triangles=500), backend="cpu")
    simulation.run(10)
    count = len(simulation.particles)
    simulation.set_emitters()
    simulation.run(10)
    assert len(simulation.particles) <= count
    simulation.set_emitters(Emitter(x=50, y=50, radius=10, rate=100))
    simulation.run(10)
    newest = simulation.particles[simulation.particles[:, 3] < 0.2]
    assert np.hypot(newest[:, 0] - 50, newest[:, 1] - 50).max() < 30
    assert simulation.terrain.emitters == simulation.emitters
    with pytest.raises(ValueError, match=r"emitter at .* lies outside the terrain"):
        simulation.set_emitters(Emitter(x=500, y=50, radius=10, rate=100))


def test_the_simulation_gives_its_mesh_particles_and_raster(lab: Any) -> None:
    simulation = Simulation(lab.rough().replace(emitters=streams(1)), MeshParticles(triangles=512), backend="cpu")
    simulation.run(50)
    mesh, terrain, particles = simulation.mesh, simulation.terrain, simulation.particles
    assert isinstance(mesh, TriangleMesh)
    assert set(mesh.attributes) == {"eroded", "deposited"}
    assert mesh.attributes["eroded"].max() > 0
    np.testing.assert_array_equal(mesh.to_terrain(10.0)["elevation"], terrain["elevation"])
    assert particles.dtype == np.float32
    assert particles.shape[1] == 4
    assert (particles[:, 3].min(), particles[:, 3].max()) == (pytest.approx(0, abs=0.1), 1.0)
    water = float(terrain["water"].sum(dtype=np.float64)) * 100
    assert water == pytest.approx(simulation.budget.water_now, rel=1e-6)
    load = float(terrain["suspended"].sum(dtype=np.float64)) * 100
    assert load == pytest.approx(lab.run.of(simulation).carried, rel=1e-6)


def test_models_on_a_grid_say_that_they_have_no_mesh() -> None:
    simulation = Simulation(Terrain(np.zeros((4, 4))), sw.VirtualPipes(), backend="reference")
    with pytest.raises(InvalidParameter, match="virtual_pipes runs on a grid and has no mesh"):
        _ = simulation.mesh
    with pytest.raises(InvalidParameter, match="virtual_pipes has no particles to show"):
        _ = simulation.particles
    with pytest.raises(InvalidParameter, match="virtual_pipes has no particles, and so no emitters"):
        simulation.set_emitters()


def test_settling_deposits_all_sediment(lab: Any, backend: str) -> None:
    terrain = lab.rough().replace(emitters=streams(1, count=1))
    simulation = Simulation(terrain, MeshParticles(triangles=300, erosion_rate=0.2), backend=backend)
    simulation.run(20)
    simulation.settle(10, dry=True)
    assert simulation.terrain["suspended"].max() == 0
    assert len(simulation.particles) == 0
    assert simulation.budget.solids_drift < 1e-9
    assert simulation.budget.water_drift == 0


def test_lateral_erosion_shows_as_the_change_of_the_ground(lab: Any) -> None:
    terrain = lab.slope(0.5, 33).replace(emitters=[Emitter(x=60, y=160, radius=20, rate=60)])
    run = lab.start(terrain, emit=True, triangles=2048, erosion_rate=0.2, displacement="lateral")
    run.advance(100)
    after = run.terrain()
    change = after["elevation"] - terrain["elevation"]
    assert change.min() < -1
    shifted = np.abs(run.surface.vertices[:, :2] - run.state["first_vertices"][:, :2]).max()
    assert shifted > 1
    # Attributes are known at vertices: between those of other heights they bend where the ground does not.
    np.testing.assert_allclose(after["difference"], change, atol=0.02 * -change.min())


def test_sediment_that_a_terrain_comes_with_is_deposited_and_counted(lab: Any, backend: str) -> None:
    load = np.zeros((17, 17))
    load[2:15, 5] = 0.5
    terrain = lab.slope(0.5).replace(suspended=load)
    run = lab.start(terrain, backend)
    assert run.budget.solids_start == pytest.approx(run.surface.volume() + 13 * 0.5 * 100)
    assert run.carried == pytest.approx(13 * 0.5 * 100)
    run.lay_down(dry=False)
    assert run.carried == 0
    assert run.surface.volume() == pytest.approx(run.budget.solids_start, rel=1e-12)


def test_two_triangles_may_be_refined_anew(lab: Any, backend: str) -> None:
    simulation = Simulation(lab.rough(), MeshParticles(triangles=2, erosion_rate=0.2), backend=backend)
    for triangles in (100, 2):
        simulation.model = simulation.model.replace(triangles=triangles)
        simulation.run(20)
        budget = simulation.budget
        assert budget.solids_now + budget.solids_exported == pytest.approx(budget.solids_start, rel=1e-12)


def test_deposits_on_hard_strata_are_soft_also_in_the_next_run(lab: Any) -> None:
    strata = Strata([Stratum(thickness=1000, erodibility=0.1)])
    run = lab.start(lab.slope(0.5, 17).replace(strata=strata))
    vertex = int(np.flatnonzero(~run.surface.border)[40])
    run.waiting[vertex] = 50.0
    run.backend._move_vertices()
    around = (run.surface.triangles == vertex).any(axis=1)
    np.testing.assert_allclose(run.backend.erodible[around], (1 + 0.1 + 0.1) / 3)
    np.testing.assert_allclose(run.backend.erodible[~around], 0.1)
    terrain = run.terrain()
    covered = terrain["elevation"] > terrain["bedrock"]
    assert covered.any()
    assert (terrain["deposit"][~covered] == 0).all()
    np.testing.assert_allclose(terrain["erodibility"], np.where(covered, 1.0, 0.1))
    np.testing.assert_array_equal(lab.start(terrain).backend.erodible > 0.2, around)


def test_soil_that_settles_on_hard_strata_is_soft_at_once(lab: Any, backend: str) -> None:
    strata = Strata([Stratum(thickness=1000, erodibility=0.1)])
    run = lab.start(lab.slope(0.5, 17).replace(strata=strata), backend)
    vertex = int(np.flatnonzero(~run.surface.border)[40])
    run.waiting[vertex] = 50.0
    run.lay_down(dry=False)
    around = (run.surface.triangles == vertex).any(axis=1)
    np.testing.assert_allclose(run.backend.erodible, np.where(around, (1 + 0.1 + 0.1) / 3, 0.1))


def test_eroded_ground_takes_the_bedrock_down(lab: Any) -> None:
    strata = Strata([Stratum(thickness=1000)])
    terrain = lab.slope(0.5, 33).replace(strata=strata, emitters=[Emitter(x=40, y=160, radius=20, rate=60)])
    terrain = terrain.replace(bedrock=terrain["elevation"])
    run = lab.start(terrain, emit=True, triangles=1000, erosion_rate=0.05)
    run.advance(150)
    worn = run.terrain()
    assert worn["wear"].max() > 0
    assert (worn["bedrock"] <= worn["elevation"]).all()


def test_hard_strata_resist(lab: Any) -> None:
    eroded = []
    for soft in (1.0, 0.1):
        strata = Strata([Stratum(thickness=1000, erodibility=soft), Stratum(thickness=10)])
        terrain = lab.slope(0.5, 33).replace(strata=strata, emitters=[Emitter(x=40, y=160, radius=20, rate=60)])
        run = lab.start(terrain, emit=True, triangles=1000, erosion_rate=0.05)
        run.advance(150)
        eroded.append(run.sums["eroded"])
    assert eroded[1] < 0.3 * eroded[0]


def test_a_step_too_long_for_contacts_is_taken_in_sub_steps(lab: Any) -> None:
    terrain = Terrain(lab.rough()["elevation"] / 10, cell_size=1.0)
    with pytest.warns(StabilityWarning, match="contact period of particles of radius 0.5 m is .* in 3 sub-steps"):
        simulation = Simulation(terrain, MeshParticles(triangles=512), backend="cpu")
    simulation.run(5)
    assert simulation.time == pytest.approx(0.25)


def test_bad_input_is_refused_in_one_sentence(lab: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"particle_radius \(r\) is 0.0 finest edges; it must be positive"):
        MeshParticles(particle_radius=0)
    with pytest.raises(InvalidParameter, match="mesh_particles runs with edges open; edges is 'closed'"):
        Simulation(lab.rough(), MeshParticles(), edges="closed")
    with pytest.raises(InvalidMesh, match="a mesh needs ground everywhere, fill them"):
        Simulation(lab.rough().replace(nodata=np.eye(17)), MeshParticles())
    with pytest.raises(InvalidParameter, match=r"triangles.* is 2.5; it must be a whole number"):
        MeshParticles(triangles=2.5)
