"""Runs the particles on the machine's cores."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import NUMBA_THREADS
from slopewash.models.mesh_particles import lanes, sweep
from slopewash.models.mesh_particles.iteration import ReferenceBackend
from slopewash.models.mesh_particles.particles import Particles
from slopewash.models.mesh_particles.reference import NEAR
from slopewash.models.state import Domain, Reals, State

RING = 1
"""Cells around the particles, so that the search needs no test for the border."""
FEW = 4000
"""Particles below which one thread is faster than two that wait for each other; results are the same."""


class CpuBackend(ReferenceBackend):
    """Steps the state with Numba kernels."""

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain, dtype=np.float32)
        self._room = 0

    @property
    def _has_safe_points(self) -> bool:
        return self.c.substeps > 1  # between two of them

    def _step(self) -> None:
        threads = numba.get_num_threads()
        with NUMBA_THREADS:
            try:
                numba.set_num_threads(1 if self.flow.count < FEW else threads)
                super()._step()
            finally:
                numba.set_num_threads(threads)

    def _make_room(self, room: int) -> None:
        """Buffers that follow the number of particles."""
        self._room = room
        self._spare = Particles(*self.flow.taken(), room=room)
        self._cell, self._spare_cell, self._order, self._touched = (np.zeros(room, np.int32) for _ in range(4))
        self._pushes = np.zeros((room, 3), np.float32)
        self._eroded = np.zeros(room)

    def _hash(self) -> NDArray[np.int32]:
        if self.flow.room != self._room:
            self._make_room(self.flow.room)
        flow, spare, n = self.flow, self._spare, self.flow.count
        place = np.full(max(n, 1), -1, np.int32)
        box = np.zeros(4)
        sweep.span(flow.X, flow.fate, n, box)
        if not box[0] <= box[2]:
            box[:] = 0
        inverse = 1 / self.cell
        low = np.floor(box * inverse).astype(np.int64)
        column0, row0 = int(low[0]) - RING, int(low[1]) - RING
        columns, rows = int(low[2]) - column0 + 1 + RING, int(low[3]) - row0 + 1 + RING
        self._plan = (inverse, column0, row0, columns, rows)
        sweep.find_cells(flow.X, flow.fate, n, inverse, column0, row0, columns, self._cell)
        self._start_of_cell = np.empty(columns * rows + 1, np.int32)
        count = sweep.counting_sort(self._cell, n, self._start_of_cell, self._order)
        sweep.reorder(self._order, count, *flow.arrays(), self._cell, *spare.arrays(), self._spare_cell, place)
        spare.count = count
        self.flow, self._spare = spare, flow
        self._cell, self._spare_cell = self._spare_cell, self._cell
        return place

    def _pair_forces(self) -> NDArray[np.floating]:
        p, flow, columns = self.physics, self.flow, self._plan[3]
        reach = 2 * p.radius
        numbers = tuple(np.float32(v) for v in (reach * reach, reach, p.spring, p.damper, p.friction))
        sweep.push_all(
            numba.get_num_threads(), flow.count, flow.X, flow.V, self._cell, columns, self._start_of_cell, numbers,
            self._pushes,
        )  # fmt: skip
        return self._pushes

    def _move_and_collide(self, pushes: NDArray[np.floating]) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        flow, surface, bands = self.flow, self.surface, numba.get_num_threads()
        places = np.empty((bands, lanes.PLACE_AND_VELOCITY, lanes.LANES), np.float32)
        flags = np.empty((bands, lanes.FLAGS, lanes.LANES), np.bool_)
        sweep.move_all(
            flow.count, flow.X, flow.V, pushes, flow.at, flow.fate, surface.table, surface.grid, surface.extent,
            self.erodible, tuple(self.physics), places, flags, self._touched, self._eroded,
        )  # fmt: skip
        return self._touched, self._eroded

    def _erosion_per_vertex(self, touched: NDArray[np.int32], erosion: NDArray[np.floating]) -> Reals:
        surface, sums = self.surface, np.zeros(len(self.surface.z))
        sweep.sum_up(self.flow.count, touched, erosion, surface.triangles, surface.erosion_shares, sums)
        return sums

    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        found = np.full(len(vertices), -1, np.int32)
        points = self.surface.vertices[vertices]
        sweep.nearest_all(points, self.flow.X, *self._plan, self._start_of_cell, NEAR, found)
        return found

    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        return self.surface.locate(x, y)

    def _lift(self, *, plan: bool) -> None:
        flow, surface = self.flow, self.surface
        sweep.lift(flow.count, flow.X, flow.at, surface.table, surface.grid, plan)
