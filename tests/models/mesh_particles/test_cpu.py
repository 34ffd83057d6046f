"""The compiled kernels do what the specification says."""

from __future__ import annotations

import platform
import re
from typing import Any

import numba
import numpy as np
import pytest

from slopewash.backends.compiled import EXACT, DistinctArrays
from slopewash.models import MeshParticles
from slopewash.models.mesh_particles import lanes, reference, rows, sweep
from slopewash.models.mesh_particles.particles import LEFT
from slopewash.models.mesh_particles.surface import MOST_CELLS
from slopewash.models.mesh_particles.table import height
from slopewash.terrain import Emitter


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_counting_sort_is_a_stable_sort(n: int) -> None:
    key = np.random.default_rng(n).integers(-1, 20, n).astype(np.int32)
    start, order = np.zeros(21, np.int32), np.zeros(max(n, 1), np.int32)
    count = sweep.counting_sort(key, n, start, order)
    living = np.flatnonzero(key >= 0)
    np.testing.assert_array_equal(order[:count], living[np.argsort(key[living], kind="stable")])
    np.testing.assert_array_equal(start, np.searchsorted(np.sort(key[living]), np.arange(21)))


def crowded(lab: Any, backend: str, n: int = 400) -> Any:
    run = lab.start(lab.rough(), backend)
    random = np.random.default_rng(7)
    lab.place(run, random.random((n, 3)) * [150, 150, 30] + [6, 6, 0], random.normal(size=(n, 3)))
    run.backend._sort()
    return run


def test_the_search_finds_every_neighbour(lab: Any) -> None:
    run = crowded(lab, "cpu")
    X = run.flow.X[: run.flow.count]
    offsets = X[:, None] - X[None]
    near = (offsets * offsets).sum(axis=2) < np.float32(2 * run.physics.radius) ** 2
    np.testing.assert_array_equal(run.backend._pair_forces()[: len(X)].any(axis=1), near.sum(axis=1) > 1)
    assert 0.1 < (near.sum(axis=1) > 1).mean() < 0.9


def test_tiny_particles_are_searched_for_in_wider_cells(lab: Any) -> None:
    run = lab.start(lab.slope(0.1, 33), particle_radius=1e-4, time_step=1e-5)
    apart = 1.5 * run.physics.radius
    lab.place(run, [[160 + k * apart, 160, 0] for k in range(3)] + [[200, 200, 0]])
    run.backend._sort()
    assert len(run.backend._start_of_cell) < MOST_CELLS
    pushed = run.backend._pair_forces()[:4]
    lone, middle, *ends = sorted(range(4), key=lambda k: abs(float(pushed[k, 0])))
    assert not pushed[lone].any()
    assert abs(pushed[middle, 0]) < 1e-3 * abs(pushed[ends[0], 0])  # the others push it from both sides


def test_both_backends_keep_particles_in_the_same_order_and_push_them_alike(lab: Any) -> None:
    fast, plain = (crowded(lab, backend) for backend in ("cpu", "reference"))
    n = fast.flow.count
    np.testing.assert_allclose(fast.flow.X[:n], plain.flow.X[:n], atol=1e-4)
    wanted = plain.backend._pair_forces()
    got = fast.backend._pair_forces()[:n]
    np.testing.assert_allclose(got, wanted, atol=2e-5 * np.abs(wanted).max())  # float32 positions at 150 m


@pytest.mark.parametrize("bands", [2, 3, 7, 50])
def test_particles_are_pushed_bit_for_bit_alike_by_any_number_of_bands(lab: Any, bands: int) -> None:
    run = crowded(lab, "cpu", n=2000)
    flow, backend, n = run.flow, run.backend, run.flow.count
    wanted = backend._pair_forces()[:n].copy()
    got = np.full_like(wanted, np.nan)
    r = 2 * run.physics.radius
    numbers = tuple(np.float32(v) for v in (r * r, r, run.physics.spring, run.physics.damper, run.physics.friction))
    sweep.push_all(
        bands, n, flow.X, flow.V, backend._cell, backend._plan[3], backend._start_of_cell, numbers, got
    )  # fmt: skip
    np.testing.assert_array_equal(got, wanted)
    assert (wanted != 0).any(axis=1).mean() > 0.5


@pytest.mark.parametrize("bands", [1, 3])
def test_particles_move_side_by_side_bit_for_bit_as_each_alone(lab: Any, bands: int) -> None:
    run = crowded(lab, "cpu", n=3000)
    random = np.random.default_rng(2)
    flow, surface, n = run.flow, run.surface, run.flow.count
    # Slow ones stay above their triangle, fast ones cross others, fall on them, or leave.
    flow.V[:n] = random.normal(size=(n, 3)) * 10.0 ** random.uniform(-2, 2, size=(n, 1))
    flow.at[:n] = run.backend._locate(*(flow.X[:n, k].astype(np.float64) for k in (0, 1)))
    ground = height(surface.table[flow.at[:n]], *(flow.X[:n, k].astype(np.float64) for k in (0, 1)))
    flow.X[:n, 2] = ground + 10.0 ** random.uniform(-6, 0, size=n)
    pushes = random.normal(size=(n, 3)).astype(np.float32)
    before = [a.copy() for a in flow.taken()]
    fixed = (surface.table, surface.grid, surface.extent, run.backend.erodible, tuple(run.physics))
    places = np.empty((bands, lanes.PLACE_AND_VELOCITY, lanes.LANES), np.float32)
    flags = np.empty((bands, lanes.FLAGS, lanes.LANES), np.bool_)
    touched, eroded = np.zeros(n, np.int32), np.zeros(n)
    sweep.move_all(n, flow.X, flow.V, pushes, flow.at, flow.fate, *fixed, places, flags, touched, eroded)

    X, V, _, at, _ = before
    start = at.copy()
    for i in range(n):
        t, amount, left = rows.move(i, X, V, pushes, at, *fixed)
        assert (touched[i], eroded[i], flow.fate[i] == LEFT) == (t, amount, left)
    for got, wanted in zip((flow.X, flow.V, flow.at), (X, V, at), strict=True):
        np.testing.assert_array_equal(got[:n], wanted)
    assert 0.05 < (at != start).mean() < 0.9
    assert 0.1 < (touched >= 0).mean() < 0.9
    assert (flow.fate[:n] == LEFT).any()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 instructions")
def test_particles_move_by_packed_instructions(lab: Any) -> None:
    run = crowded(lab, "cpu")
    kinds: Any = numba
    reals, points, rows32 = kinds.float64, kinds.float32[:, ::1], kinds.float32[::1]
    flags = kinds.boolean[::1]
    function: Any = lanes.move_within
    # Cached code cannot be inspected.
    fresh = kinds.njit(error_model="numpy", fastmath=set(EXACT), pipeline_class=DistinctArrays)(function.py_func)
    fresh.compile(
        (
            points, points, points, kinds.int32[::1], reals[:, ::1], reals[::1], kinds.typeof(run.surface.extent),
            kinds.typeof(tuple(run.physics)), *[rows32] * 6, flags, flags, reals[::1],
        )
    )  # fmt: skip
    (assembly,) = fresh.inspect_asm().values()
    assert re.search(r"v?divpd\s+.*[xyz]mm", assembly)


def test_vertex_sums_are_those_of_table_1_bit_for_bit(lab: Any) -> None:
    run = crowded(lab, "cpu")
    random = np.random.default_rng(1)
    n, m = run.flow.count, len(run.surface.triangles)
    touched = random.integers(-1, m, n).astype(np.int32)
    erosion = random.random(n)
    wanted = reference.erosion_per_vertex(touched, erosion, run.surface)
    np.testing.assert_array_equal(run.backend._erosion_per_vertex(touched, erosion), wanted)


def test_table_1_of_the_paper() -> None:
    # Particles 0 and 2 collide with triangles (4, 6, 8) and (2, 6, 8).
    triangles = np.array([[4, 6, 8], [2, 6, 8]], np.int32)
    touched, eroded = np.array([0, -1, 1], np.int32), np.array([1.0, 100.0, 10.0])
    sums = np.zeros(9)
    sweep.sum_up(3, touched, eroded, triangles, np.ones((2, 3)), sums)
    assert sums.tolist() == [0, 0, 10, 0, 1, 0, 11, 0, 11]


def test_points_are_located_and_particles_found_as_by_brute_force(lab: Any) -> None:
    fast, plain = (crowded(lab, backend) for backend in ("cpu", "reference"))
    x, y = np.random.default_rng(3).random((2, 500)) * 160 + 5
    np.testing.assert_array_equal(fast.backend._locate(x, y), plain.backend._locate(x, y))
    vertices = np.arange(len(fast.surface.z))
    np.testing.assert_array_equal(fast.backend._nearest_particles(vertices), plain.backend._nearest_particles(vertices))


@pytest.mark.parametrize("displacement", ["vertical", "lateral"])
def test_a_run_agrees_with_the_reference(lab: Any, displacement: str) -> None:
    terrain = lab.rough(relief=20.0).replace(
        emitters=[Emitter(x=60, y=40, radius=25, rate=100, speed=3, direction=180)]
    )
    model = MeshParticles(triangles=400, erosion_rate=0.1, transport_time=20, update_every=5, displacement=displacement)
    fast, exact = lab.run(model, terrain), lab.run(model, terrain, "reference")
    coarse = lab.run(model, terrain, "reference", dtype=np.float32)
    for steps in (1, 49):
        for run in (fast, exact, coarse):
            run.advance(steps)
        n = exact.flow.count
        assert fast.flow.count == coarse.flow.count == n
        # The yardstick is what float32 costs the reference itself.
        yardstick = np.abs(coarse.surface.z - exact.surface.z).max()
        assert np.abs(fast.surface.z - exact.surface.z).max() <= 4 * yardstick + 1e-6
        assert fast.sums["eroded"] == pytest.approx(exact.sums["eroded"], rel=1e-3)
    assert exact.sums["eroded"] > 1
    assert exact.sums["deposited"] > 0
    assert fast.sums["deposited"] == pytest.approx(exact.sums["deposited"], rel=0.01)
