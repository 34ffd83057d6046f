"""Strata: what is exposed decides how steep the ground stands, and loose soil slides off the rock."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import slopewash as sw
from slopewash.models import Sides
from slopewash.models.steepest_talus.cpu import CpuBackend

BACKENDS = ("reference", "cpu", "gpu")
MODEL = sw.SteepestTalus(talus_law="hard_stands_steeper", talus_slope_range=1.0, talus_slope_bias=0.25)
"""Stands at a tangent of 0.25 where it is soft and of 1.25 where it is hard; moves 2/9 of 0.25 cells at once."""
MOVED = 2 / 9 * 0.25


def column(*layers: tuple[float, float]) -> sw.Strata:
    return sw.Strata([sw.Stratum(thickness=thickness, erodibility=R) for thickness, R in layers])


def run(heights: Any, strata: sw.Strata, backend: str, steps: int, model: Any = MODEL, **given: Any) -> sw.Terrain:
    terrain = sw.Terrain(np.array(heights, dtype=float), strata=strata, **given)
    return sw.erode(terrain, model, steps=steps, backend=backend, edges="closed")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("R", "stands"), [(0.0, 1.25), (0.5, 0.75), (1.0, 0.25)], ids=["hard", "medium", "soft"]
)  # fmt: skip
def test_a_step_stands_as_high_as_its_layer_lets_it(backend: str, R: float, stands: float) -> None:
    for drop, slides in ((stands - 0.001, False), (stands + 0.001, True)):
        after = run([[drop, 0.0]], column((9, R)), backend, 1)
        assert (after["elevation"][0, 0] < drop) == slides
        assert after["erodibility"][0, 0] == np.float32(R)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_step_slides_through_a_soft_layer_down_to_a_hard_one(backend: str) -> None:
    """The top third of a cell is soft: six moves of 0.0556 reach the hard layer, which stands."""
    after = run([[1.0, 0.0]], column((1 / 3 - 0.01, 1.0), (9, 0.0)), backend, 50)
    assert 1.0 - after["elevation"][0, 0] == pytest.approx(6 * MOVED, abs=1e-5)
    assert_array_equal(after["erodibility"], [[0.0, 1.0]])  # the rock is bare, and the soil at its foot is loose
    assert_array_equal(after["bedrock"], [[after["elevation"][0, 0], 0.0]])


@pytest.mark.parametrize("backend", BACKENDS)
def test_loose_soil_slides_off_rock_that_stands(backend: str) -> None:
    """Hard ground 0.9 cells high stands by itself; the 0.2 of soil on it does not."""
    after = run([[1.1, 0.0]], column((9, 0.0)), backend, 50, bedrock=[[0.9, 0.0]])
    moves = math.ceil(0.2 / MOVED)  # the last takes a little of the rock with it
    assert after["elevation"][0, 0] == pytest.approx(1.1 - moves * MOVED, abs=1e-5)
    assert after["bedrock"][0, 0] == after["elevation"][0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_uniform_angle_does_not_ask_what_is_exposed(backend: str) -> None:
    heights = np.random.default_rng(1).random((9, 12)) * 6
    uniform = sw.SteepestTalus()
    plain = sw.erode(sw.Terrain(heights), uniform, steps=40, backend=backend, edges="closed")
    layered = run(heights, column((2, 0.1), (9, 1.0)), backend, 40, uniform)
    assert_array_equal(layered["elevation"], plain["elevation"])
    assert (layered["bedrock"] <= layered["elevation"]).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_layer_is_the_same_as_that_erodibility_until_soil_comes_to_lie_on_it(backend: str) -> None:
    heights = np.random.default_rng(1).random((9, 12)) * 6
    plain = sw.erode(sw.Terrain(heights, erodibility=0.3), MODEL, steps=1, backend=backend, edges="closed")
    assert_array_equal(run(heights, column((2, 0.3)), backend, 1)["elevation"], plain["elevation"])


@st.composite
def terrains(draw: st.DrawFn) -> sw.Terrain:
    """Rough layered ground, tilted or level, with missing cells or without, some of it buried."""
    shape = draw(st.tuples(st.integers(1, 17), st.integers(1, 17)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heights = random.normal(0, draw(st.sampled_from([0.1, 3.0, 500.0])), shape) + draw(st.sampled_from([0.0, 2000.0]))
    nodata = random.random(shape) < draw(st.sampled_from([0.0, 0.2]))
    nodata[0, 0] = False
    strata = sw.strata_bands(
        count=draw(st.integers(1, 5)), thickness=draw(st.floats(0.05, 200.0)), hard=draw(st.floats(0, 0.5)),
        dip=draw(st.sampled_from([0.0, 20.0, 80.0])), direction=40.0, hard_on_top=draw(st.booleans()),
    )  # fmt: skip
    buried: dict[str, Any] = {"bedrock": heights - random.random(shape)} if draw(st.booleans()) else {}
    cell_size = draw(st.sampled_from([1.0, 30.0]))
    return sw.Terrain(heights, cell_size=cell_size, nodata=nodata, strata=strata, **buried)


@pytest.mark.parametrize("backend", BACKENDS[1:])
@settings(max_examples=60, deadline=None)
@given(
    terrain=terrains(),
    edges=st.sampled_from(["open", "closed", "periodic"]),
    diagonals=st.sampled_from(["true_distance", "printed"]),
    steps=st.integers(0, 23),
)
def test_backends_agree_to_the_last_bit_and_no_grain_is_lost(
    backend: str, terrain: sw.Terrain, edges: Any, diagonals: str, steps: int
) -> None:
    model = MODEL.replace(diagonals=diagonals)
    runs = [sw.Simulation(terrain, model, backend=name, edges=edges) for name in ("reference", backend)]
    for simulation in runs:
        simulation.run(steps)
        assert simulation.budget.solids_now == simulation.budget.solids_start
    for layer in runs[0].terrain:
        assert_array_equal(runs[0].terrain[layer], runs[1].terrain[layer], err_msg=layer)


@pytest.mark.parametrize("edges", ["closed", "periodic"])
@pytest.mark.parametrize("depth", [1, 3, 8])
@pytest.mark.parametrize("smallest_band", [1, 2**15])
def test_bands_and_iterations_in_flight_leave_no_trace(
    depth: int, edges: Any, smallest_band: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slopewash.models.steepest_talus.cpu.SMALLEST_BAND", smallest_band)
    heights = np.random.default_rng(4).random((23, 18)) * 20
    terrain = sw.Terrain(heights, strata=sw.strata_bands(thickness=3.0, dip=10.0, direction=30.0))
    expected = sw.erode(terrain, MODEL, steps=20, backend="reference", edges=edges)
    domain, state = MODEL.prepare(terrain, sides=Sides.of(edges), seed=0)
    backend = CpuBackend(state, domain, depth=depth)
    backend.advance(MODEL.coefficients(domain, substeps=1), 20)
    for layer in ("elevation", "bedrock", "erodibility"):
        assert_array_equal(MODEL.derive(layer, backend.state, domain), expected[layer], err_msg=layer)


@pytest.mark.parametrize("backend", BACKENDS)
def test_at_rest_every_slope_stands_on_what_is_exposed(backend: str) -> None:
    heights = np.random.default_rng(6).random((20, 24)) * 12
    after = run(heights, sw.strata_bands(thickness=2.0, hard=0.0, count=6), backend, 6000)
    stands = (1 - after["erodibility"].astype(float)) * 1.0 + 0.25
    assert_allclose(largest_excess(after["elevation"].astype(float), stands), 0, atol=1e-5)
    assert (after["erodibility"] < 1).any()
    assert (after["erodibility"] == 1).any()


def largest_excess(heights: NDArray[Any], stands: NDArray[Any]) -> float:
    """How much steeper than it may the steepest slope to one of eight neighbours is; 0 if none is."""
    rows, columns = heights.shape
    walled = np.pad(heights, 1, constant_values=np.inf)
    drops = [
        (heights - walled[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]) / math.hypot(i, j) - stands
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if i or j
    ]
    return max(0.0, float(np.max(drops)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("top", "R"), [(None, 0.125), (1e30, 0.75), (-1e30, 0.125)])
def test_layers_as_thick_and_tops_as_far_as_can_be_are_found(backend: str, top: float | None, R: float) -> None:
    thick = 1e25 if top is None else 9.0
    strata = column((thick, 0.125), (9, 0.75)).replace(top=top)
    after = run([[0.75, 0.0]], strata, backend, 1)
    assert after["erodibility"][0, 0] == R
    assert (after["elevation"][0, 0] < 0.75) == (R == 0.75)  # which stands at 0.5, the other at 1.125
