"""Numba: one particle, step by step [Chiba98, Sec. 2.1]. Operations are those of `reference`, in the same order."""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel
from slopewash.models.velocity_field.reference import SCALE

W, VY, VX, E = range(4)
SUMS = 4


@kernel
def gradient(T, i, j, oy, ox):
    """Gradient of the triangle under the particle; i and j count the ring."""
    if oy == 0.0 or ox == 0.0:
        return gradient_on_grid_line(T, i, j, oy, ox)
    sy = 1 if oy > 0 else -1
    sx = 1 if ox > 0 else -1
    a, b = T[i, j], T[i, j + sx]
    c, d = T[i + sy, j], T[i + sy, j + sx]
    gy, gx = c - a, b - a
    if a + d < b + c:  # the edge runs from this cell
        ty, tx = abs(oy), abs(ox)
        if tx > ty:
            gy = d - b
        elif ty > tx:
            gx = d - c
        else:
            gy, gx = 0.5 * ((d - b) + (c - a)), 0.5 * ((b - a) + (d - c))
    return sy * gy, sx * gx


@kernel
def gradient_on_grid_line(T, i, j, oy, ox):
    """Across a grid line the slope is the mean of both sides."""
    if oy == 0.0 and ox == 0.0:
        return 0.5 * (T[i + 1, j] - T[i - 1, j]), 0.5 * (T[i, j + 1] - T[i, j - 1])
    if ox == 0.0:
        s = 1 if oy > 0 else -1
        a, c = T[i, j], T[i + s, j]
        e = side(a, T[i, j + 1], c, T[i + s, j + 1])
        w = side(a, T[i, j - 1], c, T[i + s, j - 1])
        return s * (c - a), 0.5 * (e - w)
    s = 1 if ox > 0 else -1
    a, c = T[i, j], T[i, j + s]
    e = side(a, T[i + 1, j], c, T[i + 1, j + s])
    w = side(a, T[i - 1, j], c, T[i - 1, j + s])
    return 0.5 * (e - w), s * (c - a)


@kernel
def side(a, b, c, d):
    """Rise away from the line a-c, towards b and d."""
    return d - c if a + d < b + c else b - a


@kernel
def pull_down(gy, gx, pull):
    square = gy * gy + gx * gx
    level = pull / (1 + square)
    return -gy * level, -gx * level, -square * level


@kernel
def onto_ground(vy, vx, vz, gy, gx):
    """Return v' = (v_t·v) v_t and e of a particle of water 1."""
    square = vy * vy + vx * vx
    if square == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    level = np.sqrt(square)
    per_level = 1 / level
    s = (gy * vy + gx * vx) * per_level
    per_q = 1 / (1 + s * s)
    along = (level + s * vz) * per_q
    into = max(s * level - vz, 0.0)
    stretch = along * per_level
    return vy * stretch, vx * stretch, s * along, 0.5 * into * into * per_q


@kernel
def capped(vy, vx, vz):
    square = (vy * vy + vx * vx) + vz * vz
    if square > 1:
        shrink = 1 / np.sqrt(square)
        return vy * shrink, vx * shrink, vz * shrink, 1.0
    return vy, vx, vz, square


@kernel
def beyond_cell(offset):
    """-1, 0 or 1: whether an offset leads to the cell before, none or the cell after."""
    return (1 if offset > 0.5 else 0) - (1 if offset < -0.5 else 0)


@kernel
def fixed(a):
    return np.int64(np.rint(a * SCALE))


@kernel
def run(T, ay, ax, az, escape, nodata, motion, i, j, w, sums):
    """One particle from its launch until it leaves (1) or stops (0), and the steps it took."""
    # Arrays are separate arguments and this loop is one function: passing a tuple of arrays to functions would count
    # references at every step, which takes as long as the physics.
    rows, columns = nodata.shape
    pull, downhill, most = motion.pull, motion.downhill, motion.most_steps
    slowest = motion.slowest * motion.slowest
    oy = ox = vy = vx = vz = 0.0
    whole = fixed(w)
    stayed = 0
    sums[i, j, W] += whole
    for step in range(most):
        gy, gx = gradient(T, i + 1, j + 1, oy, ox)
        # The law is the same for the whole run, so this branch is always predicted; as a function chosen when
        # kernels are built it would have to be an argument, and Numba keeps no such kernel on disk.
        if downhill:
            by, bx, bz = pull_down(gy, gx, pull)
        else:
            by, bx, bz = ay[i, j], ax[i, j], az[i, j]
        vy, vx, vz, e = onto_ground(vy + by, vx + bx, vz + bz, gy, gx)
        vy, vx, vz, square = capped(vy, vx, vz)
        sums[i, j, E] += fixed(w * e)
        if step == 0:
            sums[i, j, VY] += fixed(w * vy)
            sums[i, j, VX] += fixed(w * vx)
        stayed += 1
        if stayed > motion.longest_stay:
            return 0, step + 1
        if not (square > 0 and square >= slowest and 0.5 * square > escape[i, j]):
            return 0, step + 1
        oy += vy
        ox += vx
        di, dj = beyond_cell(oy), beyond_cell(ox)
        if di != 0 or dj != 0:
            i, j, oy, ox = i + di, j + dj, oy - di, ox - dj
            if not (0 <= i < rows and 0 <= j < columns):
                return 1, step + 1
            if nodata[i, j]:
                return 0, step + 1
            stayed = 0
            sums[i, j, W] += whole
            sums[i, j, VY] += fixed(w * vy)
            sums[i, j, VX] += fixed(w * vx)
    return 0, most
