"""The doors through which a terrain comes in and goes out: cells to vertices, vertices and particles to cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.models.mesh_particles.model import MeshParticles
from slopewash.models.mesh_particles.surface import Surface
from slopewash.terrain import Layer, Terrain, TriangleMesh
from slopewash.terrain.mesh.refine import sample

Reals = NDArray[np.float64]


def bedrock_below(terrain: Terrain, surface: Surface, datum: float) -> Reals:
    """Heights of the bedrock's surface, the lowest the ground ever was, where strata make it matter."""
    if terrain.strata is None or "bedrock" not in terrain:
        return surface.z.copy()
    x, y = (surface.vertices[:, k] / terrain.cell_size for k in (0, 1))
    return np.minimum(sample(terrain["bedrock"].astype(np.float64), x, y) - datum, surface.z)


def refined(terrain: Terrain, model: MeshParticles) -> TriangleMesh:
    """Make the mesh that a run starts from."""
    return TriangleMesh.from_terrain(
        terrain,
        budget=int(model.triangles),
        gradient_weight=model.gradient_weight,
        depth_weight=model.depth_weight,
    )


def layers_of_strata(terrain: Terrain, surface: Surface, bedrock: Reals, elevation: Layer) -> dict[str, ArrayLike]:
    """Bedrock and erodibility of what is exposed in every cell, from the heights of the bedrock at the vertices."""
    strata = terrain.strata
    if strata is None:
        return {}
    mesh = TriangleMesh(np.column_stack([surface.vertices[:, :2], bedrock]), surface.triangles)
    rock = mesh.to_terrain(terrain.cell_size, shape=terrain.shape)["elevation"]
    exposed = strata.exposed(elevation, rock)
    return {"bedrock": rock, "erodibility": strata.lookup("erodibility", exposed, otherwise=1.0)}


def per_cell(points: Reals, amounts: Reals, cell_size: float, shape: tuple[int, int]) -> Reals:
    """Sum up amounts over the cells of a grid in which points lie."""
    i = np.clip((points[:, 1] / cell_size).astype(np.int64), 0, shape[0] - 1)
    j = np.clip((points[:, 0] / cell_size).astype(np.int64), 0, shape[1] - 1)
    sums = np.bincount(i * shape[1] + j, weights=amounts, minlength=shape[0] * shape[1])
    return sums.astype(np.float64).reshape(shape)  # without any points they would be whole numbers
