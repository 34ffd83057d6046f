"""The specification: one iteration of [Chiba98] in NumPy, all particles side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.velocity_field.surface import STEPS, Field, Surface

Integers = NDArray[np.int64]

SCALE = float(1 << 30)
"""Fixed point of the particle sums. A particle's water is at most 1 (of the wettest cell's), its speed at most 1 cell
per step and its energy of that order, so 2^33 additions fit one cell: every particle of a 4096² grid, 512 times over.
"""
TAN_22 = float(np.sqrt(2.0) - 1.0)
"""Beyond this ratio of components a velocity points to a diagonal neighbour."""


class Motion(NamedTuple):
    """How particles move, in cells and particle steps."""

    pull: float
    """G Δt²"""
    slowest: float
    """v_min Δt"""
    most_steps: int
    longest_stay: int
    """steps in one cell"""
    downhill: bool
    """pulled down the gradient, not towards the steepest neighbour"""


PARTICLES_AT_ONCE = 1 << 18
"""Particles that run side by side: on large grids a step of all would take seconds, in which nothing can interrupt."""


@dataclass
class Sums:
    """Where the water went, in fixed point: W, W·V and E of every cell, and water off the grid or at rest."""

    W: Integers
    Vy: Integers
    Vx: Integers
    E: Integers
    left: int = 0
    sunk: int = 0
    """water that came to rest"""
    particle_steps: int = 0


def fixed(a: Field) -> Integers:
    """Round to fixed point; halves go to even, so that opposite values stay opposite."""
    return np.rint(a * SCALE).astype(np.int64)


def velocity_field(surface: Surface, w: Field, motion: Motion) -> Sums:
    """Step 2(a): let a particle of water `w` run from every cell until it leaves or stops."""
    sums = Sums(*np.zeros((4, *w.shape), np.int64))
    i, j = np.nonzero(w > 0)
    for first in range(0, len(i), PARTICLES_AT_ONCE):
        some = slice(first, first + PARTICLES_AT_ONCE)
        run_particles(surface, i[some], j[some], w[i[some], j[some]], motion, sums)
    return sums


def run_particles(surface: Surface, i: NDArray[Any], j: NDArray[Any], w: Field, motion: Motion, sums: Sums) -> None:
    """Let particles of water `w` run side by side from the cells (i, j), and add up what they do."""
    rows, columns = sums.W.shape
    oy, ox, vy, vx, vz = np.zeros((5, len(w)), w.dtype)  # offset from the cell's centre; velocity
    stayed = np.zeros(len(w), np.int64)
    np.add.at(sums.W, (i, j), fixed(w))
    for step in range(motion.most_steps):
        sums.particle_steps += len(w)
        gy, gx = gradient(surface.T, i, j, oy, ox)
        ay, ax, az = steer(surface, i, j, gy, gx, motion)
        vy, vx, vz = vy + ay, vx + ax, vz + az
        vy, vx, vz, e = onto_ground(vy, vx, vz, gy, gx)
        np.add.at(sums.E, (i, j), fixed(w * e))
        vy, vx, vz, square = capped(vy, vx, vz)
        if step == 0:
            credit(sums, i, j, vy, vx, w)
        stayed = stayed + 1
        going = (square > 0) & (square >= motion.slowest * motion.slowest) & (0.5 * square > surface.escape[i, j])
        going &= stayed <= motion.longest_stay
        sums.sunk += int(fixed(w[~going]).sum())
        i, j, oy, ox, vy, vx, vz, w, stayed = _those(going, i, j, oy, ox, vy, vx, vz, w, stayed)
        (to_i, oy), (to_j, ox) = moved(i, oy, vy), moved(j, ox, vx)
        inside = (to_i >= 0) & (to_i < rows) & (to_j >= 0) & (to_j < columns)
        sums.left += int(fixed(w[~inside]).sum())
        inside[inside], on_grid = ~surface.nodata[to_i[inside], to_j[inside]], inside.copy()
        sums.sunk += int(fixed(w[on_grid & ~inside]).sum())
        # Steps are one cell at most, so a step covers the old cell, counted before, and the new one.
        entered = inside & ((to_i != i) | (to_j != j))
        np.add.at(sums.W, (to_i[entered], to_j[entered]), fixed(w[entered]))
        credit(sums, *_those(entered, to_i, to_j, vy, vx, w))
        stayed = np.where(entered, 0, stayed)
        i, j, oy, ox, vy, vx, vz, w, stayed = _those(inside, to_i, to_j, oy, ox, vy, vx, vz, w, stayed)
        if len(w) == 0:
            break
        safe_point()
    sums.sunk += int(fixed(w).sum())


def _those(chosen: NDArray[np.bool_], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    return [a[chosen] for a in arrays]


def credit(sums: Sums, i: Integers, j: Integers, vy: Field, vx: Field, w: Field) -> None:
    """Add w·v to the cells (i, j)."""
    np.add.at(sums.Vy, (i, j), fixed(w * vy))
    np.add.at(sums.Vx, (i, j), fixed(w * vx))


def gradient(T: Field, i: Integers, j: Integers, oy: Field, ox: Field) -> tuple[Field, Field]:
    """Gradient at (i + oy, j + ox) of the ground as triangles; between two triangles it is their mean.

    Four cells make two triangles that meet along the lower diagonal: a valley from cell to diagonal cell then has a
    bed. Bilinear ground has a saddle there, behind which water collects.
    """
    sy, sx = np.where(oy < 0, -1, 1), np.where(ox < 0, -1, 1)
    gy, gx = triangle(T, i, j, sy, sx, oy, ox)
    gy = np.where(oy == 0, 0.5 * (gy + triangle(T, i, j, -sy, sx, oy, ox)[0]), gy)
    gx = np.where(ox == 0, 0.5 * (gx + triangle(T, i, j, sy, -sx, oy, ox)[1]), gx)
    centre = (oy == 0) & (ox == 0)
    gy = np.where(centre, 0.5 * (T[i + 2, j + 1] - T[i, j + 1]), gy)
    gx = np.where(centre, 0.5 * (T[i + 1, j + 2] - T[i + 1, j]), gx)
    return gy, gx


def triangle(
    T: Field, i: Integers, j: Integers, sy: Integers, sx: Integers, oy: Field, ox: Field
) -> tuple[Field, Field]:
    """Gradient of the triangle at an offset, in the quarter of the cell given by the signs."""
    a, b = T[i + 1, j + 1], T[i + 1, j + 1 + sx]
    c, d = T[i + 1 + sy, j + 1], T[i + 1 + sy, j + 1 + sx]
    ty, tx = np.abs(oy), np.abs(ox)
    from_here = a + d < b + c  # the common edge runs from this cell to the diagonal one
    gy = np.select([from_here & (tx > ty), from_here & (tx == ty)], [d - b, 0.5 * ((d - b) + (c - a))], c - a)
    gx = np.select([from_here & (ty > tx), from_here & (tx == ty)], [d - c, 0.5 * ((b - a) + (d - c))], b - a)
    return gy * sy.astype(gy.dtype), gx * sx.astype(gx.dtype)


def steer(surface: Surface, i: Integers, j: Integers, gy: Field, gx: Field, motion: Motion) -> tuple[Field, ...]:
    """Return a·Δt: down the gradient at the particle, or towards the cell's steepest neighbour as published."""
    if not motion.downhill:
        return surface.ay[i, j], surface.ax[i, j], surface.az[i, j]
    square = gy * gy + gx * gx
    level = motion.pull / (1 + square)
    return -gy * level, -gx * level, -square * level


def onto_ground(vy: Field, vx: Field, vz: Field, gy: Field, gx: Field) -> tuple[Field, Field, Field, Field]:
    """Return v' = (v_t·v) v_t, v_t the ground's tangent below v, and e = |v - v'|²/2 if v' points higher than v.

    With s the slope of the ground below v, v_t is (level direction, s)/√(1 + s²), and v - v' is normal to it.
    """
    level = np.sqrt(vy * vy + vx * vx)
    moving = level > 0
    per_level = 1 / np.where(moving, level, np.inf)
    s = (gy * vy + gx * vx) * per_level
    per_q = 1 / (1 + s * s)
    along = np.where(moving, (level + s * vz) * per_q, 0.0)
    into = np.where(moving, np.maximum(s * level - vz, 0), 0.0)
    stretch = along * per_level
    return vy * stretch, vx * stretch, s * along, 0.5 * into * into * per_q


def capped(vy: Field, vx: Field, vz: Field) -> tuple[Field, Field, Field, Field]:
    """Limit speeds to one cell per step; also return their squares."""
    square = (vy * vy + vx * vx) + vz * vz
    shrink = 1 / np.sqrt(np.maximum(square, 1))
    return vy * shrink, vx * shrink, vz * shrink, np.minimum(square, 1)


def moved(cell: Integers, offset: Field, v: Field) -> tuple[Integers, Field]:
    """Move by v' Δt. Both ends of -0.5 .. 0.5 belong to a cell, so that mirrored paths are mirrored bit by bit."""
    offset = offset + v
    over = (offset > 0.5).astype(np.int64) - (offset < -0.5)
    return cell + over, offset - over.astype(offset.dtype)


def downstream(Vy: Field, Vx: Field) -> Integers:
    """Number (in `STEPS`) of the neighbour V points to, -1 where V is zero."""
    y, x = np.abs(Vy), np.abs(Vx)
    dy = np.where(y > TAN_22 * x, np.sign(Vy), 0).astype(np.int64)
    dx = np.where(x > TAN_22 * y, np.sign(Vx), 0).astype(np.int64)
    k = 3 * (dy + 1) + (dx + 1)
    return np.where(k == 4, -1, k - (k > 4))


@dataclass
class Routed:
    """What became of the sediment: heights deposited, sediment that stays suspended, sediment exported."""

    deposited: Field
    kept: Field
    exported: float


def route(direction: Integers, down: Integers, T: Field, sediment: Field, capacity: Field, room: Field) -> Routed:
    """Step 2(b): pass the sediment on, each cell after all that feed it."""
    rows, columns = T.shape
    direction = cut_circles(direction, down, T)
    deposited, kept, passed = np.zeros((3, rows, columns))
    exported = []
    for i, j in upstream_first(direction):
        safe_point()
        incoming = np.zeros(8)
        for k, (di, dj) in enumerate(STEPS):
            a, b = i - di, j - dj
            if 0 <= a < rows and 0 <= b < columns and direction[a, b] == k:
                incoming[k] = passed[a, b]
        nw, n, ne, w, e, sw, s, se = incoming
        total = sediment[i, j] + (((n + s) + (w + e)) + ((nw + se) + (ne + sw)))
        last = direction[i, j] < 0
        surplus = total if last else max(0.0, total - capacity[i, j])
        deposited[i, j] = min(surplus, room[i, j])
        rest = total - deposited[i, j]
        if last:
            kept[i, j] = rest
        else:
            passed[i, j] = rest
            di, dj = STEPS[direction[i, j]]
            if not (0 <= i + di < rows and 0 <= j + dj < columns):
                exported.append(rest)
    return Routed(deposited, kept, float(np.sum(np.sort(exported))))


def upstream_first(direction: Integers) -> list[tuple[int, int]]:
    """Cells in an order that visits each after all that point to it; cells on circles are left out."""
    rows, columns = direction.shape
    feeders = np.zeros(direction.shape, np.int64)
    for i, j in np.ndindex(rows, columns):
        safe_point()
        target = _next(direction, i, j)
        if target:
            feeders[target] += 1
    order = []
    for i, j in np.argwhere(feeders == 0):
        safe_point()
        order.append((int(i), int(j)))
    for i, j in order:  # grows while it is read
        safe_point()
        target = _next(direction, i, j)
        if target:
            feeders[target] -= 1
            if feeders[target] == 0:
                order.append(target)
    return order


def cut_circles(direction: Integers, down: Integers, T: Field) -> Integers:
    """Open every circle at its lowest cell (all of them if several tie), which then goes `down`, or ends in a pit.

    That may close another circle, but one with a lower lowest cell.
    """
    direction = direction.copy()
    while True:
        on_circle = np.ones(direction.shape, bool)
        for i, j in upstream_first(direction):
            safe_point()
            on_circle[i, j] = False
        if not on_circle.any():
            return direction
        while on_circle.any():
            start = tuple(np.argwhere(on_circle)[0].tolist())
            circle = [start]
            safe_point()
            while (after := _next(direction, *circle[-1])) is not None and after != start:
                circle.append(after)
            lowest = min(T[cell] for cell in circle)
            for cell in circle:
                on_circle[cell] = False
                if T[cell] == lowest:
                    direction[cell] = down[cell]


def _next(direction: Integers, i: int, j: int) -> tuple[int, int] | None:
    k = direction[i, j]
    a, b = i + STEPS[k][0], j + STEPS[k][1]
    inside = k >= 0 and 0 <= a < direction.shape[0] and 0 <= b < direction.shape[1]
    return (a, b) if inside else None
