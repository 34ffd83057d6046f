"""Strata: water and soil meet the layer that is exposed, and loose soil where something was laid down on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from slopewash import Simulation, Strata, Stratum, Terrain, VirtualPipes, generate, preset, strata_bands
from slopewash.models.ground import WALL
from slopewash.models.state import Domain, Sides
from slopewash.models.virtual_pipes.coefficients import cover
from slopewash.models.virtual_pipes.strata import expose, exposed_step

COVER = 1 / 16
"""Depth of soil that hides the rock where nothing slides."""
BACKENDS = ("cpu", "reference")
EAST = 1
RIVER = VirtualPipes(
    rain_rate=0.0, evaporation_rate=0.0, suspension_rate=0.5, deposition_rate=1.0, sediment_capacity=1.0,
    minimum_tilt=1.0, maximum_erosion_depth=float("inf"), sediment_volume=0.0, processes="hydraulic",
)  # fmt: skip
"""On level ground it holds as much as it discharges: takes 0.01 R (C - s) a step, and drops 0.02 (s - C)."""
CLIFFS = VirtualPipes(
    rain_rate=0.03, pipe_friction=0.125, evaporation_rate=0.0, sediment_capacity=2.0, suspension_rate=0.2,
    deposition_rate=0.4, softening_rate=0.0, maximum_erosion_depth=float("inf"), minimum_tilt=0.0, sediment_volume=0.0,
    dig_limit=0.5, thermal_rate=3.0, talus_slope_range=0.6, talus_slope_bias=0.5, creep_rate=0.04,
    capacity="along_flow", hillslope="fall_line", deposit_below_surface=True, edge_base="graded",
)  # fmt: skip
MODELS = {
    "table2": VirtualPipes(),
    "single_grid": preset("single_grid"),
    "jako2011": preset("jako2011"),
    "cover": preset("single_grid").replace(cover="loose", weathering_rate=0.02),
    "thermal": VirtualPipes(processes="thermal"),
    "fall_line_only": preset("single_grid").replace(processes="thermal"),
}


TWO_LAYERS = Domain(
    shape=(1, 5), cell_size=1.0, datum=0.0, sides=Sides.of("closed"),
    strata=(Stratum(thickness=4.0, erodibility=0.2), Stratum(thickness=1.0, erodibility=0.7)),
)  # fmt: skip


def exposed_of(b: NDArray[Any], rock: NDArray[Any]) -> NDArray[Any]:
    """Erodibility of what is exposed of two layers, the first of which begins at 10."""
    return expose(b, rock, np.full((1, 5), 10.0), TWO_LAYERS, 1 / COVER)


def row(*values: float) -> NDArray[Any]:
    return np.array([values])


# What is exposed


def test_bedrock_has_its_layers_erodibility_and_a_boundary_belongs_to_the_layer_below() -> None:
    b = row(10.0, 6.001, 6.0, -90.0, 12.0)
    assert_array_equal(exposed_of(b, b), row(0.2, 0.2, 0.7, 0.7, 0.2))


def test_loose_soil_is_soft_however_hard_the_rock_beneath() -> None:
    rock = row(10.0, 7.0, 6.0, 3.0, 10.0)
    assert_array_equal(exposed_of(rock + 2 * COVER, rock), np.ones((1, 5)))


def test_dust_leaves_the_rock_bare_in_part() -> None:
    rock = np.full((1, 5), 10.0)
    R = exposed_of(rock + np.array([0, 0.25, 0.5, 1, 9]) * COVER, rock)
    assert_allclose(R, row(0.2, 0.4, 0.6, 1.0, 1.0), rtol=1e-12)


def test_the_quicker_soil_slides_the_more_of_it_hides_the_rock() -> None:
    assert cover(RIVER.replace(thermal_rate=9.0)) == COVER  # water alone
    assert cover(VirtualPipes()) == COVER
    assert cover(VirtualPipes(thermal_rate=2.0, time_step=0.02)) == pytest.approx(4 * 0.04)


def test_layers_count_by_their_parts_of_the_face_that_a_cell_shows() -> None:
    b = row(8.0, 8.0, 8.0, 5.0, 12.0)  # the boundary is at 6
    step = row(0.0, 2.0, 4.0, 3.0, 8.0)
    shown = expose(b, b, np.full((1, 5), 10.0), TWO_LAYERS, 1 / COVER, step)
    assert_allclose(shown, row(0.2, 0.2, 0.45, 0.7, 0.2 + 0.5 * 2 / 8), rtol=1e-12)


def test_a_face_over_many_layers_has_their_mean() -> None:
    layers = tuple(Stratum(thickness=1.0, erodibility=r) for r in (0.1, 0.9, 0.2, 0.8, 0.3))
    domain = Domain(shape=(1, 1), cell_size=1.0, datum=0.0, sides=Sides.of("closed"), strata=layers)
    b = np.array([[9.5]])
    shown = expose(b, b, np.array([[10.0]]), domain, 1 / COVER, np.array([[3.0]]))  # from 9.5 down to 6.5
    assert_allclose(shown, (0.5 * 0.1 + 0.9 + 0.2 + 0.5 * 0.8) / 3)


def test_the_face_is_that_to_the_lowest_straight_neighbour() -> None:
    b = np.array([[5.0, 9.0, 7.0], [1.0, WALL, 6.0], [2.0, 3.0, 4.0]])
    step = exposed_step(b, Sides.of("closed"))
    assert_array_equal(step[b < WALL], [4.0, 4.0, 1.0, 0.0, 2.0, 1.0, 1.0, 1.0])


def test_walls_have_nothing_to_give() -> None:
    walls = np.full((1, 5), WALL)
    assert_array_equal(exposed_of(walls, walls), np.zeros((1, 5)))


# A river on level ground, which is the same in every cell


@pytest.fixture
def river(start: Any) -> Any:
    """A ring of level ground with one cell of water that runs east at one cell² per unit of time for ever."""

    def make(backend: str, strata: Strata, **given: Any) -> Any:
        terrain = Terrain(np.full((3, 4), 100.0), water=1.0, strata=strata, **given)
        made = start(backend, RIVER, terrain, "periodic")
        outflow = np.array(made.state["outflow"])
        outflow[EAST] = 1.0
        made.state["outflow"] = outflow
        return made

    return make


def depth(run: Any) -> float:
    lost = run.state["start"] - run.state["elevation"]
    assert np.ptp(lost) == 0
    return float(lost[0, 0])


def exposed(run: Any) -> float:
    return float(run.state["erodibility"][0, 0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_river_wears_soft_rock_then_the_hard_rock_below_it(river: Any, backend: str) -> None:
    run = river(backend, Strata([Stratum(thickness=0.015, erodibility=1.0), Stratum(thickness=1, erodibility=0.1)]))
    assert exposed(run) == 1.0
    for worn, R in ((0.01, 1.0), (0.01 + 0.0099, 0.1), (0.0199 + 0.001 * 0.9801, 0.1)):
        run.advance(1)  # 0.01 R (1 - what it carries)
        assert depth(run) == pytest.approx(worn, rel=1e-5)
        assert exposed(run) == np.float32(R)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_river_lays_down_is_loose_and_goes_before_the_rock(river: Any, backend: str) -> None:
    run = river(backend, Strata([Stratum(thickness=9, erodibility=0.1)]), suspended=5.0)
    assert exposed(run) == np.float32(0.1)
    run.set_model(RIVER.replace(sediment_capacity=0.0))
    run.advance(1)
    assert depth(run) == pytest.approx(-0.1, rel=1e-5)  # 0.02 of 5
    assert exposed(run) == 1.0
    run.set_model(RIVER.replace(sediment_capacity=10.0))
    run.advance(1)
    assert depth(run) == pytest.approx(-0.1 + 0.01 * 5.1, rel=1e-4)
    loose = 0.049 / COVER
    assert exposed(run) == pytest.approx(loose + 0.1 * (1 - loose), rel=1e-4)
    run.advance(1)
    assert depth(run) == pytest.approx(-0.049 + 0.01 * (loose + 0.1 * (1 - loose)) * 5.049, rel=1e-3)
    run.advance(2)
    before = depth(run)
    assert before > 0  # through the soil, into the rock
    assert exposed(run) == np.float32(0.1)
    run.advance(1)
    assert depth(run) - before == pytest.approx(0.001 * (5.0 - before), rel=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_settles_at_the_end_is_loose(river: Any, backend: str) -> None:
    run = river(backend, Strata([Stratum(thickness=9, erodibility=0.1)]), suspended=5.0)
    run.lay_down(dry=True)
    assert exposed(run) == 1.0
    assert (run.state["bedrock"] == run.state["start"]).all()


def test_softening_gives_way_to_strata(river: Any) -> None:
    """Half of a cell's cover is laid down: Eq. 14 would make it softer than the cover does."""
    run = river("reference", Strata([Stratum(thickness=9, erodibility=0.1)]), suspended=5.0)
    run.set_model(RIVER.replace(sediment_capacity=0.0, deposition_rate=0.5 * COVER / 5 / 0.02, softening_rate=50))
    run.advance(1)
    assert exposed(run) == pytest.approx(0.55, rel=1e-4)


# Runs


def hills(shape: tuple[int, int] = (37, 53)) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((12, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    heights: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return heights


BANDS = strata_bands(count=6, thickness=2.0, hard=0.1, dip=4.0, direction=70.0)


def layered(shape: tuple[int, int] = (37, 53), strata: Strata = BANDS, **given: Any) -> Terrain:
    return Terrain(hills(shape), strata=strata, **given)


def assert_same(one: Any, two: Any) -> None:
    for name in ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock"):
        assert_array_equal(one.state[name], two.state[name], err_msg=name)


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_kernel_gives_the_reference_s_bits(start: Any, name: str, edges: str) -> None:
    runs = [start(backend, MODELS[name], layered(), edges) for backend in BACKENDS]
    for steps in (1, 49):
        for run in runs:
            run.advance(steps)
        assert_same(*runs)
    if name != "cover":  # which has laws of its own for soil
        assert np.unique(runs[0].state["erodibility"]).size > 3  # both layers, and soil of many depths


def test_blocks_of_a_row_find_their_own_layers(start: Any) -> None:
    """Of dozens, in a row of several blocks: above the top of the first, and with a cliff that many lie in."""
    ramp = np.linspace(0, 60, 300) + np.random.default_rng(5).random((9, 300)) * 8
    ramp[:, 200:210] += 40.0
    terrain = Terrain(ramp, strata=strata_bands(thickness=1.5, dip=2.0).replace(top=50.0))
    runs = [start(backend, MODELS["single_grid"], terrain, "open") for backend in BACKENDS]
    for run in runs:
        run.advance(12)
    assert_same(*runs)


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("name", ["table2", "single_grid", "cover"])
def test_walls_and_buried_bedrock_agree(start: Any, name: str, edges: str) -> None:
    shape = (31, 26)
    hole = np.zeros(shape, bool)
    hole[8:13, 5:9] = hole[20, 25] = hole[0, 3] = True
    buried = hills(shape) - np.random.default_rng(4).random(shape).clip(0.5)
    terrain = layered(shape, strata_bands(thickness=2.0), nodata=hole, bedrock=buried)
    runs = [start(backend, MODELS[name], terrain, edges) for backend in BACKENDS]
    for run in runs:
        run.advance(40)
    assert_same(*runs)
    assert runs[0].state["erodibility"][hole].max() == 0


@pytest.mark.parametrize("name", ["table2", "single_grid", "cover"])
@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
def test_bands_and_iterations_in_flight_leave_no_trace(start: Any, name: str, edges: str) -> None:
    plain = start("cpu", MODELS[name], layered((40, 33)), edges, depth=1, bands=1)
    plain.advance(22)
    for at_once, bands in ((4, 1), (4, 2), (1, 3), (2, 7), (4, 7), (3, 17)):
        other = start("cpu", MODELS[name], layered((40, 33)), edges, depth=at_once, bands=bands)
        other.advance(22)
        assert_same(plain, other)


def test_parameters_changed_between_steps_agree(start: Any) -> None:
    runs = [start(backend, preset("single_grid"), layered(), "open") for backend in BACKENDS]
    for run in runs:
        run.advance(10)
        run.set_model(preset("single_grid").replace(thermal_rate=5.0))
        run.advance(10)
        run.lay_down(dry=False)
        run.advance(3)
    assert_same(*runs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["table2", "single_grid"])
def test_one_soft_layer_is_the_same_as_no_strata_on_soft_ground(start: Any, name: str, backend: str) -> None:
    """All is R = 1 then, loose or not, and softening has nothing to soften."""
    one = start(backend, MODELS[name], layered(strata=Strata([Stratum(thickness=1)])), "open")
    plain = start(backend, MODELS[name], Terrain(hills(), erodibility=1.0), "open")
    for run in (one, plain):
        run.advance(30)
    assert_array_equal(one.state["elevation"], plain.state["elevation"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_mirrored_strata_give_mirrored_ground(backend: str) -> None:
    terrain = layered()
    assert terrain.strata is not None
    assert terrain.strata.top is not None
    straight = Simulation(terrain, preset("single_grid"), backend=backend)
    straight.run(60)
    for flip in (np.fliplr, np.flipud):
        top = terrain.strata.replace(top=flip(terrain.strata.top))
        mirrored = Simulation(Terrain(flip(hills()), strata=top), preset("single_grid"), backend=backend)
        mirrored.run(60)
        for layer in straight.terrain:
            assert_array_equal(flip(mirrored.terrain[layer]), straight.terrain[layer], err_msg=layer)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rock_that_does_not_wear_stays_and_what_lies_on_it_goes(backend: str) -> None:
    strata = Strata([Stratum(thickness=6, erodibility=1.0), Stratum(thickness=1, erodibility=0.0)])
    simulation = Simulation(layered(strata=strata), preset("single_grid").replace(creep_rate=0.0), backend=backend)
    simulation.run(60)
    after = simulation.terrain
    floor = hills().max() - 6
    below = hills() < floor - 0.01
    inside = np.zeros(below.shape, bool)
    inside[1:-1, 1:-1] = True  # open edges are cut down to their graded base level, whatever they are made of
    # A grain of soil softens the rock under it by sixteen times its thickness, and water takes no more than that.
    assert_allclose(after["bedrock"][below & inside], hills()[below & inside], atol=0.05)
    assert (hills() - after["bedrock"])[~below & inside].max() > 0.5


def test_soil_on_a_steep_outcrop_lies_evenly() -> None:
    """Soil that hides the rock and is gone an iteration later leaves a checkerboard: differences of 1.2 here."""
    slope = 1.2 * np.maximum(0.0, 50 - np.arange(60.0)) + 0.01 * np.random.default_rng(1).random((30, 60))
    strata = strata_bands(count=9, thickness=6.0, soft_thickness=8.0)
    quick = preset("single_grid").replace(
        processes="thermal", thermal_rate=4.0, talus_slope_range=0.6, talus_slope_bias=0.5
    )
    simulation = Simulation(Terrain(slope, strata=strata), quick, backend="reference", edges="closed")
    simulation.run(300)
    R = simulation.terrain["erodibility"][:, 5:50]
    assert R.min() < 0.5  # the rock shows
    assert np.abs(2 * R[1:-1] - R[:-2] - R[2:]).max() < 0.2  # the noise it starts with leaves 0.03


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_run_goes_on_where_the_first_ended(backend: str) -> None:
    terrain = layered(cell_size=5.0)
    first = Simulation(terrain, preset("single_grid"), backend=backend, seed=3)
    first.run(60)
    second = Simulation(first.terrain, preset("single_grid"), backend=backend, seed=3)
    one, two = first._state, second._state
    loose = one["elevation"] > one["bedrock"]
    assert loose.any()
    assert_array_equal(loose, two["elevation"] > two["bedrock"])
    R, again = one["erodibility"], two["erodibility"]
    # A running simulation has the faces of the iteration before, and ground within rounding of a boundary may differ.
    assert (np.abs(R - again) < 0.01).mean() > 0.995


def comb(terrain: Terrain) -> float:
    """Deviation, in cells, of the ground of wavelength two along cliffs that run about along an axis."""
    found = []
    for b in (terrain["elevation"], terrain["elevation"].T):
        ground = b.astype(np.float64) / terrain.cell_size
        near = [np.roll(ground, shift, axis=0) for shift in (-2, -1, 0, 1, 2)]
        smooth = (near[0] + 4 * near[1] + 6 * near[2] + 4 * near[3] + near[4]) / 16
        teeth = (near[0] - 4 * near[1] + 6 * near[2] - 4 * near[3] + near[4]) / 16
        along, across = (np.gradient(smooth, axis=axis) for axis in (0, 1))
        cliff = (np.abs(across) > 0.8) & (np.abs(along) < 0.4 * np.abs(across))
        found.append(teeth[8:-8, 8:-8][cliff[8:-8, 8:-8]])
    assert min(map(len, found)) > 20
    return float(np.sqrt(np.mean(np.concatenate(found) ** 2)))


def test_cliffs_have_no_combs() -> None:
    """With the uppermost layer alone in place of the face, 0.11 cells."""
    start = generate("dome", size=96, relief=144.0, cell_size=10.0, seed=7)
    strata = strata_bands(count=20, thickness=0.4, soft_thickness=0.6, hard=0.05).fitted(2 * start.relief)
    simulation = Simulation(start.replace(strata=strata), CLIFFS, backend="cpu", edges="open")
    simulation.run(700)
    assert np.quantile(simulation.terrain["slope"], 0.99) > 40  # cliffs they are
    assert comb(simulation.terrain) < 0.05
