"""The ground and the water on it as meshes: x to the east, y up, z to the south, from the north-west corner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.quantities import water_depth
from slopewash.io.mesh_parts import identifiers
from slopewash.io.ply import KNOWN
from slopewash.rendering.grid import blur, filled
from slopewash.rendering.light import normals
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
Indices = NDArray[np.uint32]

TAKEN = KNOWN | {"st", "normals", "displayColor", "displayOpacity"}
"""Names that PLY and USD use themselves."""
WET = 0.02
"""Cells of depth from which water is shown, as in pictures: less is the film that rain leaves."""
SHALLOWEST = 0.02
"""Cells by which the surface of a river stands above its bed at least, so that the two do not flicker."""


@dataclass(frozen=True)
class Surface:
    """Points, unit normals, texture coordinates (v from the north), quads and values at the points."""

    points: Floats
    normals: Floats
    texture: Floats
    quads: Indices
    """Counter-clockwise as seen from above."""
    attributes: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def triangles(self) -> Indices:
        """Two for each quad."""
        a, b, c, d = self.quads.T
        return np.stack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)], axis=1).reshape(-1, 3)


def ground_mesh(terrain: Terrain) -> Surface:
    """Make a vertex of every cell centre, with all layers as attributes; nothing spans nodata cells."""
    there = np.ones(terrain.shape, np.bool_) if terrain.nodata is None else ~terrain.nodata
    quads = there[1:, 1:] & there[1:, :-1] & there[:-1, 1:] & there[:-1, :-1]
    names = identifiers((name for name in terrain if name != "elevation"), taken=TAKEN)
    layers = {own: np.ascontiguousarray(terrain[name]).ravel() for name, own in names.items()}
    return _mesh(terrain, filled(terrain, "elevation"), quads, layers)


def water_mesh(terrain: Terrain) -> Surface | None:
    """Make the surface of rivers and lakes, or of the simulated water; None without any.

    It reaches one cell beyond the shore, as high as the water there, so that the ground cuts it off along the shore.
    """
    depth = water_depth(terrain)
    if depth is None:
        return None
    cell = np.float32(terrain.cell_size)
    wet = depth > np.float32(WET) * cell
    if terrain.nodata is not None:
        wet &= ~terrain.nodata
    quads = wet[1:, 1:] | wet[1:, :-1] | wet[:-1, 1:] | wet[:-1, :-1]
    if not quads.any():
        return None
    ground = filled(terrain, "elevation")
    level = ground + np.maximum(depth, np.float32(SHALLOWEST) * cell)
    share = wet.astype(np.float32)
    around = blur(np.where(wet, level, 0).astype(np.float32), 1) / np.maximum(blur(share, 1), np.float32(1e-6))
    surface = np.where(wet, level, np.minimum(around, ground)).astype(np.float32)
    return _compact(_mesh(terrain, surface, quads, {"depth": depth.ravel()}))


def _mesh(terrain: Terrain, height: Floats, keep: NDArray[np.bool_], attributes: Mapping[str, Floats]) -> Surface:
    rows, columns = terrain.shape
    cell = terrain.cell_size
    i, j = np.meshgrid(np.arange(rows, dtype=np.float64), np.arange(columns, dtype=np.float64), indexing="ij")
    points = np.stack([(j + 0.5) * cell, height, (i + 0.5) * cell], axis=-1).reshape(-1, 3).astype(np.float32)
    east, north, up = normals(height, cell)
    facing = np.stack([east, up, -north], axis=-1).reshape(-1, 3).astype(np.float32)
    texture = np.stack([(j + 0.5) / columns, (i + 0.5) / rows], axis=-1).reshape(-1, 2).astype(np.float32)
    corner = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    around = (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:])
    quads = np.stack([part[keep] for part in around], axis=1)
    return Surface(points, facing, texture, quads, attributes)


def _compact(surface: Surface) -> Surface:
    """Keep the points that belong to a quad."""
    used, numbers = np.unique(surface.quads, return_inverse=True)
    return Surface(
        surface.points[used], surface.normals[used], surface.texture[used],
        numbers.reshape(-1, 4).astype(np.uint32), {name: v[used] for name, v in surface.attributes.items()},
    )  # fmt: skip
