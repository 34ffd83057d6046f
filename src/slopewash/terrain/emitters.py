"""Emitters: discs from which streams of water particles start."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidTerrain


@dataclass(frozen=True, kw_only=True)
class Emitter:
    """A disc on the ground that releases particles of water at a constant rate.

    Positions are metres from the outer corner of the north-west cell: x to the east, y to the south.

    >>> Emitter(x=120, y=80, radius=30, rate=20, speed=2, direction=90)
    Emitter(x=120, y=80, radius=30, rate=20, speed=2, direction=90)
    """

    x: float
    y: float
    radius: float
    rate: float
    """Particles per second."""
    speed: float = 0.0
    """Horizontal speed at which they start, in metres per second."""
    direction: float = 0.0
    """Degrees clockwise from north."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "radius", "rate", "speed", "direction"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                raise InvalidTerrain(f"emitter: {name} is {value}; it must be a finite number")
        if self.radius <= 0:
            raise InvalidTerrain(f"emitter: radius is {self.radius} m; it must be positive")
        for name, units in (("rate", "particles per second"), ("speed", "m/s")):
            if getattr(self, name) < 0:
                raise InvalidTerrain(f"emitter: {name} is {getattr(self, name)} {units}; it must not be negative")

    def check_within(self, width: float, height: float) -> None:
        """Raise if the emitter is not on the terrain."""
        if not (0 <= self.x < width and 0 <= self.y < height):
            raise InvalidTerrain(
                f"emitter at ({self.x:g}, {self.y:g}) m lies outside the terrain of {width:g} x {height:g} m"
            )


def emitter_table(emitters: Sequence[Emitter]) -> NDArray[np.float64]:
    """Emitters as rows of x, y, radius, rate, speed and direction."""
    return np.array([astuple(emitter) for emitter in emitters], np.float64).reshape(-1, 6)


def emitters_of(table: NDArray[np.float64]) -> tuple[Emitter, ...]:
    """Emitters from what `emitter_table` gave."""
    return _emitters(tuple(table.ravel().tolist()))


@lru_cache(maxsize=4)  # runs ask at every step, and validation takes longer than emitting
def _emitters(values: tuple[float, ...]) -> tuple[Emitter, ...]:
    names = [field.name for field in fields(Emitter)]
    rows = (values[first : first + len(names)] for first in range(0, len(values), len(names)))
    return tuple(Emitter(**dict(zip(names, row, strict=True))) for row in rows)
