"""Numba: one particle, step by step [Chiba98, Sec. 2.1]. Operations are those of `reference`, in the same order."""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel
from slopewash.models.velocity_field.reference import SCALE

W, VY, VX, E = range(4)
SUMS = 4


@kernel
def gradient(T, i, j, oy, ox):
    """Gradient of the bilinear surface; i and j count the ring."""
    if oy == 0.0 or ox == 0.0:
        return gradient_on_grid_line(T, i, j, oy, ox)
    sy = 1 if oy > 0 else -1
    sx = 1 if ox > 0 else -1
    ty, tx = abs(oy), abs(ox)
    a, b = T[i, j], T[i, j + sx]
    c, d = T[i + sy, j], T[i + sy, j + sx]
    gx = (1 - ty) * (b - a) + ty * (d - c)
    gy = (1 - tx) * (c - a) + tx * (d - b)
    return sy * gy, sx * gx


@kernel
def gradient_on_grid_line(T, i, j, oy, ox):
    """Across a grid line the slope is the mean of both sides."""
    sy = 1 if oy > 0 else (-1 if oy < 0 else 0)
    sx = 1 if ox > 0 else (-1 if ox < 0 else 0)
    ty, tx = abs(oy), abs(ox)
    gx = sx * (T[i, j + sx] - T[i, j])
    gy = sy * (T[i + sy, j] - T[i, j])
    if sx == 0:
        gx = (1 - ty) * (0.5 * (T[i, j + 1] - T[i, j - 1])) + ty * (0.5 * (T[i + sy, j + 1] - T[i + sy, j - 1]))
    if sy == 0:
        gy = (1 - tx) * (0.5 * (T[i + 1, j] - T[i - 1, j])) + tx * (0.5 * (T[i + 1, j + sx] - T[i - 1, j + sx]))
    return gy, gx


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
def run(T, ay, ax, az, escape, wall, motion, i, j, w, sums):
    """One particle from its launch until it leaves (1) or stops (0), and the steps it took."""
    # Arrays are arguments of their own and this loop is one function: handing a tuple of arrays on to functions
    # would count references at every step, which takes as long as the physics.
    rows, columns = wall.shape
    pull, bilinear, most = motion.pull, motion.bilinear, motion.most_steps
    slowest = motion.slowest * motion.slowest
    oy = ox = vy = vx = vz = 0.0
    whole = fixed(w)
    sums[i, j, W] += whole
    for step in range(most):
        gy, gx = gradient(T, i + 1, j + 1, oy, ox)
        # The law is the same for the whole run, so that this branch is always foreseen; as a function chosen when
        # kernels are built it would have to be an argument, and Numba keeps no such kernel on disk.
        if bilinear:
            by, bx, bz = pull_down(gy, gx, pull)
        else:
            by, bx, bz = ay[i, j], ax[i, j], az[i, j]
        vy, vx, vz, e = onto_ground(vy + by, vx + bx, vz + bz, gy, gx)
        vy, vx, vz, square = capped(vy, vx, vz)
        sums[i, j, E] += fixed(w * e)
        if step == 0:
            sums[i, j, VY] += fixed(w * vy)
            sums[i, j, VX] += fixed(w * vx)
        if not (square > 0 and square >= slowest and 0.5 * square > escape[i, j]):
            return 0, step + 1
        oy += vy
        ox += vx
        di, dj = beyond_cell(oy), beyond_cell(ox)
        if di != 0 or dj != 0:
            i, j, oy, ox = i + di, j + dj, oy - di, ox - dj
            if not (0 <= i < rows and 0 <= j < columns):
                return 1, step + 1
            if wall[i, j]:
                return 0, step + 1
            sums[i, j, W] += whole
            sums[i, j, VY] += fixed(w * vy)
            sums[i, j, VX] += fixed(w * vx)
    return 0, most
