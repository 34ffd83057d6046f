"""Contents of a mesh file, in the axes that other programs expect: x east, y north, z up, faces counter-clockwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidMesh
from slopewash.terrain import TriangleMesh

PURPLE = np.array([148, 36, 168], dtype=np.float64)
"""Changed ground, as in figure 3 of Bézin et al."""
STONE = np.array([188, 182, 170], dtype=np.float64)
FULLY = 0.98
"""Quantile of the changes that is drawn in saturated purple."""


@dataclass(frozen=True)
class Parts:
    """Points (n, 3), faces (m, 3) and values at the points.

    Faces from a file keep its own numbers until they are checked: narrower ones would wrap around.
    """

    points: NDArray[np.float64]
    faces: NDArray[np.integer]
    attributes: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What made it, for formats that can say so."""


def identifiers(names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    r"""Names of attributes as every mesh format takes them: ASCII letters, digits and underscores, each name once.

    Layers have any name, also in files of others; one with a line break would continue the header of a .ply.

    Parameters
    ----------
    names
        Names as the terrain or the mesh has them.
    taken
        Names that the format uses itself.

    >>> identifiers(["wear", "soil depth", "soil_depth", "x", "4\nend"], taken=["x"])
    {'wear': 'wear', 'soil depth': 'soil_depth_2', 'soil_depth': 'soil_depth', 'x': 'x_2', '4\nend': '_4_end'}
    """
    wanted = list(names)
    used = {name for name in wanted if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)} | set(taken)
    found = {}
    for name in wanted:
        plain = re.sub(r"^(?=\d|$)|[^A-Za-z0-9_]+", "_", name)
        if plain != name or name in taken:
            base, number = plain, 2
            while plain in used:
                plain, number = f"{base}_{number}", number + 1
        used.add(plain)
        found[name] = plain
    return found


def parts_of(mesh: TriangleMesh) -> Parts:
    """Flip y from south to north, which mirrors the mesh, so that faces are flipped too."""
    points = mesh.vertices * np.array([1.0, -1.0, 1.0]) + 0.0
    return Parts(points, np.ascontiguousarray(mesh.triangles[:, ::-1]), mesh.attributes)


def gather_mesh(parts: Parts) -> TriangleMesh:
    """Make a mesh from the contents of a file."""
    if parts.points.size == 0 or parts.faces.size == 0:
        raise InvalidMesh("the mesh is empty; it needs at least one triangle")
    points = parts.points * np.array([1.0, -1.0, 1.0]) + 0.0
    return TriangleMesh(points, parts.faces[:, ::-1], **parts.attributes)


def colours(parts: Parts) -> NDArray[np.uint8]:
    """Stone, purple where ground was eroded or deposited; shape (n, 3)."""
    change = np.zeros(len(parts.points))
    for name in ("eroded", "deposited"):
        if name in parts.attributes:
            change += parts.attributes[name]
    moved = change[change > 0]
    share = np.clip(change / (np.quantile(moved, FULLY) if len(moved) else 1.0), 0, 1) ** 0.5
    blended: NDArray[np.uint8] = np.rint(STONE + (PURPLE - STONE) * share[:, None]).astype(np.uint8)
    return blended


def welded(parts: Parts) -> Parts:
    """Merge points at the same place: some formats give every triangle its own."""
    _, first, number = np.unique(parts.points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = first[order]
    faces = rank[number.reshape(-1)][parts.faces].astype(np.int32)
    return Parts(parts.points[kept], faces, {name: values[kept] for name, values in parts.attributes.items()})
