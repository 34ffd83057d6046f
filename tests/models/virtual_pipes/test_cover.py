"""Loose cover on bedrock: soil has laws of its own, and bare rock keeps its."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from slopewash import InvalidParameter, Simulation, Strata, Stratum, Terrain, VirtualPipes, preset, strata_bands
from slopewash.models.ground import slope_degrees
from slopewash.models.state import Sides

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
SOIL = VirtualPipes(
    cover="loose", hillslope="fall_line", processes="thermal", thermal_rate=1.0, talus_slope_bias=0.9,
    talus_slope_range=0.0, creep_rate=0.0, cover_talus_slope=0.5, cover_slide_rate=3.0, weathering_rate=0.0,
)  # fmt: skip
"""Rock stands at 0.9 and soil at 0.5."""
RIVER = VirtualPipes(
    cover="loose", hillslope="fall_line", rain_rate=0.0, evaporation_rate=0.0, suspension_rate=0.5,
    sediment_capacity=1.0, minimum_tilt=1.0, maximum_erosion_depth=math.inf, sediment_volume=0.0, processes="hydraulic",
)  # fmt: skip
"""On level ground it holds as much as it discharges, and takes 0.01 (C - s) of soft ground a step."""
EAST = 1


def cone(size: int = 41, height: float = 12.0, slope: float = 0.8) -> NDArray[Any]:
    y, x = np.mgrid[:size, :size] - size // 2
    result: NDArray[Any] = np.maximum(0.0, height - slope * np.hypot(x, y))
    return result


def cover_of(run: Any) -> NDArray[Any]:
    """Depth of cover in cells."""
    return np.asarray(run.state["elevation"], np.float64) - run.state["bedrock"]


# Slopes


@on_every_backend
def test_a_pile_of_scree_on_flat_rock_comes_to_its_own_angle(start: Any, backend: str) -> None:
    pile = Terrain(cone(), bedrock=0.0, erodibility=1.0)
    run = start(backend, SOIL, pile, "closed")
    run.advance(4000)
    after = np.asarray(run.state["elevation"], np.float64)
    assert after.sum() == pytest.approx(cone().sum(), rel=3e-5)  # float32, 4000 steps
    assert_array_equal(run.state["bedrock"], 0)
    steep = np.tan(np.radians(slope_degrees(after, Sides.of("closed"))))
    flank = (after > 1) & (after < after.max() - 1)
    # It approaches the angle from above: two thousand steps more take the median from 0.502 to 0.501.
    assert np.median(steep[flank]) == pytest.approx(0.5, abs=0.005)
    assert steep.max() < 0.52


@on_every_backend
def test_bare_rock_below_its_talus_stays_to_the_bit(start: Any, backend: str) -> None:
    """The same pile, all of it rock, neither slides at 0.5 nor creeps."""
    run = start(backend, SOIL.replace(creep_rate=0.1), Terrain(cone(), erodibility=1.0), "closed")
    before = np.array(run.state["elevation"])
    run.advance(50)
    assert_array_equal(run.state["elevation"], before)
    assert_array_equal(run.state["bedrock"], before)


@on_every_backend
def test_what_falls_from_rock_becomes_cover(start: Any, backend: str) -> None:
    cliff = np.repeat(np.where(np.arange(30) < 15, 6.0, 0.0)[None], 5, axis=0)
    run = start(backend, SOIL, Terrain(cliff, erodibility=1.0), "closed")
    run.advance(200)
    rock, loose = np.asarray(run.state["bedrock"], np.float64), cover_of(run)
    assert (rock <= cliff).all()
    assert loose.min() >= 0
    assert rock[2, 14] < 5  # the edge of the cliff gave way
    assert loose[2, 15] > 0.5  # and lies at its foot
    # What the rock lost is cover now, since nothing left the ground.
    assert (cliff - rock).sum() == pytest.approx(loose.sum(), rel=1e-5)


@on_every_backend
def test_no_more_cover_slides_than_there_is(start: Any, backend: str) -> None:
    """A step on a slope of 0.8 would take 0.02·3·(1 - 0.5/0.8)·0.8 = 0.018; 0.001 lies there."""
    rock = np.repeat(8 - 0.8 * np.arange(10.0)[None], 4, axis=0)
    run = start(backend, SOIL, Terrain(rock + 0.001, bedrock=rock, erodibility=1.0), "closed")
    run.advance(1)
    assert_allclose(run.state["bedrock"], rock - rock.min() - 0.001, atol=1e-6)
    # The uppermost column is bare, the others pass theirs on, and the last keeps its own and its neighbour's.
    assert_allclose(cover_of(run)[1], [0, *[0.001] * 8, 0.002], atol=2e-6)
    run.advance(20)
    assert_allclose(cover_of(run)[1], [*[0] * 9, 0.01], atol=1e-5)


@on_every_backend
def test_only_cover_creeps(start: Any, backend: str) -> None:
    """Of one step, on both sides of a face: 0.02·0.1 of the drop, below the talus of the cover."""
    level = np.array([[2.0, 1.8, 1.6, 1.4]])
    bedrock = np.array([[2.0, 1.0, 1.6, 1.0]])
    run = start(backend, SOIL.replace(creep_rate=0.1), Terrain(level, bedrock=bedrock, erodibility=1.0), "closed")
    before = np.asarray(run.state["elevation"], np.float64)
    run.advance(1)
    moved = 0.002 * 0.2
    assert_allclose(run.state["elevation"] - before, [[0, -moved, moved, 0]], atol=3e-7)


# Weathering


@on_every_backend
def test_flat_rock_weathers_by_the_logarithm_of_time(start: Any, backend: str) -> None:
    """The solution of dc/dt = K_w·exp(−c/d_w) is c = d_w·ln(1 + K_w·t/d_w)."""
    model = SOIL.replace(weathering_rate=0.05, weathering_depth=0.4)
    run = start(backend, model, Terrain(np.full((4, 5), 3.0)), "closed")
    for steps in (100, 900, 3000):
        run.advance(steps)
        t = 0.02 * run.state.scalars["iterations"]
        expected = 0.4 * math.log(1 + 0.05 * t / 0.4)
        # exp is approximated within 0.2 %, and steps of 0.001 in a depth of 0.4 add a tenth of that.
        assert_allclose(cover_of(run), expected, rtol=3e-3)
    assert_array_equal(run.state["elevation"], 0)  # above the datum: weathering moves nothing


@on_every_backend
def test_rock_weathers_with_the_soil_and_not_with_water_alone(start: Any, backend: str) -> None:
    model = SOIL.replace(weathering_rate=0.05, processes="hydraulic", rain_rate=0.0)
    run = start(backend, model, Terrain(np.full((4, 5), 3.0)), "closed")
    run.advance(50)
    assert cover_of(run).max() == 0


# Water


@pytest.fixture
def river(start: Any) -> Any:
    """A ring of level ground with one cell of water that runs east at one cell² per unit of time for ever."""

    def make(backend: str, **given: Any) -> Any:
        made = start(backend, RIVER, Terrain(np.full((3, 4), 100.0), water=1.0, **given), "periodic")
        outflow = np.array(made.state["outflow"])
        outflow[EAST] = 1.0
        made.state["outflow"] = outflow
        return made

    return make


@on_every_backend
@pytest.mark.parametrize("layered", [False, True], ids=["plain", "strata"])
def test_water_takes_the_cover_first_and_then_the_rock(river: Any, backend: str, layered: bool) -> None:
    """Of 0.015 of cover on rock of R = 0.1: 0.01, then the remaining 0.005 and a tenth of what was wanted besides."""
    hard: dict[str, Any] = {"erodibility": 0.1}
    if layered:
        hard = {"strata": Strata([Stratum(thickness=50, erodibility=0.1)])}
    run = river(backend, bedrock=99.985, **hard)
    lost, load = 0.0, 0.0
    for _ in range(4):
        wanted = 0.01 * (1 - load)
        soil = min(wanted, max(0.015 - lost, 0))
        lost += soil + 0.1 * (wanted - soil)
        load = lost
        run.advance(1)
        depth = np.asarray(run.state["start"], np.float64) - run.state["elevation"]
        assert_allclose(depth, lost, rtol=1e-3)
        assert_allclose(run.state["erodibility"], 0.1, rtol=1e-6)  # of the rock, whatever lies on it
        assert_allclose(cover_of(run), max(0.015 - lost, 0), atol=2e-6)
    assert lost == pytest.approx(0.015 + 0.00049 + 2 * 0.00098, rel=0.02)


@on_every_backend
def test_what_water_deposits_is_cover(river: Any, backend: str) -> None:
    run = river(backend, suspended=5.0, erodibility=0.1)
    run.set_model(RIVER.replace(sediment_capacity=0.0, deposition_rate=1.0))
    run.advance(1)
    assert_allclose(cover_of(run), 0.1, rtol=1e-4)
    assert_array_equal(run.state["bedrock"], run.state["start"])
    run.lay_down(dry=True)
    assert_allclose(cover_of(run), 5.0, rtol=1e-4)


# Together


def hills(shape: tuple[int, int]) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((14, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    result: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return result


LADDER = preset("single_grid").replace(cover="loose", weathering_rate=0.01, bed_contrast=0.1, bed_thickness=6.0)


@on_every_backend
@pytest.mark.parametrize("layered", [False, True], ids=["plain", "strata"])
def test_a_second_run_goes_on_where_the_first_ended(backend: str, layered: bool) -> None:
    strata = strata_bands(thickness=2.0, dip=4.0) if layered else None
    first = Simulation(Terrain(hills((24, 30)), strata=strata), LADDER, backend=backend, seed=3)
    first.run(60)
    assert np.quantile(first.terrain["elevation"] - first.terrain["bedrock"], 0.9) > 0.01
    second = Simulation(first.terrain, LADDER, backend=backend, seed=3)
    assert_allclose(second.terrain["bedrock"], first.terrain["bedrock"], atol=1e-5)
    # Faces in layered rock are those of the ground before the last iteration, which a terrain does not hold.
    allowed = 0.03 if layered else 1e-3
    assert np.quantile(np.abs(second.terrain["erodibility"] - first.terrain["erodibility"]), 0.99) < allowed


@on_every_backend
def test_cover_can_be_set_apart_during_a_run(start: Any, resume: Any, backend: str) -> None:
    """All is rock at first; set aside again, the bedrock stays known, and what is deposited lies on it."""
    plain = LADDER.replace(cover="none")
    run = start(backend, plain, Terrain(hills((24, 30))), "open")
    run.advance(5)
    assert "bedrock" not in run.state
    run.set_model(LADDER)
    assert_array_equal(run.state["bedrock"], run.state["elevation"])
    fresh = resume(backend, LADDER, run.domain, run.state.copy())
    for one in (run, fresh):
        one.advance(5)
    assert set(run.state.arrays) == set(fresh.state.arrays)
    for name in fresh.state.arrays:
        assert_array_equal(run.state[name], fresh.state[name], err_msg=name)
    known = np.array(run.state["bedrock"])
    run.set_model(plain)
    run.advance(5)
    assert (run.state["bedrock"] <= np.minimum(run.state["elevation"], known)).all()
    assert (run.state["bedrock"] == known).any()


@on_every_backend
def test_digging_by_hand_goes_through_the_cover(backend: str) -> None:
    with Simulation(Terrain(np.full((9, 9), 5.0), bedrock=4.5), SOIL, backend=backend, edges="closed") as simulation:
        simulation.paint("lower", points=[(4.5, 4.5)], radius=3.0, strength=2.0)
        after = simulation.terrain
        assert after["bedrock"][4, 4] == after["elevation"][4, 4] < 4
        assert after["bedrock"][0, 0] == 4.5
        simulation.undo()
        assert_allclose(simulation.terrain["bedrock"], 4.5, atol=1e-6)


def test_cover_on_eight_pipes_of_soil_is_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter) as caught:
        VirtualPipes(cover="loose")
    assert str(caught.value) == (
        'cover is "loose" and hillslope "eight_pipes"; loose cover needs hillslope="fall_line"'
    )  # fmt: skip


@on_every_backend
def test_undoing_an_edit_from_before_there_was_cover_leaves_none_below_the_ground(backend: str) -> None:
    simulation = Simulation(Terrain(hills((24, 30))), LADDER.replace(cover="none"), backend=backend, seed=3)
    simulation.run(3)
    simulation.paint("raise", points=[(12.0, 12.0)], radius=6.0, strength=8.0)
    simulation.model = LADDER
    simulation.undo()
    assert (simulation.terrain["bedrock"] <= simulation.terrain["elevation"] + 1e-5).all()
