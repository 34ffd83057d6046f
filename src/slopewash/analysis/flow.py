"""Where water flows: depressions filled, one neighbour for the water of each cell (D8), and the areas that add up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis import flow_kernels, priority_flood
from slopewash.analysis.priority_flood import NONE, NOWHERE, SLICES, UNSEEN
from slopewash.errors import InvalidParameter
from slopewash.terrain import Layer, Terrain, check_terrain

Scalar = TypeVar("Scalar", bound=np.generic)
Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Numbers = NDArray[np.int32]

CODES = np.array([1, 2, 4, 8, 16, 32, 64, 128], np.uint8)
"""What geographic information systems call the eight neighbours, clockwise from the east."""
OUTLET_CODE, NODATA_CODE = 0, 247
MOST_CELLS = 2**31 - 1


class Flow:
    """The D8 flow over the filled ground of a terrain; each result is computed when first asked for.

    Water leaves at the edges of the terrain and at cells beside nodata. Elsewhere it goes to the neighbour of steepest
    descent, and over filled ground towards the lowest pass, by which the depression was flooded.

    With `gather`, streams that would run side by side over a smooth valley floor are drawn together, and keep to the
    direction of steepest descent as a whole instead of to the grid's eight, as `add_water` does.

    >>> valley = Flow(Terrain([[4, 4, 4], [3, 2, 3], [3, 1, 3], [3, 0, 3]], cell_size=10.0))
    >>> valley.directions[1, 1].item(), valley.area[:, 1].tolist()
    (4, [100.0, 100.0, 200.0, 300.0])
    """

    def __init__(self, terrain: Terrain, *, gather: bool = False) -> None:
        check_terrain(terrain)
        self._gathered_from = terrain if gather else None
        self.shape = terrain.shape
        self.cell_size = terrain.cell_size
        rows, columns = terrain.shape
        if (rows + 2) * (columns + 2) > MOST_CELLS:
            raise InvalidParameter(f"the terrain has {columns} x {rows} cells; the flow takes {MOST_CELLS} at most")
        self._across = columns + 2
        across = self._across
        self._steps: NDArray[np.int64] = np.array(
            [1, across + 1, across, across - 1, -1, -across - 1, -across, -across + 1]
        )
        self._ground: NDArray[np.float32] = np.zeros((rows + 2, across), np.float32)
        self._ground[1:-1, 1:-1] = terrain["elevation"]
        self._ground += np.float32(0.0)  # no negative zeros, which sort below zero
        self._missing: NDArray[np.bool_] = np.ones((rows + 2, across), np.bool_)
        self._missing[1:-1, 1:-1] = False if terrain.nodata is None else terrain.nodata

    @cached_property
    def _outlets(self) -> NDArray[np.bool_]:
        """Cells beside an edge or beside nodata, in the framed grid."""
        missing = self._missing
        beside = np.zeros_like(missing)
        if missing[1:-1, 1:-1].any():
            rows, columns = self.shape
            for down in range(3):
                for right in range(3):
                    beside[1:-1, 1:-1] |= missing[down : down + rows, right : right + columns]
        else:
            beside[[1, -2], 1:-1] = beside[1:-1, 1] = beside[1:-1, -2] = True
        return beside & ~missing

    @cached_property
    def _filled(self) -> tuple[NDArray[np.float32], Codes]:
        """Level to which water stands or flows, and the way out of level ground."""
        level = self._ground.ravel().copy()
        back = np.where(self._missing.ravel(), np.uint8(NOWHERE), np.uint8(UNSEEN))
        waiting = np.full(SLICES, NONE, np.int32)
        # Room that is never touched costs nothing.
        following, pool, climb = (np.empty(level.size, np.int32) for _ in range(3))
        lowest, highest = (float(end(self._ground)) for end in (np.min, np.max))
        slices_per_metre = SLICES / (highest - lowest) if highest > lowest else 0.0
        priority_flood.fill(
            np.flatnonzero(self._outlets), self._steps, lowest, slices_per_metre, level, level.view(np.int32), back,
            waiting, following, np.empty(level.size, np.int64), pool, climb,
        )  # fmt: skip
        return level, back

    @cached_property
    def _closed(self) -> NDArray[np.bool_]:
        return (self._missing | self._outlets).ravel()

    @cached_property
    def way(self) -> Codes:
        """Number of the neighbour that each cell of the framed grid drains to, or 255."""
        if self._gathered_from is not None:
            return self._gathered_way(self._gathered_from)
        level, back = self._filled
        way = back.copy()
        rows, columns = self.shape
        flow_kernels.steepest(level, self._closed, self._steps, self._across, rows, columns, way)
        return way

    def _gathered_way(self, terrain: Terrain) -> Codes:
        from slopewash.analysis.drainage import Drainage
        from slopewash.analysis.rivers import gathered

        receiver = gathered(terrain, Drainage(terrain)).lines.receiver
        way = np.full(receiver.size, NOWHERE, np.uint8)
        step = receiver - np.arange(receiver.size)
        for number, one in enumerate(self._steps):
            way[(receiver >= 0) & (step == one)] = number
        return way

    def _donors(self) -> Codes:
        donors = np.zeros(self.way.size, np.uint8)
        flow_kernels.count_donors(self.way, self._steps, donors)
        return donors

    @cached_property
    def order(self) -> Numbers:
        """Cells of the framed grid, each after all that drain into it."""
        order = np.empty(self.way.size, np.int32)
        missing = self._missing.ravel()
        count = flow_kernels.sort_downstream(self.way, self._steps, self._donors(), missing, order)
        return order[:count]

    @cached_property
    def filled(self) -> Layer:
        """Elevation with every depression filled to its rim, in metres."""
        return self.inner(self._filled[0]).copy()

    @cached_property
    def directions(self) -> Codes:
        """Direction of flow: 1 east, 2 south-east, 4 south ... 128 north-east; 0 at outlets, 247 for nodata."""
        codes = np.append(np.resize(CODES, 255), np.uint8(OUTLET_CODE))[self.inner(self.way)]
        codes[self.inner(self._missing)] = NODATA_CODE
        return np.asarray(codes, np.uint8)

    @cached_property
    def cells(self) -> Numbers:
        """Number of cells that drain through each cell, itself included; 0 in nodata."""
        return self.inner(self.summed(np.ones(self.way.size, np.int32)))

    @cached_property
    def area(self) -> Floats:
        """Area that drains through each cell, itself included, in m²."""
        return self.cells * np.float64(self.cell_size**2)

    def summed(self, amount: NDArray[Any]) -> NDArray[Any]:
        """Amounts of the framed grid, summed along the flow."""
        missing = self._missing.ravel()
        amount = np.where(missing, amount.dtype.type(0), amount.ravel())
        flow_kernels.accumulate(self.way, self._steps, self._donors(), missing, amount)
        return amount

    def smooth_path(self, path: Sequence[tuple[int, int]], through: int = 0) -> Floats:
        """Rows and columns of a path from cell to cell, moved so that it bends smoothly, as `add_water` draws rivers.

        In a valley it stays there, and so do both ends and the cell with the number `through` in the path.

        >>> plain = Flow(Terrain([[0.0] * 5] * 5))
        >>> plain.smooth_path([(1, 0), (1, 1), (2, 2), (2, 3)]).round(2).tolist()
        [[1.0, 0.0], [1.33, 1.0], [1.67, 2.0], [2.0, 3.0]]
        """
        from slopewash.analysis.rivers import smoothed

        points = np.array(path, np.int64).reshape(-1, 2)
        cells, ground = (points[:, 0] + 1) * self._across + points[:, 1] + 1, self._ground.ravel().astype(np.float64)
        around = ground[cells + self._steps[:, None]] - ground[cells]
        numbers = np.arange(len(points))
        held = np.isin(numbers, [0, through, len(points) - 1])
        up, down = (np.where(held, numbers, numbers + step) for step in (-1, 1))
        return smoothed(points.T.astype(np.float64), up, down, around / self.cell_size).T

    @cached_property
    def catchments(self) -> Numbers:
        """Number of the catchment that a cell belongs to, 1 for the largest; 0 in nodata."""
        counts = np.zeros(self.way.size, np.int32)
        self._put(counts, self.cells)
        outlets = np.flatnonzero(self._outlets)
        outlets = outlets[np.argsort(-counts[outlets], kind="stable")]
        number = np.zeros(self.way.size, np.int32)
        number[outlets] = np.arange(1, outlets.size + 1)
        flow_kernels.label(self.order, self.way, self._steps, number)
        return self.inner(number)

    @cached_property
    def upstream_length(self) -> Floats:
        """Length of the longest way that water takes to each cell, in metres."""
        length = np.zeros(self.way.size)
        flow_kernels.measure_length(self.order, self.way, self._steps, length)
        return self.inner(length) * self.cell_size

    @cached_property
    def slope(self) -> Floats:
        """Slope along the flow over the filled ground; 0 where water leaves."""
        level, number = self._filled[0], np.minimum(self.way, 8)  # 8: stays where it is
        below = np.arange(level.size) + np.append(self._steps, 0)[number]
        drop = level.astype(np.float64) - level[below]
        return self.inner(drop / np.where(number % 2 == 1, flow_kernels.DIAGONAL, 1.0)) / self.cell_size

    def stream_orders(self, channel_area: float) -> tuple[Codes, NDArray[np.bool_]]:
        """Strahler's order of each cell that drains that many m² or more, 0 elsewhere; and where streams begin."""
        channel = np.zeros(self.way.size, np.bool_)
        self._put(channel, self.area >= channel_area)
        highest, ties, rank = (np.zeros(self.way.size, np.uint8) for _ in range(3))
        begins = np.zeros(self.way.size, np.bool_)
        flow_kernels.rank_streams(self.order, self.way, self._steps, channel, highest, ties, rank, begins)
        return self.inner(rank), self.inner(begins)

    def _put(self, framed: NDArray[Any], values: NDArray[Any]) -> None:
        framed.reshape(self._missing.shape)[1:-1, 1:-1] = values

    def inner(self, framed: NDArray[Scalar]) -> NDArray[Scalar]:
        """Values of the framed grid without its frame."""
        return framed.reshape(self._missing.shape)[1:-1, 1:-1]


def flow_directions(terrain: Terrain) -> Codes:
    """Return the D8 direction of flow over the filled ground, in the codes of geographic information systems.

    1 is east, 2 south-east, 4 south, 8 south-west, 16 west, 32 north-west, 64 north and 128 north-east; 0 is a cell at
    which water leaves, 247 nodata.

    >>> flow_directions(Terrain([[2, 2, 2], [2, 1, 0], [2, 2, 2]]))[1].tolist()
    [0, 1, 0]
    """
    return Flow(terrain).directions


def flow_accumulation(terrain: Terrain, *, method: Literal["d8", "dinf"] = "d8") -> Layer:
    """Return the area that drains through each cell, itself included, in m².

    Parameters
    ----------
    terrain
        The ground; depressions are filled first.
    method
        "d8": all water of a cell goes to the neighbour of steepest descent [OCallaghan84]. "dinf": it goes in the
        direction of steepest descent, shared between the two neighbours beside it [Tarboton97], by the place where that
        line passes between them. Shared by angle, as published and as in `drainage_area`, water drifts off by up to 4
        degrees, and areas do not converge as cells become small.

    >>> slope = Terrain([[2.0, 2.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], cell_size=10.0)
    >>> flow_accumulation(slope)[:, 1].tolist()
    [100.0, 100.0, 200.0]
    """
    if method == "d8":
        return Flow(terrain).area.astype(np.float32)
    if method != "dinf":
        raise InvalidParameter(f'method is "{method}"; it must be "d8" or "dinf"')
    from slopewash.analysis.drainage import Drainage

    return Drainage(terrain).straight_area


def catchments(terrain: Terrain) -> Numbers:
    """Return the number of the catchment that each cell drains to, 1 for the largest, 0 for nodata.

    >>> ridge = Terrain([[0, 1, 3, 1, 0]] * 3)
    >>> catchments(ridge)[1].tolist()[::4]
    [2, 1]
    """
    return Flow(terrain).catchments


def stream_orders(terrain: Terrain, *, channel_area: float) -> Codes:
    """Return Strahler's order of each cell through which `channel_area` m² drain or more, 0 elsewhere.

    >>> valley = Terrain(np.abs(np.arange(9.0) - 4) + np.arange(9.0)[::-1, None])
    >>> stream_orders(valley, channel_area=9.0)[4:, 4].tolist()
    [1, 1, 1, 1, 1]
    """
    if not (np.isfinite(channel_area) and channel_area >= 0):
        raise InvalidParameter(f"channel_area is {channel_area} m²; it must be finite and not negative")
    return Flow(terrain).stream_orders(channel_area)[0]
