"""What particles feel of a frozen surface, and the limits of erosion: whole-grid NumPy that every backend shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.velocity_field.bands import Fields, in_bands

Field = NDArray[np.float64]

STEPS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""Row and column steps to the eight neighbours."""
SHORTENING = float(np.sqrt(0.5))
"""Slope to a diagonal neighbour per unit of drop."""
NODATA_RISE = 10.0
"""Cells by which nodata counts as higher than all ground."""
EROSION_SHARE = 0.5
"""Largest part of the drop to its lowest neighbour that a cell loses in one iteration: all of it would leave flat
steps, on which water hits the ground and digs pits."""
FILL_SHARE = 0.5
"""Largest part of the rise to its lowest higher neighbour that a cell gains in one iteration, unless it is a pit."""


class Surface(NamedTuple):
    """A frozen surface in cell units, with a ring of cells beyond the edges; speeds in cells per particle step."""

    T: Field
    """elevation, rows + 2 by columns + 2"""
    ay: Field
    ax: Field
    az: Field
    """pull towards the steepest neighbour"""
    escape: Field
    """kinetic energy a particle needs to go on from here; negative where there is lower ground"""
    nodata: NDArray[np.bool_]
    """nodata, which nothing enters"""


def freeze(T: Field, nodata: NDArray[np.bool_] | None, pull: float, *, stop_in_pits: bool) -> Surface:
    """Prepare a surface for particles; `pull` is gravity in cells per step²."""
    missing = np.zeros(T.shape, np.bool_) if nodata is None else nodata
    if missing.any():
        T = np.where(missing, T[~missing].max() + NODATA_RISE, T)

    def pulls(some: Fields) -> tuple[Field, ...]:
        drops = some["T"] - around(beyond(some["T"]))
        rim = -drops.max(axis=0)
        return *steepest_pull(drops, pull), np.where(rim >= 0, np.inf if stop_in_pits else pull * rim, -1.0)

    ay, ax, az, escape = in_bands(pulls, {"T": T}, reach=1)
    return Surface(beyond(T), ay, ax, az, escape, missing)


def beyond(T: Field) -> Field:
    """Add a ring of cells: beyond an open edge the ground goes on falling as it did, and never rises."""
    padded = np.empty((T.shape[0] + 2, T.shape[1] + 2))
    padded[1:-1, 1:-1] = T
    for p in (padded[:, 1:-1], padded.T):  # rows, then columns and corners
        n = len(p) - 2
        for outer, edge, inner in ((0, 1, min(2, n)), (n + 1, n, max(n - 1, 1))):
            p[outer] = p[edge] + np.minimum(0, p[edge] - p[inner])
    return padded


def around(padded: Field) -> Field:
    """Stack the eight neighbours of every cell within the ring."""
    rows, columns = padded.shape[0] - 2, padded.shape[1] - 2
    return np.stack([padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i, j in STEPS])


def steepest_pull(drops: Field, pull: float) -> tuple[Field, Field, Field]:
    """Return |a| = G dh/√(len² + dh²) towards the neighbour of the steepest angle, along the slope in three dimensions.

    Neighbours that tie exactly pull in their mean direction, so that mirrored ground pulls in the mirrored one.
    """
    diagonal = [i * j != 0 for i, j in STEPS]
    slopes = np.stack([d * SHORTENING if far else d for d, far in zip(drops, diagonal, strict=True)])
    steepest = np.maximum(slopes.max(axis=0), 0)
    chosen = (slopes == steepest) & (steepest > 0)
    # Whole numbers add up alike in any order.
    straight, slanted = (np.zeros((2, *steepest.shape), np.int64) for _ in range(2))
    for step, far, at in zip(STEPS, diagonal, chosen, strict=True):
        for axis in (0, 1):
            (slanted if far else straight)[axis] += step[axis] * at
    uy, ux = straight + SHORTENING * slanted
    length = np.sqrt(uy * uy + ux * ux)
    length[length == 0] = np.inf
    q = 1 + steepest * steepest
    level = pull * steepest / q / length
    down = np.where(np.isinf(length), 0.0, -pull * steepest * steepest / q)
    return level * uy, level * ux, down


def felt(T: Field, nodata: NDArray[np.bool_] | None, breadth: int) -> Field:
    """Return the ground as water of some breadth sees it: averaged; an even slope stays the same up to the edges."""
    for _ in range(breadth):
        for axis in (0, 1):
            mean = _with_neighbours(T, nodata, axis)
            for end in _ends(axis):
                mean[end] = T[end]
            if nodata is not None:
                beside = np.pad(nodata, 1)
                beside = beside[:-2, 1:-1] | beside[2:, 1:-1] if axis == 0 else beside[1:-1, :-2] | beside[1:-1, 2:]
                mean[beside] = T[beside]
            T = mean
    return T


def spread(a: Field, nodata: NDArray[np.bool_] | None, breadth: int) -> Field:
    """Distribute what particles left in each cell over their breadth; the sum stays the same."""
    for _ in range(breadth):
        for axis in (0, 1):
            a = _with_neighbours(a, nodata, axis)
    return a


def _with_neighbours(a: Field, nodata: NDArray[np.bool_] | None, axis: int) -> Field:
    """Mean by the weights 1 2 1 along an axis; where there is no neighbour, the cell itself counts."""
    first, last = (slice(None), slice(1, None)), (slice(None), slice(None, -1))
    after, before = (first, last) if axis == 1 else (first[::-1], last[::-1])
    from_after, from_before = a[after], a[before]
    if nodata is not None:
        from_after = np.where(nodata[after] | nodata[before], a[before], from_after)
        from_before = np.where(nodata[after] | nodata[before], a[after], from_before)
    # Both neighbours are added up before the cell, so that mirrored fields give mirrored means.
    sides = np.empty_like(a)
    head, tail = _ends(axis)
    sides[tail] = a[tail]
    sides[before] = from_after
    sides[after] += from_before
    sides[head] += a[head]
    sides *= 0.25
    sides += 0.5 * a
    return sides


def _ends(axis: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """First and last row or column."""
    every, first, last = slice(None), slice(0, 1), slice(-1, None)
    return ((first, every), (last, every)) if axis == 0 else ((every, first), (every, last))


def way_down(T: Field, nodata: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Number (in `STEPS`) of the lowest neighbour; -1 if none is lower, or if two tie, as mirrors must not matter."""
    neighbours = around(_inside(T, nodata))
    lowest = neighbours.min(axis=0)
    sole = (lowest < T) & ((neighbours == lowest).sum(axis=0) == 1)
    return np.where(sole, neighbours.argmin(axis=0), -1)


def room_to_erode(T: Field, nodata: NDArray[np.bool_] | None, margin: float) -> Field:
    """Height a cell may lose: half the drop to its lowest neighbour and, away from the edges, the margin."""
    lowest = around(_inside(T, nodata)).min(axis=0)
    margins = np.full(T.shape, margin)
    margins[[0, -1]] = margins[:, [0, -1]] = 0  # the edge is base level: with a margin it would sink without limit
    return np.maximum(0, EROSION_SHARE * (T - lowest) + margins)


def find_pits(T: Field, nodata: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Cells without a lower neighbour; water at the edge runs off, so there are none there."""
    pits = around(_inside(T, nodata)).min(axis=0) >= T
    pits[[0, -1]] = pits[:, [0, -1]] = False
    return pits if nodata is None else pits & ~nodata


def room_to_fill(T: Field, nodata: NDArray[np.bool_] | None, pits: NDArray[np.bool_], margin: float) -> Field:
    """Height a cell may gain: half way up to its lowest higher neighbour, a pit all the way, and the margin above that.

    The lowest higher neighbour is the one upstream: deposits never dam the valley that brought them.
    """
    neighbours = around(_inside(T, nodata))
    upstream = np.where(neighbours > T, neighbours, np.inf).min(axis=0)
    rise = np.where(np.isinf(upstream), 0, np.where(pits, 1.0, FILL_SHARE) * (upstream - T))
    room = rise + margin
    if nodata is not None:
        room[nodata] = 0
    return room


def _inside(T: Field, nodata: NDArray[np.bool_] | None) -> Field:
    """Pad with infinite heights, which do not count as neighbours; nor does nodata."""
    return np.pad(T if nodata is None else np.where(nodata, np.inf, T), 1, constant_values=np.inf)
