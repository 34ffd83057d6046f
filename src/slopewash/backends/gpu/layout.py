"""Layout of a grid in a buffer, and the bands of rows that kernels bind."""

from __future__ import annotations

from dataclasses import dataclass

from slopewash.errors import BackendUnavailable

GROUP = 64
"""Cells of a workgroup, side by side in a row; rows are padded to a multiple of it."""
MIB = 1 << 20


@dataclass(frozen=True)
class Band:
    """Rows `first` to `last` (excluded) are computed; rows `origin` to `end` (excluded) are bound."""

    first: int
    last: int
    origin: int
    end: int


@dataclass(frozen=True)
class Layout:
    """Rows are `stride` cells apart. With `ghosts`, copies of the opposite edge rows lie before and after them.

    A stride of whole workgroups also aligns every row with the start of a binding (multiples of 256 bytes).
    """

    rows: int
    columns: int
    bands: tuple[Band, ...]
    ghosts: bool

    @property
    def stride(self) -> int:
        """Cells from one row to the next."""
        return -(-self.columns // GROUP) * GROUP

    @property
    def lead(self) -> int:
        """Rows before row 0."""
        return int(self.ghosts)

    @property
    def cells(self) -> int:
        """Cells in a buffer, with ghosts and what pads the rows."""
        return (self.rows + 2 * self.lead) * self.stride

    @property
    def groups(self) -> int:
        """Workgroups that cover the grid."""
        return self.rows * self.stride // GROUP

    def part(self, band: Band, cell: int) -> tuple[int, int]:
        """Offset and size in bytes of the part of a field that is bound for a band."""
        row = self.stride * cell
        return (band.origin + self.lead) * row, (band.end - band.origin) * row


def lay_out(
    rows: int, columns: int, *, widest: int, periodic: bool, largest_binding: int, largest_buffer: int, adapter: str,
    whole: bool = False, ring: int = 0,
) -> Layout:  # fmt: skip
    """Find bands such that the widest field (bytes per cell) can be bound, or raise with the size that fits.

    `whole` allows one band only; `ring` rows and columns on either side are internal, and not counted in messages.

    >>> layout = lay_out(
    ...     100, 70, widest=16, periodic=False, largest_binding=2**16, largest_buffer=2**20, adapter="a card"
    ... )
    >>> layout.stride, [(band.first, band.last, band.origin, band.end) for band in layout.bands]
    (128, [(0, 25, 0, 26), (25, 50, 24, 51), (50, 75, 49, 76), (75, 100, 74, 100)])
    """
    row = -(-columns // GROUP) * GROUP * widest
    bound = largest_binding // row  # rows that fit a binding
    count = 1 if rows <= bound else -(-rows // max(bound - 2, 1))
    ghosts = periodic and count > 1
    size = (rows + 2 * ghosts) * row
    if size > largest_buffer or bound < 3 or (whole and count > 1):
        by_binding = size <= largest_buffer
        limit, name = (largest_binding, "binding") if by_binding else (largest_buffer, "buffer")
        side = largest_square(widest, min(limit, largest_binding) if whole else largest_buffer) - 2 * ring
        raise BackendUnavailable(
            f"a grid of {columns - 2 * ring} x {rows - 2 * ring} cells needs {size / MIB:.0f} MiB for a field; "
            f"{adapter} allows {limit / MIB:.0f} MiB per {name}: take at most {side} x {side} cells, or backend cpu"
        )
    bands = []
    for k in range(count):
        first, last = k * rows // count, (k + 1) * rows // count
        if count == 1:
            bands.append(Band(0, rows, 0, rows))
        elif ghosts:
            bands.append(Band(first, last, first - 1, last + 1))
        else:
            bands.append(Band(first, last, max(first - 1, 0), min(last + 1, rows)))
    return Layout(rows, columns, tuple(bands), ghosts)


def largest_square(widest: int, largest_buffer: int) -> int:
    """Cells along the side of the largest square grid whose fields fit a buffer."""
    side = int((largest_buffer / widest) ** 0.5)
    while side and side * (-(-side // GROUP) * GROUP) * widest > largest_buffer:
        side -= 1
    return side
