"""Runs the specification."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.models.mesh_particles import reference
from slopewash.models.mesh_particles.engine import MeshEngine
from slopewash.models.mesh_particles.model import MeshParticles
from slopewash.models.mesh_particles.particles import ALIVE, LEFT, Particles
from slopewash.models.mesh_particles.physics import Physics
from slopewash.terrain import Terrain

Reals = NDArray[np.float64]


class ReferenceEngine(MeshEngine):
    """Steps the state with the specification, in float64 unless told otherwise."""

    def __init__(
        self,
        model: MeshParticles,
        terrain: Terrain,
        *,
        substeps: int = 1,
        seed: int = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.dtype = dtype
        super().__init__(model, terrain, substeps=substeps, seed=seed)

    def _hash(self) -> NDArray[np.int32]:
        flow = self.flow
        living = np.flatnonzero(flow.alive())
        cells = self._cells(flow.X[living])
        order = living[np.lexsort((cells[:, 0], cells[:, 1]))]
        sorted_flow = Particles(flow.room, self.dtype)
        sorted_flow.count = len(order)
        for target, source in zip(sorted_flow.arrays(), flow.arrays(), strict=True):
            target[: len(order)] = source[order]
        place = np.full(max(flow.count, 1), -1, np.int32)
        place[order] = np.arange(len(order))
        self.flow = sorted_flow
        return place

    def _cells(self, points: NDArray[np.floating]) -> NDArray[np.int64]:
        """Cells in plan, as wide as two radii or more."""
        return np.floor(points[:, :2].astype(np.float64) * (1 / self.cell)).astype(np.int64)

    def _pair_forces(self, physics: Physics) -> NDArray[np.floating]:
        n = self.flow.count
        return reference.pair_forces(self.flow.X[:n], self.flow.V[:n], physics)

    def _move_and_collide(
        self, pushes: NDArray[np.floating], physics: Physics
    ) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        flow, n = self.flow, self.flow.count
        flow.V[:n] = reference.accelerate(flow.V[:n], pushes, physics)
        touched, wear = np.full(n, -1, np.int32), np.zeros(n)
        table, extent = self.surface.table, self.surface.extent
        for i in range(n):
            moved = reference.collide(table, self._erodible, extent, flow.X[i], flow.V[i], int(flow.at[i]), physics)
            flow.X[i], flow.V[i], flow.at[i] = moved.position, moved.velocity, moved.at
            flow.fate[i] = LEFT if moved.left else ALIVE
            touched[i], wear[i] = moved.touched, moved.wear
        return touched, wear

    def _wear_per_vertex(self, touched: NDArray[np.int32], wear: NDArray[np.floating]) -> Reals:
        surface = self.surface
        return reference.wear_per_vertex(touched, wear, surface.triangles, surface.shares.wear, len(surface.z))

    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        X = self.flow.X[: self.flow.count]
        cells, points = self._cells(X), self.surface.vertices[vertices]
        own = self._cells(points)
        found = [reference.nearest_particle(X, cells, point, cell) for point, cell in zip(points, own, strict=True)]
        return np.array(found, np.int32)

    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        return np.array([reference.triangle_at(self.surface.table, a, b) for a, b in zip(x, y, strict=True)], np.int32)

    def _mesh_changed(self, *, plan: bool) -> None:
        """Set particles the ground has risen above back on it."""
        flow, table = self.flow, self.surface.table
        for i in range(flow.count):
            x, y = float(flow.X[i, 0]), float(flow.X[i, 1])
            if plan:
                flow.at[i] = reference.triangle_at(table, x, y)
            ground = float(reference.height(table[flow.at[i]][None], x, y)[0])
            flow.X[i, 2] = reference.above_ground(float(flow.X[i, 2]), ground, flow.X.dtype)
