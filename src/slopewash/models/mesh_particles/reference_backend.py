"""Runs the specification."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.models.mesh_particles import reference
from slopewash.models.mesh_particles.particles import ALIVE, LEFT, Particles, cells_of, in_order, set_down
from slopewash.models.mesh_particles.step import MeshBackend
from slopewash.models.state import Domain, State

Reals = NDArray[np.float64]


class ReferenceBackend(MeshBackend):
    """Steps the state with the specification, in float64 unless asked otherwise."""

    def __init__(self, state: State, domain: Domain, *, dtype: DTypeLike = np.float64) -> None:
        self.dtype = dtype
        super().__init__(state, domain)

    def _hash(self) -> NDArray[np.int32]:
        flow = self.flow
        X, *_, fate = flow.taken()
        order = in_order(X, fate, self.cell)
        place = np.full(max(flow.count, 1), -1, np.int32)
        place[order] = np.arange(len(order))
        self.flow = Particles.of(*(a[order] for a in flow.arrays()))
        return place

    def _pair_forces(self) -> NDArray[np.floating]:
        X, V, *_ = self.flow.taken()
        return reference.pair_forces(X, V, self.physics)

    def _move_and_collide(self, pushes: NDArray[np.floating]) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        flow, n, p = self.flow, self.flow.count, self.physics
        flow.V[:n] = reference.accelerate(flow.V[:n], pushes, p)
        touched, erosion = np.full(n, -1, np.int32), np.zeros(n)
        table, extent = self.surface.table, self.surface.extent
        for i in range(n):
            moved = reference.collide(table, self.erodible, extent, flow.X[i], flow.V[i], int(flow.at[i]), p)
            flow.X[i], flow.V[i], flow.at[i] = moved.position, moved.velocity, moved.at
            flow.fate[i] = LEFT if moved.left else ALIVE
            touched[i], erosion[i] = moved.touched, moved.erosion
        return touched, erosion

    def _erosion_per_vertex(self, touched: NDArray[np.int32], erosion: NDArray[np.floating]) -> Reals:
        surface = self.surface
        return reference.erosion_per_vertex(touched, erosion, surface.triangles, surface.shares.erosion, len(surface.z))

    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        X, *_ = self.flow.taken()
        cells, points = cells_of(X, self.cell), self.surface.vertices[vertices]
        own = cells_of(points, self.cell)
        found = [reference.nearest_particle(X, cells, point, cell) for point, cell in zip(points, own, strict=True)]
        return np.array(found, np.int32)

    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        return np.array([reference.triangle_at(self.surface.table, a, b) for a, b in zip(x, y, strict=True)], np.int32)

    def _set_down(self, *, plan: bool) -> None:
        X, _, _, at, _ = self.flow.taken()
        if plan:
            at[:] = self._locate(*(X[:, k].astype(np.float64) for k in (0, 1)))
        set_down(X, at, self.surface.table)
