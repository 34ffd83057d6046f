"""The WGSL kernels against the reference: as near to float64 as float32 is, for every law, edge and shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.models.virtual_pipes.mixtures import MODELS

from slopewash import Simulation, Terrain, VirtualPipes, WaterSource, preset, strata_bands
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.coefficients import coefficients

pytestmark = pytest.mark.gpu

FIELDS = ("elevation", "water", "suspended", "erodibility", "outflow", "flow", "bedrock")


def heights(shape: tuple[int, int]) -> NDArray[Any]:
    random = np.random.default_rng(11)
    coarse = np.kron(random.random((14, 14)), np.ones((5, 5)))[: shape[0], : shape[1]]
    result: NDArray[Any] = 9 * coarse + 3 * random.random(shape)
    return result


@pytest.fixture
def on_gpu(start: Any) -> Any:
    return lambda model, terrain, edges, **options: start("gpu", model, terrain, edges, **options)


@pytest.fixture
def references(start: Any) -> Any:
    """The reference in float32 and in float64."""
    return lambda model, terrain, edges: [
        start("reference", model, terrain, edges, dtype=dtype) for dtype in (np.float32, np.float64)
    ]


def assert_as_near_as_float32(
    gpu: Any, single: Any, double: Any, *, slack: float = 0, shares: tuple[float, ...] = (0.5, 0.95, 1.0)
) -> None:
    """Errors against float64 are at most twice those of the float32 reference, by quantiles: talus tests flip cells."""
    for name in FIELDS:
        if name not in gpu.state:
            continue
        here, one, two = (np.asarray(run.state[name], np.float64) for run in (gpu, single, double))
        # Where float32 happens to be exact, a few ulp.
        least = slack + 4 * np.spacing(np.float32(np.abs(two[two < 1e17]).max(initial=0)))
        for share in shares:
            bound = 2 * np.quantile(np.abs(one - two), share) + least
            assert np.quantile(np.abs(here - two), share) <= bound, (name, share)
    ours, theirs = gpu.budget(), single.budget()
    for name in ours:
        # Table 2 amplifies rounding; float32 and float64 books part by some 1e-4 within 50 steps.
        assert ours[name] == pytest.approx(theirs[name], rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_it_is_as_near_to_float64_as_the_float32_reference(on_gpu: Any, references: Any, name: str, edges: str) -> None:
    terrain = Terrain(heights((37, 53)), cell_size=3.0)
    single, double = references(MODELS[name], terrain, edges)
    gpu = on_gpu(MODELS[name], terrain, edges)
    for steps in (1, 49):
        for run in (gpu, single, double):
            run.advance(steps)
        assert_as_near_as_float32(gpu, single, double)


@pytest.mark.product
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 3), (2, 17), (16, 5), (64, 64), (3, 65)])
@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize(
    "name",
    ["table2", "single_grid", "jako2011", "eight", "eight_with_beds", "eight_with_cover", "sea", "eight_with_sea"],
)
def test_small_and_odd_grids_work(on_gpu: Any, references: Any, name: str, edges: str, shape: tuple[int, int]) -> None:
    terrain = Terrain(heights(shape))
    model = MODELS[name].replace(sea_level=0.7 * heights(shape).max()) if "sea" in name else MODELS[name]
    single, double = references(model, terrain, edges)
    gpu = on_gpu(model, terrain, edges)
    for run in (gpu, single, double):
        run.advance(9)
    # Few cells make poor quantiles: the ground's ulp, which drives everything, counts too.
    assert_as_near_as_float32(gpu, single, double, slack=4 * float(np.spacing(np.float32(12))))


def varied(shape: tuple[int, int]) -> tuple[Terrain, NDArray[np.bool_]]:
    """Ground with holes, uneven rain and a spring."""
    hole = np.zeros(shape, bool)
    hole[8:13, 5:9] = hole[20, 25] = hole[0, 3] = True
    rain = np.linspace(0, 2, shape[1])[None, :].repeat(shape[0], 0)
    terrain = Terrain(
        np.where(hole, np.nan, heights(shape)), nodata=hole, rainfall=rain, water=0.3, suspended=0.01,
        sources=[WaterSource(x=15, y=24, radius=3, rate=0.4)],
    )  # fmt: skip
    return terrain, hole


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize(
    "name", ["table2", "single_grid", "jako2011", "eight", "eight_with_beds", "eight_with_cover", "eight_with_sea"]
)
def test_walls_springs_and_uneven_rain_agree(on_gpu: Any, references: Any, name: str, edges: str) -> None:
    terrain, hole = varied((31, 26))
    single, double = references(MODELS[name], terrain, edges)
    gpu = on_gpu(MODELS[name], terrain, edges)
    for run in (gpu, single, double):
        run.advance(40)
    assert_as_near_as_float32(gpu, single, double)
    assert np.isfinite(gpu.layer("elevation")).all()
    assert gpu.layer("water")[hole].max() == 0
    assert gpu.layer("suspended")[hole].max() == 0


@pytest.mark.parametrize(
    "name",
    ["table2", "single_grid", "jako2011", "eight", "eight_with_beds", "eight_with_cover", "sea", "eight_with_sea"],
)
def test_sides_that_differ_agree(on_gpu: Any, references: Any, mixed: Sides, name: str) -> None:
    terrain = Terrain(heights((37, 53)), cell_size=3.0)
    single, double = references(MODELS[name], terrain, mixed)
    gpu = on_gpu(MODELS[name], terrain, mixed)
    for steps in (1, 49):
        for run in (gpu, single, double):
            run.advance(steps)
        assert_as_near_as_float32(gpu, single, double)


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize(
    "name", ["table2", "single_grid", "fall_line_only", "eight", "eight_with_cover", "eight_with_sea"]
)
def test_strata_agree(on_gpu: Any, references: Any, name: str, edges: str) -> None:
    terrain = Terrain(heights((37, 53)), strata=strata_bands(thickness=1.5, hard=0.05, dip=4.0, direction=40.0))
    single, double = references(MODELS[name], terrain, edges)
    gpu = on_gpu(MODELS[name], terrain, edges)
    for steps in (1, 49):
        for run in (gpu, single, double):
            run.advance(steps)
        # A cell whose bedrock touches the next layer in one precision only has another erodibility for a while.
        assert_as_near_as_float32(gpu, single, double, shares=(0.5, 0.95), slack=1e-6)
    rock, exact = (np.asarray(run.state["bedrock"], np.float64) for run in (gpu, double))
    assert np.quantile(np.abs(rock - exact), 0.95) < 1e-4
    assert (rock <= gpu.state["elevation"]).all()


def test_a_layered_run_goes_on_where_another_ended() -> None:
    terrain = Terrain(heights((24, 30)), strata=strata_bands(thickness=1.0, hard=0.05))
    first = Simulation(terrain, preset("single_grid"), backend="gpu")
    first.run(30)
    first.settle(0)
    second = Simulation(first.terrain, preset("single_grid"), backend="gpu")
    assert np.abs(second.terrain["erodibility"] - first.terrain["erodibility"]).mean() < 0.01
    np.testing.assert_allclose(second.terrain["bedrock"], first.terrain["bedrock"], atol=1e-5)


def assert_same_bits(one: Any, two: Any) -> None:
    for name in FIELDS:
        if name not in one.state:
            continue
        np.testing.assert_array_equal(one.state[name], two.state[name], err_msg=name)
    assert one.budget() == two.budget()


@pytest.mark.parametrize(
    "name", ["table2", "single_grid", "jako2011", "eight", "eight_with_beds", "eight_with_cover", "eight_with_sea"]
)
@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
def test_bands_of_rows_leave_no_trace(on_gpu: Any, name: str, edges: str) -> None:
    terrain, _ = varied((31, 70))
    whole = on_gpu(MODELS[name], terrain, edges)
    whole.advance(15)
    row = 128 * 16  # bytes of a padded row of vec4
    for rows in (3, 12):
        banded = on_gpu(MODELS[name], terrain, edges, largest_binding=rows * row)
        banded.advance(4)
        banded.advance(11)
        assert_same_bits(whole, banded)


def test_bands_of_rows_leave_no_trace_where_sides_differ(on_gpu: Any, mixed: Sides) -> None:
    terrain, _ = varied((31, 70))
    whole = on_gpu(preset("single_grid"), terrain, mixed)
    banded = on_gpu(preset("single_grid"), terrain, mixed, largest_binding=5 * 128 * 16)
    for run in (whole, banded):
        run.advance(15)
    assert_same_bits(whole, banded)


def test_two_runs_give_the_same_bits(on_gpu: Any) -> None:
    terrain, _ = varied((40, 70))
    one, two = (on_gpu(preset("single_grid"), terrain, "open") for _ in range(2))
    for run in (one, two):
        run.advance(60)
        run.advance(10, strength=0.5)
        run.lay_down(dry=False)
        run.advance(5)
    assert_same_bits(one, two)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edges"), [("table2", "closed"), ("single_grid", "open")])
@pytest.mark.parametrize("offset", [0.0, 2000.0])
def test_solids_and_water_are_kept_over_1000_iterations(name: str, edges: Any, offset: float) -> None:
    terrain = Terrain(offset + 3 * heights((24, 60)), cell_size=2.0)
    with Simulation(terrain, MODELS[name], backend="gpu", edges=edges) as simulation:
        simulation.run(1000)
        budget = simulation.budget
    assert budget.solids_moved > 0
    assert budget.solids_drift < 1e-5
    assert budget.water_drift < 1e-5


def test_another_value_is_one_write_and_another_law_other_kernels() -> None:
    terrain = Terrain(heights((20, 20)))
    simulation = Simulation(terrain, VirtualPipes(), backend="gpu")
    simulation.run(3)
    work = simulation._device._work  # type: ignore[attr-defined]
    device, program = work.device, work._program
    compiled = len(device._pipelines)
    simulation.model = VirtualPipes(rain_rate=0.03, thermal_rate=0.2)
    simulation.run(3)
    assert work._program is program
    assert len(device._pipelines) == compiled
    simulation.model = VirtualPipes(rain_rate=0.03, velocity="mean_depth", capacity="collision", pipe_area=1.0)
    simulation.run(3)
    assert work._program is not program
    direct = Simulation(terrain, VirtualPipes(rain_rate=0.03, thermal_rate=0.2), backend="gpu")
    assert simulation.budget.water_rain > direct.budget.water_rain


@pytest.mark.parametrize("supplied", [False, True])
@pytest.mark.parametrize(("semi_lagrangian", "eight"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("rocky", [False, True])
@pytest.mark.parametrize("covered", [False, True])
@pytest.mark.parametrize("bedded", [False, True])
@pytest.mark.parametrize("sea", [False, True])
def test_an_iteration_needs_little_traffic_and_only_portable_limits(
    supplied: bool, semi_lagrangian: bool, eight: bool, rocky: bool, covered: bool, bedded: bool, sea: bool
) -> None:
    from slopewash.models.virtual_pipes.gpu import KINDS, kernels

    laws = {"semi_lagrangian": semi_lagrangian, "eight": eight, "covered": covered, "bedded": bedded, "sea": sea}
    passes = kernels(coefficients(VirtualPipes(), 1)._replace(**laws), supplied=supplied, rocky=rocky)
    assert len(passes) <= 4
    # The sea reads the level once more.
    assert sum(kernel.traffic(KINDS) for kernel in passes) <= (240 if eight else 180) + 4 * sea
    assert max(len(kernel.uses) for kernel in passes) <= 8


def tiled(size: int) -> tuple[Terrain, Terrain]:
    """A small periodic ground and the same as tiles of a large one."""
    small = heights((64, 64))
    soft = 0.5 + 0.5 * np.random.default_rng(5).random((64, 64))
    count = size // 64
    return (
        Terrain(small, erodibility=soft),
        Terrain(np.tile(small, (count, count)), erodibility=np.tile(soft, (count, count))),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("size", "bands", "name"), [(2048, 1, "single_grid"), (4096, 3, "fall_line_only")])
def test_large_grids_do_what_their_tiles_do(on_gpu: Any, size: int, bands: int, name: str) -> None:
    small, large = tiled(size)
    expected = on_gpu(MODELS[name], small, "periodic")
    large_run = on_gpu(MODELS[name], large, "periodic")
    assert len(large_run.backend._work.layout.bands) == bands  # 128 MiB of 16 bytes per cell are 2048 x 4096 cells
    for run in (expected, large_run):
        run.advance(1)
    tile = expected.backend._work.fields["cell"].download()
    for row in range(0, size, 64):
        there = large_run.backend._work.fields["cell"].download(row, row + 64)
        np.testing.assert_array_equal(there, np.tile(tile, (1, size // 64, 1)))
    large_run.backend.close()
