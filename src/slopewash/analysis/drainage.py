"""Where water would run and stand: filled depressions, and the area that drains through every cell.

This is water to look at. The depth a simulation leaves behind shows the last shower, spread wide; a river of the same
catchment is a narrow line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis import flood
from slopewash.analysis.flow import Flow
from slopewash.analysis.labels import labelled
from slopewash.terrain import Layer, Terrain

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

DEPTH_HALVING = 0.05
"""Cells of depth that make the way across a filled hollow half as long: streams keep to the deepest ground."""


def fill_depressions(terrain: Terrain) -> Layer:
    """Return the elevation with every depression filled to its rim, in metres.

    Water leaves the terrain at its edges and at nodata cells. The result is exact: the lowest pass on any way out.

    >>> bowl = Terrain([[3, 3, 3, 3], [3, 1, 2, 3], [3, 3, 2.5, 3], [3, 3, 3, 3]])
    >>> fill_depressions(bowl)[1, 1].item()
    3.0
    """
    return Flow(terrain).filled


def drainage_area(terrain: Terrain) -> Layer:
    """Return the area that drains through every cell, itself included, in m².

    Water follows the steepest descent in any direction (D-infinity, [Tarboton97]) over the filled ground and leaves at
    edges and nodata cells. The areas of these sum to that of the terrain. Where the ground is level, a stream shared
    so has less than the whole catchment, which `analysis.catchments` and `analysis.flow_accumulation` give (D8).

    >>> slope = Terrain([[2.0, 2.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], cell_size=10.0)
    >>> drainage_area(slope)[:, 1].tolist()
    [100.0, 100.0, 200.0]
    """
    return Drainage(terrain).area


class Drainage:
    """The ways water takes over a terrain; each result is computed when first asked for."""

    def __init__(self, terrain: Terrain) -> None:
        self.shape = terrain.shape
        self.cell_size = terrain.cell_size
        missing = np.zeros(terrain.shape, bool) if terrain.nodata is None else terrain.nodata
        self.missing: NDArray[np.bool_] = np.pad(missing, 1, constant_values=True)
        self.ground: Floats = np.pad(terrain["elevation"].astype(np.float64), 1).ravel()
        across = terrain.shape[1] + 2
        self.steps: Cells = np.array([1, across + 1, across, across - 1, -1, -across - 1, -across, -across + 1])

    @cached_property
    def outlet(self) -> NDArray[np.bool_]:
        """Cells at which water leaves: those beside an edge or beside nodata."""
        missing = self.missing
        rows, columns = self.shape
        beside = np.zeros_like(missing)
        for down in range(3):
            for right in range(3):
                beside[1:-1, 1:-1] |= missing[down : down + rows, right : right + columns]
        return (beside & ~missing).ravel()

    @cached_property
    def _flooded(self) -> _Flooded:
        size = self.ground.size
        state = np.where(self.missing.ravel(), np.int8(flood.MISSING), np.int8(flood.FAR))
        level, detour = np.zeros(size), np.zeros(size)
        parent, order, queue, place = (np.zeros(size, np.int64) for _ in range(4))
        scale = 1 / (DEPTH_HALVING * self.cell_size)
        done = flood.flood(
            self.ground, self.outlet, state, self.steps, scale, level, detour, parent, order, queue, place
        )
        return _Flooded(state, level, detour, parent, order, done)

    @property
    def _course(self) -> tuple[object, ...]:
        """What the kernels need to send water on its way."""
        wet = self._flooded
        return (
            wet.order, wet.done, self.outlet, wet.state, self.steps, wet.level, wet.detour, wet.parent, np.zeros(9),
        )  # fmt: skip

    @property
    def parent(self) -> Cells:
        """Neighbour through which the flood reached each cell of the framed grid."""
        return self._flooded.parent

    @property
    def level(self) -> Floats:
        """Height to which water stands or flows in each cell of the framed grid."""
        return self._flooded.level

    @property
    def order(self) -> Cells:
        """Cells of the framed grid as they drained: each after its parent."""
        return self._flooded.order[: self._flooded.done]

    @cached_property
    def filled(self) -> Layer:
        """Elevation with depressions filled, in metres."""
        return self.layer(self._flooded.level)

    @cached_property
    def area(self) -> Layer:
        """Area that drains through every cell, in m²."""
        area = np.where(self.missing.ravel(), 0.0, self.cell_size**2)
        flood.spread(*self._course, False, area)
        return self.layer(area)

    @cached_property
    def straight_area(self) -> Layer:
        """Area that drains through every cell, in m², with shares that keep the direction of steepest descent."""
        area = np.where(self.missing.ravel(), 0.0, self.cell_size**2)
        flood.spread(*self._course, True, area)
        return self.layer(area)

    @cached_property
    def lines(self) -> Lines:
        """The one way that water takes from each cell."""
        size = self.ground.size
        area = np.where(self.missing.ravel(), 0.0, self.cell_size**2)
        receiver, donor = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        flood.connect(*self._course, area, receiver, donor, np.zeros(size))
        return Lines(receiver, donor, area)

    @cached_property
    def hollows(self) -> Cells:
        """Number of the depression that a cell lies in, from 1; 0 outside. Water that hangs together is one."""
        below = (self._flooded.level > self.ground) & ~self.missing.ravel()
        return labelled(_inner(below, self.shape), diagonally=True).astype(np.int64)

    def layer(self, values: Floats) -> Layer:
        """Values of the framed grid as a layer of the terrain."""
        return _inner(values, self.shape).astype(np.float32)


def _inner(values: NDArray[Scalar], shape: tuple[int, int]) -> NDArray[Scalar]:
    """Values of a framed grid without its frame."""
    return values.reshape(shape[0] + 2, shape[1] + 2)[1:-1, 1:-1]


@dataclass(frozen=True)
class _Flooded:
    """What `flood.flood` works out, per cell of the framed grid."""

    state: NDArray[np.int8]
    level: Floats
    detour: Floats
    parent: Cells
    order: Cells
    done: int


@dataclass(frozen=True)
class Lines:
    """A tree of flow lines, per cell of the framed grid."""

    receiver: Cells
    """Cell that the water goes to; -1 where it leaves."""
    donor: Cells
    """Cell that most of the water comes from; -1 on a divide."""
    area: Floats
    """Area that drains through the cell along such lines, in m²."""
