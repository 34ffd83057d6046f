"""How a grid is cut into tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slopewash.errors import InvalidParameter
from slopewash.models.state import Window

LARGEST_CHUNK = 512
"""Cells along a chunk, the least that is read at once through Zarr."""
SMALLEST_CHUNK = 64
"""Of a tile that divides into no chunks of this size at least, the whole is one."""


@dataclass(frozen=True)
class TileGrid:
    """Tiles of equal size from the north-west corner; the last of a row or column may be smaller.

    >>> grid = TileGrid((5, 7), (4, 3))
    >>> grid.counts, len(grid), grid.window(5)
    ((2, 3), 6, (slice(4, 5, None), slice(6, 7, None)))
    """

    shape: tuple[int, int]
    tile: tuple[int, int]

    @classmethod
    def of(cls, shape: tuple[int, int], tile: int | tuple[int, int]) -> TileGrid:
        """Cut a grid into tiles of so many cells, none larger than the grid."""
        wanted = tuple(tile) if isinstance(tile, tuple | list) else (tile, tile)
        if len(wanted) != 2 or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in wanted):
            raise InvalidParameter(f"tile is {tile!r}; it must be a whole number of cells, or rows and columns")
        return cls(shape, (min(wanted[0], shape[0]), min(wanted[1], shape[1])))

    @property
    def counts(self) -> tuple[int, int]:
        """Tiles from north to south and from west to east."""
        return -(-self.shape[0] // self.tile[0]), -(-self.shape[1] // self.tile[1])

    def __len__(self) -> int:
        return self.counts[0] * self.counts[1]

    def __iter__(self) -> Iterator[Window]:
        return (self.window(number) for number in range(len(self)))

    def window(self, number: int) -> Window:
        """Rows and columns of a tile; they are numbered row by row."""
        row, column = divmod(number, self.counts[1])
        (height, width), (rows, columns) = self.tile, self.shape
        return (
            slice(row * height, min((row + 1) * height, rows)),
            slice(column * width, min((column + 1) * width, columns)),
        )

    def touched(self, window: Window) -> Iterator[int]:
        """Numbers of the tiles that a window within the grid has cells of."""
        (height, width), (rows, columns) = self.tile, window
        for row in range(rows.start // height, -(-rows.stop // height)):
            for column in range(columns.start // width, -(-columns.stop // width)):
                yield row * self.counts[1] + column

    @property
    def chunk(self) -> tuple[int, int]:
        """Rows and columns of the chunks that a tile is stored in."""
        return _divisor(self.tile[0]), _divisor(self.tile[1])

    def coarser(self, shape: tuple[int, int]) -> TileGrid:
        """Tiles of the same size on another grid."""
        return TileGrid.of(shape, self.tile)


def widened(window: Window, margin: int, shape: tuple[int, int]) -> Window:
    """A window with so many cells around it, as far as the grid goes.

    >>> widened((slice(0, 4), slice(3, 6)), 2, (9, 7))
    (slice(0, 6, None), slice(1, 7, None))
    """
    rows, columns = (
        slice(max(span.start - margin, 0), min(span.stop + margin, n)) for span, n in zip(window, shape, strict=True)
    )
    return rows, columns


def inside(core: Window, window: Window) -> Window:
    """Where a core lies in a window around it.

    >>> inside((slice(4, 6), slice(0, 3)), (slice(2, 8), slice(0, 5)))
    (slice(2, 4, None), slice(0, 3, None))
    """
    rows, columns = (slice(c.start - w.start, c.stop - w.start) for c, w in zip(core, window, strict=True))
    return rows, columns


def _divisor(cells: int) -> int:
    best = max(n for n in range(1, min(cells, LARGEST_CHUNK) + 1) if cells % n == 0)
    return best if best >= SMALLEST_CHUNK else cells
