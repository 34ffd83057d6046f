"""The mesh as it is being eroded: heights move, and everything derived from them follows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.mesh_particles import sweep
from slopewash.models.mesh_particles.table import AX, AY, BX, BY, GX, GY, NX, NY, NZ, TABLE, TILT, X0, Y0, Z0
from slopewash.models.state import State
from slopewash.terrain.mesh.adjacency import border_vertices, fan_of, neighbours_of

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Extent = tuple[float, float, float, float]

LEAST, MOST = 1.0, 3.0
"""Weights of the lowest and the highest corner of a triangle that erodes; the other way round for deposits."""
FAN = 6.0
"""Triangles around a vertex of a mesh of like triangles."""
TRIANGLE_CELL = 1.5
"""Cells of the grid of triangles in shortest edges."""
MOST_CELLS = 1 << 24
"""Of a hash grid: on larger ones cells are wider."""


def hash_cell(size: float, extent: Extent) -> float:
    """Side in metres of the cells of a hash grid that are to be `size` wide."""
    west, north, east, south = extent
    return max(size, math.sqrt((east - west) * (south - north) / MOST_CELLS))


class Shares(NamedTuple):
    """Part of a triangle's change that each corner takes; shape (m, 3)."""

    erosion: Reals
    """Of height: adds up to 1 where all triangles are alike, less for corners amid larger or more triangles."""
    fall: Reals
    """Nothing for corners on the border; all zero where there are no others."""


class Surface:
    """Vertices above the datum, float64, and the geometry of the triangles.

    `edge` is the shortest edge and `areas_at_start` the areas in plan, both from when the mesh was made.
    """

    def __init__(self, vertices: Reals, triangles: NDArray[np.int32], *, edge: float, areas_at_start: Reals) -> None:
        self.vertices = np.array(vertices)
        self.triangles = triangles
        self.corners = np.ascontiguousarray(triangles.T)
        self.fan = fan_of(triangles, len(vertices))
        self.border = border_vertices(triangles, neighbours_of(triangles), len(vertices))
        (west, north), (east, south) = self.vertices[:, :2].min(axis=0), self.vertices[:, :2].max(axis=0)
        self.extent: Extent = float(west), float(north), float(east), float(south)
        self.edge = edge
        self.areas_at_start = areas_at_start
        self.uniform = False
        self.version = 0
        """Counts changes of anything in here, for whoever keeps a copy."""
        self.table = np.zeros((len(triangles), TABLE))
        self.shares = Shares(*np.zeros((2, len(triangles), 3)))
        self._grid: tuple[Any, ...] | None = None
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
        self._grid = None
        self.areas = 0.5 * twice
        self.around = self._over_fan(np.add, self.areas)
        """plan area of the triangles around each vertex"""
        t = self.table
        t[:, X0], t[:, Y0] = a.T
        t[:, AX], t[:, AY] = v[:, 1] / twice, -v[:, 0] / twice
        t[:, BX], t[:, BY] = -u[:, 1] / twice, u[:, 0] / twice

    def weigh(self, *, uniform: bool) -> None:
        """Share erosion among corners alike, or by height."""
        if self.uniform != uniform:
            self.uniform = uniform
            self.follow_heights()

    def follow_heights(self, moved: NDArray[np.bool_] | None = None) -> None:
        """Derive what depends on the heights, of triangles with a moved vertex: planes, normals, tilt and shares."""
        self.version += 1
        which = slice(None) if moved is None else np.flatnonzero(_of_corners(np.logical_or, moved, self.corners))
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
        self.shares.erosion[which], self.shares.fall[which] = self._shares(z, evenly, self.border[corners])

    def _shares(self, z: Reals, evenly: Reals, border: NDArray[np.bool_]) -> Shares:
        low, high = z.min(axis=1, keepdims=True), z.max(axis=1, keepdims=True)
        height = (z - low) / np.maximum(high - low, 1e-300)
        erosion = np.ones_like(z) if self.uniform else LEAST + (MOST - LEAST) * height
        fall = np.where(border, 0.0, MOST - (MOST - LEAST) * height)
        total = fall.sum(axis=1, keepdims=True)
        return Shares(evenly * erosion / erosion.sum(axis=1, keepdims=True), fall / np.where(total > 0, total, 1.0))

    def _over_fan(self, function: np.ufunc, values: Reals) -> Reals:
        return function.reduceat(values[self.fan.triangle], self.fan.start[:-1])

    def lowest_around(self, which: Integers | None = None) -> Reals:
        """Height of the lowest of each vertex and its neighbours."""
        return self._extreme_around(np.minimum, which)

    def highest_around(self, which: Integers | None = None) -> Reals:
        """Height of the highest of each vertex and its neighbours."""
        return self._extreme_around(np.maximum, which)

    def _extreme_around(self, function: np.ufunc, which: Integers | None) -> Reals:
        if which is None:
            return self._over_fan(function, _of_corners(function, self.z, self.corners))
        if len(which) == 0:
            return np.zeros(0)
        start = self.fan.start[which]
        counts = self.fan.start[which + 1] - start
        first = np.cumsum(counts) - counts
        around = self.fan.triangle[np.repeat(start - first, counts) + np.arange(int(counts.sum()))]
        a, b, c = (self.z[corner[around]] for corner in self.corners)
        return function.reduceat(function(function(a, b), c), first)

    def mean_normals(self) -> Reals:
        """Unit normal of each vertex: that of its triangles, weighted by their areas in space."""
        weight = self.areas / self.table[:, NZ]
        normals = np.stack([self._over_fan(np.add, weight * self.table[:, k]) for k in (NX, NY, NZ)], axis=1)
        return normals / np.sqrt((normals * normals).sum(axis=1, keepdims=True))

    def volume(self) -> float:
        """Cubic metres of ground above the datum."""
        return _volume(self.areas, self.z, self.corners)

    @property
    def grid(self) -> tuple[Any, ...]:
        """Triangles by the cells their frames cover: west, north, cells per metre, columns, rows, starts, list."""
        if self._grid is None:
            west, north, east, south = self.extent
            size = hash_cell(TRIANGLE_CELL * self.edge, self.extent)
            columns, rows = int((east - west) / size) + 1, int((south - north) / size) + 1
            corners = self.vertices[self.triangles][..., :2]
            start = np.zeros(columns * rows + 1, np.int32)
            where = (west, north, 1 / size, columns, rows)
            triangle = np.zeros(sweep.count_triangles(corners, *where, start), np.int32)
            sweep.fill_triangles(corners, *where, start, triangle)
            self._grid = (*where, start, triangle)
        return self._grid

    def locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        """Triangle below each point."""
        at = np.zeros(len(x), np.int32)
        sweep.locate_all(x, y, self.table, self.grid, at)
        return at


def surface_of(state: State) -> Surface:
    """Surface of a state; it can be changed without changing the state."""
    return Surface(
        state["vertices"], state["triangles"], edge=state.scalars["edge"], areas_at_start=state["areas_at_start"]
    )


def volume_of(state: State) -> float:
    """Cubic metres of ground above the datum."""
    vertices, corners = state["vertices"], np.ascontiguousarray(state["triangles"].T)
    a, b, c = (vertices[corner, :2] for corner in corners)
    u, v = b - a, c - a
    return _volume(0.5 * (u[:, 0] * v[:, 1] - v[:, 0] * u[:, 1]), vertices[:, 2], corners)


def _volume(areas: Reals, z: Reals, corners: NDArray[np.int32]) -> float:
    return float((areas * (_of_corners(np.add, z, corners) / 3)).sum())


def _of_corners(function: np.ufunc, values: NDArray[Any], corners: NDArray[np.int32]) -> NDArray[Any]:
    """Combine the values of each triangle's corners."""
    a, b, c = (values[corner] for corner in corners)
    return function(function(a, b), c)
