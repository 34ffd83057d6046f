from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidTerrain
from slopewash.terrain import Terrain, WaterSource


def test_a_disc_feeds_the_cells_whose_centres_it_covers() -> None:
    fed = WaterSource(x=25.0, y=15.0, radius=10.0, rate=1.0).footprint((4, 5), 10.0)
    assert fed.astype(int).tolist() == [[0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]


def test_a_tiny_disc_feeds_the_cell_it_lies_in() -> None:
    fed = WaterSource(x=39.9, y=0.1, radius=1e-3, rate=1.0).footprint((3, 4), 10.0)
    assert np.argwhere(fed).tolist() == [[0, 3]]


@pytest.mark.parametrize("cell_size", [0.1, 0.3, 1 / 3, 0.7, 1.1, 7.3, 30.9])
def test_a_point_just_inside_the_far_corner_feeds_the_last_cell(cell_size: float) -> None:
    # Dividing such a point by the cell size can round up to the number of cells.
    for cells in range(1, 60):
        edge = float(np.nextafter(cells * cell_size, 0.0))
        fed = WaterSource(x=edge, y=edge, radius=1e-9, rate=1.0).footprint((cells, cells), cell_size)
        assert np.argwhere(fed).tolist() == [[cells - 1, cells - 1]]


def test_an_enormous_disc_feeds_every_cell() -> None:
    assert WaterSource(x=1.0, y=1.0, radius=1e200, rate=1.0).footprint((3, 4), 1.0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": float("nan")}, "water source: x is nan; it must be a finite number"),
        ({"y": "north"}, "water source: y is north; it must be a finite number"),
        ({"radius": 0.0}, "water source: radius is 0.0 m; it must be positive"),
        ({"rate": -1.0}, "water source: rate is -1.0 m per unit time; it must not be negative"),
    ],
)
def test_an_impossible_source_is_rejected_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x": 1.0, "y": 1.0, "radius": 1.0, "rate": 1.0, **changes}
    with pytest.raises(InvalidTerrain) as caught:
        WaterSource(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(("x", "y"), [(-0.1, 5.0), (40.0, 5.0), (5.0, 30.0)])
def test_a_source_outside_its_terrain_is_rejected(x: float, y: float) -> None:
    with pytest.raises(InvalidTerrain, match="lies outside the terrain of 40 x 30 m"):
        Terrain(np.zeros((3, 4)), cell_size=10.0, sources=[WaterSource(x=x, y=y, radius=1.0, rate=1.0)])


def test_numpy_numbers_are_numbers() -> None:
    arguments: dict[str, Any] = {"x": np.float32(1), "y": np.int64(2), "radius": np.float64(3), "rate": np.uint8(0)}
    assert WaterSource(**arguments).radius == 3
