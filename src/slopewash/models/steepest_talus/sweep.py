"""The fused kernel: rows of several iterations in flight, so that temporaries never leave the cache.

One iteration is two stages, the second a row behind the first, because it needs the next row's choices:

    choose  row y      direction of the steepest neighbour
    gather  row y - 1  what the neighbours send: the row's new heights

Iteration k + 1 follows iteration k two rows behind (temporal blocking). Rows live in rings of `RING` rows per iteration
in flight. A band of rows per thread recomputes what it needs of its neighbours' rows, two more per iteration, so
threads never wait for each other.

Beyond closed edges lie walls; beyond periodic ones the other side, found by wrapping the row number.
"""

from __future__ import annotations

import numba

from slopewash.backends.compiled import inlined, kernel, parallel_kernel
from slopewash.backends.ghosts import close_ends
from slopewash.models.steepest_talus import rows

RING = 4
"""Rows kept of each field: the oldest still read lies two behind the newest, and powers of two wrap fastest."""
LAG = 2
"""Rows an iteration is behind the one that feeds it: the model's halo."""


@inlined
def row(field, y, height, periodic, ring, beyond):
    """Row y of a field stored in a ring of rows; `beyond` outside the grid."""
    if not periodic and (y < 0 or y >= height):
        return beyond
    return field[y % ring]


@kernel
def sweep_band(y0, y1, depth, source, target, rings, choices, net, grid, amplitude, books):
    """Take rows y0 to y1 through `depth` iterations."""
    height, periodic = grid.height, grid.periodic
    for tick in range(y0 - LAG * depth, y1 + LAG * depth):
        for k in range(depth):
            extra = LAG * (depth - 1 - k)
            low, high = y0 - extra, y1 + extra  # rows wanted of this iteration
            if not periodic:
                low, high = max(low, 0), min(high, height)
            state = source if k == 0 else rings[k - 1]
            ring = height if k == 0 else RING
            to = choices[k]
            y = tick - LAG * k
            if low - 1 <= y < high + 1 and (periodic or 0 <= y < height):
                h_n = row(state, y - 1, height, periodic, ring, grid.wall)
                h_s = row(state, y + 1, height, periodic, ring, grid.wall)
                at = y % height % grid.straight.shape[0]
                if grid.printed:
                    rows.choose_printed(h_n, state[y % ring], h_s, grid.straight[at], to[y % RING])
                else:
                    rows.choose(h_n, state[y % ring], h_s, grid.straight[at], grid.diagonal[at], to[y % RING])
                close_ends(to[y % RING], periodic, rows.NOT_SENT)
            y -= 1
            if low <= y < high:
                to_n = row(to, y - 1, height, periodic, RING, grid.nowhere)
                to_s = row(to, y + 1, height, periodic, RING, grid.nowhere)
                rows.count(to_n, to[y % RING], to_s, net)
                out = target[y] if k == depth - 1 else rings[k, y % RING]
                rows.slide(state[y % ring], net, amplitude, out)
                close_ends(out, periodic, grid.wall[0])
                if y0 <= y < y1:
                    books[y] += rows.senders(to[y % RING])


@parallel_kernel
def sweep(depth, source, target, rings, choices, net, grid, amplitude, books):
    """Take the whole grid through `depth` iterations, a band of rows per thread."""
    bands = rings.shape[0]
    for i in numba.prange(bands):
        y0, y1 = i * grid.height // bands, (i + 1) * grid.height // bands
        sweep_band(y0, y1, depth, source, target, rings[i], choices[i], net[i], grid, amplitude, books)
