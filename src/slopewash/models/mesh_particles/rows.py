"""Numba: one particle [Bezin10, Sec. 3.1]. Laws are those of `reference`."""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, stage_kernel
from slopewash.models.mesh_particles.particles import CLEARANCE
from slopewash.models.mesh_particles.reference import SLACK
from slopewash.models.mesh_particles.table import AX, AY, BX, BY, GX, GY, NX, NY, NZ, TILT, X0, Y0, Z0

MISS = 2.0
"""Share of the way of a triangle that is not on it."""
EPS = 2 * float(np.finfo(np.float32).eps)
ZERO = np.float32(0)


@stage_kernel
def push(X, V, i, j, r2, reach, spring, damper, friction):
    """Acceleration of particle i by particle j after it; that of j by i is the opposite, to the last digit."""
    dx, dy, dz = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
    d2 = dx * dx + dy * dy + dz * dz
    if d2 >= r2:
        return False, ZERO, ZERO, ZERO
    if d2 == ZERO:
        return True, -spring * reach, ZERO, ZERO
    d = np.sqrt(d2)
    nx, ny, nz = dx / d, dy / d, dz / d
    ux, uy, uz = V[j, 0] - V[i, 0], V[j, 1] - V[i, 1], V[j, 2] - V[i, 2]
    closing = ux * nx + uy * ny + uz * nz
    f = (damper - friction) * closing - spring * (reach - d)
    return True, f * nx + friction * ux, f * ny + friction * uy, f * nz + friction * uz


@kernel
def inside(T, t, x, y):
    """Least weight of the three corners at a point; negative outside."""
    dx, dy = x - T[t, X0], y - T[t, Y0]
    first, second = T[t, AX] * dx + T[t, AY] * dy, T[t, BX] * dx + T[t, BY] * dy
    return min(min(first, second), 1.0 - first - second)


@kernel
def height(T, t, x, y):
    return T[t, Z0] + T[t, GX] * (x - T[t, X0]) + T[t, GY] * (y - T[t, Y0])


@kernel
def clamped(value, most):
    """Number of a cell, kept on the grid."""
    if not value > 0.0:
        return 0
    return min(int(value), most)


@kernel
def locate(T, grid, x, y):
    """Triangle below a point: the first that holds it, or the one it misses least."""
    west, north, inverse, columns, rows, start, triangle = grid
    cell = clamped((y - north) * inverse, rows - 1) * columns + clamped((x - west) * inverse, columns - 1)
    best, nearest = -1, -np.inf
    for k in range(start[cell], start[cell + 1]):
        t = triangle[k]
        least = inside(T, t, x, y)
        if least >= 0.0:
            return t
        if least > nearest:
            best, nearest = t, least
    return best


@kernel
def strike(T, t, x, y, z, dx, dy, dz):
    """Share of the way at which it goes through triangle t from above (Fig. 1a)."""
    above = z - height(T, t, x, y)
    below = z + dz - height(T, t, x + dx, y + dy)
    if above >= 0.0 and below < 0.0:
        share = above / (above - below)
        if inside(T, t, x + share * dx, y + share * dy) >= -SLACK:
            return share
    return MISS


@kernel
def first_hit(T, grid, own, x, y, z, dx, dy, dz):
    """Closest triangle on the way; of equals the first. A way that never leaves a triangle can meet no other."""
    if inside(T, own, x, y) >= 0.0 and inside(T, own, x + dx, y + dy) >= 0.0:
        share = strike(T, own, x, y, z, dx, dy, dz)
        return (own if share < MISS else -1), share
    west, north, inverse, columns, rows, start, triangle = grid
    i0 = clamped((min(y, y + dy) - north) * inverse, rows - 1)
    i1 = clamped((max(y, y + dy) - north) * inverse, rows - 1)
    j0 = clamped((min(x, x + dx) - west) * inverse, columns - 1)
    j1 = clamped((max(x, x + dx) - west) * inverse, columns - 1)
    hit, first = -1, MISS
    for i in range(i0, i1 + 1):
        for k in range(start[i * columns + j0], start[i * columns + j1 + 1]):
            t = triangle[k]
            share = strike(T, t, x, y, z, dx, dy, dz)
            if share < first or (share == first and t < hit):
                hit, first = t, share
    return hit, first


@kernel
def slip(T, t, vx, vy, vz, bounce):
    """Keep the speed along the ground; what goes into it is lost but for the bounce."""
    into = min(0.0, vx * T[t, NX] + vy * T[t, NY] + vz * T[t, NZ])
    lost = (1.0 + bounce) * into
    return vx - lost * T[t, NX], vy - lost * T[t, NY], vz - lost * T[t, NZ]


@kernel
def above_ground(z, ground):
    """Height at which a particle may be: above the ground in float32 too."""
    return max(z, ground + CLEARANCE + EPS * abs(ground))


@kernel
def accelerate(v, push, pull, dt, slowing):
    return (v + dt * (push + pull)) * slowing


@kernel
def move(i, X, V, pushes, at, T, grid, extent, erodible, p):
    """Move particle i for Δt; returns the triangle touched, the erosion C, and whether it has left."""
    dt, _, _, _, _, gravity, slowing, bounce, fastest, erosion = p
    vx = accelerate(np.float64(V[i, 0]), np.float64(pushes[i, 0]), 0.0, dt, slowing)
    vy = accelerate(np.float64(V[i, 1]), np.float64(pushes[i, 1]), 0.0, dt, slowing)
    vz = accelerate(np.float64(V[i, 2]), np.float64(pushes[i, 2]), -gravity, dt, slowing)
    speed = np.sqrt(vx * vx + vy * vy + vz * vz)
    if speed > fastest:
        slower = fastest / speed
        vx, vy, vz, speed = vx * slower, vy * slower, vz * slower, fastest
    x, y, z = np.float64(X[i, 0]), np.float64(X[i, 1]), np.float64(X[i, 2])
    touched, share = first_hit(T, grid, at[i], x, y, z, dt * vx, dt * vy, dt * vz)
    if touched >= 0:
        before, after = dt * share, dt * (1.0 - share)
        x, y, z = x + before * vx, y + before * vy, z + before * vz
        vx, vy, vz = slip(T, touched, vx, vy, vz, bounce)
        x, y, z = x + after * vx, y + after * vy, z + after * vz
    else:
        x, y, z = x + dt * vx, y + dt * vy, z + dt * vz
    X[i, 0], X[i, 1] = x, y
    x, y = np.float64(X[i, 0]), np.float64(X[i, 1])
    left = not (extent[0] <= x <= extent[2] and extent[1] <= y <= extent[3])
    if not left:
        if not inside(T, at[i], x, y) >= 0.0:
            at[i] = locate(T, grid, x, y)
        ground = height(T, at[i], x, y)
        if touched < 0 and z < ground:
            touched = at[i]
            vx, vy, vz = slip(T, touched, vx, vy, vz, bounce)
        z = above_ground(z, ground)
    X[i, 2] = z
    V[i, 0], V[i, 1], V[i, 2] = vx, vy, vz
    eroded = 0.0
    if touched >= 0:
        eroded = erosion * T[touched, TILT] * speed * erodible[touched]  # Eq. 1
    return touched, eroded, left
