"""From a terrain to a state: a mesh with its bedrock, no particles yet, and sediment that waits to be deposited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slopewash.models.mesh_particles.particles import default_emitter
from slopewash.models.mesh_particles.sediment import fall
from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.state import Array, Domain, Reals, Sides, State
from slopewash.terrain import Terrain, TriangleMesh, emitter_table
from slopewash.terrain.mesh.refine import sample

if TYPE_CHECKING:
    from slopewash.models.mesh_particles.model import MeshParticles


def prepare(model: MeshParticles, terrain: Terrain, *, sides: Sides, seed: int) -> tuple[Domain, State]:
    """Refine the terrain into a mesh and work out what is global."""
    strata = terrain.strata
    domain = Domain(
        shape=terrain.shape, cell_size=terrain.cell_size, datum=terrain.range("elevation")[0], seed=seed, sides=sides,
        strata=() if strata is None else strata.layers,
    )  # fmt: skip
    mesh = refined(terrain, model)
    surface = surface_on(mesh, domain.datum)
    deposit, volume, exported = _sediment(terrain, surface)
    emitters = terrain.emitters or (default_emitter(terrain, surface.edge),)
    arrays: dict[str, Array] = {
        **mesh_fields(surface, surface.z.copy(), _bedrock(terrain, surface, domain.datum), deposit),
        "first_vertices": mesh.vertices,
        "first_triangles": mesh.triangles,
        "particle_position": np.zeros((0, 3)),
        "particle_velocity": np.zeros((0, 3)),
        "particle_birth": np.zeros(0),
        "particle_triangle": np.zeros(0, np.int32),
        "particle_fate": np.zeros(0, np.int8),
        "grain_carrier": np.zeros(0, np.int32),
        "grain_steps": np.zeros(0, np.int32),
        "grain_volume": np.zeros(0),
        "emitters": emitter_table(emitters),
        "emitter_due": np.zeros(len(emitters)),
        "emitter_count": np.zeros(len(emitters), np.int64),
    }
    if strata is not None:
        assert strata.top is not None  # a terrain's strata always have one
        arrays["strata_top"] = strata.top
    elif "erodibility" in terrain:
        arrays["erodibility"] = terrain["erodibility"]
    scalars: dict[str, float | int] = {
        # Steps include settling, unlike the simulation's. Shifted: have vertices moved in plan since the mesh was made?
        **dict.fromkeys(("step", "shifted", "born", "left", "evaporated"), 0),
        **dict.fromkeys(("time", "eroded", "deposited"), 0.0),
        "edge": surface.edge,
        "exported": exported,
        "solids_start": surface.volume() + volume,
    }
    return domain, State(arrays, scalars)


def refined(terrain: Terrain, model: MeshParticles) -> TriangleMesh:
    """Make a mesh of the ground."""
    return TriangleMesh.from_terrain(
        terrain, budget=int(model.triangles), gradient_weight=model.gradient_weight, depth_weight=model.depth_weight
    )


def surface_on(mesh: TriangleMesh, datum: float) -> Surface:
    """Surface of a new mesh."""
    vertices = np.array(mesh.vertices)
    vertices[:, 2] -= datum
    return Surface(vertices, mesh.triangles, edge=mesh.shortest_edge(), areas_at_start=np.array(mesh.areas))


def mesh_fields(surface: Surface, height_at_start: Reals, bedrock: Reals, deposit: Reals) -> dict[str, Array]:
    """Fields that follow the mesh; no erosion is pending."""
    return {
        "vertices": surface.vertices,
        "triangles": surface.triangles,
        "areas_at_start": surface.areas_at_start,
        "height_at_start": height_at_start,
        "vertex_bedrock": bedrock,
        "pending_erosion": np.zeros(len(surface.z)),
        "pending_deposit": deposit,
    }


def _bedrock(terrain: Terrain, surface: Surface, datum: float) -> Reals:
    """Heights of the bedrock's surface, the lowest the ground ever was, where strata make it matter."""
    if terrain.strata is None or "bedrock" not in terrain:
        return surface.z.copy()
    x, y = (surface.vertices[:, k] / terrain.cell_size for k in (0, 1))
    return np.minimum(sample(terrain["bedrock"].astype(np.float64), x, y) - datum, surface.z)


def _sediment(terrain: Terrain, surface: Surface) -> tuple[Reals, float, float]:
    """Sediment in the terrain's water: what falls on each vertex, all of it, and what leaves, in cubic metres."""
    if "suspended" not in terrain:
        return np.zeros(len(surface.z)), 0.0, 0.0
    l = terrain.cell_size  # noqa: E741
    i, j = np.nonzero(terrain["suspended"])
    x, y = (l * (at.astype(np.float64) + 0.5) for at in (j, i))
    volume = terrain["suspended"][i, j].astype(np.float64) * (l * l)
    deposit, exported = fall(surface, surface.locate(x, y), volume)
    return deposit, float(volume.sum()), exported
