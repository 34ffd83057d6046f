"""Ways out of closed basins."""

from __future__ import annotations

import numpy as np
import pytest

import slopewash as sw


def valley_with_a_dam() -> sw.Terrain:
    """A floor that falls to the east by 1 m per cell, between walls, with a dam 20 m high."""
    ground = np.tile(np.arange(40.0, 0.0, -1.0), (9, 1))
    ground[[0, 1, -2, -1]] += 100.0
    ground[:, 0] += 100.0
    ground[:, 30] += 20.0
    return sw.Terrain(ground)


def test_a_dam_is_cut_and_the_rest_left_alone() -> None:
    dammed = valley_with_a_dam()
    cut = sw.breach_depressions(dammed, filled=0.0, fall=0.0, bank_slope=1000.0)
    assert cut[:, 30].min() == dammed["elevation"][4, 29]  # the lowest cell behind the dam
    changed = np.argwhere(cut != dammed["elevation"])
    assert set(changed[:, 1]) == {30}  # the banks are so steep that nothing beside the cut changes


def test_a_share_of_the_depth_is_filled() -> None:
    dammed = valley_with_a_dam()
    depth = sw.fill_depressions(dammed) - dammed["elevation"]
    raised = sw.breach_depressions(dammed, filled=0.25, fall=0.0, bank_slope=1000.0) - dammed["elevation"]
    behind = depth > 0
    np.testing.assert_allclose(raised[behind & (raised > 0)], 0.25 * depth[behind & (raised > 0)], rtol=1e-5)
    assert (raised[behind] > 0).mean() > 0.8


@pytest.mark.parametrize("bank_slope", [0.2, 0.5])
def test_banks_are_no_steeper_than_asked(bank_slope: float) -> None:
    start = sw.generate("ridged", size=64, cell_size=80.0, seed=4, relief=900.0)
    breached = sw.breach_depressions(start, bank_slope=bank_slope)
    dug = breached < start["elevation"] - 1.0
    steps = np.abs(np.diff(breached, axis=0))[dug[1:] & dug[:-1]]
    before = np.abs(np.diff(start["elevation"], axis=0))[dug[1:] & dug[:-1]]
    assert (steps <= np.maximum(bank_slope * 80.0, before) + 1e-2).all()


@pytest.mark.parametrize("kind", ["ridged", "fbm", "diamond_square"])
def test_nothing_is_closed_any_more(kind: str) -> None:
    start = sw.generate(kind, size=64, cell_size=80.0, seed=9, relief=900.0)
    hole = np.zeros((64, 64), bool)
    hole[30:34, 30:34] = True
    for terrain in (start, start.replace(nodata=hole)):
        breached = terrain.replace(elevation=sw.breach_depressions(terrain))
        left = (sw.fill_depressions(breached) - breached["elevation"]) * (1 if terrain.nodata is None else ~hole)
        assert left.max() < 1e-3
        assert (sw.fill_depressions(terrain) - terrain["elevation"]).max() > 10


def test_a_small_pit_costs_no_mountain() -> None:
    slope = np.tile(np.arange(64.0)[:, None] * 10.0, (1, 64))
    slope[30, 30] -= 11.0
    lowered = slope - sw.breach_depressions(sw.Terrain(slope, cell_size=10.0), fall=0.0)
    assert 0 < lowered.max() < 11.0


@pytest.mark.parametrize("kind", ["dome", "ridged", "fbm"])
def test_nothing_is_lowered_by_more_than_the_deepest_cut(kind: str) -> None:
    start = sw.generate(kind, size=64, seed=4, relief=2500.0)
    alone = start["elevation"] - sw.breach_depressions(start, bank_slope=1e6)
    lowered = start["elevation"] - sw.breach_depressions(start)
    assert lowered.max() <= alone.max() + 1e-2
    assert lowered.sum() > alone.clip(0).sum()
