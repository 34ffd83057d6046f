"""Numba: all particles, all vertices. Whatever is summed is summed in a fixed order, by whoever it belongs to."""

from __future__ import annotations

import numpy as np
from numba import prange

from slopewash.backends.compiled import kernel, parallel_kernel
from slopewash.models.mesh_particles.particles import ALIVE, LEFT
from slopewash.models.mesh_particles.rows import above_ground, height, locate, move, push


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
def push_all(n, X, V, cell, columns, start, numbers, pushes):
    r2, reach, spring, damper, friction = numbers
    for i in prange(n):
        first = cell[i] - columns - 1
        ax, ay, az = push(i, X, V, first, columns, start, r2, reach, spring, damper, friction)
        pushes[i, 0], pushes[i, 1], pushes[i, 2] = ax, ay, az


@parallel_kernel
def move_all(n, X, V, pushes, at, fate, T, grid, extent, erodible, p, touched, eroded):
    for i in prange(n):
        t, amount, left = move(i, X, V, pushes, at, T, grid, extent, erodible, p)
        touched[i], eroded[i] = t, amount
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
