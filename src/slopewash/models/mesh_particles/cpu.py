"""Runs the particles on the machine's cores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import threads_to_itself
from slopewash.models.mesh_particles import sweep
from slopewash.models.mesh_particles.engine import MOST_CELLS, MeshEngine
from slopewash.models.mesh_particles.model import MeshParticles
from slopewash.models.mesh_particles.particles import Particles
from slopewash.models.mesh_particles.physics import Physics
from slopewash.models.mesh_particles.reference import NEAR
from slopewash.terrain import Terrain

Reals = NDArray[np.float64]

TRIANGLE_CELL = 1.5
"""Cells of the grid of triangles in shortest edges."""
RING = 1
"""Cells around the particles, so that the search needs no test for the border."""


FEW = 4000
"""Particles below which one thread is faster than two that wait for each other."""


@contextmanager
def _threads_for(particles: int) -> Iterator[None]:
    """Use one thread where there is little to do; results are the same."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1 if particles < FEW else threads)
    try:
        yield
    finally:
        numba.set_num_threads(threads)


class CpuEngine(MeshEngine):
    """Steps the state with Numba kernels."""

    def __init__(self, model: MeshParticles, terrain: Terrain, *, substeps: int = 1, seed: int = 0) -> None:
        self._room = 0
        super().__init__(model, terrain, substeps=substeps, seed=seed)

    def _advance(self, steps: int, strength: float) -> None:
        for _ in range(steps):
            with threads_to_itself(), _threads_for(self.flow.count):
                super()._advance(1, strength)

    def set_model(self, model: MeshParticles, substeps: int) -> None:
        """Go on with other parameter values."""
        if not hasattr(self, "_grid"):
            self._hash_triangles()
        super().set_model(model, substeps)

    def _hash_triangles(self) -> None:
        surface = self.surface
        west, north, east, south = surface.extent
        size = max(TRIANGLE_CELL * surface.edge, math.sqrt((east - west) * (south - north) / MOST_CELLS))
        columns, rows = int((east - west) / size) + 1, int((south - north) / size) + 1
        corners = surface.vertices[surface.triangles][..., :2]
        start = np.zeros(columns * rows + 1, np.int32)
        where = (west, north, 1 / size, columns, rows)
        triangle = np.zeros(sweep.count_triangles(corners, *where, start), np.int32)
        sweep.fill_triangles(corners, *where, start, triangle)
        self._grid: tuple[Any, ...] = (*where, start, triangle)

    def _make_room(self) -> None:
        """Buffers that follow the number of particles."""
        room = self.flow.room
        if room == self._room:
            return
        self._room = room
        self._spare = Particles(room, self.dtype)
        self._cell, self._spare_cell, self._order, self._touched = (np.zeros(room, np.int32) for _ in range(4))
        self._pushes = np.zeros((room, 3), np.float32)
        self._worn = np.zeros(room)
        self._pairs = np.zeros(3 * room, np.int32)

    def _hash(self) -> NDArray[np.int32]:
        self._make_room()
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

    def _pair_forces(self, physics: Physics) -> NDArray[np.floating]:
        reach = 2 * physics.radius
        numbers = tuple(np.float32(v) for v in (reach * reach, reach, physics.spring, physics.damper, physics.friction))
        flow, columns = self.flow, self._plan[3]
        sweep.push_all(flow.count, flow.X, flow.V, self._cell, columns, self._start_of_cell, numbers, self._pushes)
        return self._pushes

    def count_neighbours(self) -> NDArray[np.int32]:
        """Particles within two radii of each: what the search alone costs, and what it finds."""
        found = np.zeros(self.flow.count, np.int32)
        reach = np.float32(2 * self.physics.radius)
        flow, columns = self.flow, self._plan[3]
        sweep.search_all(flow.count, flow.X, self._cell, columns, self._start_of_cell, reach * reach, found)
        return found

    def _move_and_collide(
        self, pushes: NDArray[np.floating], physics: Physics
    ) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        flow, surface = self.flow, self.surface
        sweep.move_all(
            flow.count, flow.X, flow.V, pushes, flow.at, flow.fate, surface.table, self._grid, surface.extent,
            self._erodible, tuple(physics), self._touched, self._worn,
        )  # fmt: skip
        return self._touched, self._worn

    def _wear_per_vertex(self, touched: NDArray[np.int32], wear: NDArray[np.floating]) -> Reals:
        surface = self.surface
        sums = np.zeros(len(surface.z))
        start = np.zeros(len(surface.z) + 1, np.int32)
        sweep.pair_up(self.flow.count, touched, surface.triangles, start, self._pairs)
        sweep.sum_up(start, self._pairs, touched, wear, surface.shares.wear, sums)
        return sums

    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        found = np.full(len(vertices), -1, np.int32)
        points = self.surface.vertices[vertices]
        sweep.nearest_all(points, self.flow.X, *self._plan, self._start_of_cell, NEAR, found)
        return found

    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        at = np.zeros(len(x), np.int32)
        sweep.locate_all(x, y, self.surface.table, self._grid, at)
        return at

    def _mesh_changed(self, *, plan: bool) -> None:
        """Hash triangles that have shifted, and set particles the ground has risen above back on it."""
        if plan:
            self._hash_triangles()
        flow = self.flow
        sweep.set_down(flow.count, flow.X, flow.at, self.surface.table, self._grid, plan)
