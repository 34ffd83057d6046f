"""Base level of open edges: how far down the border of the terrain may be worn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEEPEST = 0.1
"""Largest slope along the border of a graded base level: gentle enough to leave no rough rim."""
UNITS = 2.0**32
"""Units per cell that a graded level is rounded to: far finer than float32, far coarser than float64 rounds."""


@dataclass(frozen=True)
class EdgeBase:
    """Lowest height of each border cell, in cells: the four sides, corners in both of theirs."""

    north: NDArray[Any]
    south: NDArray[Any]
    west: NDArray[Any]
    east: NDArray[Any]


def edge_base(b: NDArray[Any], *, graded: bool) -> EdgeBase:
    """Border heights of `b`; graded: the largest profile nowhere above them and nowhere steeper than `STEEPEST`."""
    rows, columns = b.shape
    level = b.copy()
    if graded:
        y, x = border_ring(rows, columns)
        level[y, x] = grade(b[y, x])
    return EdgeBase(level[0].copy(), level[-1].copy(), level[:, 0].copy(), level[:, -1].copy())


def lowered(base: EdgeBase, b: NDArray[Any]) -> EdgeBase:
    """Base level nowhere above the border of `b`; sides that stay are the same arrays, for undo keeps many of them."""
    sides = (base.north, b[0]), (base.south, b[-1]), (base.west, b[:, 0]), (base.east, b[:, -1])
    return EdgeBase(*(level if (level <= ground).all() else np.minimum(level, ground) for level, ground in sides))


def grade(heights: NDArray[Any]) -> NDArray[Any]:
    """Largest closed profile that is nowhere above `heights` and climbs at most `STEEPEST` per cell."""
    n = len(heights)
    run = STEEPEST * np.arange(3 * n)
    around = np.tile(heights.astype(np.float64), 3)
    forward = np.minimum.accumulate(around - run) + run
    backward = (np.minimum.accumulate((forward + run)[::-1]))[::-1] - run
    # Cut to whole units, so that mirrored heights have the mirrored profile to the bit.
    profile = np.minimum(np.rint(backward[n : 2 * n] * UNITS) / UNITS, heights)
    level: NDArray[Any] = profile.astype(heights.dtype)
    return level


def border_ring(rows: int, columns: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column indices of the border cells, clockwise from the north-west corner."""
    if rows == 1 or columns == 1:
        y, x = np.divmod(np.arange(rows * columns), columns)
        return y, x
    top = [(0, x) for x in range(columns)]
    right = [(y, columns - 1) for y in range(1, rows)]
    bottom = [(rows - 1, x) for x in range(columns - 2, -1, -1)]
    left = [(y, 0) for y in range(rows - 2, 0, -1)]
    y, x = np.array(top + right + bottom + left, dtype=np.intp).T
    return y, x
