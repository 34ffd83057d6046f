"""The sea beyond open edges: known answers on every backend."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from slopewash import InvalidParameter, Simulation, Terrain, VirtualPipes, WaterSource, strata_bands
from slopewash.models.sea import covered
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.base_level import edge_base

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
with_any_pipes = pytest.mark.parametrize("pipes", ["four", "eight"])
RIVERS: Any = VirtualPipes(
    capacity="along_flow", sediment_volume=0.0, maximum_erosion_depth=math.inf, softening_rate=0.0, rain_rate=0.0,
    evaporation_rate=0.0, pipe_friction=0.5, pipe_area=10.0, dig_limit=0.5, deposit_below_surface=True,
    processes="hydraulic",
)  # fmt: skip
"""Water and sediment alone, without rain."""
WEST_OPEN = Sides(north="closed", south="closed", west="open", east="closed")


def rough(shape: tuple[int, int]) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((14, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    result: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return result


def island(size: int = 51) -> NDArray[Any]:
    y, x = np.mgrid[:size, :size] - size // 2
    result: NDArray[Any] = 12 - 0.4 * np.hypot(x, y) + 0.2 * np.sin(x) * np.cos(y)
    return result


# What the sea covers


def test_the_sea_covers_low_ground_that_it_reaches_from_an_open_edge() -> None:
    b = np.array([
        [9, 9, 9, 9, 9, 9],
        [1, 2, 9, 1, 9, 1],
        [9, 3, 9, 9, 9, 9],
        [9, 9, 2, 9, 1, 9],
        [9, 9, 9, 9, 9, 9],
    ], np.float32)  # fmt: skip
    west = Sides(north="closed", south="closed", west="open", east="closed")
    straight = covered(b, 4.0, west, diagonally=False)
    assert {(int(y), int(x)) for y, x in np.argwhere(straight)} == {(1, 0), (1, 1), (2, 1)}
    aslant = covered(b, 4.0, west, diagonally=True)
    assert {(int(y), int(x)) for y, x in np.argwhere(aslant ^ straight)} == {(3, 2)}
    assert not covered(b, 4.0, Sides.of("closed"), diagonally=True).any()


def test_the_sea_winds_through_a_labyrinth_and_over_periodic_sides() -> None:
    b = np.full((9, 9), 9.0, np.float32)
    b[1::2, 1:-1] = 1.0
    b[2, 7] = b[4, 1] = b[6, 7] = b[7, 0] = 1.0
    reached = covered(b, 4.0, WEST_OPEN, diagonally=False)
    np.testing.assert_array_equal(reached, b < 4)
    b[7, 0], b[7, 8], b[8, 3], b[0, 3] = 9.0, 9.0, 1.0, 1.0
    round_ = Sides(north="periodic", south="periodic", west="open", east="closed")
    assert not covered(b, 4.0, round_, diagonally=False).any()
    b[1, 0] = 1.0
    np.testing.assert_array_equal(covered(b, 4.0, round_, diagonally=False), b < 4)


@on_every_backend
def test_a_run_starts_with_the_sea_at_its_level(backend: str) -> None:
    ground = np.full((20, 24), 150.0)
    ground[4:9, :8] = 110.0  # a bay
    ground[13:16, 12:17] = 105.0  # a basin that the sea does not reach
    water = np.zeros_like(ground)
    water[13:16, 12:17], water[6, 3] = 2.0, 30.0
    hole = np.zeros(ground.shape, bool)
    hole[5, 4] = True
    terrain = Terrain(ground, water=water, nodata=hole, cell_size=10.0)
    with Simulation(terrain, VirtualPipes(sea_level=120.0), backend=backend) as simulation:
        after = simulation.terrain["water"]
    expected = water.copy()
    expected[4:9, :8] = 10.0
    expected[6, 3], expected[5, 4] = 30.0, 0.0  # water that stands higher stays; nodata is dry
    np.testing.assert_allclose(after, expected, atol=1e-4)  # metres through float32 cells


def test_rivers_grade_to_the_sea_and_not_to_its_floor() -> None:
    b = np.full((12, 30), 6.0, np.float32)
    b[0, 10:20] = 1.0  # a bay, 3 below the sea
    plain = edge_base(b, graded=True)["base_north"]
    at_sea = edge_base(b, graded=True, sea_level=4.0)["base_north"]
    np.testing.assert_array_equal(at_sea[10:20], 1.0)
    assert plain[9] == pytest.approx(1.1)
    assert at_sea[9] == pytest.approx(4.1)
    assert at_sea[0] == pytest.approx(5.0)


@on_every_backend
@with_any_pipes
def test_the_border_of_the_sea_silts_up_to_sea_level_and_a_graded_coast_does_not(
    start: Any, backend: str, pipes: str
) -> None:
    ground = np.full((9, 12), 12.0)
    ground[:, :3] = 6.0  # a bay at the western edge
    model = RIVERS.replace(sea_level=10.0, pipes=pipes, edge_base="graded", suspension_rate=0.0, deposition_rate=8.0)
    run = start(backend, model, Terrain(ground, water=1.0, suspended=0.4), "open")
    run.advance(60)
    rise = run.layer("elevation") - ground
    assert rise[3:6, 0].min() > 0.05
    assert run.layer("elevation")[:, 0].max() <= 10.0 + 1e-5
    assert rise[[0, -1], 4:].max() <= 0
    assert rise[:, -1].max() <= 0


# Still water


@on_every_backend
@with_any_pipes
def test_a_bay_at_rest_stays_exactly_at_rest(backend: str, pipes: str) -> None:
    model = RIVERS.replace(sea_level=106.3, pipes=pipes)
    with Simulation(Terrain(100 + rough((40, 36))), model, backend=backend) as simulation:
        before = simulation.layers("water", "elevation")
        simulation.run(200)
        after, budget = simulation.layers("water", "elevation"), simulation.budget
    assert (before["water"] > 0).any()
    for name in before:
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)
    assert budget.water_sea == 0


@on_every_backend
@with_any_pipes
def test_the_coastline_of_an_island_stays_without_rain(backend: str, pipes: str) -> None:
    model = RIVERS.replace(sea_level=5.0, pipes=pipes, processes="both")
    with Simulation(Terrain(island(), erodibility=0.2), model, backend=backend) as simulation:
        before = simulation.terrain["water"] > 0
        simulation.run(150)
        after = simulation.terrain
    assert 0.1 < before.mean() < 0.9
    np.testing.assert_array_equal(after["water"] > 0, before)


@on_every_backend
@with_any_pipes
def test_a_basin_fills_from_the_sea_once_its_rim_is_dug_away(backend: str, pipes: str) -> None:
    ground = np.full((16, 20), 20.0)
    ground[3:13, 8:18] = 4.0
    ground[:, :4] = 4.0
    model = RIVERS.replace(sea_level=10.0, pipes=pipes, suspension_rate=0.0)
    with Simulation(Terrain(ground), model, backend=backend) as simulation:
        assert simulation.terrain["water"][3:13, 8:18].max() == 0
        before = simulation.budget.water_now
        rim = [(x, 8.0) for x in (4.5, 5.5, 6.5, 7.5)]  # between the sea in the west and the basin
        simulation.paint("lower", points=rim, radius=2.0, strength=15.0, falloff=0.0)
        simulation.run(1500)
        after, budget = simulation.terrain, simulation.budget
    level = (after["elevation"] + after["water"])[3:13, 8:18]
    np.testing.assert_allclose(level, 10.0, atol=0.05)  # a swell is left in the basin
    assert -budget.water_sea == pytest.approx(budget.water_now - before, rel=1e-5)
    assert budget.water_now - before > 0.99 * 6.0 * 10 * 10


# Rivers


def coast(rows: int = 33, columns: int = 60) -> NDArray[Any]:
    """A valley that descends to the west, to 10 below the sea at 10."""
    y, x = np.mgrid[:rows, :columns]
    result: NDArray[Any] = 0.5 * x + 0.3 * np.abs(y - rows // 2) * (x > 20)
    return result


@on_every_backend
@with_any_pipes
def test_what_a_river_brings_leaves_into_the_sea(backend: str, pipes: str) -> None:
    model = RIVERS.replace(sea_level=10.0, pipes=pipes, suspension_rate=0.0)
    river = WaterSource(x=55, y=16.5, radius=2, rate=0.5)
    with Simulation(Terrain(coast(), sources=[river]), model, backend=backend, edges=WEST_OPEN) as simulation:
        simulation.run(1500)
        one = simulation.budget
        simulation.run(500)
        other, after = simulation.budget, simulation.terrain
    came, left = other.water_sources - one.water_sources, other.water_sea - one.water_sea
    assert came > 10
    assert left == pytest.approx(came, rel=0.02)  # the swell of the river mouth comes and goes
    assert other.water_exported == 0
    surface = (after["elevation"] + after["water"])[:, :15]
    np.testing.assert_allclose(surface, 10.0, atol=0.15)
    np.testing.assert_allclose(surface[:, 0], 10.0, atol=1e-5)


@on_every_backend
@with_any_pipes
def test_a_stream_laden_with_sediment_builds_a_delta_beyond_the_coast(backend: str, pipes: str) -> None:
    model = RIVERS.replace(sea_level=10.0, pipes=pipes, sediment_capacity=4.0, deposition_rate=2.0)
    river = WaterSource(x=55, y=16.5, radius=2, rate=0.5)
    terrain = Terrain(coast(), sources=[river], erodibility=1.0)
    with Simulation(terrain, model, backend=backend, edges=WEST_OPEN) as simulation:
        simulation.run(1200)
        simulation.settle(100)
        deposit, budget = simulation.terrain["deposit"].astype(np.float64), simulation.budget
    sea = coast() < 10
    assert deposit[sea].sum() > 20
    assert deposit[sea].sum() > 0.8 * deposit.sum()
    distance = 20 - np.mgrid[:33, :60][1]  # from the coast at x = 20
    assert (deposit * distance)[sea].sum() / deposit[sea].sum() < 10  # at the mouth, not at the far edge
    assert budget.solids_drift < 1e-5


@on_every_backend
def test_sediment_settles_without_lifting_the_sea_and_a_dry_end_leaves_the_sea(backend: str) -> None:
    model = RIVERS.replace(sea_level=10.0)
    terrain = Terrain(coast(), water=0.5, suspended=0.7)
    with Simulation(terrain, model, backend=backend, edges=WEST_OPEN) as simulation:
        simulation.settle(0, dry=True)
        after, budget = simulation.terrain, simulation.budget
    sea = coast() < 10
    np.testing.assert_allclose((after["elevation"] + after["water"])[sea & (after["water"] > 0)], 10.0, atol=1e-5)
    assert (after["water"] > 0).sum() > 0.9 * sea.sum()
    assert after["water"][~sea].max() == 0
    assert budget.water_drift < 1e-6
    assert budget.water_evaporated > 0
    assert budget.water_sea > 0


# Going on


@on_every_backend
@with_any_pipes
def test_a_sea_below_all_ground_changes_nothing(backend: str, pipes: str) -> None:
    model = RIVERS.replace(rain_rate=0.05, processes="both", pipes=pipes, edge_base="graded")
    runs = [
        Simulation(Terrain(50 + rough((24, 30))), model.replace(sea_level=level), backend=backend)
        for level in (None, 20.0)
    ]
    for run in runs:
        run.run(60)
    one, other = (run.terrain for run in runs)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert runs[0].budget == runs[1].budget


@on_every_backend
@pytest.mark.parametrize("layered", [False, True], ids=["plain", "strata"])
@pytest.mark.parametrize("way", ["deepcopy", "checkpoint"])
def test_a_restarted_run_is_bit_identical_though_the_sea_has_risen(
    backend: str, way: str, layered: bool, tmp_path: Path
) -> None:
    terrain = Terrain(rough((24, 30)), strata=strata_bands(thickness=2.0, dip=4.0) if layered else None)
    model = RIVERS.replace(rain_rate=0.05, processes="both", edge_base="graded", sea_level=3.0)
    unbroken, stopped = (Simulation(terrain, model, backend=backend) for _ in range(2))
    for run in (unbroken, stopped):
        run.run(6)
        run.model = model.replace(sea_level=5.0)
        run.run(2)
    again = copy.deepcopy(stopped) if way == "deepcopy" else stopped
    if way == "checkpoint":
        stopped.checkpoint(tmp_path)
        again = Simulation.resume(tmp_path)
    for run in (unbroken, again):
        run.run(8)
    one, other = unbroken._state, again._state
    for name in one.arrays:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert unbroken.budget == again.budget
    assert again.budget.water_drift < 1e-5


@on_every_backend
def test_a_sea_that_rises_covers_the_coast_at_once_and_one_that_is_gone_runs_off(backend: str) -> None:
    with Simulation(Terrain(coast()), RIVERS.replace(sea_level=5.0), backend=backend, edges=WEST_OPEN) as simulation:
        simulation.model = RIVERS.replace(sea_level=10.0)
        after, budget = simulation.terrain, simulation.budget
        np.testing.assert_allclose((after["elevation"] + after["water"])[:, :20], 10.0, atol=1e-5)
        assert budget.water_now == pytest.approx(np.maximum(10 - coast(), 0).sum(), rel=1e-6)
        assert budget.water_drift < 1e-6
        simulation.model = RIVERS
        simulation.run(1500)
        budget = simulation.budget
    assert budget.water_exported > 0.9 * (budget.water_start - budget.water_sea)
    assert budget.water_drift < 1e-5


@on_every_backend
def test_undo_restores_a_dug_border_in_the_sea(backend: str) -> None:
    model = RIVERS.replace(sea_level=10.0, edge_base="graded")
    with Simulation(Terrain(coast()), model, backend=backend, edges=WEST_OPEN) as simulation:
        simulation.run(3)
        before = simulation.layers("elevation")["elevation"]
        simulation.paint("lower", points=[(0.5, 10.0)], radius=4.0, strength=3.0)
        simulation.run(1)
        assert simulation.budget.water_sea < 0  # the hole has filled
        assert simulation.undo()
        np.testing.assert_array_equal(simulation.layers("elevation")["elevation"], before)
        simulation.run(1)
        assert simulation.budget.water_drift < 1e-5


# Values


def test_a_sea_above_all_ground_is_refused_in_one_sentence() -> None:
    message = (
        "sea_level is 500 m and the highest ground 29.5 m: all of it would be under water; choose a lower sea level"
    )
    valley = Terrain(0.5 * np.arange(60.0)[None, :].repeat(9, axis=0))
    with pytest.raises(InvalidParameter) as caught:
        Simulation(valley, VirtualPipes(sea_level=500), backend="reference")
    assert str(caught.value) == message
    simulation = Simulation(valley, VirtualPipes(), backend="reference")
    with pytest.raises(InvalidParameter) as caught:
        simulation.model = VirtualPipes(sea_level=500)
    assert str(caught.value) == message
    assert simulation.model == VirtualPipes()
    Simulation(valley, VirtualPipes(sea_level=500), backend="reference", edges="closed")  # no sea beyond


@pytest.mark.parametrize("value", [None, "none", "-inf", -math.inf])
def test_no_sea_can_be_written_in_several_ways(value: Any) -> None:
    assert VirtualPipes(sea_level=value) == VirtualPipes()
    assert VirtualPipes(sea_level=3).replace(sea_level=value) == VirtualPipes()


@pytest.mark.parametrize(
    ("value", "message"),
    [("deep", "sea_level is 'deep'; it must be a number or \"none\""),
     (math.inf, "sea_level (z_s) is inf m; it must be a finite number, or none"),
     (math.nan, "sea_level (z_s) is nan m; it must be a finite number, or none")],
)  # fmt: skip
def test_other_values_are_refused_in_one_sentence(value: Any, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        VirtualPipes(sea_level=value)
    assert str(caught.value) == message


@on_every_backend
@pytest.mark.parametrize("volume", [0.0, 0.5])
def test_what_the_sea_carries_fills_it_no_higher_than_its_surface(backend: str, volume: float) -> None:
    """A load three times as thick as the water at a river's mouth, as fine levels leave it."""
    size = 40
    ground = 20.0 - 2.0 * np.arange(size) + np.zeros((size, 1))  # the sea begins at column 11
    load = np.zeros((size, size))
    load[18:22, 11:14] = 12.0
    model = RIVERS.replace(sea_level=0.0, sediment_volume=volume)
    terrain = Terrain(ground, cell_size=1.0, water=np.maximum(-ground, 0), suspended=load)
    with Simulation(terrain, model, backend=backend, edges="open") as simulation:
        simulation.settle(0)
        after, budget = simulation.terrain, simulation.budget
    raised = after["elevation"] - ground
    assert raised.sum() == pytest.approx(load.sum(), rel=1e-5)
    assert (raised >= -1e-5).all()
    sea = ground < 0
    assert after["elevation"][sea].max() <= 0.01
    assert raised[~sea].max() == 0
    np.testing.assert_allclose(raised, raised[::-1], atol=1e-4)  # mirrored
    assert budget.solids_drift < 1e-6
    assert budget.water_drift < 1e-6
