"""The fused kernel: rows of several iterations in flight, so that temporaries never leave the cache.

One iteration is four stages, each a row behind the one before, because each needs the next row of its predecessor:

    pour    row y      rain, water sources, water surface
    flow    row y - 1  pipes; weights of sliding soil
    work    row y - 2  velocity, capacity, exchange with the ground, slides
    carry   row y - 3  transport, evaporation: the row's new state

Iteration k + 1 pours each row as iteration k has carried it, three rows behind (temporal blocking). Rows live in rings,
see `rings`; all of a run's memory is one array of rows, `m`. A band of rows per thread recomputes what it needs of its
neighbours' rows, three more per iteration, so threads never wait for each other and every cell is computed by the same
operations whatever the number of bands and of iterations in flight.

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
from slopewash.models.virtual_pipes.rings import (
    COVER,
    D1,
    D2,
    DELTA,
    DRIED,
    EAST,
    FE,
    FN,
    FNE,
    FNW,
    FS,
    FSE,
    FSW,
    FW,
    GX,
    GY,
    MOVES,
    NOTHING,
    OF_GROUND,
    OF_PIPES,
    OF_SEDIMENT,
    OF_WATER,
    PORTION,
    S1,
    SENT,
    SHARE,
    SLID,
    SOIL_EAST,
    SOIL_SOUTH,
    SOUTH,
    SPARE,
    TALUS,
    W1,
    WEIGHT,
    B,
    C,
    H,
    Left,
    Place,
    Q,
    R,
    S,
    U,
    V,
    W,
    around,
    kept,
    kept_or_nothing,
    own_or_common,
    place,
    place_or_beyond,
    row,
    rows_of_state,
    spare,
)  # fmt: skip

LAG = 3
"""Rows an iteration is behind the one that feeds it: the model's halo."""
WALL = np.float32(_g.WALL)
ZERO, UNIT = np.float32(0), np.float32(1)
FAR = np.iinfo(np.int64).max


@inlined
def counts(own, at, grid):
    """Whether a row counts in the budget: this band's, and no other tile's."""
    return own and grid.from_row <= at < grid.to_row


@inlined
def part(a, grid):
    """The cells of a row that count in the budget, with a ghost at either end."""
    return a[grid.from_column - 1 : grid.to_column + 1]


@stage_kernel
def pour(y, own, m, state, t, scratch, grid, c, budget):
    height, periodic = grid.height, grid.wraps_columns
    h = kept(m, t, H, y, grid)
    if not grid.wraps_rows and (y < 0 or y >= height):
        # Beyond an open edge: dry ground at the edge cell's own bed. Beyond a closed one, and beyond the sea: a wall.
        # (The iteration before has finished row 0's ground by now, though not yet its water: its `work` runs a row
        # ahead of its `carry`.)
        if grid.open_north if y < 0 else grid.open_south:
            b = row(m, place(state, 0 if y < 0 else height - 1, OF_GROUND, grid), B, grid)
            rows.copy(b, h)
            if c.sea:
                for x in range(h.size):
                    h[x] = WALL if b[x] < c.sea_level else b[x]
        else:
            h[:] = WALL
        return
    b = row(m, place(state, y, OF_GROUND, grid), B, grid)
    w, s = row(m, place(state, y, OF_WATER, grid), W, grid), row(m, place(state, y, OF_SEDIMENT, grid), S, grid)
    w1, d1 = kept(m, t, W1, y, grid), kept(m, t, D1, y, grid)
    at = around(y, height)
    r, source = own_or_common(grid.r, at), own_or_common(grid.source, at)
    counted = counts(own, at, grid)
    if grid.has_source[at]:
        rows.pour_with_source(b, w, s, r, source, c.rain, c.dt, c.kappa, w1, d1, h)
        if counted:
            rained = spare(m, scratch, SPARE, grid)
            rows.rain_alone(w, r, c.rain, rained)
            budget[at, RAIN] += rows.total_gain(part(rained, grid), part(w, grid))
            budget[at, SOURCES] += rows.total_gain(part(w1, grid), part(rained, grid))
    else:
        begin, end = grid.from_column, grid.to_column
        rows.pour(b, w, s, r, c.rain, c.kappa, w1, d1, h, begin, end, counted, budget[at])
    close_ends(w1, periodic, ZERO)
    close_ends(d1, periodic, ZERO)
    close_ends(h, periodic, WALL)
    if grid.open_west:
        h[0] = WALL if c.sea and b[1] < c.sea_level else b[1]
    if grid.open_east:
        h[h.size - 1] = WALL if c.sea and b[h.size - 2] < c.sea_level else b[h.size - 2]


@stage_kernel
def flow(y, first, m, state, t, out, scratch, grid, c):
    """Eqs. 2-5, and what sliding soil needs to know of its neighbours."""
    periodic = grid.wraps_columns
    was, new = place(state, y, OF_PIPES, grid), place(out, y, OF_PIPES, grid)
    last = FSE if c.eight else FS
    carrying = rows.Carrying(c.Kc, c.Kc75, c.Kc50, c.sin_min, c.per_fan, c.ramp_0, c.ramp_1)
    h_n, h, h_s = kept(m, t, H, y - 1, grid), kept(m, t, H, y, grid), kept(m, t, H, y + 1, grid)
    d1, share, C_ = kept(m, t, D1, y, grid), kept(m, t, SHARE, y, grid), kept(m, t, C, y, grid)
    fw0, fe0, fn0, fs0 = row(m, was, FW, grid), row(m, was, FE, grid), row(m, was, FN, grid), row(m, was, FS, grid)
    fw1, fe1, fn1, fs1 = row(m, new, FW, grid), row(m, new, FE, grid), row(m, new, FN, grid), row(m, new, FS, grid)
    if c.hydraulic and c.eight:
        rows.push_eight_pipes(
            h_n, h, h_s, d1, fw0, fe0, fn0, fs0, row(m, was, FNW, grid), row(m, was, FNE, grid), row(m, was, FSW, grid),
            row(m, was, FSE, grid), c.push, c.flow_kept, c.dt, carrying, fw1, fe1, fn1, fs1, row(m, new, FNW, grid),
            row(m, new, FNE, grid), row(m, new, FSW, grid), row(m, new, FSE, grid), share, C_, kept(m, t, Q, y, grid),
        )  # fmt: skip
    elif c.hydraulic and c.along_flow and c.rooted:
        rows.push_pipes_by_roots(
            h_n, h, h_s, d1, fw0, fe0, fn0, fs0, c.push, c.flow_kept, c.dt, carrying, fw1, fe1, fn1, fs1, share, C_
        )
    elif c.hydraulic and c.along_flow:
        rows.push_pipes_along_flow(
            h_n, h, h_s, d1, fw0, fe0, fn0, fs0, c.push, c.flow_kept, c.dt, carrying, fw1, fe1, fn1, fs1, share, C_
        )
    elif c.hydraulic:
        rows.push_pipes(h_n, h, h_s, d1, fw0, fe0, fn0, fs0, c.push, c.flow_kept, c.dt, fw1, fe1, fn1, fs1, share)
    if c.hydraulic:
        close_ends(share, periodic, ZERO)
        for k in range(FW, last + 1):
            close_ends(row(m, new, k, grid), periodic, ZERO)
    else:
        for k in range(FW, last + 1):
            rows.copy(row(m, was, k, grid), row(m, new, k, grid))
    ground = place(state, y, OF_GROUND, grid)
    b_n = row(m, place_or_beyond(state, y - 1, OF_GROUND, grid), B, grid)
    b_s = row(m, place_or_beyond(state, y + 1, OF_GROUND, grid), B, grid)
    b = row(m, ground, B, grid)
    if c.eight_pipes:
        weight, talus, sent = kept(m, t, WEIGHT, y, grid), kept(m, t, TALUS, y, grid), kept(m, t, SENT, y, grid)
        shared_rows.weigh_slides(
            grid.shares, around(y, grid.height), b_n, b, b_s, row(m, ground, R, grid), c, weight, sent, talus
        )
        close_ends(weight, periodic, ZERO)
        close_ends(talus, periodic, ZERO)
    elif c.fall_line and c.covered:
        part_cover(y, first, m, state, t, grid, c, b_n, b, b_s, spare(m, scratch, SPARE, grid))
    elif c.fall_line:
        gx, gy = kept(m, t, GX, y, grid), kept(m, t, GY, y, grid)
        rows.gradient(b_n, b, b_s, gx, gy)
        close_ends(gx, periodic, ZERO)
        close_ends(gy, periodic, ZERO)


@band_kernel
def part_cover(y, first, m, state, t, grid, c, b_n, b, b_s, gy):
    """Rock and soil through the eastern and southern faces along a row, and what part of the soil is there.

    Compiled on its own, as `add_soil` is: no preset has loose cover.
    """
    height, periodic = grid.height, grid.wraps_columns
    before, at, after = around(y - 1, height), around(y, height), around(y + 1, height)
    R_ = row(m, place(state, y, OF_GROUND, grid), R, grid)
    gx_n, gx, gx_s = kept(m, t, GX, y - 1, grid), kept(m, t, GX, y, grid), kept(m, t, GX, y + 1, grid)
    south_n, south = kept(m, t, SOUTH, y - 1, grid), kept(m, t, SOUTH, y, grid)
    soil_south_n, soil_south = kept(m, t, SOIL_SOUTH, y - 1, grid), kept(m, t, SOIL_SOUTH, y, grid)
    soil_east, portion = kept(m, t, SOIL_EAST, y, grid), kept(m, t, PORTION, y, grid)
    if first:  # no row before this one has computed the faces to the north
        R_n = row(m, place_or_beyond(state, y - 1, OF_GROUND, grid), R, grid)
        rows.gradient_east(b_n, gx_n)
        rows.gradient_east(b, gx)
        shared_rows.fluxes_south(grid.shares, before, at, b_n, b, R_n, R_, gx_n, gx, c, south_n, soil_south_n)
    R_s = row(m, place_or_beyond(state, y + 1, OF_GROUND, grid), R, grid)
    rows.gradient_east(b_s, gx_s)
    rows.gradient_south(b_n, b, b_s, gy)
    close_ends(gy, periodic, ZERO)
    shared_rows.fluxes_east(grid.shares, at, b, R_, gy, c, kept(m, t, EAST, y, grid), soil_east)
    shared_rows.fluxes_south(grid.shares, at, after, b, b_s, R_, R_s, gx, gx_s, c, south, soil_south)
    rock = row(m, place(state, y, OF_PIPES, grid), grid.deepest, grid)
    rock_rows.share_cover(b, rock, soil_east, soil_south_n, soil_south, portion, kept(m, t, COVER, y, grid))
    close_ends(portion, periodic, ZERO)


@band_kernel
def add_soil(y, first, m, t, grid):
    """To the rock through the four faces along a row, add the soil that was there."""
    south_n, south, east = kept(m, t, SOUTH, y - 1, grid), kept(m, t, SOUTH, y, grid), kept(m, t, EAST, y, grid)
    portion = kept(m, t, PORTION, y, grid)
    if first:
        portion_n = kept_or_nothing(m, t, PORTION, y - 1, grid)
        rock_rows.add_soil_south(kept(m, t, SOIL_SOUTH, y - 1, grid), portion_n, portion, south_n)
    portion_s = kept_or_nothing(m, t, PORTION, y + 1, grid)
    rock_rows.add_soil_east(kept(m, t, SOIL_EAST, y, grid), portion, east)
    rock_rows.add_soil_south(kept(m, t, SOIL_SOUTH, y, grid), portion, portion_s, south)


@stage_kernel
def flux_faces(y, first, m, state, t, grid, c, b_n, b, b_s, unused):
    """Soil through the four faces along a row; each face belongs to the cell west or north of it."""
    height = grid.height
    before, at, after = around(y - 1, height), around(y, height), around(y + 1, height)
    R_, gx = row(m, place(state, y, OF_GROUND, grid), R, grid), kept(m, t, GX, y, grid)
    south, east, gy = kept(m, t, SOUTH, y, grid), kept(m, t, EAST, y, grid), kept(m, t, GY, y, grid)
    if first:  # no row before this one has computed the faces to the north
        R_n = row(m, place_or_beyond(state, y - 1, OF_GROUND, grid), R, grid)
        gx_n, south_n = kept_or_nothing(m, t, GX, y - 1, grid), kept(m, t, SOUTH, y - 1, grid)
        shared_rows.flux_faces(grid.shares, before, at, b_n, b, R_n, R_, gx_n, gx, gy, c, unused, south_n)
    R_s = row(m, place_or_beyond(state, y + 1, OF_GROUND, grid), R, grid)
    gx_s = kept_or_nothing(m, t, GX, y + 1, grid)
    shared_rows.flux_faces(grid.shares, at, after, b, b_s, R_, R_s, gx, gx_s, gy, c, east, south)


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
def work(y, own, first, m, state, t, out, scratch, grid, c, flow_sum, budget):
    """Eqs. 6-14 and 17-18."""
    height, periodic = grid.height, grid.wraps_columns
    at = around(y, height)
    ground, was = place(state, y, OF_GROUND, grid), place(state, y, OF_PIPES, grid)
    new_ground, new = place(out, y, OF_GROUND, grid), place(out, y, OF_PIPES, grid)
    new_n, new_s = place_or_beyond(out, y - 1, OF_PIPES, grid), place_or_beyond(out, y + 1, OF_PIPES, grid)
    b, R_, s = row(m, ground, B, grid), row(m, ground, R, grid), row(m, place(state, y, OF_SEDIMENT, grid), S, grid)
    b_n = row(m, place_or_beyond(state, y - 1, OF_GROUND, grid), B, grid)
    b_s = row(m, place_or_beyond(state, y + 1, OF_GROUND, grid), B, grid)
    b2, s1, R2 = row(m, new_ground, B, grid), kept(m, t, S1, y, grid), row(m, new_ground, R, grid)
    delta, slid, moved = spare(m, scratch, DELTA, grid), spare(m, scratch, SLID, grid), spare(m, scratch, MOVES, grid)
    # Rows of laws that go together work in one loop: what it computes need not be stored and loaded again.
    plain = not (c.along_flow or c.collision or c.mean_depth or c.semi_lagrangian or c.eight or c.covered)
    in_two = c.hydraulic and c.eight_pipes and plain and grid.shares is None
    in_one = c.hydraulic and c.fall_line and c.along_flow and not c.covered and not c.semi_lagrangian
    k_n, k_s = kept_or_nothing(m, t, WEIGHT, y - 1, grid), kept_or_nothing(m, t, WEIGHT, y + 1, grid)
    t_n, t_s = kept_or_nothing(m, t, TALUS, y - 1, grid), kept_or_nothing(m, t, TALUS, y + 1, grid)
    k, talus = kept(m, t, WEIGHT, y, grid), kept(m, t, TALUS, y, grid)
    sent = spare(m, NOTHING, 0, grid)
    if c.eight_pipes:
        sent = kept(m, t, SENT, y, grid)
        if not in_two:
            rows.receive_slides(b_n, b, b_s, k_n, k, k_s, t_n, talus, t_s, sent, slid, 1, b.size - 1)
    elif c.fall_line:
        sent = spare(m, scratch, SPARE, grid)
        if c.covered:
            add_soil(y, first, m, t, grid)
        else:
            flux_faces(y, first, m, state, t, grid, c, b_n, b, b_s, delta)
    else:
        slid[:] = ZERO
    east, south_n, south = kept(m, t, EAST, y, grid), kept(m, t, SOUTH, y - 1, grid), kept(m, t, SOUTH, y, grid)
    if c.fall_line and not in_one:
        rows.gather_faces(east, south_n, south, slid, sent)
    if c.hydraulic:
        d1, d2, C_ = kept(m, t, D1, y, grid), spare(m, scratch, D2, grid), kept(m, t, C, y, grid)
        u, v = kept(m, t, U, y, grid), kept(m, t, V, y, grid)
        fw, fe, fn, fs = row(m, new, FW, grid), row(m, new, FE, grid), row(m, new, FN, grid), row(m, new, FS, grid)
        fs_n, fn_s = row(m, new_n, FS, grid), row(m, new_s, FN, grid)
        flowed = flow_sum[at] if own else spare(m, scratch, DRIED, grid)
        terms = rows.Exchange(
            c.take, c.drop, c.water_0, c.water_1, c.load_0, c.load_1, c.load_2, c.dig_0, c.dig_1, c.rise_0, c.rise_1,
            c.Kh,
        )  # fmt: skip
        if c.along_flow:
            shared_rows.scale_capacity(grid.shares, at, C_)
        if in_one and c.eight:
            rows.work_between_faces_eight(
                b_n, b, b_s, s, R_, C_, d1, fe, fw, fs_n, fn_s, row(m, new_n, FSE, grid), row(m, new_n, FSW, grid),
                row(m, new_s, FNE, grid), row(m, new_s, FNW, grid), kept(m, t, Q, y, grid), c.dt, east, south_n, south,
                terms, delta, b2, s1, R2, moved, flowed,
            )  # fmt: skip
        elif in_one:
            rows.work_between_faces(
                b_n, b, b_s, s, R_, C_, d1, fe, fw, fs_n, fn, fs, fn_s, c.dt, east, south_n, south, terms, delta, b2,
                s1, R2, moved, flowed,
            )  # fmt: skip
        elif c.eight:
            rows.move_depth_eight(
                d1, fe, fw, fs_n, fn_s, row(m, new_n, FSE, grid), row(m, new_n, FSW, grid), row(m, new_s, FNE, grid),
                row(m, new_s, FNW, grid), kept(m, t, Q, y, grid), c.dt, d2, flowed,
            )  # fmt: skip
        elif in_two:
            rows.exchange_on_tilt(
                b_n, b, b_s, s, R_, d1, fe, fw, fs_n, fn, fs, fn_s, c.dt, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, terms,
                delta, flowed,
            )  # fmt: skip
            rows.slide_and_wear(b_n, b, b_s, k_n, k, k_s, t_n, talus, t_s, sent, s, R_, delta, c.Kh, b2, s1, R2, moved)
        else:
            rows.move_depth(d1, fe, fw, fs_n, fn, fs, fn_s, c.dt, d2, u, v, flowed)
        if c.mean_depth:
            rows.divide_by_depth(d1, d2, u, v)
        if c.collision:
            rows.capacity_by_collision(b_n, b, b_s, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
        elif not (c.along_flow or in_two):
            rows.capacity_by_tilt(b_n, b, b_s, u, v, d1, c.Kc, c.sin_min, c.ramp_0, c.ramp_1, C_)
        if not c.along_flow:
            shared_rows.scale_capacity(grid.shares, at, C_)
        if c.covered:
            loose = kept(m, t, COVER, y, grid)
            if not c.fall_line:
                rock_rows.cover_depth(b, row(m, was, grid.deepest, grid), loose)
            rock_rows.work_covered_ground(
                b_n, b, b_s, s, R_, C_, d2, loose, slid, sent, terms, c.eight, delta, b2, s1, R2, moved
            )
        elif c.eight and not in_one:
            rows.work_ground_eight(b_n, b, b_s, s, R_, C_, d2, slid, sent, terms, delta, b2, s1, R2, moved)
        elif not (in_one or in_two):
            rows.work_ground(b_n, b, b_s, s, R_, C_, d2, slid, sent, terms, delta, b2, s1, R2, moved)
    else:
        delta[:] = ZERO
        rows.slide_ground(b, slid, b2)
        rows.copy(R_, R2)
        rows.copy(sent, moved)
    whole = (grid.open_north and y == 0) or (grid.open_south and y == height - 1)
    if whole or grid.open_west or grid.open_east:
        last = b.size - 2
        gone = 0.0
        if in_two and whole:
            rows.receive_slides(b_n, b, b_s, k_n, k, k_s, t_n, talus, t_s, sent, slid, 1, last + 1)
        for x in range(1, last + 1, 1 if whole else max(1, last - 1)):  # whole border rows, else the two ends
            if whole or (x == 1 and grid.open_west) or (x == last and grid.open_east):
                if in_two and not whole:
                    rows.receive_slides(b_n, b, b_s, k_n, k, k_s, t_n, talus, t_s, sent, slid, x, x + 1)
                if in_one:
                    slid[x], sent[x] = rows.between_faces(east[x - 1], east[x], south_n[x], south[x])
                held = hold_cell(at, x, b, s, R_, delta, slid, sent, grid, c, b2, s1, R2, moved)
                if grid.from_column <= x < grid.to_column:
                    gone += held
        if counts(own, at, grid):
            budget[at, SOLIDS_EXPORTED] += gone
    if counts(own, at, grid):
        budget[at, MOVED] += rows.total(part(moved, grid))
    rock, rock2 = row(m, was, grid.deepest, grid), row(m, new, grid.deepest, grid)
    if c.covered:
        rock_rows.weather_rock(b2, rock, c.weather, c.per_weather, rock2)
    elif grid.rocky:
        rock_rows.lower_rock(b2, rock, rock2)
    if grid.layered:
        top, face = own_or_common(grid.top, at), spare(m, scratch, SPARE, grid)
        rock_rows.expose(b_n, b, b_s, b2, rock2, top, grid.depths, grid.layers, c.per_cover, face, R2)
    elif c.bedded and c.covered:
        rock_rows.expose_beds(rock2, grid.rock[at], grid.phase[at], c.per_bed, c.bed_contrast, R2)
    elif c.bedded:
        rock_rows.expose_beds(b2, grid.rock[at], grid.phase[at], c.per_bed, c.bed_contrast, R2)
    close_ends(b2, periodic, WALL)
    close_ends(R2, periodic, ZERO)
    close_ends(s1, periodic, ZERO)


@stage_kernel
def leaving(a, share, f, x):
    return np.float64(f[x] * share[x] * a[x])


@stage_kernel
def export(y, a, share, m, new, grid, c):
    """What leaves through the open pipes of a row."""
    last = a.size - 2
    begin, end = grid.from_column, grid.to_column
    fw, fe, fn, fs = row(m, new, FW, grid), row(m, new, FE, grid), row(m, new, FN, grid), row(m, new, FS, grid)
    fnw, fne, fsw, fse = row(m, new, FNW, grid), row(m, new, FNE, grid), row(m, new, FSW, grid), row(m, new, FSE, grid)
    gone = 0.0
    if grid.open_west and begin == 1:
        gone += leaving(a, share, fw, 1)
        if c.eight:
            gone += leaving(a, share, fnw, 1)
            gone += leaving(a, share, fsw, 1)
    if grid.open_east and end == last + 1:
        gone += leaving(a, share, fe, last)
        if c.eight:
            gone += leaving(a, share, fne, last)
            gone += leaving(a, share, fse, last)
    if grid.open_north and y == 0:
        for x in range(begin, end):
            gone += leaving(a, share, fn, x)
            if c.eight:
                gone += leaving(a, share, fnw, x)
                gone += leaving(a, share, fne, x)
    if grid.open_south and y == grid.height - 1:
        for x in range(begin, end):
            gone += leaving(a, share, fs, x)
            if c.eight:
                gone += leaving(a, share, fsw, x)
                gone += leaving(a, share, fse, x)
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
def carry(y, own, m, t, out, scratch, grid, c, budget):
    """Transport (15) and evaporation (16)."""
    periodic = grid.wraps_columns
    new = place(out, y, OF_PIPES, grid)
    w2, s2 = row(m, place(out, y, OF_WATER, grid), W, grid), row(m, place(out, y, OF_SEDIMENT, grid), S, grid)
    at = around(y, grid.height)
    new_n, new_s = place_or_beyond(out, y - 1, OF_PIPES, grid), place_or_beyond(out, y + 1, OF_PIPES, grid)
    fs_n, fn_s = row(m, new_n, FS, grid), row(m, new_s, FN, grid)
    q_n, q_s = kept_or_nothing(m, t, SHARE, y - 1, grid), kept_or_nothing(m, t, SHARE, y + 1, grid)
    w_n, w_s = kept_or_nothing(m, t, W1, y - 1, grid), kept_or_nothing(m, t, W1, y + 1, grid)
    s_n, s_s = kept_or_nothing(m, t, S1, y - 1, grid), kept_or_nothing(m, t, S1, y + 1, grid)
    q, w1, s1 = kept(m, t, SHARE, y, grid), kept(m, t, W1, y, grid), kept(m, t, S1, y, grid)
    fw, fe, fn, fs = row(m, new, FW, grid), row(m, new, FE, grid), row(m, new, FN, grid), row(m, new, FS, grid)
    dried, keep = spare(m, scratch, DRIED, grid), shared_rows.keeping(grid.shares, c.keep)
    if c.semi_lagrangian:
        rows.carry_water(w_n, w1, w_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, w2, dried)
        # Which cells are ground: the new state shows it as well, and its rows are still kept.
        b = row(m, place(out, y, OF_GROUND, grid), B, grid)
        b_n = row(m, place_or_beyond(out, y - 1, OF_GROUND, grid), B, grid)
        b_s = row(m, place_or_beyond(out, y + 1, OF_GROUND, grid), B, grid)
        rows.trace_back(b_n, b, b_s, s_n, s1, s_s, kept(m, t, U, y, grid), kept(m, t, V, y, grid), c.dt, s2)
    elif c.eight:
        rows.carry_both_eight(
            w_n, w1, w_s, s_n, s1, s_s, q_n, q, q_s, fw, fe, fn, fs, row(m, new, FNW, grid), row(m, new, FNE, grid),
            row(m, new, FSW, grid), row(m, new, FSE, grid), fs_n, fn_s, row(m, new_n, FSE, grid),
            row(m, new_n, FSW, grid), row(m, new_s, FNE, grid), row(m, new_s, FNW, grid), keep, w2, dried, s2,
        )  # fmt: skip
    else:
        rows.carry_both(w_n, w1, w_s, s_n, s1, s_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, w2, dried, s2)
    shared_rows.evaporate(grid.shares, at, c.keep, w2, dried)
    counted = counts(own, at, grid)
    if counted:
        if c.keep < UNIT:  # else nothing dries, wherever a map says so: k·e + (1 − e) is 1 to the last bit
            budget[at, EVAPORATED] += rows.total(part(dried, grid))
        budget[at, WATER_EXPORTED] += export(y, w1, q, m, new, grid, c)
        if not c.semi_lagrangian:
            budget[at, SOLIDS_EXPORTED] += export(y, s1, q, m, new, grid, c)
    if c.sea:
        water, solids = meet_sea(at, row(m, place(out, y, OF_GROUND, grid), B, grid), grid, c, w2, s2)
        if counted:
            budget[at, SEA] += water
            budget[at, SOLIDS_EXPORTED] += solids
    close_ends(w2, periodic, ZERO)
    close_ends(s2, periodic, ZERO)


@band_kernel
def sweep_band(y0, y1, depth, source, target, room, m, grid, c, flow_sum, budget):
    """Take rows y0 to y1 through `depth` iterations; `room` is the first row of this band's own memory."""
    height, wraps = grid.height, grid.wraps_rows
    fields = rows_of_state(grid.deepest + 1)
    scratch = room + depth * (fields + grid.temporaries)
    for tick in range(y0 - LAG * depth, y1 + LAG * depth):
        for k in range(depth):
            extra = LAG * (depth - 1 - k)
            low, high = y0 - extra, y1 + extra  # rows wanted of this iteration
            if not wraps:
                low, high = max(low, 0), min(high, height)
            state = Left(source, room + (k - 1) * fields, -FAR if k == 0 else 0, FAR if k == 0 else 0)
            out = Left(target, room + k * fields, y0 if k == depth - 1 else 0, y1 if k == depth - 1 else 0)
            t = room + depth * fields + k * grid.temporaries
            y = tick - LAG * k
            if c.hydraulic and low - 3 <= y < high + 3 and (wraps or -1 <= y <= height):
                pour(y, y0 <= y < y1, m, state, t, scratch, grid, c, budget)
            y -= 1
            if low - 2 <= y < high + 2 and (wraps or 0 <= y < height):
                first = y == low - 2 or (not wraps and y == 0)
                flow(y, first, m, state, t, out, scratch, grid, c)
            y -= 1
            if low - 1 <= y < high + 1 and (wraps or 0 <= y < height):
                first = y == low - 1 or (not wraps and y == 0)
                work(y, y0 <= y < y1, first, m, state, t, out, scratch, grid, c, flow_sum, budget)
            y -= 1
            if c.hydraulic and low <= y < high:
                carry(y, y0 <= y < y1, m, t, out, scratch, grid, c, budget)
            elif k == depth - 1 and low <= y < high:
                for field in range(W, S + 1):  # which slides alone leave as it was
                    unchanged = row(m, Place(source + y, height), field, grid)
                    rows.copy(unchanged, row(m, Place(target + y, height), field, grid))


@parallel_kernel
def sweep(depth, source, target, room, m, grid, c, flow_sum, budget):
    """Take the whole grid through `depth` iterations, a band of rows per thread."""
    bands = room.size
    for i in numba.prange(bands):
        y0, y1 = i * grid.height // bands, (i + 1) * grid.height // bands
        sweep_band(y0, y1, depth, source, target, room[i], m, grid, c, flow_sum, budget)
