"""A height field made of triangles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidMesh
from slopewash.terrain.mesh.adjacency import Fan, border_vertices, check_edges, fan_of, neighbours_of
from slopewash.terrain.mesh.rasterise import heights_at, raster_of
from slopewash.terrain.mesh.refine import every_cell, refine
from slopewash.terrain.terrain import Layer, Terrain

Points = NDArray[np.float64]
Triangles = NDArray[np.int32]

FARTHEST = 1e12
"""Metres; beyond, areas and volumes would lose all digits, or overflow."""

DEFAULT_BUDGET = 80_000
"""Default number of triangles of a refined mesh: that of the paper's mountain."""


class TriangleMesh:
    """Ground as triangles: vertices in metres and, for each triangle, the indices of its three vertices.

    x runs to the east, y to the south, both from the outer corner of the terrain's north-west cell, and z up. Seen from
    above every triangle faces upwards and no two overlap along an edge: it is a height field, and each edge belongs to
    one triangle (border) or two. Triangles that face down are flipped.

    Parameters
    ----------
    vertices
        Array of shape (n, 3).
    triangles
        Array of shape (m, 3).
    attributes
        Further values by name, one per vertex, such as `eroded` and `deposited` (metres).

    >>> mesh = TriangleMesh([[0, 0, 5], [10, 0, 5], [0, 10, 5]], [[0, 1, 2]])
    >>> mesh
    TriangleMesh of 1 triangle and 3 vertices, 10 x 10 m
    >>> mesh.volume()
    250.0
    """

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, /, **attributes: ArrayLike) -> None:
        self.vertices = _checked_vertices(vertices)
        self.triangles = _facing_up(self.vertices, _checked_triangles(triangles, len(self.vertices)))
        check_edges(self.triangles)
        self.attributes: Mapping[str, Layer] = {
            name: _checked_attribute(name, values, len(self.vertices)) for name, values in attributes.items()
        }

    @classmethod
    def from_terrain(
        cls,
        terrain: Terrain,
        *,
        budget: int = DEFAULT_BUDGET,
        gradient_weight: float = 8.0,
        depth_weight: float = 8.0,
    ) -> TriangleMesh:
        """Refine a height field: finer where the ground is steep and where it is low, since water collects there.

        Parameters
        ----------
        terrain
            Terrain without nodata cells; the mesh spans its cell centres.
        budget
            Maximum number of triangles. The smallest are about half a cell.
        gradient_weight, depth_weight
            How many more triangles per area the steepest and the lowest ground get than flat high ground.

        >>> import slopewash as sw
        >>> TriangleMesh.from_terrain(sw.generate("hill", size=33, cell_size=10.0), budget=500)
        TriangleMesh of 500 triangles and 271 vertices, 320 x 320 m
        """
        vertices, triangles = refine(terrain, budget, gradient_weight, depth_weight)
        return cls(vertices, triangles)

    @classmethod
    def of_cells(cls, terrain: Terrain) -> TriangleMesh:
        """Make every cell centre a vertex, row by row, with two triangles between four neighbours.

        >>> TriangleMesh.of_cells(Terrain([[1, 2, 3], [4, 5, 6]], cell_size=10.0))
        TriangleMesh of 4 triangles and 6 vertices, 20 x 10 m
        """
        return cls(*every_cell(terrain))

    def to_terrain(self, cell_size: float, *, shape: tuple[int, int] | None = None) -> Terrain:
        """Sample the exact heights of the mesh at the cell centres of a grid; attributes become layers.

        The first cell centre is the mesh's north-west corner. Cells that no triangle covers are nodata.

        >>> mesh = TriangleMesh([[0, 0, 5], [4, 0, 5], [0, 4, 9], [4, 4, 9]], [[0, 1, 2], [1, 3, 2]])
        >>> mesh.to_terrain(2.0)["elevation"][:, 0].tolist()
        [5.0, 7.0, 9.0]
        """
        return raster_of(self.vertices, self.triangles, self.attributes, cell_size, shape)

    def height_at(self, x: ArrayLike, y: ArrayLike) -> Points:
        """Return the height of the ground at points; NaN outside the mesh.

        >>> TriangleMesh([[0, 0, 5], [10, 0, 5], [0, 10, 25]], [[0, 1, 2]]).height_at(1.0, 5.0).tolist()
        15.0
        """
        return heights_at(self.vertices, self.triangles, x, y)

    @cached_property
    def neighbours(self) -> Triangles:
        """Triangle across the edge opposite each corner, -1 at the border; shape (m, 3)."""
        return neighbours_of(self.triangles)

    @cached_property
    def fan(self) -> Fan:
        """Triangles around each vertex."""
        return fan_of(self.triangles, len(self.vertices))

    @cached_property
    def border(self) -> NDArray[np.bool_]:
        """Vertices on the border."""
        return border_vertices(self.triangles, self.neighbours, len(self.vertices))

    @cached_property
    def areas(self) -> Points:
        """Area of each triangle as seen from above, in square metres."""
        return plan_areas(self.vertices, self.triangles)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """West, north, east and south ends in metres."""
        (west, north), (east, south) = self.vertices[:, :2].min(axis=0), self.vertices[:, :2].max(axis=0)
        return float(west), float(north), float(east), float(south)

    def volume(self, datum: float = 0.0) -> float:
        """Cubic metres of ground above the datum."""
        heights = self.vertices[:, 2][self.triangles].mean(axis=1) - datum
        return float((self.areas * heights).sum())

    def shortest_edge(self) -> float:
        """Length in metres of the shortest edge as seen from above."""
        corners = self.vertices[self.triangles][..., :2]
        sides = corners - np.roll(corners, 1, axis=1)
        return float(np.sqrt((sides * sides).sum(axis=2)).min())

    def replace(self, /, **attributes: ArrayLike) -> TriangleMesh:
        """Return a copy with attributes set."""
        return TriangleMesh(self.vertices, self.triangles, **(dict(self.attributes) | attributes))

    def __repr__(self) -> str:
        west, north, east, south = self.extent
        count, points = len(self.triangles), len(self.vertices)
        names = f", with {', '.join(self.attributes)}" if self.attributes else ""
        return (
            f"TriangleMesh of {count} triangle{'s'[: count != 1]} and {points} vertices, "
            f"{east - west:g} x {south - north:g} m{names}"
        )


def plan_areas(vertices: Points, triangles: Triangles) -> Points:
    """Area of each triangle as seen from above; negative where it faces down."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    twice: Points = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    return 0.5 * twice


def _checked_vertices(vertices: ArrayLike) -> Points:
    try:
        points: Any = np.array(vertices, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidMesh("vertices are not numbers; they must be an array of shape (n, 3)") from None
    if points.size == 0:
        raise InvalidMesh("the mesh is empty; it needs at least one triangle")
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidMesh(f"vertices have shape {points.shape}; they must have shape (n, 3)")
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        raise InvalidMesh(f"vertex {int(bad.argmax())} is {points[bad.argmax()].tolist()}; it must be finite")
    far = (np.abs(points) > FARTHEST).any(axis=1)
    if far.any():
        raise InvalidMesh(
            f"vertex {int(far.argmax())} is {points[far.argmax()].tolist()}; coordinates are at most {FARTHEST:g} m"
        )
    points.setflags(write=False)
    return points


def _checked_triangles(triangles: ArrayLike, count: int) -> Triangles:
    corners: Any = np.array(triangles)
    if corners.size == 0:
        raise InvalidMesh("the mesh is empty; it needs at least one triangle")
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        raise InvalidMesh(f"triangles have shape {corners.shape}; they must be whole numbers of shape (m, 3)")
    if corners.min() < 0 or corners.max() >= count:
        wrong = int(corners.min() if corners.min() < 0 else corners.max())
        raise InvalidMesh(f"a triangle refers to vertex {wrong}; there are {count}, numbered from 0")
    return corners.astype(np.int32)


def _facing_up(vertices: Points, triangles: Triangles) -> Triangles:
    areas = plan_areas(vertices, triangles)
    if (areas <= 0).all() and (areas < 0).any():
        triangles, areas = np.ascontiguousarray(triangles[:, ::-1]), -areas
    bad = areas <= 0
    if bad.any():
        t = int(bad.argmax())
        what = "has no area" if areas[t] == 0 else "faces down"
        raise InvalidMesh(f"triangle {t} {what} as seen from above; a terrain's mesh must be a height field")
    triangles.setflags(write=False)
    return triangles


def _checked_attribute(name: str, values: ArrayLike, count: int) -> Layer:
    attribute = np.array(values, dtype=np.float32)
    if attribute.shape != (count,):
        raise InvalidMesh(f"attribute {name} has shape {attribute.shape}; it must have one value for {count} vertices")
    attribute.setflags(write=False)
    return attribute
