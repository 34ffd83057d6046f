"""What happens to a state between steps: another mesh under the run, or all sediment settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slopewash.models.mesh_particles.derive import living, mesh_of
from slopewash.models.mesh_particles.particles import GONE, in_order, set_down
from slopewash.models.mesh_particles.prepare import refined, surface_on
from slopewash.models.mesh_particles.sediment import fall
from slopewash.models.mesh_particles.step import GRAINS, PARTICLES
from slopewash.models.mesh_particles.surface import hash_cell, surface_of
from slopewash.models.mesh_particles.vertices import deposit
from slopewash.models.state import Array, Domain, State
from slopewash.terrain import TriangleMesh

if TYPE_CHECKING:
    from slopewash.models.mesh_particles.model import MeshParticles


def refine_anew(model: MeshParticles, state: State, domain: Domain) -> None:
    """Put other triangles under the run: heights are sampled, and shifted so that no ground is gained or lost."""
    old = surface_of(state)
    mesh = refined(mesh_of(state, domain).to_terrain(domain.cell_size, shape=domain.shape), model)
    x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
    first = TriangleMesh(state["first_vertices"], state["first_triangles"])
    rock = TriangleMesh(np.column_stack([old.vertices[:, :2], state["vertex_bedrock"]]), old.triangles)
    surface = surface_on(mesh, domain.datum)
    # The border stays where it is, if that is not all there is; the others move by a hair.
    inner = np.ones(len(surface.z)) if surface.border.all() else np.where(surface.border, 0.0, 1.0)
    shift = (old.volume() - surface.volume()) / float((inner * surface.around).sum() / 3)
    surface.vertices[:, 2] += shift * inner
    surface.follow_heights()
    # What waits at a vertex waits at a corner of the triangle that is there now, if possible not on the border.
    under = surface.triangles[surface.locate(old.vertices[:, 0], old.vertices[:, 1])]
    free = under[np.arange(len(under)), surface.border[under].argmin(axis=1)]
    waiting = np.bincount(free, weights=state["pending_deposit"], minlength=len(surface.z))
    X = np.array(state["particle_position"])
    at = surface.locate(*(X[:, k].astype(np.float64) for k in (0, 1)))
    set_down(X, at, surface.table)
    state.scalars.update(edge=surface.edge, shifted=0)
    changed: dict[str, Array] = {
        "vertices": surface.vertices,
        "triangles": surface.triangles,
        "areas_at_start": surface.areas_at_start,
        "height_at_start": first.height_at(x, y) - domain.datum,
        "vertex_bedrock": np.minimum(rock.height_at(x, y), surface.z),
        "pending_erosion": np.zeros(len(surface.z)),
        "pending_deposit": waiting.astype(np.float64),
        "particle_position": X,
        "particle_triangle": at,
    }
    if "pending_erosion_units" in state:
        changed["pending_erosion_units"] = np.zeros(len(surface.z), np.int64)
    state.arrays.update(changed)


def lay_down(radius: float, state: State, domain: Domain, *, dry: bool) -> None:
    """Let every grain fall where it is; with `dry` the particles evaporate."""
    surface, scalars = surface_of(state), state.scalars
    X, V, birth, at, fate = (np.array(state[name]) for name in PARTICLES)
    per_vertex, exported = fall(surface, at[state["grain_carrier"]], state["grain_volume"])
    gained = deposit(surface, state["pending_deposit"] + per_vertex, limited=False)
    scalars["exported"] += exported
    scalars["deposited"] += float(gained.sum())
    surface.follow_heights()
    set_down(X, at, surface.table)
    if dry:
        scalars["evaporated"] += int(living(state).sum())
        fate[:] = GONE
    order = in_order(X, fate, hash_cell(2 * radius, surface.extent))
    state["vertices"] = surface.vertices
    state["pending_deposit"] = np.zeros_like(gained)  # what is left is rounding
    for name, values in zip(PARTICLES, (X, V, birth, at, fate), strict=True):
        state[name] = values[order]
    for name in GRAINS:
        state[name] = state[name][:0]
