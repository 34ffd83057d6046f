"""How a state becomes layers in metres."""

from __future__ import annotations

import numpy as np
import pytest

import slopewash as sw
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


@pytest.mark.parametrize("holes", [False, True])
def test_layers_asked_for_together_are_those_asked_for_alone(holes: bool) -> None:
    ground = sw.generate("dome", size=24, seed=3)
    if holes:
        hole = np.zeros(ground.shape, bool)
        hole[3:6, 10:14] = True
        ground = ground.replace(nodata=hole)
    simulation = sw.Simulation(ground, sw.VirtualPipes(), backend="reference")
    simulation.run(5)
    names = ("wear", "elevation", "deposit", "difference", "flow", "velocity")
    together = simulation.layers(*names)
    assert set(together) == set(names)
    for name in names:
        np.testing.assert_array_equal(together[name], simulation.layers(name)[name])
    change = ground["elevation"] - simulation.layers("elevation")["elevation"]
    known = ~hole if holes else np.ones(ground.shape, bool)
    assert np.abs(together["wear"] - together["deposit"] - change)[known].max() < 1e-3  # metres, in float32
