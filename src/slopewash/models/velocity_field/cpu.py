"""Runs the particles and the routing on the machine's cores."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.state import Domain, State
from slopewash.models.velocity_field import lanes, rows, sweep
from slopewash.models.velocity_field.iteration import FieldBackend
from slopewash.models.velocity_field.reference import Integers, Motion, Routed, Sums
from slopewash.models.velocity_field.surface import Field, Surface
from slopewash.pieces import Pieces

MOST_MEMORY = 1 << 30
"""Bytes for the bands' own sums: on large grids fewer bands than threads."""
CELLS_AT_ONCE = 1 << 18
"""Cells that one call of a kernel passes sediment through: some 0.1 s where each is somewhere else."""


class RoutingOnCores(FieldBackend):
    """Passes the sediment on with Numba kernels."""

    def route(
        self, direction: Integers, down: Integers, T: Field, sediment: Field, capacity: Field, room: Field
    ) -> Routed:
        """Pass the sediment on, upstream cells first."""
        ways, down_ways = direction.astype(np.int8), down.astype(np.int8)
        order = upstream_first(ways, down_ways, T)
        deposited, kept, passed = np.zeros((3, *T.shape))
        exported = 0.0
        for first, last in parts(T.size):
            exported = sweep.route(ways, order[first:last], sediment, capacity, room, deposited, kept, passed, exported)
        return Routed(deposited, kept, exported)


def upstream_first(direction: NDArray[np.int8], down: NDArray[np.int8], T: Field) -> Integers:
    """Number the cells in an order that visits each after all that lead to it; circles are opened."""
    walk = np.zeros(T.shape, np.int64)
    for first, last in parts(T.size):
        sweep.open_circles(direction, down, T, walk, first, last)
    feeders, order, end = np.zeros(T.shape, np.int8), walk.reshape(-1), 0
    for first, last in parts(T.size):
        sweep.count_feeders(direction, feeders, first, last)
    for first, last in parts(T.size):
        end = sweep.find_springs(feeders, order, end, first, last)
    first = 0
    while first < T.size:
        safe_point()
        last = min(end, first + CELLS_AT_ONCE)
        end = sweep.follow(direction, feeders, order, end, first, last)
        first = last
    return order


def parts(count: int, at_once: int | None = None) -> Iterator[tuple[int, int]]:
    """First and one past the last of what to do until signals are answered again."""
    at_once = at_once or CELLS_AT_ONCE
    for first in range(0, count, at_once):
        safe_point()
        yield first, min(first + at_once, count)


class CpuBackend(RoutingOnCores):
    """Steps the state with Numba kernels; `bands` is how many groups particles are divided into, one per thread."""

    def __init__(self, state: State, domain: Domain, *, bands: int | None = None) -> None:
        super().__init__(state, domain)
        self._bands = bands
        self._sums = np.zeros((0, *domain.shape, rows.SUMS), np.int64)

    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        """Run the particles, each group with sums of its own."""
        bands = self._bands or max(1, min(numba.get_num_threads(), MOST_MEMORY // (w.size * rows.SUMS * 8)))
        if len(self._sums) != bands:
            self._sums = np.zeros((bands, *w.shape, rows.SUMS), np.int64)
        rows_at_once = max(1, CELLS_AT_ONCE // w.shape[1])
        for first, last in parts(len(w), rows_at_once):
            self._sums[:, first:last] = 0
        pulls = np.zeros((1, 1, 4)) if motion.downhill else np.stack(surface[1:5], axis=-1)
        ground = (surface.T, pulls, surface.escape, surface.nodata)
        numbers = np.zeros((bands, lanes.NUMBERS, lanes.LANES))
        wholes = np.zeros((bands, lanes.WHOLES + 1, lanes.LANES), np.int64)
        ends = np.zeros((bands, 3), np.int64)
        pieces, first = Pieces(), 0
        while first < len(w):
            last = first + pieces.next(len(w) - first, unit=bands)
            with pieces:
                sweep.launch(ground, first, last, w, motion, numbers, wholes, self._sums, ends)
            first = last
            safe_point()
        total = self._sums[0]  # until the next trace
        for first, last in parts(len(w), rows_at_once):
            for more in self._sums[1:]:
                total[first:last] += more[first:last]
        left, sunk, steps = (int(n) for n in ends.sum(axis=0))
        W, Vy, Vx, E = np.moveaxis(total, -1, 0)
        return Sums(W, Vy, Vx, E, left=left, sunk=sunk, particle_steps=steps)
