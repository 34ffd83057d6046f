"""The model as published: one function per law, one particle at a time [Bezin10, Secs. 3.1-3.2]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.mesh_particles.particles import above_ground
from slopewash.models.mesh_particles.physics import Physics
from slopewash.models.mesh_particles.table import AX, AY, BX, BY, NX, NZ, TILT, X0, Y0, height
from slopewash.models.state import Reals

if TYPE_CHECKING:
    from slopewash.models.mesh_particles.surface import Surface

Floats = NDArray[np.floating]

SLACK = 1e-9
"""Share of a triangle by which a point may lie outside and still count as inside: rounding must leave no cracks."""
NEAR = (1, 3)
"""Cells around a vertex in which a particle is looked for, first near and then further away."""


def pair_force(apart: Floats, approach: Floats, p: Physics) -> Floats:
    """Acceleration by a neighbour at `apart` with relative velocity `approach`: spring, damper and friction."""
    distance = np.sqrt((apart * apart).sum())
    overlap = 2 * p.radius - distance
    if overlap <= 0:
        return np.zeros_like(apart)
    normal = apart / distance
    closing = (approach * normal).sum()
    sliding = approach - closing * normal
    return (p.damper * closing - p.spring * overlap) * normal + p.friction * sliding


def pair_forces(X: Floats, V: Floats, p: Physics) -> Floats:
    """Sum over all pairs; particles in the same place push each other east and west."""
    forces = np.zeros_like(X)
    for i in range(len(X)):
        safe_point()
        offsets = X - X[i]
        for j in np.flatnonzero((offsets * offsets).sum(axis=1) < 4 * p.radius**2):
            if j == i:
                continue
            if offsets[j].any():
                forces[i] += pair_force(offsets[j], V[j] - V[i], p)
            else:
                forces[i, 0] += math.copysign(2 * p.spring * p.radius, i - j)
    return forces


def accelerate(V: Floats, forces: Floats, p: Physics) -> Floats:
    """New velocities: pushes and gravity, then drag; nobody is faster than `fastest`."""
    pull = np.array([0.0, 0.0, -p.gravity], V.dtype)
    V = (V + p.dt * (forces + pull)) * p.slowing
    speed = np.sqrt((V * V).sum(axis=1, keepdims=True))
    return V * np.minimum(1, p.fastest / np.maximum(speed, 1e-30))


def inside(table: Reals, x: float, y: float) -> Reals:
    """Least weight of the three corners at a point, for every triangle; negative outside."""
    dx, dy = x - table[:, X0], y - table[:, Y0]
    first, second = table[:, AX] * dx + table[:, AY] * dy, table[:, BX] * dx + table[:, BY] * dy
    return np.minimum(np.minimum(first, second), 1 - first - second)


def triangle_at(table: Reals, x: float, y: float) -> int:
    """Triangle below a point: the first that holds it, or the one it misses least."""
    least = inside(table, x, y)
    return int((least >= 0).argmax() if (least >= 0).any() else least.argmax())


def first_hit(table: Reals, start: Reals, way: Reals) -> tuple[float, int] | None:
    """Share of the way from `start` after which it goes through a triangle from above, and the triangle (Fig. 1a)."""
    end = start + way
    above = start[2] - height(table, start[0], start[1])
    below = end[2] - height(table, end[0], end[1])
    hits = []
    for t in np.flatnonzero((above >= 0) & (below < 0)):
        share = above[t] / (above[t] - below[t])
        point = start + share * way
        if inside(table[t : t + 1], point[0], point[1])[0] >= -SLACK:
            hits.append((float(share), int(t)))
    return min(hits, default=None)


def slip(velocity: Reals, normal: Reals, bounce: float) -> Reals:
    """Keep the speed along the ground; what goes into it is lost but for the bounce."""
    into = min(0.0, float((velocity * normal).sum()))
    return velocity - (1 + bounce) * into * normal


def collide(
    surface: Surface, erodible: Reals, start: Floats, velocity: Floats, at: int, p: Physics
) -> tuple[Floats, Floats, int, int, float, bool]:
    """Move a particle for Δt; it touches at most one triangle and never ends below the surface.

    Returns position, velocity, the triangle below, the one touched (-1 for none), the erosion C, and whether it left.
    """
    table = surface.table
    x, v = start.astype(np.float64), velocity.astype(np.float64)
    speed = float(np.sqrt((v * v).sum()))
    hit = first_hit(table, x, v * p.dt)
    end = x + v * p.dt
    touched = -1
    if hit is not None:
        share, touched = hit
        v_new = slip(v, table[touched, NX : NZ + 1], p.bounce)
        end = x + share * p.dt * v + (1 - share) * p.dt * v_new
        v = v_new
    west, north, east, south = surface.extent
    place = end.astype(start.dtype)
    left = not (west <= place[0] <= east and north <= place[1] <= south)
    if not left:
        at = triangle_at(table, float(place[0]), float(place[1]))
        ground = float(height(table[at : at + 1], float(place[0]), float(place[1]))[0])
        if touched < 0 and end[2] < ground:
            touched = at
            v = slip(v, table[at, NX : NZ + 1], p.bounce)
        place[2] = above_ground(end[2], ground, start.dtype)
    C = 0.0 if touched < 0 else p.erosion * float(table[touched, TILT]) * speed * float(erodible[touched])  # Eq. 1
    return place, v.astype(velocity.dtype), at, touched, C, left


def erosion_per_vertex(touched: NDArray[np.int32], erosion: Floats, surface: Surface) -> Reals:
    """Erosion of each vertex: pairs of vertex and particle, sorted by vertex, summed from start to end (Table 1)."""
    particle = np.flatnonzero(touched >= 0)
    index_vertex = surface.triangles[touched[particle]].ravel()  # step a
    amount = (surface.erosion_shares[touched[particle]] * erosion[particle, None]).ravel()
    order = np.argsort(index_vertex, kind="stable")  # step b
    index_vertex, amount = index_vertex[order], amount[order]
    vertices = np.arange(len(surface.z))
    cell_start, cell_end = (np.searchsorted(index_vertex, vertices, side) for side in ("left", "right"))  # step c
    sums = np.zeros(len(vertices))
    for vertex in np.flatnonzero(cell_end > cell_start):  # step d
        for k in range(cell_start[vertex], cell_end[vertex]):
            sums[vertex] += amount[k]
    return sums


def nearest_particle(X: Floats, cells: NDArray[np.int64], point: Reals, cell: NDArray[np.int64]) -> int:
    """Particle nearest to a point among those in the cells around its own; -1 where there is none."""
    for reach in NEAR:
        around = np.flatnonzero((np.abs(cells - cell) <= reach).all(axis=1))
        if len(around):
            offsets = X[around].astype(np.float64) - point
            return int(around[(offsets * offsets).sum(axis=1).argmin()])
    return -1
