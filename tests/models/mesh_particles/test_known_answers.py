"""Laws whose outcome can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.models.mesh_particles import MeshParticles, reference
from slopewash.models.mesh_particles.particles import births
from slopewash.models.mesh_particles.prepare import surface_on
from slopewash.models.mesh_particles.sediment import diameter, transport_steps
from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.mesh_particles.vertices import deposit, erode
from slopewash.models.state import Sides
from slopewash.terrain import Emitter, Terrain, TriangleMesh, emitters_of

G = 9.81


def test_transport_times_of_equation_2() -> None:
    assert transport_steps([1e-12, 0.25, 0.5, 0.99, 1.0, 3.0], 100, 1.0).tolist() == [100, 75, 50, 1, 1, 1]
    # x = 1/s_M: with s_M = 0.5 the share is (s/s_M)², with s_M = 2 its root.
    assert transport_steps([0.25], 100, 0.5).tolist() == [75]
    assert transport_steps([0.5], 100, 2.0).tolist() == [50]
    assert transport_steps([1e-300, 1.0], 1, 1e-3).tolist() == [1, 1]


def test_a_grain_is_a_ball() -> None:
    assert diameter(np.pi / 6) == pytest.approx(1.0)
    assert diameter([0.0, 8 * np.pi / 6]).tolist() == pytest.approx([0.0, 2.0])


def test_pair_forces_are_equal_and_opposite_to_the_last_bit(lab: Any) -> None:
    run = lab.start(lab.rough(), "cpu")
    random = np.random.default_rng(1)
    for _ in range(50):
        apart, approach = random.normal(size=(2, 3)).astype(np.float32)
        there = reference.pair_force(apart, approach, run.physics)
        back = reference.pair_force(-apart, -approach, run.physics)
        np.testing.assert_array_equal(there, -back)


def crowd(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    X = random.random((n, 3)) * [40, 40, 40] + [60, 60, 20]
    return X, random.normal(size=(n, 3)) * 3


def test_pair_forces_of_a_crowd_sum_to_zero(lab: Any, backend: str) -> None:
    run = lab.start(lab.rough(), backend)
    X, V = crowd()
    lab.place(run, X, V)
    run.backend._sort()
    pushes = np.array(run.backend._pair_forces()[: run.flow.count], np.float64)
    assert np.abs(pushes).sum() > 1e3
    assert np.abs(pushes.sum(axis=0)).max() < 1e-6 * np.abs(pushes).sum()


def test_a_crowd_in_free_fall_keeps_its_momentum(lab: Any, backend: str) -> None:
    run = lab.start(lab.rough(relief=1.0), backend, gravity=0.0, drag=0.0)
    X, V = crowd(120)
    lab.place(run, X + np.array([0, 0, 200]), V)
    before = run.flow.V[:120].astype(np.float64).sum(axis=0)
    run.advance(20)
    V_now = run.flow.V[: run.flow.count].astype(np.float64)
    assert run.flow.count == 120
    assert np.abs(V_now - V.mean(axis=0)).max() > 0.1
    # Relative to all momentum that there is; float32 velocities.
    assert np.abs(V_now.sum(axis=0) - before).max() < 1e-6 * np.abs(V_now).sum()


def test_two_particles_that_touch_part_again(lab: Any, backend: str) -> None:
    run = lab.start(lab.rough(relief=1.0), backend, gravity=0.0, drag=0.0, damping=0.0, friction=0.0)
    r = run.physics.radius
    lab.place(run, [[60, 80, 300], [60 + 2.2 * r, 80, 300]], [[1, 0, 0], [-1, 0, 0]])
    least = np.inf
    for _ in range(60):
        run.advance(1)
        X = run.flow.X[:2].astype(np.float64)
        least = min(least, float(np.linalg.norm(X[1] - X[0])))
    V = run.flow.V[:2, 0][np.argsort(run.flow.X[:2, 0])]
    # An undamped spring gives the speed back; half steps of a semi-implicit scheme leave a few per cent.
    np.testing.assert_allclose(V, [-1, 1], rtol=0.08)
    # v/ω: the overlap stays under 5 % of the diameter, as the stiffness is meant to see to.
    assert 0.9 * 2 * r < least < 2 * r


def test_particles_in_the_same_place_push_each_other_apart(lab: Any, backend: str) -> None:
    run = lab.start(lab.rough(relief=1.0), backend, gravity=0.0)
    lab.place(run, [[80, 80, 300], [80, 80, 300]])
    run.advance(5)
    assert run.flow.X[0, 0] < 80 < run.flow.X[1, 0]
    assert run.flow.V[:2].sum() == 0


@pytest.mark.parametrize("gradient", [0.2, 0.5, 1.5])
def test_a_dropped_particle_slides_off_along_the_plane(lab: Any, backend: str, gradient: float) -> None:
    run = lab.start(lab.slope(gradient), backend, drag=0.0, erosion_rate=0.0)
    lab.place(run, [[40, 80, 3.0]])
    steps = 0
    while run.flow.V[0, 0] == 0:
        run.advance(1)
        steps += 1
    assert steps == 1 + int(np.floor((-1 + np.sqrt(1 + 8 * 3.0 / (G * 0.05**2))) / 2))  # dt² g Σk passes 3 m
    sine, cosine = gradient / np.hypot(1, gradient), 1 / np.hypot(1, gradient)
    normal = np.array([sine, 0, cosine])
    v = run.flow.V[0].astype(np.float64)
    assert abs(v @ normal) < 1e-5  # nothing goes into the ground
    assert np.linalg.norm(v) == pytest.approx(steps * G * 0.05 * sine, rel=1e-5)  # what went along it is kept
    run.advance(10)
    v = run.flow.V[0].astype(np.float64)
    assert np.linalg.norm(v) == pytest.approx((steps + 10) * G * 0.05 * sine, rel=1e-4)
    assert abs(v[1]) < 1e-6


def test_a_bouncing_particle_gives_back_its_share(lab: Any, backend: str) -> None:
    run = lab.start(lab.slope(0.0), backend, drag=0.0, bounce=0.5)
    lab.place(run, [[80, 80, 0.5]], [[2.0, 0.0, -30.0]])
    run.advance(1)
    np.testing.assert_allclose(run.flow.V[0], [2.0, 0.0, 0.5 * (30 + 0.05 * G)], rtol=1e-5)


def test_drag_limits_the_fall(lab: Any, backend: str) -> None:
    run = lab.start(lab.slope(0.0), backend, drag=2.0)
    lab.place(run, [[80, 80, 1000.0]])
    run.advance(200)
    assert run.flow.V[0, 2] == pytest.approx(-G / 2.0, rel=1e-3)


def eroded_by_one_particle(lab: Any, backend: str, weights: str) -> tuple[Surface, np.ndarray, int, float]:
    run = lab.start(lab.slope(0.5), backend, drag=0.0, erosion_rate=0.25, weights=weights, update_every=1000)
    lab.place(run, [[83.0, 82.0, 0.001]], [[4.0, 0.0, -2.0]])
    triangle = int(run.flow.at[0])
    run.advance(1)
    speed = float(np.hypot(4.0, 2.0 + 0.05 * G))
    sine = 0.5 / np.hypot(1, 0.5)
    return run.surface, run.erosion, triangle, 0.25 * sine * speed * 0.05


@pytest.mark.parametrize("weights", ["height", "uniform"])
def test_erosion_of_equation_1_is_shared_by_the_corners(lab: Any, backend: str, weights: str) -> None:
    surface, worn, triangle, C = eroded_by_one_particle(lab, backend, weights)
    corners = surface.triangles[triangle]
    assert set(np.flatnonzero(worn)) == set(corners)
    # On a bisected mesh 4 or 8 triangles meet: their areas make up for it, so that C/3 each is the mean.
    even = worn[corners] * surface.around[corners] / (6 * surface.areas[triangle])
    assert even.sum() == pytest.approx(C, rel=1e-5)
    z = surface.z[corners]
    if weights == "uniform":
        np.testing.assert_allclose(even, C / 3, rtol=1e-5)
    else:
        assert even[z.argmax()] == pytest.approx(3 * even[z.argmin()], rel=1e-5)


def test_harder_ground_erodes_in_proportion(lab: Any, backend: str) -> None:
    worn = []
    for erodibility in (1.0, 0.25):
        run = lab.start(lab.slope(0.5).replace(erodibility=erodibility), backend, update_every=1000)
        lab.place(run, [[83.0, 82.0, 0.001]], [[4.0, 0.0, -2.0]])
        run.advance(1)
        worn.append(run.erosion.sum())
    assert worn[1] == pytest.approx(0.25 * worn[0])


def lumpy_surface(lab: Any, seed: int = 0) -> Surface:
    mesh = TriangleMesh.from_terrain(lab.rough(seed=seed), budget=300)
    return surface_on(mesh, 0.0)


def test_a_vertex_loses_exactly_a_third_of_the_prism_around_it(lab: Any) -> None:
    surface = lumpy_surface(lab)
    drop = surface.z - surface.extreme_around(np.minimum, np.arange(len(surface.z)))
    vertex = int(np.flatnonzero(~surface.border & (drop > 1))[0])
    before, worn = surface.volume(), np.zeros(len(surface.z))
    worn[vertex] = 0.125
    lost = erode(surface, worn, 1.0, lateral=False)
    assert np.flatnonzero(lost).tolist() == [vertex]
    assert lost[vertex] == pytest.approx(0.125 * surface.around[vertex] / 3)
    assert before - surface.volume() == pytest.approx(lost[vertex], rel=1e-9)


@pytest.mark.parametrize("lateral", [False, True])
def test_volumes_lost_and_gained_are_those_of_the_mesh(lab: Any, lateral: bool) -> None:
    surface = lumpy_surface(lab)
    random = np.random.default_rng(3)
    before = surface.volume()
    lost = erode(surface, random.random(len(surface.z)), 0.5, lateral=lateral).sum()
    between = surface.volume()
    assert before - between == pytest.approx(lost, rel=1e-9)
    waiting = np.where(surface.border, 0.0, 10 * random.random(len(surface.z)))
    gained = deposit(surface, waiting)
    assert (gained <= waiting).all()
    assert surface.volume() - between == pytest.approx(gained.sum(), rel=1e-9)


def test_no_vertex_erodes_below_its_lowest_neighbour_or_raised_into_a_spike(lab: Any) -> None:
    surface = lumpy_surface(lab)
    every, z = np.arange(len(surface.z)), surface.z.copy()
    lowest = surface.extreme_around(np.minimum, every)
    erode(surface, np.full(len(z), 1e6), 1.0, lateral=False)
    assert (surface.z >= lowest - 1e-9).all()
    np.testing.assert_array_equal(surface.z[surface.border], z[surface.border])
    highest = surface.extreme_around(np.maximum, every)
    deposit(surface, np.full(len(z), 1e9))
    assert (surface.z <= highest + 0.02 * surface.edge + 1e-9).all()


def test_a_fallen_grain_raises_the_triangle_below_it_by_its_volume(lab: Any, backend: str) -> None:
    run = lab.start(lab.slope(0.0), backend, update_every=1)
    lab.place(run, [[83.0, 82.0, 1.0]])
    triangle = run.surface.triangles[run.flow.at[0]]
    before = run.surface.volume()
    run.grains.take_up(np.array([0], np.int32), np.array([1], np.int32), np.array([3.0]))
    run.sums["eroded"] += 3.0
    run.advance(1)
    assert run.surface.volume() - before == pytest.approx(3.0, rel=1e-9)
    assert set(np.flatnonzero(run.surface.z)) == set(triangle)
    assert run.carried == pytest.approx(0, abs=1e-12)


def test_grains_of_particles_that_leave_are_exported_and_of_evaporated_ones_fall(lab: Any, backend: str) -> None:
    run = lab.start(lab.slope(0.0), backend, lifetime=0.08)
    lab.place(run, [[6.0, 80.0, 0.1], [83.0, 82.0, 0.1]], [[-100.0, 0, 0], [0, 0, 0]])
    run.grains.take_up(np.array([0, 1], np.int32), np.array([99, 99], np.int32), np.array([2.0, 5.0]))
    run.sums["eroded"] += 7.0
    run.advance(2)
    assert run.flow.alive().sum() == 0
    assert run.sums["exported"] == 2.0
    assert run.waiting.sum() == pytest.approx(5.0)
    budget = run.budget
    assert (budget.water_exported, budget.water_evaporated) == (run.model.particle_volume(run.state),) * 2


def test_grains_find_the_nearest_particle_or_fall_where_they_are(lab: Any, backend: str) -> None:
    run = lab.start(lab.slope(0.5), backend, erosion_rate=0.0, update_every=1, transport_time=50, smallest_grain=0.0)
    r = run.physics.radius
    interior = np.flatnonzero(~run.surface.border)
    vertex, far = int(interior[0]), int(interior[-1])
    x, y = run.surface.vertices[vertex, :2]
    lab.place(run, [[x + 2.1 * r, y, 5.0], [x + 0.2 * r, y, 5.0], [x, y + 3.9 * r, 0.0]])
    nearest = run.flow.X[1].copy()
    run.backend.erosion[[vertex, far]] = 1e-3
    run.backend._move_vertices()
    assert len(run.grains.volume) == 1
    np.testing.assert_array_equal(run.flow.X[run.grains.carrier[0]], nearest)
    assert run.waiting[far] > 0
    assert run.sums["eroded"] == pytest.approx(run.grains.volume.sum() + run.waiting.sum())


def test_emitters_release_their_rate_on_their_disc(lab: Any, backend: str) -> None:
    terrain = lab.slope(0.1).replace(emitters=[Emitter(x=80, y=90, radius=20, rate=30, speed=3, direction=90)])
    run = lab.start(terrain, backend, emit=True)
    run.backend._emit()
    np.testing.assert_allclose(run.flow.V[0], [3, 0, 0], atol=1e-6)
    run.advance(40)
    assert run.sums["born"] == 61  # 30 per second for 2.05 s
    x, y = births(terrain.emitters[0], 0, 0, 1000, run.surface.extent)
    distance = np.hypot(x - 80, y - 90)
    assert distance.max() <= 20
    assert (distance < 10).mean() == pytest.approx(0.25, abs=0.01)  # evenly over the area


def test_without_emitters_one_stands_on_the_highest_ground_away_from_the_border(lab: Any, backend: str) -> None:
    heights = np.zeros((20, 30))
    heights[0, 0], heights[12, 21] = 90.0, 50.0
    run = lab.start(Terrain(heights, cell_size=10.0), backend, emit=True)
    (emitter,) = emitters_of(run.state["emitters"])
    assert (emitter.x, emitter.y) == (215.0, 125.0)


@pytest.mark.parametrize("shape", [(2, 2), (2, 9), (9, 2), (3, 3)])
def test_the_smallest_terrains_have_a_highest_ground_too(lab: Any, backend: str, shape: tuple[int, int]) -> None:
    terrain = Terrain(np.arange(shape[0] * shape[1]).reshape(shape), cell_size=10.0)
    run = lab.start(terrain, backend, emit=True)
    run.advance(30)
    assert run.budget.water_sources > 0


@pytest.mark.parametrize("seed", [3 * 10**9, 10**30, -(10**30)])
def test_large_seeds_leave_particles_apart(lab: Any, seed: int) -> None:
    x, y = births(Emitter(x=80, y=90, radius=20, rate=30), seed, 0, 100, (0, 0, 200, 200))
    assert len(np.unique(np.round(np.stack([x, y]), 3), axis=1).T) == 100
    assert (np.hypot(x - 80, y - 90) < 10).mean() == pytest.approx(0.25, abs=0.1)


def test_emitters_pause_while_there_are_enough_particles(lab: Any, backend: str) -> None:
    terrain = lab.slope(0.0).replace(emitters=[Emitter(x=80, y=80, radius=50, rate=1000)])
    run = lab.start(terrain, backend, emit=True, maximum_particles=70)
    run.advance(5)
    assert run.flow.alive().sum() == 70


def test_extremes_around_vertices_are_those_of_the_triangles_they_belong_to(lab: Any) -> None:
    surface = lumpy_surface(lab)
    some = np.flatnonzero(np.arange(len(surface.z)) % 3 == 1)
    around = [surface.z[surface.triangles[(surface.triangles == v).any(axis=1)]] for v in some]
    np.testing.assert_array_equal(surface.extreme_around(np.minimum, some), [z.min() for z in around])
    np.testing.assert_array_equal(surface.extreme_around(np.maximum, some), [z.max() for z in around])
    assert len(surface.extreme_around(np.minimum, some[:0])) == 0


def test_rounding_of_a_deposit_leaves_no_negative_sediment() -> None:
    model = MeshParticles(triangles=400)
    domain, state = model.prepare(Terrain(np.zeros((17, 17)), cell_size=10.0), sides=Sides.of("open"), seed=0)
    state["pending_deposit"] = np.full_like(state["pending_deposit"], -1e-16)  # m³
    assert model.derive("suspended", state, domain).min() == 0
