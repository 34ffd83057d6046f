"""Numba: all particles over a frozen surface, and sediment from cell to cell [Chiba98, Sec. 2.2]."""

from __future__ import annotations

import numpy as np
from numba import prange

from slopewash.backends.compiled import band_kernel, kernel, parallel_kernel, stage_kernel
from slopewash.models.velocity_field import lanes
from slopewash.models.velocity_field.surface import STEPS

LEFT, SUNK, TAKEN = range(3)
STRIP = 64
"""Columns of a strip."""
DI = np.array([i for i, _ in STEPS])
DJ = np.array([j for _, j in STEPS])


@stage_kernel
def after(i, j, first, last, stride, columns):
    """Cell after (i, j): in strips of columns, whose particles pass through the same cells while those are in cache."""
    j += 1
    if j < columns and j % STRIP != 0:
        return i, j
    strip = (j - 1) // STRIP * STRIP
    return (i + stride, strip) if i + stride < last else (first, strip + STRIP)


@stage_kernel
def next_launch(i, j, first, last, stride, w):
    """Cell of the next particle, from (i, j) on; a column beyond the grid means that there is none."""
    while j < w.shape[1] and not w[i, j] > 0:
        i, j = after(i, j, first, last, stride, w.shape[1])
    return i, j


@band_kernel
def launch_rows(surface, first, last, stride, w, motion, a, n, sums, ends):
    """Particles of every `stride`-th row from `first` to before `last`, in the lanes `a` and `n`.

    The surface is its elevation, the pulls of its cells if they are not worked out from the slope, what it takes to go
    on from them, and nodata.
    `ends` get water that left, water at rest, and steps taken.
    """
    nodata = surface[3]
    columns = w.shape[1]
    i, j = next_launch(first, 0 if first < last else columns, first, last, stride, w)
    busy = 0
    for p in range(lanes.LANES):
        lanes.leave_empty(p, a, n)
        if j < columns:
            lanes.enter(p, i, j, w[i, j], a, n)
            i, j = after(i, j, first, last, stride, columns)
            i, j = next_launch(i, j, first, last, stride, w)
            busy += 1
    while busy > 0:
        lanes.step_all(busy, surface, motion, a, n)
        count = 0
        for p in range(busy):  # without a branch: whether a particle crosses cannot be foreseen
            n[lanes.LISTED, count] = p
            count += n[lanes.EVENT, p] != lanes.STAYS
        for k in range(count - 1, -1, -1):  # the last lanes first, because they fill gaps
            p = n[lanes.LISTED, k]
            lanes.add_up(p, n, sums)
            end = 0
            if n[lanes.EVENT, p] == lanes.CROSSES:
                end = lanes.cross(p, nodata, motion.most_steps, n, sums)
                if end < 0:
                    continue
            ends[LEFT if end == 1 else SUNK] += n[lanes.WHOLE, p]
            ends[TAKEN] += n[lanes.STEP, p]
            if j < columns:
                lanes.enter(p, i, j, w[i, j], a, n)
                i, j = after(i, j, first, last, stride, columns)
                i, j = next_launch(i, j, first, last, stride, w)
            else:
                busy -= 1
                lanes.replace(p, busy, a, n)


@parallel_kernel
def launch(surface, first, last, w, motion, a, n, sums, ends):
    """Particles of some rows. Each band has sums of its own; they are whole numbers: the total is the same for any."""
    bands = len(sums)
    for band in prange(bands):
        launch_rows(surface, first + band, last, bands, w, motion, a[band], n[band], sums[band], ends[band])


@kernel
def target(direction, i, j):
    """Row and column downstream and whether they lie on the grid."""
    k = direction[i, j]
    if k < 0:
        return i, j, False
    a, b = i + DI[k], j + DJ[k]
    return a, b, 0 <= a < direction.shape[0] and 0 <= b < direction.shape[1]


@kernel
def open_circles(direction, down, T, walk, first, last):
    """Open every circle that the cells numbered `first` to before `last` lead into.

    Each cell is followed to an end, or to a cell from which an earlier walk has found one. `walk` has the number of the
    walk that came by, 0 at first. Which circle is opened first does not matter: they have no cell in common.
    """
    columns = direction.shape[1]
    for cell in range(first, last):
        i, j, inside = cell // columns, cell % columns, True
        while inside and (walk[i, j] == 0 or walk[i, j] == cell + 1):
            if walk[i, j] == cell + 1:
                open_circle(direction, down, T, walk, i, j)
            walk[i, j] = cell + 1
            i, j, inside = target(direction, i, j)


@kernel
def open_circle(direction, down, T, walk, i, j):
    """The lowest cell, or all that tie for it, goes `down` or ends in a pit."""
    lowest = T[i, j]
    a, b, _ = target(direction, i, j)
    while a != i or b != j:
        lowest = min(lowest, T[a, b])
        a, b, _ = target(direction, a, b)
    going = True
    while going:
        c, d, _ = target(direction, a, b)
        walk[a, b] = 0
        if T[a, b] == lowest:
            direction[a, b] = down[a, b]
        a, b = c, d
        going = a != i or b != j


@kernel
def count_feeders(direction, feeders, first, last):
    """Count the neighbours that lead to each cell, for those numbered `first` to before `last`."""
    columns = direction.shape[1]
    for cell in range(first, last):
        a, b, inside = target(direction, cell // columns, cell % columns)
        if inside:
            feeders[a, b] += 1


@kernel
def find_springs(feeders, order, end, first, last):
    """Add the cells that nothing leads to, of those numbered `first` to before `last`; returns the new end."""
    columns = feeders.shape[1]
    for cell in range(first, last):
        if feeders[cell // columns, cell % columns] == 0:
            order[end] = cell
            end += 1
    return end


@kernel
def follow(direction, feeders, order, end, first, last):
    """Go on from the cells order[first:last], adding each cell all of whose feeders are done; returns the new end."""
    columns = direction.shape[1]
    for k in range(first, last):
        a, b, inside = target(direction, order[k] // columns, order[k] % columns)
        if inside:
            feeders[a, b] -= 1
            if feeders[a, b] == 0:
                order[end] = a * columns + b
                end += 1
    return end


@kernel
def inflow(direction, passed, i, j, k):
    """What comes from the neighbour whose step number k leads here."""
    a, b = i - DI[k], j - DJ[k]
    if 0 <= a < direction.shape[0] and 0 <= b < direction.shape[1] and direction[a, b] == k:
        return passed[a, b]
    return 0.0


@kernel
def route(direction, order, sediment, capacity, room, deposited, kept, passed, exported):
    """S_t = S_q + S_e + Σ S_k; the surplus above S_max is deposited where there is room.

    Returns what has been exported by these cells and before.
    """
    columns = direction.shape[1]
    for cell in order:
        i, j = cell // columns, cell % columns
        nw, n = inflow(direction, passed, i, j, 0), inflow(direction, passed, i, j, 1)
        ne, w = inflow(direction, passed, i, j, 2), inflow(direction, passed, i, j, 3)
        e, sw = inflow(direction, passed, i, j, 4), inflow(direction, passed, i, j, 5)
        s, se = inflow(direction, passed, i, j, 6), inflow(direction, passed, i, j, 7)
        total = sediment[i, j] + (((n + s) + (w + e)) + ((nw + se) + (ne + sw)))
        last = direction[i, j] < 0
        surplus = total if last else max(0.0, total - capacity[i, j])
        deposited[i, j] = min(surplus, room[i, j])
        rest = total - deposited[i, j]
        kept[i, j] = rest if last else 0.0
        passed[i, j] = 0.0 if last else rest
        if not last and not target(direction, i, j)[2]:
            exported += rest
    return exported
