"""Conservation: books that balance for any terrain and any parameters in range."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slopewash import Simulation, StabilityWarning, Terrain, VirtualPipes, WaterSource, preset

LAWS = {
    "table2": {},
    "single_grid": preset("single_grid").changed(),
    "collision": {"capacity": "collision"},
    "mixed": {"hillslope": "fall_line", "creep_rate": 0.02, "velocity": "mean_depth", "pipe_area": 1.0},
}
NUMBERS = [p for p in VirtualPipes.parameters() if p.typical is not None and p.name not in ("dig_limit", "sea_level")]


@st.composite
def models(draw: st.DrawFn) -> VirtualPipes:
    """A law set with some of its numbers drawn from their typical ranges."""
    model = VirtualPipes(**LAWS[draw(st.sampled_from(sorted(LAWS)))])  # type: ignore[arg-type]
    changes = {}
    for p in draw(st.lists(st.sampled_from(NUMBERS), max_size=6, unique=True)):
        assert p.typical is not None
        low, high = p.typical
        changes[p.name] = draw(st.floats(max(low, 1e-3), high))
    return model.replace(**changes)


@st.composite
def terrains(draw: st.DrawFn) -> Terrain:
    """Hills, some with holes, with a spring or with uneven rain."""
    shape = draw(st.sampled_from([(32, 32), (25, 47)]))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    heights = draw(st.sampled_from([0.0, 2000.0])) + draw(st.floats(2.0, 25.0)) * hills(
        shape, int(random.integers(999))
    )
    given: dict[str, Any] = {}
    holes = draw(st.sampled_from([0.0, 0.02, 0.3]))
    if holes:
        given["nodata"] = random.random(shape) < holes
    if draw(st.booleans()):
        x, y = draw(st.floats(0.0, shape[1] - 0.5)), draw(st.floats(0.0, shape[0] - 0.5))
        given["sources"] = [WaterSource(x=x, y=y, radius=draw(st.floats(0.5, 5.0)), rate=draw(st.floats(0.0, 1.0)))]
    if draw(st.booleans()):
        given["rainfall"] = 2 * random.random(shape) * (random.random(shape) < 0.7)
    return Terrain(heights, cell_size=1.0, **given)


def check_books(
    terrain: Terrain, model: VirtualPipes, edges: Any, backend: str, steps: int, ground: float = 0.0
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)
        simulation = Simulation(terrain, model, backend=backend, edges=edges)
    simulation.run(steps)
    after, budget = simulation.terrain, simulation.budget
    for layer in ("elevation", "water", "suspended", "erodibility", "flow"):
        assert np.isfinite(after[layer]).all(), layer
    for layer in ("water", "suspended", "flow"):
        assert after[layer].min() >= 0, layer
    # Float32 fields round each cell's change; the errors mostly average out over cells and steps. Where hardly anything
    # moves, a cell rounds the same way every step: then `ground` is the bound, as a share of all the ground there is.
    solids = budget.solids_now + budget.solids_exported - budget.solids_start
    assert abs(solids) < max(1e-5 * budget.solids_moved, ground * budget.solids_start)
    water = budget.water_now + budget.water_evaporated + budget.water_exported + budget.water_sea
    came = budget.water_start + budget.water_rain + budget.water_sources
    assert abs(water - came) < 1e-5 * max(budget.water_rain + budget.water_sources, 1e-9)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(terrain=terrains(), model=models(), edges=st.sampled_from(["closed", "open", "periodic"]))
def test_books_balance_over_500_steps(terrain: Terrain, model: VirtualPipes, edges: str) -> None:
    check_books(terrain, model, edges, "cpu", 500, ground=1e-6)


@pytest.mark.product
@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("laws", sorted(LAWS))
@pytest.mark.parametrize("offset", [0.0, 2000.0])
def test_books_balance_for_each_law(backend: str, edges: str, laws: str, offset: float) -> None:
    model = VirtualPipes(**LAWS[laws])  # type: ignore[arg-type]
    terrain = Terrain(offset + 12 * hills((32, 40), 5), cell_size=2.0)
    check_books(terrain, model, edges, backend, 500 if backend == "cpu" else 120)


def hills(shape: tuple[int, int], seed: int) -> Any:
    """Rough hills within 0 .. 1: white noise smoothed at three scales."""
    random = np.random.default_rng(seed)
    heights = np.zeros(shape)
    for cells in (16, 6, 1):
        tiles = random.random((math.ceil(shape[0] / cells), math.ceil(shape[1] / cells)))
        heights += cells * np.kron(tiles, np.ones((cells, cells)))[: shape[0], : shape[1]]
    return (heights - heights.min()) / np.ptp(heights)


def test_springs_are_booked_apart_from_rain(backend: str) -> None:
    spring = WaterSource(x=10.0, y=12.0, radius=4.0, rate=0.5)
    terrain = Terrain(6 * hills((20, 24), 1), cell_size=1.0, sources=[spring])
    simulation = Simulation(terrain, VirtualPipes(rain_rate=0.01), backend=backend, edges="closed")
    simulation.run(100)
    cells = spring.footprint(terrain.shape, 1.0).sum()
    assert simulation.budget.water_sources == pytest.approx(0.5 * cells * 100 * 0.02, rel=1e-4)
    assert simulation.budget.water_rain == pytest.approx(0.01 * 480 * 100 * 0.02, rel=1e-3)
    assert simulation.budget.water_drift < 1e-6


def test_semi_lagrangian_transport_shows_in_the_books(backend: str) -> None:
    terrain = Terrain(10 * hills((32, 32), 2))
    simulation = Simulation(terrain, preset("jako2011_printed"), backend=backend, edges="periodic")
    simulation.run(150)
    assert simulation.budget.solids_drift > 1e-3  # it creates and destroys sediment, and says so
    assert simulation.budget.water_drift < 1e-5


def test_settling_lays_down_everything_and_keeps_the_books(backend: str) -> None:
    terrain = Terrain(10 * hills((32, 32), 4))
    simulation = Simulation(terrain, preset("single_grid"), backend=backend, edges="open")
    simulation.run(60)
    assert simulation.terrain["suspended"].max() > 0
    simulation.settle(40, dry=True)
    assert simulation.terrain["suspended"].max() == 0
    assert simulation.terrain["water"].max() == 0
    assert simulation.budget.solids_drift < 1e-5
    assert simulation.budget.water_drift < 1e-5
