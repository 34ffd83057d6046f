"""Water sources: discs on which water wells up."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidTerrain


@dataclass(frozen=True, kw_only=True)
class WaterSource:
    """A disc on which water wells up at a constant rate.

    Positions are metres from the outer corner of the north-west cell: x to the east, y to the south. A disc always
    feeds at least the cell its centre lies in.

    Parameters
    ----------
    x, y
        Centre, in metres.
    radius
        Of the disc, in metres.
    rate
        Depth of water added to each cell of the disc, in metres per unit of model time (not seconds).

    >>> WaterSource(x=120, y=80, radius=30, rate=0.5)
    WaterSource(x=120, y=80, radius=30, rate=0.5)
    """

    x: float
    y: float
    radius: float
    rate: float
    """Depth of water added to each cell of the disc, in metres per unit of model time."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "radius", "rate"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                raise InvalidTerrain(f"water source: {name} is {value}; it must be a finite number")
        if self.radius <= 0:
            raise InvalidTerrain(f"water source: radius is {self.radius} m; it must be positive")
        if self.rate < 0:
            raise InvalidTerrain(f"water source: rate is {self.rate} m per unit time; it must not be negative")

    def footprint(
        self, shape: tuple[int, int], cell_size: float, window: tuple[slice, slice] | None = None
    ) -> NDArray[np.bool_]:
        """Cells of a grid of `shape`, or of a window of it, that this source feeds."""
        rows, columns = shape
        south, east = (slice(0, rows), slice(0, columns)) if window is None else window
        if not (0 <= self.x < columns * cell_size and 0 <= self.y < rows * cell_size):
            raise InvalidTerrain(
                f"water source at ({self.x:g}, {self.y:g}) m lies outside the terrain of "
                f"{columns * cell_size:g} x {rows * cell_size:g} m"
            )
        y = (np.arange(south.start, south.stop) + 0.5)[:, None] * cell_size - self.y
        x = (np.arange(east.start, east.stop) + 0.5)[None, :] * cell_size - self.x
        # Not radius**2, which raises on overflow; the quotient of a point just inside may round up to the far edge.
        fed: NDArray[np.bool_] = x * x + y * y <= self.radius * self.radius
        row, column = min(int(self.y / cell_size), rows - 1), min(int(self.x / cell_size), columns - 1)
        if south.start <= row < south.stop and east.start <= column < east.stop:
            fed[row - south.start, column - east.start] = True
        return fed


def source_table(sources: Sequence[WaterSource]) -> NDArray[np.float64]:
    """Sources as rows of x, y, radius and rate."""
    return np.array([astuple(source) for source in sources], np.float64).reshape(-1, 4)


def sources_of(table: NDArray[np.float64]) -> tuple[WaterSource, ...]:
    """Sources from what `source_table` gave.

    >>> sources_of(source_table([WaterSource(x=1.5, y=2.0, radius=3.0, rate=0.25)]))
    (WaterSource(x=1.5, y=2.0, radius=3.0, rate=0.25),)
    """
    return tuple(WaterSource(x=x, y=y, radius=radius, rate=rate) for x, y, radius, rate in table.tolist())
