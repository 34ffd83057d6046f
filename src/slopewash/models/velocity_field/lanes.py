"""Numba: several particles at a time, so that their arithmetic is packed [Chiba98, Sec. 2.1].

A particle's steps follow from each other through two roots and three divisions: alone, it waits for each of them. Here
every lane holds a particle, and one that ends makes room for the next. Operations are those of `reference`, in the same
order. What a particle does in a cell is added to the sums when it goes on.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import row_kernel, stage_kernel
from slopewash.models.velocity_field import rows
from slopewash.models.velocity_field.rows import VX, VY, E, W, beyond_cell, capped, fixed, onto_ground

LANES = 16
ONE = np.uintp(1)
# Rows of numbers and of whole numbers, a value per lane.
OY, OX, V_Y, V_X, V_Z, WATER, GY, GX, BY, BX, BZ, ESCAPE = range(12)
NUMBERS = 12
ROW, COLUMN, DI, DJ, STAYED, STEP, EVENT, WHOLE, LOST, NOW_Y, NOW_X, CREDIT_Y, CREDIT_X, LISTED = range(14)
WHOLES = 13
"""Rows that belong to the lanes; the last is a list of them."""
STAYS, CROSSES, ENDS = range(3)
"""Events: a particle stays in its cell, goes on into another, or stops."""
EMPTY = 0.25
"""Offset of a lane without a particle: off every grid line."""


@row_kernel
def slopes(T, i, j, oy, ox, gy, gx):
    """Gradient of the triangle under each particle; wrong on grid lines."""
    for p in range(LANES):
        south, east = oy[p] > 0, ox[p] > 0
        y, x = np.uintp(i[p] + 1), np.uintp(j[p] + 1)
        y2, x2 = (y + ONE if south else y - ONE), (x + ONE if east else x - ONE)
        a, b, c, d = T[y, x], T[y, x2], T[y2, x], T[y2, x2]
        ty, tx = abs(oy[p]), abs(ox[p])
        near_y, near_x, far_y, far_x = c - a, b - a, d - b, d - c
        along_y = far_y if tx > ty else near_y if ty > tx else 0.5 * (far_y + near_y)
        along_x = far_x if ty > tx else near_x if tx > ty else 0.5 * (near_x + far_x)
        low = a + d < b + c  # the edge runs from this cell
        y_ = along_y if low else near_y
        x_ = along_x if low else near_x
        gy[p] = y_ if south else -y_
        gx[p] = x_ if east else -x_


@row_kernel
def pull_down(gy, gx, pull, escape, i, j, by, bx, bz, needed):
    for p in range(LANES):
        by[p], bx[p], bz[p] = rows.pull_down(gy[p], gx[p], pull)
        needed[p] = escape[np.uintp(i[p]), np.uintp(j[p])]


@row_kernel
def pull_to_steepest(pulls, i, j, by, bx, bz, needed):
    """What a cell pulls with and what it takes to go on from there lie side by side, on one line of the cache."""
    for p in range(LANES):
        y, x = np.uintp(i[p]), np.uintp(j[p])
        by[p], bx[p], bz[p], needed[p] = pulls[y, x, 0], pulls[y, x, 1], pulls[y, x, 2], pulls[y, x, 3]


@row_kernel
def move(gy, gx, by, bx, bz, w, vy, vx, vz, oy, ox, needed, slowest, longest_stay, most_steps, stayed, step,
         lost, now_y, now_x, credit_y, credit_x, di, dj, event):  # fmt: skip
    """One step of each particle: velocity onto the ground, energy lost, and whether it goes on and to which cell."""
    for p in range(LANES):
        y, x, z, e = onto_ground(vy[p] + by[p], vx[p] + bx[p], vz[p] + bz[p], gy[p], gx[p])
        y, x, z, square = capped(y, x, z)
        vy[p], vx[p], vz[p] = y, x, z
        lost[p] += fixed(w[p] * e)
        now_y[p], now_x[p] = fixed(w[p] * y), fixed(w[p] * x)
        first = step[p] == 0  # else the velocity with which it came
        credit_y[p] = now_y[p] if first else credit_y[p]
        credit_x[p] = now_x[p] if first else credit_x[p]
        step[p] += 1
        stayed[p] += 1
        y, x = oy[p] + y, ox[p] + x
        di[p], dj[p] = beyond_cell(y), beyond_cell(x)
        oy[p], ox[p] = y - di[p], x - dj[p]
        going = (square > 0) & (square >= slowest) & (0.5 * square > needed[p])
        going = going & (stayed[p] <= longest_stay)
        crosses = (di[p] != 0) | (dj[p] != 0)
        stays = STAYS if step[p] < most_steps else ENDS
        event[p] = (CROSSES if crosses else stays) if going else ENDS


@stage_kernel
def add_up(p, n, sums):
    """Add what a particle did in its cell: water, velocity and energy."""
    i, j = n[ROW, p], n[COLUMN, p]
    sums[i, j, W] += n[WHOLE, p]
    sums[i, j, VY] += n[CREDIT_Y, p]
    sums[i, j, VX] += n[CREDIT_X, p]
    sums[i, j, E] += n[LOST, p]
    n[LOST, p] = 0


@stage_kernel
def cross(p, nodata, most_steps, n, sums):
    """Enter the next cell. Returns 1 if the particle leaves the grid, 0 if it stops, -1 if it goes on."""
    i, j = n[ROW, p] + n[DI, p], n[COLUMN, p] + n[DJ, p]
    if not (0 <= i < nodata.shape[0] and 0 <= j < nodata.shape[1]):
        return 1
    if nodata[i, j]:
        return 0
    n[ROW, p], n[COLUMN, p], n[STAYED, p] = i, j, 0
    n[CREDIT_Y, p], n[CREDIT_X, p] = n[NOW_Y, p], n[NOW_X, p]
    if n[STEP, p] < most_steps:
        return -1
    add_up(p, n, sums)
    return 0


@stage_kernel
def enter(p, i, j, w, a, n):
    """Put a particle at rest on a cell into a lane."""
    a[OY, p] = a[OX, p] = a[V_Y, p] = a[V_X, p] = a[V_Z, p] = 0.0
    a[WATER, p] = w
    n[ROW, p], n[COLUMN, p], n[STAYED, p], n[STEP, p], n[LOST, p] = i, j, 0, 0, 0
    n[WHOLE, p] = fixed(w)


@stage_kernel
def leave_empty(p, a, n):
    a[OY, p] = a[OX, p] = EMPTY
    a[V_Y, p] = a[V_X, p] = a[V_Z, p] = a[WATER, p] = 0.0
    n[ROW, p] = n[COLUMN, p] = 0


@stage_kernel
def replace(p, q, a, n):
    """Move the particle of lane q to lane p."""
    for k in range(NUMBERS):
        a[k, p] = a[k, q]
    for k in range(WHOLES):
        n[k, p] = n[k, q]
    leave_empty(q, a, n)


@stage_kernel
def step_all(busy, surface, motion, a, n):
    """One step of every particle."""
    T, pulls, escape, _ = surface
    slopes(T, n[ROW], n[COLUMN], a[OY], a[OX], a[GY], a[GX])
    for p in range(busy):
        if a[OY, p] == 0.0 or a[OX, p] == 0.0:
            a[GY, p], a[GX, p] = rows.gradient_on_grid_line(T, n[ROW, p] + 1, n[COLUMN, p] + 1, a[OY, p], a[OX, p])
    if motion.downhill:
        pull_down(a[GY], a[GX], motion.pull, escape, n[ROW], n[COLUMN], a[BY], a[BX], a[BZ], a[ESCAPE])
    else:
        pull_to_steepest(pulls, n[ROW], n[COLUMN], a[BY], a[BX], a[BZ], a[ESCAPE])
    move(
        a[GY], a[GX], a[BY], a[BX], a[BZ], a[WATER], a[V_Y], a[V_X], a[V_Z], a[OY], a[OX], a[ESCAPE],
        motion.slowest * motion.slowest, motion.longest_stay, motion.most_steps, n[STAYED], n[STEP],
        n[LOST], n[NOW_Y], n[NOW_X], n[CREDIT_Y], n[CREDIT_X], n[DI], n[DJ], n[EVENT],
    )  # fmt: skip
