"""Open edges are base level."""

from __future__ import annotations

import numpy as np
import pytest

from slopewash import Simulation, VirtualPipes, generate, preset
from slopewash.models.virtual_pipes.base_level import STEEPEST, border_ring, edge_base, grade


def test_a_graded_profile_is_the_largest_gentle_one_below_the_border() -> None:
    heights = np.random.default_rng(2).random(60) * 5
    level = grade(heights)
    assert (level <= heights + 1e-12).all()
    assert np.abs(np.diff(np.append(level, level[0]))).max() <= STEEPEST + 1e-9
    # Largest: each cell is held down by some border cell at exactly the steepest allowed slope.
    distance = np.abs(np.arange(60)[:, None] - np.arange(60)[None, :])
    around = np.minimum(distance, 60 - distance)
    np.testing.assert_allclose(level, (heights[None, :] + STEEPEST * around).min(axis=1), atol=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (2, 2), (5, 8)])
def test_the_border_ring_visits_every_border_cell_once(shape: tuple[int, int]) -> None:
    y, x = border_ring(*shape)
    expected = {
        (r, c) for r in range(shape[0]) for c in range(shape[1]) if r in (0, shape[0] - 1) or c in (0, shape[1] - 1)
    }
    assert len(y) == len(expected)
    assert set(zip(y.tolist(), x.tolist(), strict=True)) == expected


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
@pytest.mark.parametrize("model", [VirtualPipes(), preset("single_grid")], ids=["table2", "single_grid"])
def test_no_process_lowers_the_border_below_its_base(backend: str, model: VirtualPipes) -> None:
    terrain = generate("dome", size=40, seed=2, cell_size=1.0)
    simulation = Simulation(terrain, model, backend=backend, edges="open")
    simulation.run(150)
    simulation.settle(30)
    before, after = terrain["elevation"], simulation.terrain["elevation"]
    base = edge_base(before - before.min(), graded=model.edge_base == "graded")
    slack = 1e-4  # float32 on the way in and out
    assert (after[0] - before.min() >= base["base_north"] - slack).all()
    assert (after[-1] - before.min() >= base["base_south"] - slack).all()
    assert (after[:, 0] - before.min() >= base["base_west"] - slack).all()
    assert (after[:, -1] - before.min() >= base["base_east"] - slack).all()
    if model.edge_base == "graded":
        y, x = border_ring(40, 40)
        assert (after[y, x] <= before[y, x] + slack).all()
        assert simulation.budget.solids_exported > 0


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_another_base_law_takes_effect_between_steps(backend: str) -> None:
    terrain = generate("dome", size=30, seed=2, cell_size=1.0)
    switched = Simulation(terrain, preset("single_grid").replace(edge_base="initial"), backend=backend)
    switched.model = preset("single_grid")
    straight = Simulation(terrain, preset("single_grid"), backend=backend)
    for simulation in (switched, straight):
        simulation.run(40)
    np.testing.assert_array_equal(switched.terrain["elevation"], straight.terrain["elevation"])
