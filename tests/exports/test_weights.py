"""Paints: what the rules say, and how shares become bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from slopewash.exports.quantities import quantities_of
from slopewash.exports.rules import RULES
from slopewash.exports.weights import as_bytes, weights_of
from slopewash.terrain import Terrain


@given(arrays(np.float32, (5, 7, 9), elements=st.floats(0, 1, width=32)))
def test_bytes_sum_to_255_and_are_within_one_step(shares: np.ndarray) -> None:
    shares = shares + np.float32(1e-3)
    shares /= shares.sum(axis=0)
    layers = as_bytes({str(k): share for k, share in enumerate(shares)})
    total = np.sum([layer.astype(int) for layer in layers.values()], axis=0)
    assert (total == 255).all()
    for layer, share in zip(layers.values(), shares, strict=True):
        assert np.abs(layer - 255 * share.astype(np.float64)).max() < 1.001  # float32 shares do not sum to exactly 1


def test_shares_fill_every_cell_and_follow_the_rules() -> None:
    slope_up = np.concatenate([np.zeros(40), np.linspace(0, 60, 24)])  # flat, then 2.6 m per metre
    heights = np.repeat(slope_up[None, :], 64, axis=0)
    deposit = np.zeros((64, 64))
    deposit[:20, :20] = 3.0
    water = np.zeros((64, 64))
    water[40:50, 5:15] = 1.0
    terrain = Terrain(heights, cell_size=1.0, deposit=deposit, water=water)
    shares = weights_of(quantities_of(terrain, palette="alpine", season=None, snow_line=None))
    assert list(shares) == ["ground", "sediment", "rock", "water"]
    assert np.allclose(sum(shares.values()), 1)
    assert shares["sediment"][10, 10] == 1
    assert shares["water"][45, 10] == 1
    assert shares["rock"][10, 55] == 1
    assert shares["ground"][30, 30] == 1


def test_snow_lies_above_the_line_and_not_on_water() -> None:
    heights = np.repeat(np.linspace(0, 1000, 64)[:, None], 64, axis=1)
    water = np.zeros((64, 64))
    water[60, 30] = 20.0
    terrain = Terrain(heights, cell_size=100.0, water=water)
    shares = weights_of(quantities_of(terrain, palette="alpine", season=None, snow_line=600.0))
    assert shares["snow"][55, 10] == pytest.approx(1)
    assert shares["snow"][20].max() == 0
    assert shares["snow"][60, 30] == 0
    assert shares["water"][60, 30] == 1


def test_the_table_of_rules_is_documented() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f"| `{rule.name}` | {rule.doc} |" in page
