"""Runs the particles and the routing on the machine's cores."""

from __future__ import annotations

import numba
import numpy as np

from slopewash.interrupts import safe_point
from slopewash.models.state import Domain, State
from slopewash.models.velocity_field import lanes, rows, sweep
from slopewash.models.velocity_field.iteration import FieldBackend
from slopewash.models.velocity_field.reference import Integers, Motion, Routed, Sums
from slopewash.models.velocity_field.surface import Field, Surface
from slopewash.pieces import Pieces

MOST_MEMORY = 1 << 30
"""Bytes for the bands' own sums: on large grids fewer bands than threads."""


class RoutingOnCores(FieldBackend):
    """Passes the sediment on with Numba kernels."""

    def route(
        self, direction: Integers, down: Integers, T: Field, sediment: Field, capacity: Field, room: Field
    ) -> Routed:
        """Pass the sediment on, upstream cells first."""
        direction = direction.copy()
        order = np.empty(T.size, np.int64)
        sweep.order_cells(direction, down, T, np.empty(T.shape, np.int64), order)
        safe_point()
        deposited, kept, passed = np.zeros((3, *T.shape))
        exported = sweep.route(direction, order, sediment, capacity, room, deposited, kept, passed)
        return Routed(deposited, kept, exported)


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
        self._sums[:] = 0
        numbers = np.zeros((bands, lanes.NUMBERS, lanes.LANES))
        wholes = np.zeros((bands, lanes.WHOLES + 1, lanes.LANES), np.int64)
        ends = np.zeros((bands, 3), np.int64)
        pieces, first = Pieces(), 0
        while first < len(w):
            last = first + pieces.next(len(w) - first, unit=bands)
            with pieces:
                sweep.launch(surface, first, last, w, motion, numbers, wholes, self._sums, ends)
            first = last
            if first < len(w):
                safe_point()
        total = self._sums.sum(axis=0)
        left, sunk, steps = (int(n) for n in ends.sum(axis=0))
        W, Vy, Vx, E = np.moveaxis(total, -1, 0)
        return Sums(W, Vy, Vx, E, left=left, sunk=sunk, particle_steps=steps)
