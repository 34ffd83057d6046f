"""Where the fused kernel keeps its rows.

An iteration in flight keeps each field in a ring of as many rows as are still read when the newest is written: the
fewer there are, the more of them are found in the cache. Below, pour works on row y, flow on y - 1, work on y - 2 and
carry on y - 3, and the iteration that follows is three rows behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slopewash.backends.compiled import inlined, stage_kernel
from slopewash.backends.row_views import row_of

# State fields, in the order they are stored.
B, W, S, R, FW, FE, FN, FS, FNW, FNE, FSW, FSE = range(12)
"""The last four only where water runs to eight neighbours; where there is a bedrock, its surface comes last."""
# Temporaries of one iteration in flight. Eight-pipe and fall-line slides share places.
H, D1, W1, SHARE, S1, WEIGHT, TALUS, SENT, C, SOUTH, U, V = range(12)
GX, GY, EAST = WEIGHT, TALUS, SENT
Q = U
# Only with loose cover: soil through the faces, what part of it is there, cover that stays.
SOIL_EAST, SOIL_SOUTH, PORTION, COVER = range(12, 16)
# Rows used and forgotten within a stage.
D2, DELTA, SLID, MOVES, DRIED, SPARE = range(6)
SCRATCH = 6

LIVES = np.array([3, 3, 5, 4, 3, 3, 3, 2, 2, 3, 2, 2, 2, 3, 3, 2])
"""Rows of each temporary: water, for example, is poured in row y and last carried from y - 4."""
STARTS = np.cumsum(LIVES) - LIVES
"""Where they begin. Rows stand side by side, as far as they are used: gaps would leave parts of the cache empty."""
WITHOUT_COVER, WITH_COVER = int(STARTS[SOIL_EAST]), int(LIVES.sum())
"""Rows of all of them."""


class Ring(NamedTuple):
    """How an iteration keeps rows of the state: row y of field k stands at `start + k * pitch + y % rows`."""

    rows: int
    start: int
    pitch: int


# One after another: five rows of B, one of W, three of S, five of R, and four of each other field.
OF_GROUND, OF_WATER, OF_SEDIMENT, OF_PIPES = Ring(5, 0, 3), Ring(1, 4, 1), Ring(3, 4, 1), Ring(4, -2, 4)
"""Of the ground and its erodibility, rows are read from y - 2 to y - 6; of water, y - 3 alone; of sediment, from y - 3
to y - 5; of the pipes, from y - 1 to y - 4, as many as of bedrock, from y - 2 to y - 5."""
NOTHING = W
"""A row of zeros. Memory begins with a row of each field as it is beyond the grid: a wall, and nothing else."""


class Left(NamedTuple):
    """The state that an iteration leaves: rows from `low` up to `high` in whole fields, others in rings.

    The first iteration starts from whole fields, and the last one writes the rows of its band into them.
    """

    whole: int
    ring: int
    low: int
    high: int


class Place(NamedTuple):
    """One row of a state: where its first field is kept, and how far apart the others are."""

    first: int
    pitch: int


@stage_kernel
def rows_of_state(fields):
    """Rows that an iteration in flight keeps of the state."""
    return OF_PIPES.start + fields * OF_PIPES.pitch


def rows_of_band(fields: int, temporaries: int, depth: int) -> int:
    """Rows that a band of rows needs for itself, with so many iterations in flight."""
    return depth * (getattr(rows_of_state, "py_func", rows_of_state)(fields) + temporaries) + SCRATCH


@stage_kernel
def around(y, height):
    """Number of a row of the grid; beyond it come those of the other side. Dividing is slow, and hardly ever needed."""
    return y if 0 <= y < height else y % height


@inlined
def own_or_common(a, at):
    """Row of a field that has either one for each row of the grid or a single one for all."""
    return a[at if a.shape[0] > 1 else 0]


@stage_kernel
def place(state, y, ring, grid):
    """Row y of those fields that are kept in such rings."""
    if state.low <= y < state.high:
        return Place(state.whole + around(y, grid.height), grid.height)
    return Place(state.ring + ring.start + y % ring.rows, ring.pitch)


@stage_kernel
def place_or_beyond(state, y, ring, grid):
    """The same, of a row that may lie beyond the grid."""
    if not grid.wraps_rows and (y < 0 or y >= grid.height):
        return Place(0, 1)
    return place(state, y, ring, grid)


@inlined
def row(m, at, k, grid):
    """Row of a field of the state."""
    return row_of(m, at.first + k * at.pitch, grid.width)


@stage_kernel
def kept_at(t, k, y):
    """Number of row y of a temporary."""
    return t + STARTS[k] + y % LIVES[k]


@stage_kernel
def kept_at_or_nothing(t, k, y, grid):
    """The same; a row of zeros outside the grid."""
    outside = not grid.wraps_rows and (y < 0 or y >= grid.height)
    return NOTHING if outside else kept_at(t, k, y)


@inlined
def kept(m, t, k, y, grid):
    """Row y of a temporary."""
    return row_of(m, kept_at(t, k, y), grid.width)


@inlined
def kept_or_nothing(m, t, k, y, grid):
    """Row y of a temporary; zeros outside the grid."""
    return row_of(m, kept_at_or_nothing(t, k, y, grid), grid.width)


@inlined
def spare(m, scratch, k, grid):
    """A row for what is forgotten within a stage."""
    return row_of(m, scratch + k, grid.width)
