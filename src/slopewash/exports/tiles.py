"""Cut the rasters of a terrain into files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from slopewash.exports.sizes import Plan


@dataclass(frozen=True)
class Tile:
    """One file of a terrain: its place from west to east and from north to south, and its rows and columns."""

    x: int
    y: int
    rows: slice
    columns: slice
    suffix: str
    """What its name ends with; empty if there is only one."""

    def of(self, raster: NDArray[Any]) -> NDArray[Any]:
        """Cut a raster of vertices."""
        return raster[self.rows, self.columns]


def cut(plan: Plan, suffix: Callable[[int, int], str], *, cells: bool = False) -> Iterator[Tile]:
    """Yield the tiles of a plan, from the north-west; `cells` are those between the vertices, one fewer a side.

    >>> plan = Plan((5, 5), (3, 3), (2, 2), True, None)
    >>> [tile.rows for tile in cut(plan, lambda x, y: f"_x{x}_y{y}")][::2]
    [slice(0, 3, None), slice(2, 5, None)]
    """
    step = [side - plan.shared for side in plan.tile]
    height, width = (side - cells for side in plan.tile)
    for y in range(plan.tiles[1]):
        for x in range(plan.tiles[0]):
            top, left = y * step[0], x * step[1]
            name = "" if plan.tiles == (1, 1) else suffix(x, y)
            yield Tile(x, y, slice(top, top + height), slice(left, left + width), name)
