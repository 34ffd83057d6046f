"""Depressions that are filled part by part, exactly as on the whole [Barnes16].

Each part floods from its rim, cell by cell of which has a number, and from where water leaves, which has the number 0.
Wherever ground of two numbers meets, water of one spills over to the other at some level. Over all parts these make a
graph; the lowest way from each number to 0 says how high water must stand there to leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis import flood
from slopewash.analysis.labels import root_of
from slopewash.backends.compiled import kernel

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
AHEAD = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Half of the eight neighbours: with these, each pair of neighbours is seen once."""


@dataclass(frozen=True)
class Spills:
    """Pairs of numbers, the smaller first, and the level at which water of one spills over to the other."""

    one: Numbers
    other: Numbers
    level: Floats

    @classmethod
    def lowest(cls, one: Numbers, other: Numbers, level: Floats) -> Spills:
        """Keep the lowest level of each pair, and no pairs of a number with itself."""
        apart = one != other
        a, b, at = np.minimum(one, other)[apart], np.maximum(one, other)[apart], level[apart]
        order = np.lexsort((at, b, a))
        a, b, at = a[order], b[order], at[order]
        first = np.ones(a.size, bool)
        first[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        return cls(a[first], b[first], at[first])


def flooded_part(ground: NDArray[Any], missing: Mask, leaves: Mask, rim: Mask) -> tuple[Floats, Numbers]:
    """Level to which a part is flooded if water leaves at its rim too, and the number that each cell drains to.

    Cells of the rim that are no outlets are numbered row by row from 1; -1 is nodata.
    """
    rows, columns = ground.shape
    across = columns + 2
    steps = np.array([1, across + 1, across, across - 1, -1, -across - 1, -across, -across + 1])
    framed = np.pad(ground.astype(np.float64), 1).ravel()
    no_ground = np.pad(missing, 1, constant_values=True).ravel()
    rim = rim & ~leaves & ~missing
    outlet = np.pad((leaves | rim) & ~missing, 1).ravel()
    size = framed.size
    state = np.where(no_ground, np.int8(flood.MISSING), np.int8(flood.FAR))
    level, detour = np.zeros(size), np.zeros(size)
    parent, order, queue, place = (np.zeros(size, np.int64) for _ in range(4))
    done = flood.flood(framed, outlet, state, steps, 1.0, level, detour, parent, order, queue, place)
    number = np.full(size, -1, np.int64)
    number[np.pad(leaves & ~missing, 1).ravel()] = 0
    number[np.pad(rim, 1).ravel()] = np.arange(1, np.count_nonzero(rim) + 1)
    hand_on(order, done, outlet, parent, number)
    inner = np.s_[1:-1, 1:-1]
    return level.reshape(rows + 2, across)[inner], number.reshape(rows + 2, across)[inner]


def spills_of(level: Floats, number: Numbers) -> Spills:
    """Where ground of two numbers meets in a part."""
    rows, columns = level.shape
    found = []
    for down, right in AHEAD:
        here = np.s_[: rows - down, max(0, -right) : columns - max(0, right)]
        there = np.s_[down:, max(0, right) : columns + min(0, right)]
        a, b = number[here], number[there]
        meet = (a != b) & (a >= 0) & (b >= 0)
        found.append((a[meet], b[meet], np.maximum(level[here], level[there])[meet]))
    one, other, at = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Spills.lowest(one, other, at)


def levels_out(count: int, spills: Spills) -> Floats:
    """Level at which water of each number can leave: of the lowest way to 0. That of 0 is -inf.

    >>> levels_out(3, Spills(np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([5.0, 3.0, 9.0]))).tolist()
    [-inf, 5.0, 5.0]
    """
    order = np.argsort(spills.level, kind="stable")
    level = np.full(count, np.inf)
    level[0] = -np.inf
    join_from_lowest(
        spills.one[order], spills.other[order], spills.level[order], np.arange(count), np.arange(count), level
    )
    return level


@kernel
def hand_on(order, done, outlet, parent, number):
    """Give each cell the number of the one through which it was flooded."""
    for position in range(done):
        cell = order[position]
        if not outlet[cell]:
            number[cell] = number[parent[cell]]


@kernel
def join_from_lowest(one, other, at, group, following, level):
    """Join numbers from the lowest spill on; those that come together with 0 can leave at that level.

    `following` leads round through all members of a group.
    """
    for k in range(one.size):
        a, b = root_of(group, one[k]), root_of(group, other[k])
        if a == b:
            continue
        out = root_of(group, 0)
        if a == out or b == out:
            first = b if a == out else a
            member = first
            while True:
                level[member] = at[k]
                member = following[member]
                if member == first:
                    break
        group[max(a, b)] = min(a, b)
        following[a], following[b] = following[b], following[a]
