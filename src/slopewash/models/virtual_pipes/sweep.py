"""The fused kernel: rows of several iterations in flight, so that temporaries never leave the cache.

One iteration is four stages, each a row behind the one before, because each needs the next row of its predecessor:

    pour    row y      rain, water sources, water surface
    flow    row y - 1  pipes; weights of sliding soil
    work    row y - 2  velocity, capacity, exchange with the ground, slides
    carry   row y - 3  transport, evaporation: the row's new state

Iteration k + 1 pours each row as iteration k has carried it, three rows behind (temporal blocking). Rows live in rings
of `RING` rows per iteration in flight. A band of rows per thread recomputes what it needs of its neighbours' rows,
three more per iteration, so threads never wait for each other and every cell is computed by the same operations
whatever the number of bands and of iterations in flight.

Beyond closed and open edges, and beyond halos, lie walls; beyond periodic edges the other side, found by wrapping the
row number.
"""

from __future__ import annotations

import numba
import numpy as np

from slopewash.backends.compiled import band_kernel, inlined, parallel_kernel, stage_kernel
from slopewash.backends.ghosts import close_ends
from slopewash.models import ground as _g
from slopewash.models.virtual_pipes import rock_rows, rows, shared_rows
from slopewash.models.virtual_pipes.fields import (
    EVAPORATED,
    MOVED,
    RAIN,
    SEA,
    SOLIDS_EXPORTED,
    SOURCES,
    WATER_EXPORTED,
)

RING = 6
"""Rows kept of each field: the oldest still read lies five behind the newest."""
LAG = 3
"""Rows an iteration is behind the one that feeds it: the model's halo."""

# State fields, in the order they are stored.
B, W, S, R, FW, FE, FN, FS, FNW, FNE, FSW, FSE = range(12)
"""The last four only where water runs to eight neighbours; where there is a bedrock, its surface comes last."""
# Temporaries of one iteration in flight. Eight-pipe and fall-line slides share places.
H, D1, W1, SHARE, S1, C, WEIGHT, TALUS, SENT, U, V = range(11)
GX, GY, EAST, SOUTH = WEIGHT, TALUS, SENT, 11
Q = U
# Only with loose cover: soil through the faces, what part of it is there, cover that stays.
SOIL_EAST, SOIL_SOUTH, PORTION, COVER = range(12, 16)
WITHOUT_COVER, TEMPORARIES = 12, 16
# Rows used and forgotten within a stage.
D2, DELTA, SLID, MOVES, DRIED, SPARE = range(6)
SCRATCH = 6
WALL = np.float32(_g.WALL)
ZERO = np.float32(0)


@inlined
def row(fields, k, y, height, wraps, ring, beyond):
    """Row y of a field stored in a ring of rows; `beyond` outside the grid."""
    if not wraps and (y < 0 or y >= height):
        return beyond
    return fields[k, y % ring]


@inlined
def counts(own, at, grid):
    """Whether a row counts in the budget: this band's, and no other tile's."""
    return own and grid.from_row <= at < grid.to_row


@inlined
def part(a, grid):
    """The cells of a row that count in the budget, with a ghost at either end."""
    return a[grid.from_column - 1 : grid.to_column + 1]


@stage_kernel
def pour(y, own, state, ring, t, scratch, grid, c, budget):
    height, periodic = grid.height, grid.wraps_columns
    h = t[H, y % RING]
    if not grid.wraps_rows and (y < 0 or y >= height):
        # Beyond an open edge: dry ground at the edge cell's own bed. Beyond a closed one, and beyond the sea: a wall.
        # (The iteration before has finished row 0's ground by now, though not yet its water: its `work` runs a row
        # ahead of its `carry`.)
        if grid.open_north if y < 0 else grid.open_south:
            b = state[B, (0 if y < 0 else height - 1) % ring]
            rows.copy(b, h)
            if c.sea:
                for x in range(h.size):
                    h[x] = WALL if b[x] < c.sea_level else b[x]
        else:
            h[:] = WALL
        return
    b, w, s = state[B, y % ring], state[W, y % ring], state[S, y % ring]
    w1, d1 = t[W1, y % RING], t[D1, y % RING]
    at = y % height
    r = grid.r[at % grid.r.shape[0]]
    source = grid.source[at % grid.source.shape[0]]
    rows.pour(b, w, s, r, source, c.rain, c.dt, c.kappa, w1, d1, h)
    counted = counts(own, at, grid)
    if counted and grid.has_source[at]:
        rained = scratch[SPARE]
        rows.rain_alone(w, r, c.rain, rained)
        budget[at, RAIN] += rows.total_gain(part(rained, grid), part(w, grid))
        budget[at, SOURCES] += rows.total_gain(part(w1, grid), part(rained, grid))
    elif counted:
        budget[at, RAIN] += rows.total_gain(part(w1, grid), part(w, grid))
    close_ends(w1, periodic, ZERO)
    close_ends(d1, periodic, ZERO)
    close_ends(h, periodic, WALL)
    if grid.open_west:
        h[0] = WALL if c.sea and b[1] < c.sea_level else b[1]
    if grid.open_east:
        h[h.size - 1] = WALL if c.sea and b[h.size - 2] < c.sea_level else b[h.size - 2]


@stage_kernel
def flow(y, first, state, ring, t, out, scratch, grid, c):
    """Eqs. 2-5, and what sliding soil needs to know of its neighbours."""
    height, wraps, periodic = grid.height, grid.wraps_rows, grid.wraps_columns
    i, n, s = y % RING, (y - 1) % RING, (y + 1) % RING
    last = FSE if c.eight else FS
    carrying = rows.Carrying(c.Kc, c.Kc75, c.Kc50, c.sin_min, c.per_fan, c.ramp_0, c.ramp_1)
    if c.hydraulic and c.eight:
        j = y % ring
        rows.push_eight_pipes(
            t[H, n], t[H, i], t[H, s], t[D1, i],
            state[FW, j], state[FE, j], state[FN, j], state[FS, j], state[FNW, j], state[FNE, j], state[FSW, j],
            state[FSE, j], c.push, c.flow_kept, c.dt, carrying, out[FW, i], out[FE, i], out[FN, i], out[FS, i],
            out[FNW, i], out[FNE, i], out[FSW, i], out[FSE, i], t[SHARE, i], t[C, i], t[Q, i],
        )  # fmt: skip
    elif c.hydraulic and c.along_flow and c.rooted:
        rows.push_pipes_by_roots(
            t[H, n], t[H, i], t[H, s], t[D1, i],
            state[FW, y % ring], state[FE, y % ring], state[FN, y % ring], state[FS, y % ring],
            c.push, c.flow_kept, c.dt, carrying, out[FW, i], out[FE, i], out[FN, i], out[FS, i], t[SHARE, i], t[C, i],
        )  # fmt: skip
    elif c.hydraulic and c.along_flow:
        rows.push_pipes_along_flow(
            t[H, n], t[H, i], t[H, s], t[D1, i],
            state[FW, y % ring], state[FE, y % ring], state[FN, y % ring], state[FS, y % ring],
            c.push, c.flow_kept, c.dt, carrying, out[FW, i], out[FE, i], out[FN, i], out[FS, i], t[SHARE, i], t[C, i],
        )  # fmt: skip
    elif c.hydraulic:
        rows.push_pipes(
            t[H, n], t[H, i], t[H, s], t[D1, i],
            state[FW, y % ring], state[FE, y % ring], state[FN, y % ring], state[FS, y % ring],
            c.push, c.flow_kept, c.dt, out[FW, i], out[FE, i], out[FN, i], out[FS, i], t[SHARE, i],
        )  # fmt: skip
    if c.hydraulic:
        close_ends(t[SHARE, i], periodic, ZERO)
        for k in range(FW, last + 1):
            close_ends(out[k, i], periodic, ZERO)
    else:
        for k in range(FW, last + 1):
            rows.copy(state[k, y % ring], out[k, i])
    b_n = row(state, B, y - 1, height, wraps, ring, grid.wall)
    b_s = row(state, B, y + 1, height, wraps, ring, grid.wall)
    b = state[B, y % ring]
    if c.eight_pipes:
        shared_rows.weigh_slides(
            grid.shares, y % height, b_n, b, b_s, state[R, y % ring], c, t[WEIGHT, i], t[SENT, i], t[TALUS, i]
        )
        close_ends(t[WEIGHT, i], periodic, ZERO)
        close_ends(t[TALUS, i], periodic, ZERO)
    elif c.fall_line and c.covered:
        part_cover(y, first, state, ring, t, grid, c, b_n, b, b_s, scratch[SPARE])
    elif c.fall_line:
        rows.gradient(b_n, b, b_s, t[GX, i], t[GY, i])
        close_ends(t[GX, i], periodic, ZERO)
        close_ends(t[GY, i], periodic, ZERO)


@stage_kernel
def part_cover(y, first, state, ring, t, grid, c, b_n, b, b_s, gy):
    """Rock and soil through the eastern and southern faces along a row, and what part of the soil is there."""
    height, wraps, periodic, nothing = grid.height, grid.wraps_rows, grid.wraps_columns, grid.nothing
    i, n, s = y % RING, (y - 1) % RING, (y + 1) % RING
    before, at, after = (y - 1) % height, y % height, (y + 1) % height
    R_ = state[R, y % ring]
    if first:  # no row before this one has computed the faces to the north
        R_n = row(state, R, y - 1, height, wraps, ring, nothing)
        rows.gradient_east(b_n, t[GX, n])
        rows.gradient_east(b, t[GX, i])
        shared_rows.fluxes_south(
            grid.shares, before, at, b_n, b, R_n, R_, t[GX, n], t[GX, i], c, t[SOUTH, n], t[SOIL_SOUTH, n]
        )
    R_s = row(state, R, y + 1, height, wraps, ring, nothing)
    rows.gradient_east(b_s, t[GX, s])
    rows.gradient_south(b_n, b, b_s, gy)
    close_ends(gy, periodic, ZERO)
    shared_rows.fluxes_east(grid.shares, at, b, R_, gy, c, t[EAST, i], t[SOIL_EAST, i])
    shared_rows.fluxes_south(
        grid.shares, at, after, b, b_s, R_, R_s, t[GX, i], t[GX, s], c, t[SOUTH, i], t[SOIL_SOUTH, i]
    )
    rock = state[len(state) - 1, y % ring]
    rock_rows.share_cover(b, rock, t[SOIL_EAST, i], t[SOIL_SOUTH, n], t[SOIL_SOUTH, i], t[PORTION, i], t[COVER, i])
    close_ends(t[PORTION, i], periodic, ZERO)


@stage_kernel
def slide_with_cover(y, first, t, grid, slid, sent):
    """Net gain through the four faces along a row: rock, and the soil that was there."""
    height, wraps, nothing = grid.height, grid.wraps_rows, grid.nothing
    i, n = y % RING, (y - 1) % RING
    if first:
        portion_n = row(t, PORTION, y - 1, height, wraps, RING, nothing)
        rock_rows.add_soil_south(t[SOIL_SOUTH, n], portion_n, t[PORTION, i], t[SOUTH, n])
    portion_s = row(t, PORTION, y + 1, height, wraps, RING, nothing)
    rock_rows.add_soil_east(t[SOIL_EAST, i], t[PORTION, i], t[EAST, i])
    rock_rows.add_soil_south(t[SOIL_SOUTH, i], t[PORTION, i], portion_s, t[SOUTH, i])
    rows.gather_faces(t[EAST, i], t[SOUTH, n], t[SOUTH, i], slid, sent)


@stage_kernel
def slide_eight_pipes(y, t, grid, b_n, b, b_s, slid):
    """Eq. 18: net gain from the pipes of eight neighbours along a row."""
    height, wraps, nothing = grid.height, grid.wraps_rows, grid.nothing
    i = y % RING
    k_n = row(t, WEIGHT, y - 1, height, wraps, RING, nothing)
    k_s = row(t, WEIGHT, y + 1, height, wraps, RING, nothing)
    t_n = row(t, TALUS, y - 1, height, wraps, RING, nothing)
    t_s = row(t, TALUS, y + 1, height, wraps, RING, nothing)
    rows.receive_slides(b_n, b, b_s, k_n, t[WEIGHT, i], k_s, t_n, t[TALUS, i], t_s, t[SENT, i], slid)


@stage_kernel
def slide_fall_line(y, first, state, ring, t, grid, c, b_n, b, b_s, slid, sent):
    """Net gain through the four faces along a row; each face belongs to the cell west or north of it."""
    height, wraps, nothing = grid.height, grid.wraps_rows, grid.nothing
    i, n = y % RING, (y - 1) % RING
    before, at, after = (y - 1) % height, y % height, (y + 1) % height
    R_, gx = state[R, y % ring], t[GX, i]
    if first:  # no row before this one has computed the faces to the north
        R_n = row(state, R, y - 1, height, wraps, ring, nothing)
        gx_n = row(t, GX, y - 1, height, wraps, RING, nothing)
        shared_rows.flux_south(grid.shares, before, at, b_n, b, R_n, R_, gx_n, gx, c, t[SOUTH, n])
    R_s = row(state, R, y + 1, height, wraps, ring, nothing)
    gx_s = row(t, GX, y + 1, height, wraps, RING, nothing)
    shared_rows.flux_east(grid.shares, at, b, R_, t[GY, i], c, t[EAST, i])
    shared_rows.flux_south(grid.shares, at, after, b, b_s, R_, R_s, gx, gx_s, c, t[SOUTH, i])
    rows.gather_faces(t[EAST, i], t[SOUTH, n], t[SOUTH, i], slid, sent)


@stage_kernel
def base_of(y, x, grid):
    """Base level of a cell on an open edge."""
    if y == 0 and grid.open_north:
        return grid.base_n[x - 1]
    if y == grid.height - 1 and grid.open_south:
        return grid.base_s[x - 1]
    return grid.base_w[y] if x == 1 and grid.open_west else grid.base_e[y]


@stage_kernel
def hold_cell(y, x, b, s, R, delta, slid, sent, grid, c, b2, s1, R2, moved):
    """Compute a border cell again: never below its base level, and without deposits on a graded one above the sea.

    Returns what holding it takes from the ground.
    """
    base, highest = base_of(y, x, grid), max(b[x], c.sea_level)
    held = min(delta[x], max(ZERO, b[x] - base))
    if c.graded:
        held = max(held, b[x] - highest)
    loose, s1[x], R2[x], taken = rows.wear(b[x], s[x], R[x], held, slid[x], c.Kh)
    moved[x] = sent[x] + taken
    b2[x] = max(loose, base)
    if c.graded:
        b2[x] = min(b2[x], highest)
    return np.float64(loose - b2[x])


@stage_kernel
def work(y, own, first, state, ring, t, out, scratch, grid, c, flow_sum, budget):
    """Eqs. 6-14 and 17-18."""
    height, wraps, periodic, nothing = grid.height, grid.wraps_rows, grid.wraps_columns, grid.nothing
    i, at = y % RING, y % height
    b, s, R_ = state[B, y % ring], state[S, y % ring], state[R, y % ring]
    b_n = row(state, B, y - 1, height, wraps, ring, grid.wall)
    b_s = row(state, B, y + 1, height, wraps, ring, grid.wall)
    b2, s1, R2 = out[B, i], t[S1, i], out[R, i]
    delta, slid, moved = scratch[DELTA], scratch[SLID], scratch[MOVES]
    sent = grid.nothing
    if c.eight_pipes:
        sent = t[SENT, i]
        slide_eight_pipes(y, t, grid, b_n, b, b_s, slid)
    elif c.fall_line and c.covered:
        sent = scratch[SPARE]
        slide_with_cover(y, first, t, grid, slid, sent)
    elif c.fall_line:
        sent = scratch[SPARE]
        slide_fall_line(y, first, state, ring, t, grid, c, b_n, b, b_s, slid, sent)
    else:
        slid[:] = ZERO
    if c.hydraulic:
        d1, d2, u, v, C_ = t[D1, i], scratch[D2], t[U, i], t[V, i], t[C, i]
        fs_n = row(out, FS, y - 1, height, wraps, RING, nothing)
        fn_s = row(out, FN, y + 1, height, wraps, RING, nothing)
        flowed = flow_sum[at] if own else scratch[DRIED]
        if c.eight:
            rows.move_depth_eight(
                d1, out[FE, i], out[FW, i], fs_n, fn_s,
                row(out, FSE, y - 1, height, wraps, RING, nothing), row(out, FSW, y - 1, height, wraps, RING, nothing),
                row(out, FNE, y + 1, height, wraps, RING, nothing), row(out, FNW, y + 1, height, wraps, RING, nothing),
                t[Q, i], c.dt, d2, flowed,
            )  # fmt: skip
        else:
            rows.move_depth(d1, out[FE, i], out[FW, i], fs_n, out[FN, i], out[FS, i], fn_s, c.dt, d2, u, v, flowed)
        if c.mean_depth:
            rows.divide_by_depth(d1, d2, u, v)
        if c.collision:
            rows.capacity_by_collision(b_n, b, b_s, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
        elif not c.along_flow:
            rows.capacity_by_tilt(b_n, b, b_s, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
        shared_rows.scale_capacity(grid.shares, at, C_)
        terms = rows.Exchange(
            c.take, c.drop, c.water_0, c.water_1, c.load_0, c.load_1, c.load_2, c.dig_0, c.dig_1, c.rise_0, c.rise_1,
            c.Kh,
        )  # fmt: skip
        if c.covered:
            loose = t[COVER, i]
            if not c.fall_line:
                rock_rows.cover_depth(b, state[len(state) - 1, y % ring], loose)
            rock_rows.work_covered_ground(
                b_n, b, b_s, s, R_, C_, d2, loose, slid, sent, terms, c.eight, delta, b2, s1, R2, moved
            )
        elif c.eight:
            rows.work_ground_eight(b_n, b, b_s, s, R_, C_, d2, slid, sent, terms, delta, b2, s1, R2, moved)
        else:
            rows.work_ground(b_n, b, b_s, s, R_, C_, d2, slid, sent, terms, delta, b2, s1, R2, moved)
    else:
        delta[:] = ZERO
        rows.slide_ground(b, slid, b2)
        rows.copy(s, s1)
        rows.copy(R_, R2)
        rows.copy(sent, moved)
    whole = (grid.open_north and y == 0) or (grid.open_south and y == height - 1)
    if whole or grid.open_west or grid.open_east:
        last = b.size - 2
        gone = 0.0
        for x in range(1, last + 1, 1 if whole else max(1, last - 1)):  # whole border rows, else the two ends
            if whole or (x == 1 and grid.open_west) or (x == last and grid.open_east):
                held = hold_cell(at, x, b, s, R_, delta, slid, sent, grid, c, b2, s1, R2, moved)
                if grid.from_column <= x < grid.to_column:
                    gone += held
        if counts(own, at, grid):
            budget[at, SOLIDS_EXPORTED] += gone
    if counts(own, at, grid):
        budget[at, MOVED] += rows.total(part(moved, grid))
    deepest = len(state) - 1
    if c.covered:
        rock_rows.weather_rock(b2, state[deepest, y % ring], c.weather, c.per_weather, out[deepest, i])
    elif grid.rocky:
        rock_rows.lower_rock(b2, state[deepest, y % ring], out[deepest, i])
    if grid.layered:
        top = grid.top[at % grid.top.shape[0]]
        rock_rows.expose(
            b_n, b, b_s, b2, out[deepest, i], top, grid.depths, grid.layers, c.per_cover, scratch[SPARE], R2
        )
    elif c.bedded and c.covered:
        rock_rows.expose_beds(out[deepest, i], grid.rock[at], grid.phase[at], c.per_bed, c.bed_contrast, R2)
    elif c.bedded:
        rock_rows.expose_beds(b2, grid.rock[at], grid.phase[at], c.per_bed, c.bed_contrast, R2)
    close_ends(b2, periodic, WALL)
    close_ends(R2, periodic, ZERO)
    close_ends(s1, periodic, ZERO)


@stage_kernel
def leaving(a, share, f, x):
    return np.float64(f[x] * share[x] * a[x])


@stage_kernel
def export(y, a, share, out, i, grid, c):
    """What leaves through the open pipes of a row."""
    last = a.size - 2
    left, right = grid.from_column, grid.to_column
    gone = 0.0
    if grid.open_west and left == 1:
        gone += leaving(a, share, out[FW, i], 1)
        if c.eight:
            gone += leaving(a, share, out[FNW, i], 1)
            gone += leaving(a, share, out[FSW, i], 1)
    if grid.open_east and right == last + 1:
        gone += leaving(a, share, out[FE, i], last)
        if c.eight:
            gone += leaving(a, share, out[FNE, i], last)
            gone += leaving(a, share, out[FSE, i], last)
    if grid.open_north and y == 0:
        for x in range(left, right):
            gone += leaving(a, share, out[FN, i], x)
            if c.eight:
                gone += leaving(a, share, out[FNW, i], x)
                gone += leaving(a, share, out[FNE, i], x)
    if grid.open_south and y == grid.height - 1:
        for x in range(left, right):
            gone += leaving(a, share, out[FS, i], x)
            if c.eight:
                gone += leaving(a, share, out[FSW, i], x)
                gone += leaving(a, share, out[FSE, i], x)
    return gone


@stage_kernel
def meet_sea(y, b, grid, c, w, s):
    """Hold the border cells of a row that lie below sea level at sea level; returns water and solids that leave."""
    last = b.size - 2
    whole = (grid.open_north and y == 0) or (grid.open_south and y == grid.height - 1)
    water, solids = 0.0, 0.0
    for x in range(1, last + 1, 1 if whole else max(1, last - 1)):  # whole border rows, else the two ends
        if (whole or (x == 1 and grid.open_west) or (x == last and grid.open_east)) and b[x] < c.sea_level:
            w2, s2 = rows.at_sea_level(b[x], w[x], s[x], c.sea_level, c.kappa)
            if grid.from_column <= x < grid.to_column:
                water += np.float64(w[x] - w2)
                solids += np.float64(s[x] - s2)
            w[x], s[x] = w2, s2
    return water, solids


@stage_kernel
def carry(y, own, state, ring, t, out, scratch, grid, c, budget):
    """Transport (15) and evaporation (16)."""
    height, wraps, periodic, nothing = grid.height, grid.wraps_rows, grid.wraps_columns, grid.nothing
    i = y % RING
    if not c.hydraulic:
        rows.copy(state[W, y % ring], out[W, i])
        rows.copy(state[S, y % ring], out[S, i])
        return
    at = y % height
    fs_n = row(out, FS, y - 1, height, wraps, RING, nothing)
    fn_s = row(out, FN, y + 1, height, wraps, RING, nothing)
    q_n = row(t, SHARE, y - 1, height, wraps, RING, nothing)
    q_s = row(t, SHARE, y + 1, height, wraps, RING, nothing)
    w_n = row(t, W1, y - 1, height, wraps, RING, nothing)
    w_s = row(t, W1, y + 1, height, wraps, RING, nothing)
    s_n = row(t, S1, y - 1, height, wraps, RING, nothing)
    s_s = row(t, S1, y + 1, height, wraps, RING, nothing)
    q, w1, s1, dried = t[SHARE, i], t[W1, i], t[S1, i], scratch[DRIED]
    fw, fe, fn, fs = out[FW, i], out[FE, i], out[FN, i], out[FS, i]
    keep = shared_rows.keeping(grid.shares, c.keep)
    if c.semi_lagrangian:
        rows.carry_water(w_n, w1, w_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, out[W, i], dried)
        b_n = row(state, B, y - 1, height, wraps, ring, grid.wall)
        b_s = row(state, B, y + 1, height, wraps, ring, grid.wall)
        rows.trace_back(b_n, state[B, y % ring], b_s, s_n, s1, s_s, t[U, i], t[V, i], c.dt, out[S, i])
    elif c.eight:
        rows.carry_both_eight(
            w_n, w1, w_s, s_n, s1, s_s, q_n, q, q_s, fw, fe, fn, fs, out[FNW, i], out[FNE, i], out[FSW, i], out[FSE, i],
            fs_n, fn_s,
            row(out, FSE, y - 1, height, wraps, RING, nothing), row(out, FSW, y - 1, height, wraps, RING, nothing),
            row(out, FNE, y + 1, height, wraps, RING, nothing), row(out, FNW, y + 1, height, wraps, RING, nothing),
            keep, out[W, i], dried, out[S, i],
        )  # fmt: skip
    else:
        rows.carry_both(
            w_n, w1, w_s, s_n, s1, s_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, out[W, i], dried, out[S, i]
        )
    shared_rows.evaporate(grid.shares, at, c.keep, out[W, i], dried)
    counted = counts(own, at, grid)
    if counted:
        budget[at, EVAPORATED] += rows.total(part(dried, grid))
        budget[at, WATER_EXPORTED] += export(y, w1, q, out, i, grid, c)
        if not c.semi_lagrangian:
            budget[at, SOLIDS_EXPORTED] += export(y, s1, q, out, i, grid, c)
    if c.sea:
        water, solids = meet_sea(at, out[B, i], grid, c, out[W, i], out[S, i])
        if counted:
            budget[at, SEA] += water
            budget[at, SOLIDS_EXPORTED] += solids
    close_ends(out[W, i], periodic, ZERO)
    close_ends(out[S, i], periodic, ZERO)


@band_kernel
def sweep_band(y0, y1, depth, source, target, rings, temporaries, scratch, grid, c, flow_sum, budget):
    """Take rows y0 to y1 through `depth` iterations."""
    height, wraps = grid.height, grid.wraps_rows
    for tick in range(y0 - LAG * depth, y1 + LAG * depth):
        for k in range(depth):
            extra = LAG * (depth - 1 - k)
            low, high = y0 - extra, y1 + extra  # rows wanted of this iteration
            if not wraps:
                low, high = max(low, 0), min(high, height)
            state = source if k == 0 else rings[k - 1]
            ring = height if k == 0 else RING
            t, out = temporaries[k], rings[k]
            y = tick - LAG * k
            if c.hydraulic and low - 3 <= y < high + 3 and (wraps or -1 <= y <= height):
                pour(y, y0 <= y < y1, state, ring, t, scratch, grid, c, budget)
            y -= 1
            if low - 2 <= y < high + 2 and (wraps or 0 <= y < height):
                first = y == low - 2 or (not wraps and y == 0)
                flow(y, first, state, ring, t, out, scratch, grid, c)
            y -= 1
            if low - 1 <= y < high + 1 and (wraps or 0 <= y < height):
                first = y == low - 1 or (not wraps and y == 0)
                work(y, y0 <= y < y1, first, state, ring, t, out, scratch, grid, c, flow_sum, budget)
            y -= 1
            if low <= y < high:
                carry(y, y0 <= y < y1, state, ring, t, out, scratch, grid, c, budget)
                if k == depth - 1:
                    for field in range(len(target)):
                        rows.copy(out[field, y % RING], target[field, y])


@parallel_kernel
def sweep(depth, source, target, rings, temporaries, scratch, grid, c, flow_sum, budget):
    """Take the whole grid through `depth` iterations, a band of rows per thread."""
    bands = rings.shape[0]
    for i in numba.prange(bands):
        y0, y1 = i * grid.height // bands, (i + 1) * grid.height // bands
        sweep_band(y0, y1, depth, source, target, rings[i], temporaries[i], scratch[i], grid, c, flow_sum, budget)
