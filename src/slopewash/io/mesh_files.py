"""Meshes in files: OBJ, PLY, STL and GLB, by suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slopewash.errors import InvalidFile, InvalidMesh
from slopewash.io import glb, obj, ply, stl
from slopewash.io.mesh_parts import Parts, gather_mesh, parts_of
from slopewash.terrain import Terrain, TriangleMesh


@dataclass(frozen=True, kw_only=True)
class MeshFormat:
    """How one format is read and written."""

    read: Callable[[Path], Parts]
    write: Callable[[Parts, Path], None]


MESH_FORMATS: Mapping[str, MeshFormat] = {
    ".glb": MeshFormat(read=glb.read, write=glb.write),
    ".obj": MeshFormat(read=obj.read, write=obj.write),
    ".ply": MeshFormat(read=ply.read, write=ply.write),
    ".stl": MeshFormat(read=stl.read, write=stl.write),
}


def is_mesh_file(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix is that of a mesh format.

    >>> is_mesh_file("peak.GLB"), is_mesh_file("peak.png")
    (True, False)
    """
    return Path(path).suffix.lower() in MESH_FORMATS


def read_mesh(path: str | os.PathLike[str]) -> TriangleMesh:
    """Read a terrain's mesh from .glb, .obj, .ply or .stl; heights run along y in .glb and along z in the others.

    >>> import tempfile
    >>> mesh = TriangleMesh([[0, 0, 5], [10, 0, 5], [0, 10, 5]], [[0, 1, 2]], eroded=[0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_mesh(write_mesh(mesh, f"{folder}/slope.ply"))
    TriangleMesh of 1 triangle and 3 vertices, 10 x 10 m, with eroded
    """
    path = Path(path)
    format = MESH_FORMATS.get(path.suffix.lower())
    if format is None:
        raise InvalidFile(f'{path} has the suffix "{path.suffix}"; meshes are read from {", ".join(MESH_FORMATS)}')
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist" if not path.exists() else f"{path} is not a regular file")
    parts = format.read(path)
    try:
        return gather_mesh(parts)
    except InvalidMesh as error:
        raise InvalidMesh(f"{path}: {error}") from error


def write_mesh(
    mesh: TriangleMesh | Terrain, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> Path:
    """Write a mesh atomically; a terrain is written with two triangles between four cell centres."""
    path = Path(path)
    if isinstance(mesh, Terrain):
        mesh = full_mesh(mesh)
    MESH_FORMATS[path.suffix.lower()].write(replace(parts_of(mesh), notes=notes or {}), path)
    return path


def full_mesh(terrain: Terrain) -> TriangleMesh:
    """Every cell centre as a vertex, with what was eroded and deposited if the terrain has those layers."""
    names = {"eroded": "wear", "deposited": "deposit"}
    attributes = {name: terrain[layer].ravel() for name, layer in names.items() if layer in terrain}
    return TriangleMesh.of_cells(terrain).replace(**attributes)
