"""What talus must do on any terrain, on every backend; and that backends agree to the last bit."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import slopewash as sw
from slopewash.models.state import Edges, Sides
from slopewash.models.steepest_talus.model import CALM

BACKENDS = ("reference", "cpu", "gpu")
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
EVERY_EDGE: tuple[Edges, ...] = ("open", "closed", "periodic")
any_edges = st.sampled_from(EVERY_EDGE)


@pytest.fixture(autouse=True, scope="module")
def bands_for_small_grids() -> Iterator[None]:
    """Let threads share even the smallest terrain, as they would a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slopewash.models.steepest_talus.cpu.SMALLEST_BAND", 1)
        yield


@st.composite
def terrains(draw: st.DrawFn) -> sw.Terrain:
    """Rough ground of any shape, from one cell up, with ties or without, with missing cells or without."""
    shape = draw(st.tuples(st.integers(1, 17), st.integers(1, 17)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heights = random.normal(0, draw(st.sampled_from([0.1, 3.0, 500.0])), shape) + draw(st.sampled_from([0.0, 2000.0]))
    if draw(st.booleans()):
        heights = np.rint(heights)
    nodata = random.random(shape) < draw(st.sampled_from([0.0, 0.2]))
    nodata[0, 0] = False
    cell_size = draw(st.sampled_from([1.0, 30.0]))
    return sw.Terrain(heights, cell_size=cell_size, nodata=nodata, erodibility=random.random(shape))


def models(amplitude: float = 1.0) -> st.SearchStrategy[sw.SteepestTalus]:
    return st.builds(
        sw.SteepestTalus,
        talus_angle=st.floats(5, 80),
        amplitude=st.floats(0.01, amplitude),
        talus_law=st.sampled_from(["uniform", "hard_stands_steeper"]),
        diagonals=st.sampled_from(["true_distance", "printed"]),
    )


def random_ground(rows: int, columns: int, *, seed: int = 1, relief: float = 6.0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).random((rows, columns)) * relief


def run_to_rest(simulation: sw.Simulation, *, most: int = 20_000) -> None:
    moved = -1.0
    while simulation.budget.solids_moved > moved:
        moved = simulation.budget.solids_moved
        simulation.run(100)
        assert simulation.step < most, "it does not come to rest"


def steepest_slope(terrain: sw.Terrain, *, edges: Edges, diagonal: float) -> float:
    """Largest drop per distance between neighbours; there is none to or from nodata."""
    ground = terrain["elevation"].astype(np.float64) / terrain.cell_size
    if terrain.nodata is not None:
        ground[terrain.nodata] = np.nan
    padded = np.pad(ground, 1, mode="wrap") if edges == "periodic" else np.pad(ground, 1, constant_values=np.nan)
    rows, columns = ground.shape
    slopes = [
        (ground - padded[1 + y : 1 + y + rows, 1 + x : 1 + x + columns]) / (diagonal if x and y else 1.0)
        for y in (-1, 0, 1)
        for x in (-1, 0, 1)
        if x or y
    ]
    return float(np.nan_to_num(np.stack(slopes), nan=-math.inf).max())


@on_every_backend
@given(terrain=terrains(), model=models(), edges=any_edges)
@settings(max_examples=40, deadline=None)
def test_solids_are_kept_exactly(backend: str, terrain: sw.Terrain, model: sw.SteepestTalus, edges: Edges) -> None:
    simulation = sw.Simulation(terrain, model, backend=backend, edges=edges)
    simulation.run(12)
    budget = simulation.budget
    assert budget.solids_drift == 0.0
    assert budget.solids_now == budget.solids_start
    assert budget.solids_exported == 0.0


@pytest.mark.parametrize("backend", BACKENDS[1:])
@given(terrain=terrains(), model=models(), edges=any_edges, steps=st.integers(1, 13))
@settings(max_examples=80, deadline=None)
def test_backends_agree_bit_for_bit(
    backend: str, terrain: sw.Terrain, model: sw.SteepestTalus, edges: Edges, steps: int
) -> None:
    reference, fast = (sw.Simulation(terrain, model, backend=b, edges=edges) for b in ("reference", backend))
    for simulation in (reference, fast):
        simulation.run(steps)
    assert reference.budget == fast.budget
    expected, found = reference.terrain, fast.terrain
    assert list(expected) == list(found)
    for name in expected:
        np.testing.assert_array_equal(expected[name], found[name], err_msg=name)


@on_every_backend
@pytest.mark.parametrize("diagonals", ["true_distance", "printed"])
@pytest.mark.parametrize("edges", EVERY_EDGE)
def test_it_comes_to_rest_and_then_no_slope_exceeds_the_talus(backend: str, diagonals: str, edges: Edges) -> None:
    terrain = sw.Terrain(random_ground(19, 24), cell_size=1.0)
    model = sw.SteepestTalus(talus_angle=30, diagonals=diagonals)
    simulation = sw.Simulation(terrain, model, backend=backend, edges=edges)
    run_to_rest(simulation)
    assert simulation.budget.solids_moved > 0
    diagonal = 1.0 if diagonals == "printed" else math.sqrt(2)
    found = steepest_slope(simulation.terrain, edges=edges, diagonal=diagonal)
    # Elevations come in and go out as float32: an ulp of 6 cells at either end of a drop, twice.
    assert found <= math.tan(math.radians(30)) + 4 * np.spacing(np.float32(6))


@given(terrain=terrains(), model=models(CALM), edges=any_edges)
@settings(max_examples=60, deadline=None)
def test_calm_amplitudes_never_raise_the_sum_of_squares(
    terrain: sw.Terrain, model: sw.SteepestTalus, edges: Edges
) -> None:
    """The reason why it stops: whole numbers whose squares add up to less at every move."""
    simulation = sw.Simulation(terrain, model.replace(talus_law="uniform"), backend="reference", edges=edges)
    ground = ~terrain.nodata if terrain.nodata is not None else np.ones(terrain.shape, bool)

    def energy() -> int:
        return int((simulation._state["elevation"][ground].astype(object) ** 2).sum())  # beyond 64 bits

    before, moved = energy(), 0.0
    for _ in range(6):
        simulation.run(1)
        after, now = energy(), simulation.budget.solids_moved
        assert after < before if now > moved else after == before
        before, moved = after, now


@on_every_backend
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 2), (3, 3), (7, 33)])
@pytest.mark.parametrize("edges", ["closed", "periodic"])
def test_small_and_odd_shapes_come_to_rest(backend: str, shape: tuple[int, int], edges: Edges) -> None:
    simulation = sw.Simulation(sw.Terrain(random_ground(*shape)), sw.SteepestTalus(), backend=backend, edges=edges)
    run_to_rest(simulation)
    assert simulation.budget.solids_drift == 0.0
    slope = steepest_slope(simulation.terrain, edges=edges, diagonal=math.sqrt(2))
    assert slope <= 0.6 + 4 * np.spacing(np.float32(6))  # float32 heights, as above


@pytest.mark.product
@on_every_backend
@pytest.mark.parametrize("edges", ["closed", "periodic"])
@pytest.mark.parametrize("diagonals", ["true_distance", "printed"])
@pytest.mark.parametrize("turn", ["mirrored", "upside down", "transposed", "turned"])
def test_turned_ground_gives_the_turned_result(backend: str, edges: Edges, diagonals: str, turn: str) -> None:
    """Random heights: no ties, whose order is the only thing that knows north from south."""
    turns = {
        "mirrored": lambda a: a[:, ::-1],
        "upside down": lambda a: a[::-1],
        "transposed": lambda a: a.T,
        "turned": lambda a: np.rot90(a),
    }
    heights = random_ground(21, 34, seed=5)
    model = sw.SteepestTalus(diagonals=diagonals)
    plain, turned = (
        sw.erode(sw.Terrain(a), model, steps=60, backend=backend, edges=edges)["elevation"]
        for a in (heights, turns[turn](heights))
    )
    assert not np.array_equal(plain, heights.astype(np.float32))
    np.testing.assert_array_equal(turned, turns[turn](plain))


@on_every_backend
def test_ties_go_to_the_first_in_scan_order(backend: str) -> None:
    peak = np.zeros((3, 3))
    peak[1, 1] = 2.0
    true = sw.erode(sw.Terrain(peak), sw.SteepestTalus(), steps=1, backend=backend)
    printed = sw.erode(sw.Terrain(peak), sw.SteepestTalus(diagonals="printed"), steps=1, backend=backend)
    assert np.argwhere(true["deposit"] > 0).tolist() == [[0, 1]]  # north, the first straight neighbour
    assert np.argwhere(printed["deposit"] > 0).tolist() == [[0, 0]]  # north-west, as near as any as published


@on_every_backend
@pytest.mark.parametrize(
    ("straight", "diagonal", "true", "printed"),
    [
        (0.0, 0.7, None, (0, 0)),  # 0.7/√2 stands at a talus of 0.6
        (0.0, 0.9, (0, 0), (0, 0)),
        (0.59, 0.84, None, (0, 0)),
        (2.0, 2.5, (0, 1), (0, 0)),  # the straight drop is the steeper slope, the diagonal one the larger drop
        (2.0, 3.0, (0, 0), (0, 0)),
        (2.5, 2.0, (0, 1), (0, 1)),
    ],
)
def test_soil_slides_down_the_steepest_slope(
    backend: str,
    straight: float,
    diagonal: float,
    true: tuple[int, int] | None,
    printed: tuple[int, int] | None,
) -> None:
    """One cell above its northern and its north-western neighbour; all others are nodata or beyond the edge."""
    heights = np.zeros((2, 2))
    heights[1, 1] = 5.0
    heights[0] = 5.0 - diagonal, 5.0 - straight
    terrain = sw.Terrain(heights, nodata=[[False, False], [True, False]])
    for diagonals, expected in (("true_distance", true), ("printed", printed)):
        simulation = sw.Simulation(terrain, sw.SteepestTalus(diagonals=diagonals), backend=backend)
        simulation.run(1)
        sent = simulation.terrain["difference"][1, 1] < 0
        assert sent == (expected is not None)
        if expected is not None:
            gained = simulation.terrain["difference"]
            assert gained[expected] == gained.max() > 0


@on_every_backend
def test_one_move_takes_the_amplitude_from_the_peak(backend: str) -> None:
    peak = sw.Terrain([[0.0, 10.0, 0.5]], cell_size=10.0)
    after = sw.erode(peak, sw.SteepestTalus(talus_angle=40, amplitude=0.2), steps=1, backend=backend)
    height = 0.2 * math.tan(math.radians(40)) * 10.0
    # A unit is at most 2⁻²³ of the relief of 10 m.
    np.testing.assert_allclose(after["difference"], [[height, -height, 0]], atol=10 * 2**-23)
    np.testing.assert_array_equal(after["wear"], np.maximum(-after["difference"], 0))


@on_every_backend
def test_ground_that_stands_keeps_its_elevation_to_the_bit(backend: str) -> None:
    heights = (2000 + random_ground(9, 9, relief=0.5)).astype(np.float32)
    after = sw.erode(sw.Terrain(heights), sw.SteepestTalus(), steps=20, backend=backend)
    np.testing.assert_array_equal(after["elevation"], heights)


@on_every_backend
@pytest.mark.parametrize("amplitude", [0.5, 1.0])
def test_two_cells_do_not_swing_at_the_largest_amplitude(backend: str, amplitude: float) -> None:
    simulation = sw.Simulation(sw.Terrain([[0.0, 9.7]]), sw.SteepestTalus(amplitude=amplitude), backend=backend)
    run_to_rest(simulation, most=300)


@on_every_backend
def test_nodata_neither_sends_nor_receives(backend: str) -> None:
    heights = random_ground(8, 8, relief=40.0)
    nodata = np.zeros((8, 8), bool)
    nodata[:, 4] = True
    whole = sw.Terrain(heights, nodata=nodata)
    after = sw.erode(whole, sw.SteepestTalus(), steps=50, backend=backend, edges="closed")
    assert (after["difference"][nodata] == 0).all()
    for half in (slice(0, 4), slice(5, 8)):
        # The soil of either side stays there: heights there add up as before, but for float32.
        assert after["difference"][:, half].sum(dtype=np.float64) == pytest.approx(0.0, abs=1e-4)
        assert (after["difference"][:, half] != 0).any()


@on_every_backend
def test_open_edges_are_as_closed_ones(backend: str) -> None:
    terrain = sw.Terrain(random_ground(12, 12))
    opened, closed = (
        sw.erode(terrain, sw.SteepestTalus(), steps=30, backend=backend, edges=edges)["elevation"]
        for edges in EVERY_EDGE[:2]
    )
    np.testing.assert_array_equal(opened, closed)


@on_every_backend
def test_hard_ground_stands_steeper(backend: str) -> None:
    """Two equal ridges, one hard and one soft, a plain between them."""
    heights = np.zeros((20, 40))
    heights[:, 10] = heights[:, 30] = 12.0
    hard = np.where(np.arange(40) < 20, 0.0, 1.0) * np.ones((20, 1))
    terrain = sw.Terrain(heights, erodibility=hard)
    simulation = sw.Simulation(terrain, sw.SteepestTalus(talus_law="hard_stands_steeper"), backend=backend)
    run_to_rest(simulation)
    left, right = simulation.terrain["elevation"][:, :20].max(), simulation.terrain["elevation"][:, 20:].max()
    assert left > 1.2 * right


@on_every_backend
def test_a_pile_becomes_a_cone_at_the_talus_angle(backend: str) -> None:
    heights = np.zeros((41, 41))
    heights[20, 20] = 400.0
    simulation = sw.Simulation(sw.Terrain(heights), sw.SteepestTalus(talus_angle=35), backend=backend, edges="closed")
    run_to_rest(simulation)
    after = simulation.terrain["elevation"].astype(np.float64)
    along = -np.diff(after[20, 20:])
    flank = along[after[20, 20:-1] > 1.0]
    assert len(flank) > 4
    talus = math.tan(math.radians(35))
    # A fixed height per move leaves each step of the flank within one amplitude below the talus, and none above it.
    assert flank.max() <= talus + 1e-4
    assert flank.mean() > (1 - 2 * CALM) * talus


@pytest.mark.gpu
@pytest.mark.parametrize("edges", EVERY_EDGE)
def test_bands_of_rows_leave_no_trace_on_the_gpu(edges: Edges) -> None:
    from slopewash.models.steepest_talus.gpu import GpuBackend

    terrain = sw.Terrain(random_ground(29, 70), strata=sw.strata_bands(thickness=1.0))
    model = sw.SteepestTalus(talus_law="hard_stands_steeper")
    expected = sw.erode(terrain, model, steps=30, backend="reference", edges=edges)
    domain, state = model.prepare(terrain, sides=Sides.of(edges), seed=0)
    backend = GpuBackend(state, domain, largest_binding=5 * 128 * 8)
    assert len(backend._work.layout.bands) > 5
    backend.advance(model.coefficients(domain, substeps=1), 30)
    for name in ("elevation", "bedrock", "erodibility"):
        found = model.derive(name, backend.state, domain)
        np.testing.assert_array_equal(found, expected[name], err_msg=name)
    backend.close()
