"""Numba: all particles, all vertices. Whatever is summed is summed in a fixed order, by whoever it belongs to."""

from __future__ import annotations

import numpy as np
from numba import prange

from slopewash.backends.compiled import band_kernel, kernel, parallel_kernel, stage_kernel
from slopewash.models.mesh_particles.lanes import LANES, PVX, PVY, PVZ, PX, PY, PZ, STAYS, TOUCHES, move_within
from slopewash.models.mesh_particles.particles import ALIVE, LEFT
from slopewash.models.mesh_particles.rows import ZERO, above_ground, height, locate, move, push


@kernel
def span(X, fate, n, box):
    """West, north, east and south ends of the living particles."""
    west = north = np.inf
    east = south = -np.inf
    for i in range(n):
        if fate[i] == ALIVE:
            x, y = np.float64(X[i, 0]), np.float64(X[i, 1])
            west, north, east, south = min(west, x), min(north, y), max(east, x), max(south, y)
    box[0], box[1], box[2], box[3] = west, north, east, south


@parallel_kernel
def find_cells(X, fate, n, inverse, column0, row0, columns, cell):
    """Cell of each particle in plan; -1 for the dead."""
    for i in prange(n):
        j = int(np.floor(np.float64(X[i, 0]) * inverse)) - column0
        k = int(np.floor(np.float64(X[i, 1]) * inverse)) - row0
        cell[i] = k * columns + j if fate[i] == ALIVE else -1


@kernel
def counting_sort(key, n, start, order):
    """Numbers 0 .. n-1 by key, stable; negative keys are left out. Those of key k are order[start[k]:start[k + 1]]."""
    start[:] = 0
    for i in range(n):
        if key[i] >= 0:
            start[key[i] + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    total = start[len(start) - 1]
    for i in range(n - 1, -1, -1):
        if key[i] >= 0:
            start[key[i] + 1] -= 1
            order[start[key[i] + 1]] = i
    # Each start has slid down to its own key's beginning, one place too far up the table.
    for k in range(len(start) - 1):
        start[k] = start[k + 1]
    start[len(start) - 1] = total
    return total


@parallel_kernel
def reorder(order, count, X, V, born, at, fate, cell, X2, V2, born2, at2, fate2, cell2, place):
    """Copy particles in the order of their cells, and note the new place of each."""
    for k in prange(count):
        i = order[k]
        for c in range(3):
            X2[k, c] = X[i, c]
            V2[k, c] = V[i, c]
        born2[k], at2[k], fate2[k], cell2[k] = born[i], at[i], fate[i], cell[i]
        place[i] = k


@parallel_kernel
def push_all(bands, n, X, V, cell, columns, start, numbers, pushes):
    for band in prange(bands):
        push_band(n * band // bands, n * (band + 1) // bands, X, V, cell, columns, start, numbers, pushes)


@band_kernel
def push_band(first, last, X, V, cell, columns, start, numbers, pushes):
    """Accelerations of some particles by their neighbours, which are in three rows of three cells each.

    Each adds up its neighbours in their order. A pair is worked out once, when the first of the two has its turn: by
    then all before it have pushed it. Only pairs of particles of two bands are worked out in both.
    """
    for i in range(first, last):
        pushes[i, 0] = pushes[i, 1] = pushes[i, 2] = ZERO
        north, west = cell[i] - columns - 1, cell[i] - 1
        if start[north] < first:
            pushed_from_before(i, start[north], min(start[north + 3], first), X, V, numbers, pushes)
            pushed_from_before(i, start[west], min(start[west + 3], first), X, V, numbers, pushes)
    for i in range(first, last):
        south, east = cell[i] + columns - 1, cell[i] + 1
        push_after(i, i + 1, start[east + 1], last, X, V, numbers, pushes)
        push_after(i, start[south], start[south + 3], last, X, V, numbers, pushes)


@stage_kernel
def pushed_from_before(i, begin, end, X, V, numbers, pushes):
    """Push particle i away from some before it."""
    for j in range(begin, end):
        touch, ax, ay, az = push(X, V, j, i, *numbers)
        if touch:
            pushes[i, 0] -= ax
            pushes[i, 1] -= ay
            pushes[i, 2] -= az


@stage_kernel
def push_after(i, begin, end, last, X, V, numbers, pushes):
    """Push particle i and some after it away from each other, but none from `last` on."""
    for j in range(begin, end):
        touch, ax, ay, az = push(X, V, i, j, *numbers)
        if touch:
            pushes[i, 0] += ax
            pushes[i, 1] += ay
            pushes[i, 2] += az
            if j < last:
                pushes[j, 0] -= ax
                pushes[j, 1] -= ay
                pushes[j, 2] -= az


@parallel_kernel
def move_all(n, X, V, pushes, at, fate, T, grid, extent, erodible, p, places, flags, touched, eroded):
    bands = len(places)
    for band in prange(bands):
        move_band(
            n * band // bands, n * (band + 1) // bands, X, V, pushes, at, fate, T, grid, extent, erodible, p,
            places[band], flags[band], touched, eroded,
        )  # fmt: skip


@band_kernel
def move_band(first, last, X, V, pushes, at, fate, T, grid, extent, erodible, p, place, flag, touched, eroded):
    """Move some particles, a block of lanes at a time."""
    for begin in range(first, last, LANES):
        end = min(begin + LANES, last)
        move_within(
            X[begin:end], V[begin:end], pushes[begin:end], at[begin:end], T, erodible, extent, p, place[PX], place[PY],
            place[PZ], place[PVX], place[PVY], place[PVZ], flag[TOUCHES], flag[STAYS], eroded[begin:end],
        )  # fmt: skip
        for i in range(begin, end):
            k = i - begin
            if flag[STAYS, k]:
                X[i, 0], X[i, 1], X[i, 2] = place[PX, k], place[PY, k], place[PZ, k]
                V[i, 0], V[i, 1], V[i, 2] = place[PVX, k], place[PVY, k], place[PVZ, k]
                touched[i] = at[i] if flag[TOUCHES, k] else -1
            else:
                touched[i], eroded[i], left = move(i, X, V, pushes, at, T, grid, extent, erodible, p)
                if left:
                    fate[i] = LEFT


@kernel
def sum_up(n, touched, eroded, triangles, share, sums):
    """Table 1: erosion of each vertex, particle by particle. Threads would wait for each other longer than it takes."""
    for i in range(n):
        t = touched[i]
        if t >= 0:
            for c in range(3):
                sums[triangles[t, c]] += share[t, c] * eroded[i]


@parallel_kernel
def nearest_all(points, X, inverse, column0, row0, columns, rows, start, near, found):
    """Particle nearest to each point within some cells around its own; of equals the first."""
    for q in prange(len(points)):
        j = int(np.floor(points[q, 0] * inverse)) - column0
        i = int(np.floor(points[q, 1] * inverse)) - row0
        found[q] = -1
        least = np.inf
        for reach in near:
            if found[q] >= 0:
                break
            for row in range(max(i - reach, 0), min(i + reach, rows - 1) + 1):
                west, east = max(j - reach, 0), min(j + reach, columns - 1)
                if west > east:
                    continue
                for k in range(start[row * columns + west], start[row * columns + east + 1]):
                    dx, dy, dz = X[k, 0] - points[q, 0], X[k, 1] - points[q, 1], X[k, 2] - points[q, 2]
                    d2 = dx * dx + dy * dy + dz * dz
                    if d2 < least:
                        least = d2
                        found[q] = k


@parallel_kernel
def lift(n, X, at, T, grid, moved):
    """Lift particles that the ground has risen above; `moved` means that triangles have shifted in plan."""
    for i in prange(n):
        x, y = np.float64(X[i, 0]), np.float64(X[i, 1])
        if moved:
            at[i] = locate(T, grid, x, y)
        X[i, 2] = above_ground(np.float64(X[i, 2]), height(T, at[i], x, y))


@kernel
def locate_all(x, y, T, grid, at):
    for i in range(len(x)):
        at[i] = locate(T, grid, x[i], y[i])
