"""Rows in memory as kernels want them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from slopewash.backends.aligned import LINE, aligned_rows, row_stride


@pytest.mark.parametrize("width", [3, 17, 66, 130, 1026, 4098])
def test_cells_begin_on_cache_lines_that_differ_from_row_to_row(width: int) -> None:
    rows = aligned_rows(2, 3, width=width)
    assert rows.shape == (2, 3, row_stride(width, 4))
    assert rows.shape[2] >= width
    assert rows.flags.c_contiguous
    assert not rows.any()
    cells = [row[1:].ctypes.data for row in rows.reshape(-1, rows.shape[2])]
    assert all(cell % LINE == 0 for cell in cells)
    assert all((after - before) // LINE % 2 == 1 for before, after in pairwise(cells))


def test_values_of_another_size_are_aligned_too() -> None:
    rows = aligned_rows(5, width=100, dtype=np.float64)
    assert rows.dtype == np.float64
    assert all(row[1:].ctypes.data % LINE == 0 for row in rows)
