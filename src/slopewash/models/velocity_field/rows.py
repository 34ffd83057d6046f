"""Numba: the equations of one particle [Chiba98, Sec. 2.1]. Operations are those of `reference`, in the same order.

Where `lanes` has them packed, branches have become choices between two results; what is not chosen is kept finite.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel
from slopewash.models.velocity_field.reference import SCALE

W, VY, VX, E = range(4)
SUMS = 4


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
    rests = square == 0.0
    level = np.sqrt(1.0 if rests else square)
    per_level = 1 / level
    s = (gy * vy + gx * vx) * per_level
    per_q = 1 / (1 + s * s)
    along = (level + s * vz) * per_q
    into = max(s * level - vz, 0.0)
    stretch = 0.0 if rests else along * per_level
    return vy * stretch, vx * stretch, (0.0 if rests else s * along), (0.0 if rests else 0.5 * into * into * per_q)


@kernel
def capped(vy, vx, vz):
    square = (vy * vy + vx * vx) + vz * vz
    fast = square > 1
    shrink = 1 / np.sqrt(square if fast else 1.0)
    return vy * shrink, vx * shrink, vz * shrink, (1.0 if fast else square)


@kernel
def beyond_cell(offset):
    """-1, 0 or 1: whether an offset leads to the cell before, none or the cell after."""
    return (1 if offset > 0.5 else 0) - (1 if offset < -0.5 else 0)


@kernel
def fixed(a):
    return np.int64(np.rint(a * SCALE))
