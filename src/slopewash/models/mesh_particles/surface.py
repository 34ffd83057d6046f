"""The mesh as it is being eroded: heights move, and everything derived from them follows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.memory import check_memory
from slopewash.models.mesh_particles.table import AX, AY, BX, BY, GX, GY, NX, NY, NZ, TABLE, TILT, X0, Y0, Z0
from slopewash.models.state import Reals, State
from slopewash.terrain.mesh.adjacency import border_vertices, check_edges, fan_of, neighbours_of
from slopewash.terrain.mesh.mesh import FARTHEST, plan_areas

Integers = NDArray[np.int64]
Extent = tuple[float, float, float, float]

LEAST, MOST = 1.0, 3.0
"""Weights of the lowest and the highest corner of a triangle that erodes; the other way round for deposits."""
FAN = 6.0
"""Triangles around a vertex of a mesh of like triangles."""
TRIANGLE_CELL = 1.5
"""Cells of the grid of triangles in shortest edges."""
HAIR = 1e-6
"""Of such a cell: frames of triangles are wider by so much, for rounding."""
MOST_CELLS = 1 << 24
"""Of a hash grid: on larger ones cells are wider."""


def kernels() -> Any:
    """The compiled loops, loaded where a mesh is made: other models do without."""
    from slopewash.models.mesh_particles import sweep

    return sweep


def hash_cell(size: float, extent: Extent) -> float:
    """Side in metres of the cells of a hash grid that are to be `size` wide."""
    west, north, east, south = extent
    return max(size, math.sqrt((east - west) * (south - north) / MOST_CELLS))


FRAMES = 64
"""Most cells of the grid of triangles in all their frames, per cell and triangle; meshes of ours have three."""
FINEST = 1024
"""Most of these cells per triangle: so many times smaller the smallest may be than the mean."""
BYTES_LISTED = 40
"""Memory that one of them takes while the grid is made."""


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
        """Whether erosion is shared among corners alike, not by height; `follow_heights` after a change."""
        self.version = 0
        """Counts changes of anything in here, for whoever keeps a copy."""
        self.table = np.zeros((len(triangles), TABLE))
        self.erosion_shares, self.fall_shares = np.zeros((2, len(triangles), 3))
        """Part of a triangle's change that each corner takes; of erosion less amid larger or more triangles, of what
        falls nothing on the border."""
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
        self.erosion_shares[which], self.fall_shares[which] = self._shares(z, evenly, self.border[corners])

    def _shares(self, z: Reals, evenly: Reals, border: NDArray[np.bool_]) -> tuple[Reals, Reals]:
        low, high = z.min(axis=1, keepdims=True), z.max(axis=1, keepdims=True)
        height = (z - low) / np.maximum(high - low, 1e-300)
        erosion = np.ones_like(z) if self.uniform else LEAST + (MOST - LEAST) * height
        fall = np.where(border, 0.0, MOST - (MOST - LEAST) * height)
        total = fall.sum(axis=1, keepdims=True)
        return evenly * erosion / erosion.sum(axis=1, keepdims=True), fall / np.where(total > 0, total, 1.0)

    def _over_fan(self, function: np.ufunc, values: Reals) -> Reals:
        return function.reduceat(values[self.fan.triangle], self.fan.start[:-1])

    def extreme_around(self, function: np.ufunc, which: Integers) -> Reals:
        """Height of the lowest (np.minimum) or highest (np.maximum) of some vertices and their neighbours."""
        if len(which) == 0:
            return np.zeros(0)
        start = self.fan.start[which]
        counts = self.fan.start[which + 1] - start
        first = np.cumsum(counts) - counts
        around = self.fan.triangle[np.repeat(start - first, counts) + np.arange(int(counts.sum()))]
        return function.reduceat(_of_corners(function, self.z, self.corners[:, around]), first)

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
            j0, j1 = self._cells_covered(0, west, size, columns)
            i0, i1 = self._cells_covered(1, north, size, rows)
            wide, cells = j1 - j0 + 1, (j1 - j0 + 1) * (i1 - i0 + 1)
            facts = np.arange(len(cells)), i0 * columns + j0, wide, np.cumsum(cells) - cells
            triangle, corner, wide, begin = (np.repeat(a.astype(np.int32), cells) for a in facts)
            k = np.arange(len(triangle), dtype=np.int32) - begin  # number of a cell in the triangle's frame
            cell = corner + k + k // wide * (columns - wide)
            start, order = np.zeros(columns * rows + 1, np.int32), np.zeros(len(cell), np.int32)
            kernels().counting_sort(cell, len(cell), start, order)
            self._grid = (west, north, 1 / size, columns, rows, start, triangle[order])
        return self._grid

    def _cells_covered(self, axis: int, low: float, size: float, count: int) -> tuple[NDArray[np.int32], ...]:
        """First and last column or row of the cells that each triangle's frame covers."""
        at = (self.vertices[:, axis][self.corners] - low) / size
        first, last = np.floor(at.min(axis=0) - HAIR), np.floor(at.max(axis=0) + HAIR)
        return np.maximum(first, 0).astype(np.int32), np.minimum(last, count - 1).astype(np.int32)

    def locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        """Triangle below each point."""
        at = np.zeros(len(x), np.int32)
        kernels().locate_all(x, y, self.table, self.grid, at)
        return at


def surface_of(state: State) -> Surface:
    """Surface of a state; it can be changed without changing the state."""
    return Surface(
        state["vertices"], state["triangles"], edge=state.scalars["edge"], areas_at_start=state["areas_at_start"]
    )


def check_mesh(state: State) -> None:
    """Refuse a mesh that loops over its triangles could not trust: they ask for no more than plausible places."""
    vertices, edge = state["vertices"], state.scalars["edge"]
    if not len(state["triangles"]):
        raise InvalidParameter("the mesh has no triangles")
    if not (edge > 0 and np.abs(vertices).max() <= FARTHEST):
        raise InvalidParameter(f"the mesh has an edge of {edge} m, or vertices beyond {FARTHEST:g} m")
    check_edges(state["triangles"])
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    size = hash_cell(TRIANGLE_CELL * edge, (low[0], low[1], high[0], high[1]))
    corners = np.floor((vertices[:, :2] - low) / size)[state["triangles"]]
    listed = float((corners.max(axis=1) - corners.min(axis=1) + 1).prod(axis=1).sum())
    usual = min(float(((high - low) // size + 1).prod()), FINEST * len(corners)) + len(corners)
    if listed > FRAMES * usual:
        raise InvalidParameter(
            f"the triangles of the mesh overlap: an edge of {edge:g} m would be found {listed:.0f} times"
        )
    check_memory("the mesh", int(listed * BYTES_LISTED), "start the run again")
    places, slack = state["particle_position"][:, :2], edge + 0.01 * float((high - low).max())
    if places.size and not ((places >= low - slack) & (places <= high + slack)).all():
        raise InvalidParameter("a particle lies beyond the mesh")


def volume_of(state: State) -> float:
    """Cubic metres of ground above the datum."""
    vertices, triangles = state["vertices"], state["triangles"]
    return _volume(plan_areas(vertices, triangles), vertices[:, 2], triangles.T)


def _volume(areas: Reals, z: Reals, corners: NDArray[np.int32]) -> float:
    return float((areas * (_of_corners(np.add, z, corners) / 3)).sum())


def _of_corners(function: np.ufunc, values: NDArray[Any], corners: NDArray[np.int32]) -> NDArray[Any]:
    """Combine the values of each triangle's corners."""
    a, b, c = (values[corner] for corner in corners)
    return function(function(a, b), c)
