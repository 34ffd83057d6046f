"""Numba: many particles at a time, so that their arithmetic is packed [Bezin10, Sec. 3.1].

Alone, a particle waits for each of its operations. Most stay above one triangle during a step, and these are worked out
side by side, branches turned into choices between two results; `rows.move` moves the others. Operations are those of
`rows`, in the same order.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import row_kernel
from slopewash.models.mesh_particles.reference import SLACK
from slopewash.models.mesh_particles.rows import above_ground, accelerate, height, inside, slip
from slopewash.models.mesh_particles.table import TILT

LANES = 128
PX, PY, PZ, PVX, PVY, PVZ = range(6)
PLACE_AND_VELOCITY = 6
TOUCHES, STAYS = range(2)
FLAGS = 2


@row_kernel
def move_within(X, V, pushes, at, T, erodible, extent, p, x_, y_, z_, vx_, vy_, vz_, touches, stays, eroded):
    """Move particles for Δt that stay above their triangles; for the others, `stays` is 0 and the rest means nothing.

    Returns places, velocities, whether each touches its triangle, and the erosion C.
    """
    dt, _, _, _, _, gravity, slowing, bounce, fastest, erosion = p
    west, north, east, south = extent
    for k in range(len(at)):
        t = np.uintp(at[k])
        vx = accelerate(np.float64(V[k, 0]), np.float64(pushes[k, 0]), 0.0, dt, slowing)
        vy = accelerate(np.float64(V[k, 1]), np.float64(pushes[k, 1]), 0.0, dt, slowing)
        vz = accelerate(np.float64(V[k, 2]), np.float64(pushes[k, 2]), -gravity, dt, slowing)
        speed = np.sqrt(vx * vx + vy * vy + vz * vz)
        fast = speed > fastest
        slower = fastest / (speed if fast else fastest)
        vx, vy, vz = (vx * slower if fast else vx), (vy * slower if fast else vy), (vz * slower if fast else vz)
        speed = fastest if fast else speed
        x, y, z = np.float64(X[k, 0]), np.float64(X[k, 1]), np.float64(X[k, 2])
        dx, dy, dz = dt * vx, dt * vy, dt * vz
        above = z - height(T, t, x, y)
        below = z + dz - height(T, t, x + dx, y + dy)
        falls = (above >= 0.0) & (below < 0.0)
        share = above / (above - below if falls else 1.0)
        hit = falls & (inside(T, t, x + share * dx, y + share * dy) >= -SLACK)
        within = (inside(T, t, x, y) >= 0.0) & (inside(T, t, x + dx, y + dy) >= 0.0)
        sx, sy, sz = slip(T, t, vx, vy, vz, bounce)
        before, after = dt * share, dt * (1.0 - share)
        x1 = x + before * vx + after * sx if hit else x + dt * vx
        y1 = y + before * vy + after * sy if hit else y + dt * vy
        z1 = z + before * vz + after * sz if hit else z + dt * vz
        x_[k], y_[k] = x1, y1
        x2, y2 = np.float64(x_[k]), np.float64(y_[k])
        within = within & (x2 >= west) & (x2 <= east) & (y2 >= north) & (y2 <= south)
        within = within & (inside(T, t, x2, y2) >= 0.0)
        ground = height(T, t, x2, y2)
        touch = hit | (z1 < ground)
        z_[k] = above_ground(z1, ground)
        vx_[k], vy_[k], vz_[k] = (sx if touch else vx), (sy if touch else vy), (sz if touch else vz)
        eroded[k] = erosion * T[t, TILT] * speed * erodible[t] if touch else 0.0  # Eq. 1
        touches[k], stays[k] = touch, within
