"""The fused kernel: rows of several iterations in flight, so that temporaries never leave the cache.

One iteration is four stages, each a row behind the one before, because each needs the next row of its predecessor:

    pour    row y      rain, springs, water surface
    flow    row y - 1  pipes; weights of sliding soil
    work    row y - 2  velocity, capacity, exchange with the ground, slides
    carry   row y - 3  transport, evaporation: the row's new state

Iteration k + 1 pours each row as iteration k has carried it, three rows behind (temporal blocking). Rows live in rings
of `RING` rows per iteration in flight. A band of rows per thread recomputes what it needs of its neighbours' rows,
three more per iteration, so threads never wait for each other and every cell is computed by the same operations
whatever the number of bands and of iterations in flight.

Beyond closed and open edges lie walls; beyond periodic ones the other side, found by wrapping the row number.
"""

from __future__ import annotations

import numba
import numpy as np

from slopewash.backends.compiled import inlined, kernel, parallel_kernel
from slopewash.models.virtual_pipes import coefficients as _c
from slopewash.models.virtual_pipes import rows

RING = 6
"""Rows kept of each field: the oldest still read lies five behind the newest."""
LAG = 3
"""Rows an iteration is behind the one that feeds it: the model's halo."""

# State fields, in the order they are stored.
B, W, S, R, FW, FE, FN, FS = range(8)
STATE = 8
# Temporaries of one iteration in flight. Eight-pipe and fall-line slides share places.
H, D1, W1, SHARE, S1, WEIGHT, TALUS, SENT, U, V = range(10)
GX, GY, EAST, SOUTH = WEIGHT, TALUS, SENT, 10
TEMPORARIES = 11
# Rows used and forgotten within a stage.
D2, C, DELTA, SLID, W2 = range(5)
SCRATCH = 5
# Columns of the books.
RAIN, SOURCES, EVAPORATED, WATER_EXPORTED, SOLIDS_EXPORTED, MOVED = range(6)
BOOKS = 6

WALL = np.float32(_c.WALL)
ZERO = np.float32(0)
HALF = np.float32(0.5)


@inlined
def row(fields, k, y, height, periodic, ring, beyond):
    """Row y of a field stored in a ring of rows; `beyond` outside the grid."""
    if not periodic and (y < 0 or y >= height):
        return beyond
    return fields[k, y % ring]


@kernel
def close_ends(a, periodic, beyond):
    """Fill the ghost cells at both ends of a row."""
    if periodic:
        a[0] = a[a.size - 2]
        a[a.size - 1] = a[1]
    else:
        a[0] = beyond
        a[a.size - 1] = beyond


@kernel
def pour(y, own, state, ring, t, grid, c, books):
    height, periodic, opened = grid.height, grid.periodic, grid.opened
    h = t[H, y % RING]
    if not periodic and (y < 0 or y >= height):
        # Beyond an open edge: dry ground at the edge cell's own bed. Beyond a closed one: a wall.
        if opened:
            rows.copy(state[B, (0 if y < 0 else height - 1) % ring], h)
        else:
            h[:] = WALL
        return
    b, w, s = state[B, y % ring], state[W, y % ring], state[S, y % ring]
    w1, d1 = t[W1, y % RING], t[D1, y % RING]
    at = y % height
    rows.add_rain(w, grid.r[at % grid.r.shape[0]], c.rain, w1)
    if own:
        books[at, RAIN] += rows.total_gain(w1, w)
    if grid.has_source[at]:
        before = rows.total(w1)
        rows.add_springs(w1, grid.source[at], c.dt)
        if own:
            books[at, SOURCES] += rows.total(w1) - before
    rows.raise_surface(b, w1, s, c.kappa, d1, h)
    close_ends(w1, periodic, ZERO)
    close_ends(d1, periodic, ZERO)
    close_ends(h, periodic, WALL)
    if opened:
        h[0] = b[1]
        h[h.size - 1] = b[h.size - 2]


@kernel
def flow(y, state, ring, t, out, grid, c):
    """Eqs. 2-5, and what sliding soil needs to know of its neighbours."""
    height, periodic = grid.height, grid.periodic
    i, n, s = y % RING, (y - 1) % RING, (y + 1) % RING
    if c.hydraulic:
        rows.push_pipes(
            t[H, n], t[H, i], t[H, s], t[D1, i],
            state[FW, y % ring], state[FE, y % ring], state[FN, y % ring], state[FS, y % ring],
            c.push, c.dt, out[FW, i], out[FE, i], out[FN, i], out[FS, i], t[SHARE, i],
        )  # fmt: skip
        close_ends(t[SHARE, i], periodic, ZERO)
        for k in range(FW, FS + 1):
            close_ends(out[k, i], periodic, ZERO)
    else:
        for k in range(FW, FS + 1):
            rows.copy(state[k, y % ring], out[k, i])
    b_n = row(state, B, y - 1, height, periodic, ring, grid.wall)
    b_s = row(state, B, y + 1, height, periodic, ring, grid.wall)
    b = state[B, y % ring]
    if c.eight_pipes:
        rows.weigh_slides(
            b_n, b, b_s, state[R, y % ring], c.talus_0, c.talus_1, HALF * c.slide, t[WEIGHT, i], t[SENT, i], t[TALUS, i]
        )
        close_ends(t[WEIGHT, i], periodic, ZERO)
        close_ends(t[TALUS, i], periodic, ZERO)
    elif c.fall_line:
        rows.gradient(b_n, b, b_s, t[GX, i], t[GY, i])
        close_ends(t[GX, i], periodic, ZERO)
        close_ends(t[GY, i], periodic, ZERO)


@kernel
def slide(y, first, state, ring, t, grid, c, slid, sent):
    """Eqs. 17-18: net gain from sliding soil along a row."""
    height, periodic, nothing = grid.height, grid.periodic, grid.nothing
    i = y % RING
    b_n = row(state, B, y - 1, height, periodic, ring, grid.wall)
    b_s = row(state, B, y + 1, height, periodic, ring, grid.wall)
    b = state[B, y % ring]
    if c.eight_pipes:
        k_n = row(t, WEIGHT, y - 1, height, periodic, RING, nothing)
        k_s = row(t, WEIGHT, y + 1, height, periodic, RING, nothing)
        t_n = row(t, TALUS, y - 1, height, periodic, RING, nothing)
        t_s = row(t, TALUS, y + 1, height, periodic, RING, nothing)
        rows.receive_slides(b_n, b, b_s, k_n, t[WEIGHT, i], k_s, t_n, t[TALUS, i], t_s, t[SENT, i], slid)
        rows.copy(t[SENT, i], sent)
        return
    R_s = row(state, R, y + 1, height, periodic, ring, nothing)
    gx_s = row(t, GX, y + 1, height, periodic, RING, nothing)
    if first:  # the face to the north belongs to no row before this one
        above = y - 1
        if periodic or above >= 0:
            rows.flux_south(
                b_n, b, row(state, R, above, height, periodic, ring, nothing), state[R, y % ring],
                row(t, GX, above, height, periodic, RING, nothing), t[GX, i],
                c.talus_0, c.talus_1, c.slide, c.creep, t[SOUTH, above % RING],
            )  # fmt: skip
        else:
            t[SOUTH, above % RING, :] = ZERO
    rows.flux_east(b, state[R, y % ring], t[GY, i], c.talus_0, c.talus_1, c.slide, c.creep, t[EAST, i])
    rows.flux_south(
        b, b_s, state[R, y % ring], R_s, t[GX, i], gx_s, c.talus_0, c.talus_1, c.slide, c.creep, t[SOUTH, i]
    )
    rows.gather_faces(t[EAST, i], t[SOUTH, (y - 1) % RING], t[SOUTH, i], slid, sent)


@kernel
def base_of(y, x, grid):
    """Base level of a border cell."""
    if y == 0:
        return grid.base_n[x - 1]
    if y == grid.height - 1:
        return grid.base_s[x - 1]
    return grid.base_w[y] if x == 1 else grid.base_e[y]


@kernel
def hold_erosion(y, x, b, delta, grid, graded):
    """Erode a border cell no deeper than its base level; a graded one takes no deposits."""
    held = min(delta[x], max(ZERO, b[x] - base_of(y, x, grid)))
    delta[x] = max(held, ZERO) if graded else held


@kernel
def hold_ground(y, x, b, b2, grid, graded):
    """Hold a border cell at its base level; returns what that takes out of the books."""
    held = max(b2[x], base_of(y, x, grid))
    if graded:
        held = min(held, b[x])
    gone = np.float64(b2[x] - held)
    b2[x] = held
    return gone


@kernel
def work(y, own, first, state, ring, t, out, scratch, grid, c, flow_sum, books):
    """Eqs. 6-14 and 17-18."""
    height, periodic, nothing = grid.height, grid.periodic, grid.nothing
    i, n, s = y % RING, (y - 1) % RING, (y + 1) % RING
    at = y % height
    b = state[B, y % ring]
    b_n = row(state, B, y - 1, height, periodic, ring, grid.wall)
    b_s = row(state, B, y + 1, height, periodic, ring, grid.wall)
    delta, slid = scratch[DELTA], scratch[SLID]
    bordering = grid.opened and (y == 0 or y == height - 1)
    last = b.size - 2
    if c.hydraulic:
        d1, d2, u, v, C_ = t[D1, i], scratch[D2], t[U, i], t[V, i], scratch[C]
        fs_n = row(out, FS, y - 1, height, periodic, RING, nothing)
        fn_s = row(out, FN, y + 1, height, periodic, RING, nothing)
        rows.move_depth(d1, out[FE, i], out[FW, i], fs_n, out[FN, i], out[FS, i], fn_s, c.dt, d2, u, v)
        if own:
            rows.add_flow(u, v, flow_sum[at])
        if c.mean_depth:
            rows.divide_by_depth(d1, d2, u, v)
        if c.along_flow:
            rows.capacity_along_flow(
                t[H, n], t[H, i], t[H, s], out[FW, i], out[FE, i], out[FN, i], out[FS, i], d1,
                c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_,
            )  # fmt: skip
        else:
            gx, gy = scratch[DELTA], scratch[SLID]  # free until the exchange
            rows.gradient(b_n, b, b_s, gx, gy)
            if c.collision:
                rows.capacity_by_collision(gx, gy, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
            else:
                rows.capacity_by_tilt(gx, gy, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
        rows.exchange(b_n, b, b_s, state[S, y % ring], state[R, y % ring], C_, d2, c, delta)
        if bordering:
            for x in range(1, last + 1):
                hold_erosion(y, x, b, delta, grid, c.graded)
        elif grid.opened:
            hold_erosion(y, 1, b, delta, grid, c.graded)
            hold_erosion(y, last, b, delta, grid, c.graded)
    else:
        delta[:] = ZERO
    moved = 0.0
    if c.eight_pipes or c.fall_line:
        slide(y, first, state, ring, t, grid, c, slid, scratch[W2])
        if own:
            moved += rows.total(scratch[W2])
    else:
        slid[:] = ZERO
    b2 = out[B, i]
    rows.wear_ground(b, state[S, y % ring], state[R, y % ring], delta, slid, c.Kh, b2, t[S1, i], out[R, i])
    if own:
        books[at, MOVED] += moved + rows.total(delta)
    gone = 0.0
    if bordering:
        for x in range(1, last + 1):
            gone += hold_ground(y, x, b, b2, grid, c.graded)
    elif grid.opened:
        gone += hold_ground(y, 1, b, b2, grid, c.graded)
        if last > 1:
            gone += hold_ground(y, last, b, b2, grid, c.graded)
    if own:
        books[at, SOLIDS_EXPORTED] += gone
    close_ends(b2, periodic, WALL)
    close_ends(out[R, i], periodic, ZERO)
    close_ends(t[S1, i], periodic, ZERO)


@kernel
def leaving(a, share, f, x):
    return np.float64(f[x] * share[x] * a[x])


@kernel
def export(y, a, share, out, i, height):
    """What leaves through the open pipes of a row."""
    last = a.size - 2
    gone = leaving(a, share, out[FW, i], 1) + leaving(a, share, out[FE, i], last)
    if y == 0:
        for x in range(1, last + 1):
            gone += leaving(a, share, out[FN, i], x)
    if y == height - 1:
        for x in range(1, last + 1):
            gone += leaving(a, share, out[FS, i], x)
    return gone


@kernel
def carry(y, own, state, ring, t, out, scratch, grid, c, books):
    """Transport (15) and evaporation (16)."""
    height, periodic, nothing = grid.height, grid.periodic, grid.nothing
    i = y % RING
    if not c.hydraulic:
        rows.copy(state[W, y % ring], out[W, i])
        rows.copy(state[S, y % ring], out[S, i])
        return
    at = y % height
    fs_n = row(out, FS, y - 1, height, periodic, RING, nothing)
    fn_s = row(out, FN, y + 1, height, periodic, RING, nothing)
    q_n = row(t, SHARE, y - 1, height, periodic, RING, nothing)
    q_s = row(t, SHARE, y + 1, height, periodic, RING, nothing)
    w_n = row(t, W1, y - 1, height, periodic, RING, nothing)
    w_s = row(t, W1, y + 1, height, periodic, RING, nothing)
    s_n = row(t, S1, y - 1, height, periodic, RING, nothing)
    s_s = row(t, S1, y + 1, height, periodic, RING, nothing)
    q, w1, s1, w2 = t[SHARE, i], t[W1, i], t[S1, i], scratch[W2]
    fw, fe, fn, fs = out[FW, i], out[FE, i], out[FN, i], out[FS, i]
    rows.donate(w_n, w1, w_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, w2)
    if c.semi_lagrangian:
        b_n = row(state, B, y - 1, height, periodic, ring, grid.wall)
        b_s = row(state, B, y + 1, height, periodic, ring, grid.wall)
        rows.trace_back(b_n, state[B, y % ring], b_s, s_n, s1, s_s, t[U, i], t[V, i], c.dt, out[S, i])
    else:
        rows.donate(s_n, s1, s_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, out[S, i])
    rows.evaporate(w2, c.keep, out[W, i])
    if own:
        books[at, EVAPORATED] += rows.total_gain(w2, out[W, i])
        if grid.opened:
            books[at, WATER_EXPORTED] += export(y, w1, q, out, i, height)
            if not c.semi_lagrangian:
                books[at, SOLIDS_EXPORTED] += export(y, s1, q, out, i, height)
    close_ends(out[W, i], periodic, ZERO)
    close_ends(out[S, i], periodic, ZERO)


@kernel
def sweep_band(y0, y1, depth, source, target, rings, temporaries, scratch, grid, c, flow_sum, books):
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
            t, out = temporaries[k], rings[k]
            y = tick - LAG * k
            if c.hydraulic and low - 3 <= y < high + 3 and (periodic or -1 <= y <= height):
                pour(y, y0 <= y < y1, state, ring, t, grid, c, books)
            y -= 1
            if low - 2 <= y < high + 2 and (periodic or 0 <= y < height):
                flow(y, state, ring, t, out, grid, c)
            y -= 1
            if low - 1 <= y < high + 1 and (periodic or 0 <= y < height):
                first = y == low - 1 or (not periodic and y == 0)
                work(y, y0 <= y < y1, first, state, ring, t, out, scratch, grid, c, flow_sum, books)
            y -= 1
            if low <= y < high:
                carry(y, y0 <= y < y1, state, ring, t, out, scratch, grid, c, books)
                if k == depth - 1:
                    for field in range(STATE):
                        rows.copy(out[field, y % RING], target[field, y])


@parallel_kernel
def sweep(depth, source, target, rings, temporaries, scratch, grid, c, flow_sum, books):
    """Take the whole grid through `depth` iterations, a band of rows per thread."""
    bands = rings.shape[0]
    for i in numba.prange(bands):
        y0, y1 = i * grid.height // bands, (i + 1) * grid.height // bands
        sweep_band(y0, y1, depth, source, target, rings[i], temporaries[i], scratch[i], grid, c, flow_sum, books)
