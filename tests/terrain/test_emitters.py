from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidTerrain
from slopewash.terrain import Emitter, Terrain


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": float("nan")}, "emitter: x is nan; it must be a finite number"),
        ({"direction": "north"}, "emitter: direction is north; it must be a finite number"),
        ({"radius": 0.0}, "emitter: radius is 0.0 m; it must be positive"),
        ({"rate": -1.0}, "emitter: rate is -1.0 particles per second; it must not be negative"),
        ({"speed": -2.0}, "emitter: speed is -2.0 m/s; it must not be negative"),
    ],
)
def test_an_impossible_emitter_is_rejected_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x": 1.0, "y": 1.0, "radius": 1.0, "rate": 1.0, **changes}
    with pytest.raises(InvalidTerrain) as caught:
        Emitter(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(("x", "y"), [(-0.1, 5.0), (40.0, 5.0), (5.0, 30.0)])
def test_an_emitter_outside_its_terrain_is_rejected(x: float, y: float) -> None:
    with pytest.raises(InvalidTerrain, match="lies outside the terrain of 40 x 30 m"):
        Terrain(np.zeros((3, 4)), cell_size=10.0, emitters=[Emitter(x=x, y=y, radius=1.0, rate=1.0)])


def test_a_terrain_keeps_its_emitters() -> None:
    emitter = Emitter(x=5, y=5, radius=1, rate=1)
    terrain = Terrain(np.zeros((3, 4)), cell_size=10.0, emitters=[emitter])
    assert terrain.replace(water=1.0).emitters == (emitter,)
    assert "1 emitter" in repr(terrain)
    with pytest.raises(InvalidTerrain, match="emitters holds 'spring'; each must be of type Emitter"):
        terrain.replace(emitters=["spring"])
