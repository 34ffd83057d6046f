"""Each of the four sides has a kind of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.models.virtual_pipes.mixtures import MODELS as MIXTURES

from slopewash import Simulation, Terrain, VirtualPipes, WaterSource, preset, strata_bands
from slopewash.models.state import Sides

MODELS = {
    **{name: MIXTURES[name] for name in ("table2", "single_grid", "jako2011", "eight", "sea", "eight_with_sea")},
    "cover": preset("single_grid").replace(cover="loose", weathering_rate=0.02),
    "beds": preset("single_grid").replace(bed_contrast=0.2, bed_thickness=9.0, bed_dip=20.0),
    "graded": VirtualPipes(edge_base="graded", velocity="mean_depth", pipe_area=1.0),
}
BACKENDS = ("reference", "cpu", "gpu")


def heights(shape: tuple[int, int]) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((12, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    result: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return result


def varied(shape: tuple[int, int]) -> Terrain:
    """Ground with nodata, strata, uneven rain and a water source."""
    hole = np.zeros(shape, bool)
    hole[8:13, 5:9] = hole[0, 3] = hole[shape[0] - 3, shape[1] - 1] = True
    return Terrain(
        heights(shape), nodata=hole, water=0.3, suspended=0.01, rainfall=np.linspace(0, 2, shape[1]) + np.zeros(shape),
        sources=[WaterSource(x=15, y=12, radius=3, rate=0.4)], strata=strata_bands(thickness=2.0, dip=4.0),
    )  # fmt: skip


def assert_same(a: Any, b: Any) -> None:
    for name in ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock"):
        if name in a.state:
            np.testing.assert_array_equal(a.state[name], b.state[name], err_msg=name)
    one, two = a.budget(), b.budget()
    for name in one:  # float64 sums of the same float32 values, in another order
        assert one[name] == pytest.approx(two[name], rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_kernel_gives_the_reference_s_bits(start: Any, mixed: Sides, name: str) -> None:
    terrain = Terrain(heights((37, 43)), cell_size=3.0)
    reference, fused = (start(backend, MODELS[name], terrain, mixed) for backend in ("reference", "cpu"))
    for steps in (1, 49):
        reference.advance(steps)
        fused.advance(steps)
        assert_same(reference, fused)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_nodata_strata_sources_and_uneven_rain_agree(start: Any, mixed: Sides, name: str) -> None:
    reference, fused = (start(backend, MODELS[name], varied((31, 26)), mixed) for backend in ("reference", "cpu"))
    reference.advance(40)
    fused.advance(40)
    assert_same(reference, fused)


@pytest.mark.product
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 17)])
@pytest.mark.parametrize("name", ["single_grid", "jako2011", "eight", "beds", "cover", "eight_with_sea"])
def test_small_grids_work(start: Any, mixed: Sides, name: str, shape: tuple[int, int]) -> None:
    model = MODELS[name].replace(sea_level=0.7 * heights(shape).max()) if "sea" in name else MODELS[name]
    reference, fused = (start(backend, model, Terrain(heights(shape)), mixed) for backend in ("reference", "cpu"))
    reference.advance(9)
    fused.advance(9)
    assert_same(reference, fused)


@pytest.mark.parametrize("name", ["single_grid", "jako2011", "eight", "beds", "cover", "eight_with_sea"])
def test_bands_and_iterations_in_flight_leave_no_trace(start: Any, mixed: Sides, name: str) -> None:
    plain = start("cpu", MODELS[name], varied((40, 33)), mixed, depth=1, bands=1)
    plain.advance(22)
    for depth, bands in ((4, 1), (4, 2), (1, 3), (2, 7), (4, 7)):
        other = start("cpu", MODELS[name], varied((40, 33)), mixed, depth=depth, bands=bands)
        other.advance(22)
        assert_same(plain, other)
        np.testing.assert_array_equal(plain.state["budget"], other.state["budget"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["table2", "single_grid", "graded", "eight", "beds", "cover", "sea", "eight_with_sea"])
def test_mass_is_conserved(backend: str, mixed: Sides, name: str) -> None:
    terrain = Terrain(heights((32, 40)), cell_size=2.0, sources=[WaterSource(x=30, y=24, radius=6, rate=0.4)])
    with Simulation(terrain, MODELS[name], backend=backend, edges=mixed) as simulation:
        simulation.run(120)
        simulation.settle(20)
        budget = simulation.budget
    assert budget.water_exported > 0
    assert (budget.water_sea != 0) == ("sea" in name)
    assert budget.water_drift < 1e-5  # float32 fields, float64 sums
    assert budget.solids_drift < 1e-5


MIRRORS = {"west_east": (np.fliplr, "west", "east"), "north_south": (np.flipud, "north", "south")}


@pytest.mark.product
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mirror", sorted(MIRRORS))
@pytest.mark.parametrize(
    "name", ["table2", "single_grid", "jako2011", "eight", "beds", "cover", "sea", "eight_with_sea"]
)
def test_mirrored_ground_with_mirrored_sides_gives_the_mirrored_result(
    backend: str, mixed: Sides, mirror: str, name: str
) -> None:
    flip, one, other = MIRRORS[mirror]
    soft = 0.5 + 0.5 * np.random.default_rng(4).random((29, 36))
    swapped = dict(mixed.items()) | {one: getattr(mixed, other), other: getattr(mixed, one)}
    straight = Simulation(Terrain(heights((29, 36)), erodibility=soft), MODELS[name], backend=backend, edges=mixed)
    mirrored = Simulation(
        Terrain(flip(heights((29, 36))), erodibility=flip(soft)), MODELS[name], backend=backend, edges=swapped
    )
    for field in ("bed_phase", "rock_erodibility", "erodibility"):  # beds lie in the world, whatever ground is on them
        if "bed_phase" in straight._state:
            mirrored._state[field] = flip(straight._state[field])
    for simulation in (straight, mirrored):
        simulation.run(60)
    for layer in straight.terrain:
        np.testing.assert_array_equal(flip(mirrored.terrain[layer]), straight.terrain[layer], err_msg=layer)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("side", ["north", "south", "west", "east"])
def test_water_leaves_down_the_slope_over_the_open_side_alone(backend: str, side: str) -> None:
    down = np.linspace(20.0, 0.0, 24)
    falls = {
        "south": np.repeat(down[:, None], 24, axis=1), "north": np.repeat(down[::-1, None], 24, axis=1),
        "east": np.repeat(down[None], 24, axis=0), "west": np.repeat(down[None, ::-1], 24, axis=0),
    }  # fmt: skip
    opposite = {"north": "south", "south": "north", "west": "east", "east": "west"}[side]
    sides = dict.fromkeys(falls, "closed") | {side: "open"}
    left = {}
    for fall in (side, opposite):
        with Simulation(Terrain(falls[fall]), VirtualPipes(), backend=backend, edges=sides) as simulation:
            simulation.run(150)
            left[fall] = simulation.budget.water_exported / simulation.budget.water_rain
    assert left[side] > 0.2
    assert left[opposite] < 0.05  # what falls on the uppermost cells, which stand beside the edge


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_simulation_shows_of_its_sides(backend: str) -> None:
    edges = {"north": "open", "south": "closed", "west": "periodic", "east": "periodic"}
    with Simulation(Terrain(heights((8, 9))), VirtualPipes(), backend=backend, edges=edges) as simulation:
        assert simulation.edges == Sides.of(edges)
        assert "edges north open, south closed, west periodic, east periodic" in repr(simulation)
