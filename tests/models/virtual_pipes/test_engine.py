"""How a state becomes a terrain again."""

from __future__ import annotations

import numpy as np
import pytest
from slopewash.models.virtual_pipes.engine import by_rows, speed

from slopewash.models.ground import slope_degrees


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 23])
def test_blocks_of_rows_leave_no_seams(rows: int, edges: str) -> None:
    random = np.random.default_rng(4)
    b = random.random((rows, 11)).astype(np.float32)
    f = random.random((4, rows, 11)).astype(np.float32)
    np.testing.assert_array_equal(by_rows(slope_degrees, b, edges, block=4), slope_degrees(b, edges))  # type: ignore[arg-type]
    np.testing.assert_array_equal(by_rows(speed, f, edges, block=4), speed(f, edges).astype(np.float32))  # type: ignore[arg-type]
