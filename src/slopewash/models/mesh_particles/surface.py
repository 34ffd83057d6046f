"""The mesh as it is being eroded: heights move, and everything derived from them follows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.terrain import TriangleMesh

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

X0, Y0, Z0, GX, GY, AX, AY, BX, BY, NX, NY, NZ, TILT = range(13)
"""Columns of the table of triangles: first corner, gradient, weights of the other corners, normal, sin α."""
TABLE = 13

LEAST, MOST = 1.0, 3.0
"""Weights of the lowest and the highest corner of a triangle that is worn; the other way round for deposits."""
FAN = 6.0
"""Triangles around a vertex of a mesh of like triangles."""


class Shares(NamedTuple):
    """Part of a triangle's change that each corner takes; shape (m, 3)."""

    wear: Reals
    """Of height: adds up to 1 where all triangles are alike, less for corners amid larger or more triangles."""
    fall: Reals
    """Nothing for corners on the border; all zero where there are no others."""


class Surface:
    """Vertices above the datum, float64, and the geometry of the triangles."""

    def __init__(self, mesh: TriangleMesh, datum: float, *, uniform: bool) -> None:
        self.vertices = np.array(mesh.vertices)
        self.vertices[:, 2] -= datum
        self.triangles = mesh.triangles
        self.corners = np.ascontiguousarray(mesh.triangles.T)
        self.fan = mesh.fan
        self.border = mesh.border
        self.extent = mesh.extent
        self.edge = mesh.shortest_edge()
        self.uniform = uniform
        self.table = np.zeros((len(self.triangles), TABLE))
        self.shares = Shares(*np.zeros((2, len(self.triangles), 3)))
        self.areas_at_start = np.array(mesh.areas)
        self.lay_out()
        self.follow_heights()

    @property
    def z(self) -> Reals:
        """Heights above the datum."""
        return self.vertices[:, 2]

    def lay_out(self) -> None:
        """Derive what depends on the plan: areas, and how to find the weights of corners."""
        a, b, c = (self.vertices[self.triangles[:, k], :2] for k in range(3))
        u, v = b - a, c - a
        twice = u[:, 0] * v[:, 1] - v[:, 0] * u[:, 1]
        self.areas = 0.5 * twice
        self.around = self._over_fan(np.add, self.areas)
        """plan area of the triangles around each vertex"""
        t = self.table
        t[:, X0], t[:, Y0] = a.T
        t[:, AX], t[:, AY] = v[:, 1] / twice, -v[:, 0] / twice
        t[:, BX], t[:, BY] = -u[:, 1] / twice, u[:, 0] / twice

    def follow_heights(self, moved: NDArray[np.bool_] | None = None) -> None:
        """Derive what depends on the heights, of triangles with a moved vertex: planes, normals, tilt and shares."""
        which = slice(None) if moved is None else np.flatnonzero(self._of_corners(np.logical_or, moved))
        corners = self.triangles[which]
        t = self.table[which]
        z = self.z[corners]
        du, dv = z[:, 1] - z[:, 0], z[:, 2] - z[:, 0]
        t[:, Z0] = z[:, 0]
        t[:, GX] = t[:, AX] * du + t[:, BX] * dv
        t[:, GY] = t[:, AY] * du + t[:, BY] * dv
        steep = t[:, GX] ** 2 + t[:, GY] ** 2
        length = np.sqrt(1 + steep)
        t[:, NX], t[:, NY], t[:, NZ] = -t[:, GX] / length, -t[:, GY] / length, 1 / length
        t[:, TILT] = np.sqrt(steep) / length
        self.table[which] = t
        evenly = FAN * self.areas[which][:, None] / self.around[corners]
        self.shares.wear[which], self.shares.fall[which] = self._shares(z, evenly, self.border[corners])

    def _shares(self, z: Reals, evenly: Reals, border: NDArray[np.bool_]) -> Shares:
        low, high = z.min(axis=1, keepdims=True), z.max(axis=1, keepdims=True)
        height = (z - low) / np.maximum(high - low, 1e-300)
        wear = np.ones_like(z) if self.uniform else LEAST + (MOST - LEAST) * height
        fall = np.where(border, 0.0, MOST - (MOST - LEAST) * height)
        total = fall.sum(axis=1, keepdims=True)
        return Shares(evenly * wear / wear.sum(axis=1, keepdims=True), fall / np.where(total > 0, total, 1.0))

    def _over_fan(self, function: np.ufunc, values: Reals) -> Reals:
        gathered: Reals = function.reduceat(values[self.fan.triangle], self.fan.start[:-1])
        return gathered

    def _of_corners(self, function: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Combine the values of each triangle's corners."""
        a, b, c = (values[corner] for corner in self.corners)
        combined: NDArray[Any] = function(function(a, b), c)
        return combined

    def lowest_around(self, which: Integers | None = None) -> Reals:
        """Height of the lowest of each vertex and its neighbours."""
        return self._extreme_around(np.minimum, which)

    def highest_around(self, which: Integers | None = None) -> Reals:
        """Height of the highest of each vertex and its neighbours."""
        return self._extreme_around(np.maximum, which)

    def _extreme_around(self, function: np.ufunc, which: Integers | None) -> Reals:
        if which is None:
            return self._over_fan(function, self._of_corners(function, self.z))
        if len(which) == 0:
            return np.zeros(0)
        start = self.fan.start[which]
        counts = self.fan.start[which + 1] - start
        first = np.cumsum(counts) - counts
        around = self.fan.triangle[np.repeat(start - first, counts) + np.arange(int(counts.sum()))]
        a, b, c = (self.z[corner[around]] for corner in self.corners)
        extreme: Reals = function.reduceat(function(function(a, b), c), first)
        return extreme

    def mean_normals(self) -> Reals:
        """Unit normal of each vertex: that of its triangles, weighted by their areas in space."""
        weight = self.areas / self.table[:, NZ]
        normals = np.stack([self._over_fan(np.add, weight * self.table[:, k]) for k in (NX, NY, NZ)], axis=1)
        unit: Reals = normals / np.sqrt((normals * normals).sum(axis=1, keepdims=True))
        return unit

    def volume(self) -> float:
        """Cubic metres of ground above the datum."""
        return float((self.areas * (self._of_corners(np.add, self.z) / 3)).sum())
