"""The fused kernel: rows of several iterations in flight, so that temporaries never leave the cache.

One iteration is two stages, the second a row behind the first, because it needs the next row's choices:

    choose  row y      direction of the steepest neighbour
    gather  row y - 1  what the neighbours send: the row's new heights

Iteration k + 1 follows iteration k two rows behind (temporal blocking). Rows live in rings of `RING` rows per iteration
in flight. A band of rows per thread recomputes what it needs of its neighbours' rows, two more per iteration, so
threads never wait for each other.

Beyond edges lie walls; beyond periodic ones the other side, found by wrapping the row number.
"""

from __future__ import annotations

import numba

from slopewash.backends.compiled import band_kernel, inlined, parallel_kernel
from slopewash.backends.ghosts import close_ends
from slopewash.models.steepest_talus import rows

RING = 4
"""Rows kept of each field: the oldest still read lies two behind the newest, and powers of two wrap fastest."""
LAG = 2
"""Rows an iteration is behind the one that feeds it: the model's halo."""


# State fields, in the order they are stored; bedrock only with strata.
HEIGHT, ROCK = range(2)


@inlined
def row(field, y, height, wraps, ring, beyond):
    """Row y of a field stored in a ring of rows; `beyond` outside the grid."""
    if not wraps and (y < 0 or y >= height):
        return beyond
    return field[y % ring]


@band_kernel
def sweep_band(y0, y1, depth, source, target, rings, choices, net, limits, grid, amplitude, sent):
    """Take rows y0 to y1 through `depth` iterations."""
    height, wraps, periodic = grid.height, grid.wraps_rows, grid.wraps_columns
    top, bottom, left, right = grid.from_row, grid.to_row, grid.from_column, grid.to_column
    for tick in range(y0 - LAG * depth, y1 + LAG * depth):
        for k in range(depth):
            extra = LAG * (depth - 1 - k)
            low, high = y0 - extra, y1 + extra  # rows wanted of this iteration
            if not wraps:
                low, high = max(low, 0), min(high, height)
            state = source if k == 0 else rings[k - 1]
            ring = height if k == 0 else RING
            to = choices[k]
            y = tick - LAG * k
            if low - 1 <= y < high + 1 and (wraps or 0 <= y < height):
                h_n = row(state[HEIGHT], y - 1, height, wraps, ring, grid.wall)
                h_s = row(state[HEIGHT], y + 1, height, wraps, ring, grid.wall)
                h = state[HEIGHT, y % ring]
                at = y % height % grid.straight.shape[0]
                straight, diagonal = grid.straight[at], grid.diagonal[at]
                rock, in_layers = h, grid.layered and grid.near and not grid.printed
                if grid.layered:
                    rock, straight, diagonal = state[ROCK, y % ring], limits[0], limits[1]
                if in_layers:
                    rows.choose_in_layers(
                        h_n, h, h_s, rock, grid.near_top[y % height], grid.near_depths, grid.layer_straight,
                        grid.layer_diagonal, straight, diagonal, to[y % RING],
                    )  # fmt: skip
                elif grid.layered and grid.near:
                    rows.expose(
                        h, rock, grid.near_top[y % height], grid.near_depths, grid.layer_straight, grid.layer_diagonal,
                        straight, diagonal,
                    )  # fmt: skip
                elif grid.layered:
                    rows.expose_far(
                        h, rock, grid.top[y % height], grid.depths, grid.layer_straight, grid.layer_diagonal,
                        straight, diagonal,
                    )  # fmt: skip
                if grid.printed:
                    rows.choose_printed(h_n, h, h_s, straight, to[y % RING])
                elif not in_layers:
                    rows.choose(h_n, h, h_s, straight, diagonal, to[y % RING])
                close_ends(to[y % RING], periodic, rows.NOT_SENT)
            y -= 1
            if low <= y < high:
                to_n = row(to, y - 1, height, wraps, RING, grid.nowhere)
                to_s = row(to, y + 1, height, wraps, RING, grid.nowhere)
                rows.count(to_n, to[y % RING], to_s, net)
                out = target[HEIGHT, y] if k == depth - 1 else rings[k, HEIGHT, y % RING]
                if grid.layered:
                    rock = target[ROCK, y] if k == depth - 1 else rings[k, ROCK, y % RING]
                    rows.slide_to_rock(state[HEIGHT, y % ring], net, amplitude, state[ROCK, y % ring], out, rock)
                else:
                    rows.slide(state[HEIGHT, y % ring], net, amplitude, out)
                close_ends(out, periodic, grid.wall[0])
                if y0 <= y < y1 and top <= y < bottom:
                    sent[y] += rows.senders(to[y % RING][left - 1 : right + 1])


@parallel_kernel
def sweep(depth, source, target, rings, choices, net, limits, grid, amplitude, sent):
    """Take the whole grid through `depth` iterations, a band of rows per thread."""
    bands = rings.shape[0]
    for i in numba.prange(bands):
        y0, y1 = i * grid.height // bands, (i + 1) * grid.height // bands
        sweep_band(y0, y1, depth, source, target, rings[i], choices[i], net[i], limits[i], grid, amplitude, sent)
