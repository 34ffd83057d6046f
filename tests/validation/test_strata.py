"""Strata in whole runs: books that balance, and cliffs where hard lies over soft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slopewash import Simulation, Terrain, VirtualPipes, generate, preset, strata_bands

MODELS = (preset("single_grid"), VirtualPipes(), VirtualPipes(processes="thermal"))


@st.composite
def terrains(draw: st.DrawFn) -> Terrain:
    """Layered hills, level or tilted, low or high up, with holes or without, some of them buried in soil."""
    shape = draw(st.sampled_from([(32, 32), (25, 47)]))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    heights = draw(st.sampled_from([0.0, 2000.0])) + np.kron(random.random((8, 12)), np.ones((4, 4)))[:25, :32] * 20
    heights = np.pad(heights, ((0, shape[0] - 25), (0, shape[1] - 32)), mode="reflect") + random.random(shape)
    strata = strata_bands(
        count=draw(st.integers(1, 9)), thickness=draw(st.floats(0.1, 10.0)), hard=draw(st.floats(0.0, 0.5)),
        soft=draw(st.floats(0.5, 1.0)), dip=draw(st.floats(0.0, 60.0)), direction=draw(st.floats(0.0, 360.0)),
    )  # fmt: skip
    extra: dict[str, Any] = {}
    if draw(st.booleans()):
        extra["nodata"] = random.random(shape) < 0.05
    if draw(st.booleans()):
        extra["bedrock"] = heights - random.random(shape)
    return Terrain(heights, strata=strata, **extra)


@settings(max_examples=30, deadline=None)
@given(terrain=terrains(), model=st.sampled_from(MODELS), edges=st.sampled_from(["closed", "open", "periodic"]))
def test_solids_balance_over_layers(terrain: Terrain, model: VirtualPipes, edges: Any) -> None:
    simulation = Simulation(terrain, model, backend="cpu", edges=edges)
    simulation.run(200)
    simulation.settle(10)
    budget, after = simulation.budget, simulation.terrain
    solids = budget.solids_now + budget.solids_exported - budget.solids_start
    # Rounding averages out over what moves; where hardly anything does, a share of all the ground is the bound.
    assert abs(solids) < max(1e-5 * budget.solids_moved, 1e-6 * budget.solids_start)
    assert (after["bedrock"] <= after["elevation"]).all()
    assert 0 <= after["erodibility"].min() <= after["erodibility"].max() <= 1


@pytest.mark.parametrize("dip", [0.0, 3.0])
def test_hard_over_soft_gives_cliffs_and_benches(dip: float) -> None:
    """The same slope with the layers all alike is as steep everywhere; with them, hard layers stand as cliffs."""
    start = generate("dome", size=96, cell_size=10.0, seed=7, relief=240.0)
    slopes = {}
    for hard in (0.05, 1.0):
        strata = strata_bands(count=8, thickness=30.0, hard=hard, dip=dip, direction=60.0)
        simulation = Simulation(start.replace(strata=strata), preset("single_grid"))
        simulation.run(2000)
        after = simulation.terrain
        assert after.strata is not None
        layer = after.strata.exposed(after["elevation"], after["bedrock"])
        slopes[hard] = [float(np.mean(after["slope"][(layer >= 0) & (layer % 2 == k)])) for k in (0, 1)]
    assert slopes[0.05][0] > 1.4 * slopes[0.05][1]
    assert 0.8 < slopes[1.0][0] / slopes[1.0][1] < 1.25
