"""The place of a grid on a map, whether or not its values are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Placed(Protocol):
    """A grid with what is known of its place: a terrain, or one that no memory holds."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def crs(self) -> str | None:
        """Coordinate reference system."""

    @property
    def transform(self) -> tuple[float, ...] | None:
        """From column and row to coordinates."""


@dataclass(frozen=True)
class Grid:
    """What is known of the place of a file that is not read yet."""

    shape: tuple[int, int]
    crs: str | None
    transform: tuple[float, ...] | None


def has_coordinates(grid: Placed) -> bool:
    """Whether coordinates say where a grid lies: not where they only count from one of its corners.

    >>> import slopewash as sw
    >>> has_coordinates(sw.Terrain([[0.0]], transform=(10, 0, 0, 0, -10, 10)))
    False
    """
    if grid.transform is None:
        return False
    if grid.crs is not None:
        return True
    a, b, c, d, e, f = grid.transform
    rows, columns = grid.shape
    corners = [(a * x + b * y + c, d * x + e * y + f) for x in (0, columns) for y in (0, rows)]
    return (0.0, 0.0) not in corners
