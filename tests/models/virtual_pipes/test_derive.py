"""How a state becomes layers in metres."""

from __future__ import annotations

import numpy as np
import pytest

from slopewash.models.ground import slope_degrees
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.derive import by_rows, speed


@pytest.mark.parametrize("edges", ["closed", "open", "periodic"])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 23])
def test_blocks_of_rows_leave_no_seams(rows: int, edges: str) -> None:
    random = np.random.default_rng(4)
    b = random.random((rows, 11)).astype(np.float32)
    f = random.random((4, rows, 11)).astype(np.float32)
    sides = Sides.of(edges)
    np.testing.assert_array_equal(by_rows(slope_degrees, b, sides, block=4), slope_degrees(b, sides))
    np.testing.assert_array_equal(by_rows(speed, f, sides, block=4), speed(f, sides).astype(np.float32))
