"""Base level of open edges: how far down the border of the terrain may erode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Patch, State, Window

STEEPEST = 0.1
"""Largest slope along the border of a graded base level: gentle enough to leave no rough rim."""
UNITS = 2.0**32
"""Units per cell that a graded level is rounded to: far finer than float32, far coarser than float64 rounds."""

Field = NDArray[Any]
Base = dict[str, Field]
"""Lowest height of each border cell, in cells: the four sides, corners in both of theirs."""


def edge_base(b: Field, *, graded: bool, sea_level: float = -math.inf) -> Base:
    """Border heights of `b`; graded: the largest profile nowhere above them and nowhere steeper than `STEEPEST`.

    Rivers grade to the sea, not to its floor: the profile ends at sea level, and below it the border stays as it is.
    """
    return base_of(border(b), graded=graded, sea_level=sea_level)


def base_of(sides: Base, *, graded: bool, sea_level: float = -math.inf) -> Base:
    """The same, from the heights along the four sides."""
    if not graded:
        return {name: np.array(side) for name, side in sides.items()}
    north, south, west, east = (sides[f"base_{name}"] for name in ("north", "south", "west", "east"))
    rows, columns = len(west), len(north)
    if 1 in (rows, columns):
        ring = north if rows == 1 else west
    else:  # clockwise from the north-west corner
        ring = np.concatenate([north, east[1:], south[-2::-1], west[-2:0:-1]])
    level = np.minimum(grade(np.maximum(ring, ring.dtype.type(sea_level))), ring)
    if 1 in (rows, columns):
        ends = level[:1], level[-1:]
        across = {"base_north": level, "base_south": level, "base_west": ends[0], "base_east": ends[1]}
        along = {"base_north": ends[0], "base_south": ends[1], "base_west": level, "base_east": level}
        return {name: np.array(side) for name, side in (across if rows == 1 else along).items()}
    corner = columns - 1, columns + rows - 2, 2 * columns + rows - 3
    return {
        "base_north": level[:columns].copy(),
        "base_south": level[corner[1] : corner[2] + 1][::-1].copy(),
        "base_west": np.concatenate([level[:1], level[corner[2] :][::-1]]),
        "base_east": level[corner[0] : corner[1] + 1].copy(),
    }


def border(b: Field) -> Base:
    """The four sides of a field."""
    return {"base_north": b[0], "base_south": b[-1], "base_west": b[:, 0], "base_east": b[:, -1]}


def lowered(base: Base, ground: Base) -> Base:
    """Sides of a base level that lie above the ground somewhere, lowered to it."""
    return {name: _no_higher(level, ground[name]) for name, level in base.items() if not (level <= ground[name]).all()}


def _no_higher(level: Field, ground: Field) -> Field:
    """The lower of both, in the level's own precision and never rounded up: the ground would be lifted to it."""
    lower: Field = np.minimum(level, ground).astype(level.dtype)
    return np.where(lower > ground, np.nextafter(lower, level.dtype.type(-np.inf)), lower)


def on_border(window: Window | None, shape: tuple[int, int]) -> bool:
    """Whether part of the grid touches its border."""
    if window is None:
        return True
    rows, columns = window
    return 0 in (rows.start, columns.start) or rows.stop == shape[0] or columns.stop == shape[1]


def lowered_by(edit: Patch, state: State, shape: tuple[int, int]) -> Base:
    """Sides of the base level above the ground after an edit, lowered to it."""
    assert edit.window is not None
    rows, columns = edit.window
    dug = border(edit.values)
    touched = {
        "base_north": (rows.start == 0, columns), "base_south": (rows.stop == shape[0], columns),
        "base_west": (columns.start == 0, rows), "base_east": (columns.stop == shape[1], rows),
    }  # fmt: skip
    result = {}
    for name, (on_edge, span) in touched.items():
        if on_edge and (state[name][span] > dug[name]).any():
            result[name] = np.array(state[name])
            result[name][span] = _no_higher(state[name][span], dug[name])
    return result


def grade(heights: Field) -> Field:
    """Largest closed profile that is nowhere above `heights` and climbs at most `STEEPEST` per cell."""
    n = len(heights)
    run = STEEPEST * np.arange(3 * n)
    around = np.tile(heights.astype(np.float64), 3)
    forward = np.minimum.accumulate(around - run) + run
    backward = (np.minimum.accumulate((forward + run)[::-1]))[::-1] - run
    # Rounded to whole units, so that mirrored heights have the mirrored profile to the bit.
    profile = np.minimum(np.rint(backward[n : 2 * n] * UNITS) / UNITS, heights)
    level: Field = profile.astype(heights.dtype)
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
