"""Adjacency in a mesh: triangles across edges, triangles around vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidMesh

Triangles = NDArray[np.int32]
Integers = NDArray[np.int64]


class Fan(NamedTuple):
    """Triangles around vertices: those of vertex v are `triangle[start[v]:start[v + 1]]`, ascending."""

    start: Integers
    triangle: Triangles


def _edges(triangles: Triangles) -> tuple[Integers, Integers]:
    """Edge opposite each corner as (from, to) in the triangle's sense of rotation, triangle by triangle."""
    begin = triangles[:, [1, 2, 0]].astype(np.int64).ravel()
    end = triangles[:, [2, 0, 1]].astype(np.int64).ravel()
    return begin, end


def check_edges(triangles: Triangles) -> None:
    """Raise if an edge is shared by more than two triangles, or by two on the same side of it."""
    begin, end = _edges(triangles)
    count = int(triangles.max()) + 1
    keys, uses = np.unique(begin * count + end, return_counts=True)
    if uses.max(initial=1) > 1:
        key = int(keys[uses.argmax()])
        raise InvalidMesh(
            f"the mesh is not manifold: {int(uses.max())} triangles lie on the same side of the edge between vertices "
            f"{key // count} and {key % count}; each edge may have one triangle on either side"
        )


def neighbours_of(triangles: Triangles) -> Triangles:
    """Triangle across the edge opposite each corner, -1 at the border."""
    begin, end = _edges(triangles)
    count = int(triangles.max()) + 1
    own, across = begin * count + end, end * count + begin
    order = np.argsort(own)
    place = np.minimum(np.searchsorted(own, across, sorter=order), len(own) - 1)
    twin = order[place]
    found = np.where(own[twin] == across, twin // 3, -1)
    return found.reshape(-1, 3).astype(np.int32)


def fan_of(triangles: Triangles, count: int) -> Fan:
    """Triangles around each of `count` vertices."""
    corner = triangles.ravel()
    start = np.concatenate([[0], np.cumsum(np.bincount(corner, minlength=count))])
    order = np.argsort(corner, kind="stable")
    return Fan(start, (order // 3).astype(np.int32))


def border_vertices(triangles: Triangles, neighbours: Triangles, count: int) -> NDArray[np.bool_]:
    """Vertices of edges that belong to one triangle only, and vertices of no triangle."""
    border = np.ones(count, dtype=np.bool_)
    border[triangles.ravel()] = False
    for corner in range(3):
        alone = neighbours[:, corner] < 0
        for other in (1, 2):
            border[triangles[alone, (corner + other) % 3]] = True
    return border
