"""What water reaches from the border, over all tiles: exactly what it reaches on the whole.

Each tile numbers its own connected low ground. Numbers that meet across a seam between two tiles are one, which the
rims of the tiles tell; then each tile knows which of its numbers are reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.labels import Labels, labelled
from slopewash.models.state import Sides, Window
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import Ground
from slopewash.tiles.store import Store

Mask = NDArray[np.bool_]
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]


class Low(Protocol):
    """Low ground, of which the part is asked for that water reaches."""

    @property
    def store(self) -> Store:
        """Where it is kept."""

    @property
    def grid(self) -> TileGrid:
        """Its tiles."""

    @property
    def sides(self) -> Sides:
        """What lies beyond the whole."""

    @property
    def diagonally(self) -> bool:
        """Whether water passes between two cells that touch at a corner only."""

    def look(self, core: Window) -> tuple[Mask, Mask]:
        """Low ground in a window, and where water comes in."""


@dataclass(frozen=True)
class OfGround:
    """Low ground of a ground on tiles."""

    ground: Ground

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self.ground.store

    @property
    def grid(self) -> TileGrid:
        """Its tiles."""
        return self.ground.grid


@dataclass(frozen=True)
class Rim:
    """Numbers of the low ground along the four sides of a tile, and which of them water comes in at."""

    lines: Mapping[str, Labels]
    begins: NDArray[np.int32]


def field_at(path: str) -> Field:
    """Array of what is reached."""
    return Field(path=path, dtype="bool")


def find_reached(low: Low, path: str, run: Run, label: str) -> bool:
    """Write which ground is reached to an array of the store; returns whether there is any."""
    low.store.create(field_at(path), low.grid)
    numbers = range(len(low.grid))
    rims: list[Rim] = run(rim_of, [(low, n) for n in numbers], label)
    reached = united(low.grid, rims, low.sides, diagonally=low.diagonally)
    return any(run(reached_tile, [(low, path, reached[n], n) for n in numbers], label))


def rim_of(low: Low, number: int) -> Rim:
    """Number the low ground of a tile."""
    mask, begins = low.look(low.grid.window(number))
    labels = labelled(mask, diagonally=low.diagonally)
    lines = {"north": labels[0], "south": labels[-1], "west": labels[:, 0], "east": labels[:, -1]}
    return Rim({name: line.copy() for name, line in lines.items()}, _numbers(labels[begins & mask]))


def reached_tile(low: Low, path: str, reached: NDArray[np.int32], number: int) -> bool:
    """Write which ground of a tile is reached, by the numbers that are reached from elsewhere."""
    mask, begins = low.look(low.grid.window(number))
    labels = labelled(mask, diagonally=low.diagonally)
    wet = np.zeros(int(labels.max(initial=0)) + 1, bool)
    wet[reached] = wet[labels[begins & mask]] = True
    wet[0] = False
    low.store.write(field_at(path), low.grid, number, wet[labels])
    return bool(wet.any())


def united(grid: TileGrid, rims: Sequence[Rim], sides: Sides, *, diagonally: bool) -> list[NDArray[np.int32]]:
    """Numbers of each tile that are reached; numbers which meet across a seam are one."""
    groups = groups_across(grid, [rim.lines for rim in rims], sides, diagonally=diagonally)
    wet = {of[n] for of, rim in zip(groups, rims, strict=True) for n in rim.begins.tolist() if n in of}
    return [np.array([n for n, one in of.items() if one in wet], np.int32) for of in groups]


def groups_across(
    grid: TileGrid, lines: Sequence[Mapping[str, Labels]], sides: Sides, *, diagonally: bool
) -> list[dict[int, int]]:
    """Give the numbers along the sides of all tiles one number, for each tile, where they meet across a seam."""
    known = [_numbers(np.concatenate(list(of.values()))) for of in lines]
    first = np.concatenate([[0], np.cumsum([len(numbers) for numbers in known])])
    parent = list(range(int(first[-1])))

    def global_line(tile: int, name: str) -> NDArray[np.int64]:
        """Numbers along a side that are unique over all tiles; -1 where there is none."""
        line = lines[tile][name]
        return np.where(line > 0, first[tile] + np.searchsorted(known[tile], line), -1)

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    rows, columns = grid.counts
    pairs: list[NDArray[np.int64]] = []
    for row in range(rows if sides.wraps_rows else rows - 1):
        below = (row + 1) % rows
        one = np.concatenate([global_line(row * columns + column, "south") for column in range(columns)])
        other = np.concatenate([global_line(below * columns + column, "north") for column in range(columns)])
        pairs += _meeting(one, other, diagonally=diagonally, wraps=sides.wraps_columns)
    for column in range(columns if sides.wraps_columns else columns - 1):
        beside = (column + 1) % columns
        one = np.concatenate([global_line(row * columns + column, "east") for row in range(rows)])
        other = np.concatenate([global_line(row * columns + beside, "west") for row in range(rows)])
        pairs += _meeting(one, other, diagonally=diagonally, wraps=sides.wraps_rows)
    for a, b in np.unique(np.concatenate(pairs), axis=0).tolist() if pairs else ():
        parent[root(a)] = root(b)
    return [
        {int(n): root(int(first[tile]) + place) for place, n in enumerate(numbers)}
        for tile, numbers in enumerate(known)
    ]


def _meeting(
    one: NDArray[np.int64], other: NDArray[np.int64], *, diagonally: bool, wraps: bool
) -> list[NDArray[np.int64]]:
    """Pairs of numbers that meet across a seam, of which these are the two sides."""
    met = [np.stack([one, other], axis=1)]
    if diagonally and len(one) > 1:
        met += [np.stack([one[:-1], other[1:]], axis=1), np.stack([one[1:], other[:-1]], axis=1)]
        if wraps:
            met += [np.stack([one[-1:], other[:1]], axis=1), np.stack([one[:1], other[-1:]], axis=1)]
    return [np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0) for pairs in met]


def _numbers(labels: Labels) -> NDArray[np.int32]:
    found = np.unique(labels)
    return found[found > 0]
