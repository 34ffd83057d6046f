"""What happens to a state between steps: another mesh under the run, or all sediment settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slopewash.models.mesh_particles.derive import mesh_of
from slopewash.models.mesh_particles.iteration import ReferenceBackend
from slopewash.models.mesh_particles.particles import lift
from slopewash.models.mesh_particles.prepare import mesh_fields, refined, surface_on
from slopewash.models.mesh_particles.surface import surface_of
from slopewash.models.state import Domain, State
from slopewash.terrain import TriangleMesh

if TYPE_CHECKING:
    from slopewash.models.mesh_particles.model import MeshParticles


def adopt(model: MeshParticles, before: MeshParticles, state: State, domain: Domain) -> None:
    """Refine the ground as it is now anew where parameters of the mesh have changed.

    Heights are sampled, and shifted so that no ground is gained or lost.
    """
    if all(getattr(model, name) == getattr(before, name) for name in ("triangles", "gradient_weight", "depth_weight")):
        return
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
    lift(X, at, surface.table)
    state.scalars.update(edge=surface.edge, shifted=0)
    bedrock = np.minimum(rock.height_at(x, y), surface.z)
    state.arrays.update(
        mesh_fields(surface, first.height_at(x, y) - domain.datum, bedrock, waiting.astype(np.float64)),
        particle_position=X,
        particle_triangle=at,
    )
    if "pending_erosion_units" in state:
        state["pending_erosion_units"] = np.zeros(len(surface.z), np.int64)


def lay_down(model: MeshParticles, state: State, domain: Domain, *, dry: bool) -> None:
    """Let every grain fall where it is; with `dry` the particles evaporate."""
    run = ReferenceBackend(state, domain, dtype=state["particle_position"].dtype)
    run.use(model.coefficients(domain, substeps=1))
    run.lay_down(dry=dry)
    state.arrays.update(run.host)
    state.scalars.update(run.scalars)
