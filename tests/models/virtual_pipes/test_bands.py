"""How many iterations are in flight, and what bands do again for their neighbours."""

from __future__ import annotations

import pytest

from slopewash.models.virtual_pipes.room import DEPTH, RECOMPUTED, iterations_in_flight
from slopewash.models.virtual_pipes.sweep import LAG


def recomputed(rows: int, depth: int) -> float:
    """Rows of all stages that one band between two others works on, per row of its own, less one."""
    wanted = sum(4 * (rows + 2 * LAG * (depth - 1 - k)) + 2 * (3 + 2 + 1) for k in range(depth))
    return wanted / (4 * rows * depth) - 1


@pytest.mark.parametrize(("rows", "bands"), [(2048, 64), (2048, 16), (1024, 2), (512, 16), (4096, 64)])
def test_bands_do_little_of_their_neighbours_work(rows: int, bands: int) -> None:
    depth = iterations_in_flight(rows, bands, wraps=False)
    assert 1 <= depth <= DEPTH
    assert recomputed(rows // bands, depth) <= RECOMPUTED
    assert depth == DEPTH or recomputed(rows // bands, depth + 1) > RECOMPUTED


def test_a_single_band_has_no_neighbours_unless_the_grid_wraps() -> None:
    assert iterations_in_flight(20, 1, wraps=False) == DEPTH
    assert iterations_in_flight(20, 1, wraps=True) == 1
