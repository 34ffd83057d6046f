"""From a state to what users see: layers on the grid it started from, the mesh and the particles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import slope_degrees
from slopewash.models.mesh_particles.particles import ALIVE
from slopewash.models.mesh_particles.strata import exposed_erodibility
from slopewash.models.state import Array, Domain, Reals, State
from slopewash.terrain import Layer, Terrain, TriangleMesh

if TYPE_CHECKING:
    from slopewash.models.mesh_particles.model import MeshParticles


def mesh_of(state: State, domain: Domain) -> TriangleMesh:
    """Return the mesh with `eroded` and `deposited` in metres at each vertex."""
    vertices, before = np.array(state["vertices"]), state["height_at_start"]
    if state.scalars["shifted"]:
        first = TriangleMesh(state["first_vertices"], state["first_triangles"])
        before = first.height_at(vertices[:, 0], vertices[:, 1]) - domain.datum
    change = vertices[:, 2] - before
    vertices[:, 2] += domain.datum
    return TriangleMesh(vertices, state["triangles"], eroded=np.maximum(-change, 0), deposited=np.maximum(change, 0))


def living(state: State) -> NDArray[np.bool_]:
    """Whether each particle is still there."""
    return state["particle_fate"] == ALIVE


def positions(state: State, domain: Domain) -> NDArray[np.float32]:
    """Particles as rows of x, y, z in metres and place in the flow, 0 newest .. 1 oldest."""
    alive = living(state)
    out = np.zeros((int(alive.sum()), 4), np.float32)
    if len(out):
        out[:, :3] = state["particle_position"][alive]
        out[:, 2] += np.float32(domain.datum)
        age = state.scalars["time"] - state["particle_birth"][alive]
        out[:, 3] = age / max(float(age.max()), 1e-9)
    return out


def first_bad(state: State, domain: Domain) -> tuple[str, int, int] | None:
    """Find the first vertex or particle that is not finite, by the cell it is in."""
    for name, points in (("elevation", state["vertices"]), ("water", state["particle_position"][living(state)])):
        if not np.isfinite(points.sum()):
            bad = points[int((~np.isfinite(points).all(axis=1)).argmax())]
            x, y = (int(v / domain.cell_size) if math.isfinite(v) else 0 for v in bad[:2])
            return name, y, x
    return None


def derive_all(model: MeshParticles, names: Sequence[str], state: State, domain: Domain) -> dict[str, Array]:
    """Work layers out in metres: most of them from the same raster of the mesh."""
    l, shape, alive = domain.cell_size, domain.shape, living(state)  # noqa: E741
    X, V = (state[name][alive].astype(np.float64) for name in ("particle_position", "particle_velocity"))

    @cache
    def raster() -> Terrain:
        return mesh_of(state, domain).to_terrain(l, shape=shape)

    @cache
    def bedrock() -> Layer:
        vertices = np.column_stack([state["vertices"][:, :2], domain.datum + state["vertex_bedrock"]])
        return TriangleMesh(vertices, state["triangles"]).to_terrain(l, shape=shape)["elevation"]

    @cache
    def particles() -> Reals:
        return per_cell(X, np.ones(len(X)), domain)

    def suspended() -> Array:
        carriers = state["particle_position"][state["grain_carrier"]].astype(np.float64)
        carried = per_cell(carriers, state["grain_volume"], domain)
        waiting = per_cell(state["vertices"], state["pending_deposit"], domain)
        return np.maximum(carried + waiting, 0) / (l * l)  # a deposit may exceed what was waiting by its rounding

    def change(attribute: str) -> Array:
        return np.maximum(raster()[attribute], 0)  # interpolation may undershoot

    def heights() -> Array:
        """In cells above the datum: slopes are the same wherever that lies."""
        return ((raster()["elevation"].astype(np.float64) - domain.datum) / l).astype(np.float32)

    def erodibility() -> Array:
        if "strata_top" in state:
            return exposed_erodibility(raster()["elevation"], bedrock(), state["strata_top"], domain)
        return state["erodibility"] if "erodibility" in state else np.ones(shape, np.float32)

    makers: dict[str, Callable[[], Array]] = {
        "elevation": lambda: raster()["elevation"],
        "water": lambda: particles() * (model.particle_volume(state) / (l * l)),
        "suspended": suspended,
        "velocity": lambda: per_cell(X, np.sqrt((V * V).sum(axis=1)), domain) / np.maximum(particles(), 1),
        "wear": lambda: change("eroded"),
        "deposit": lambda: change("deposited"),
        "difference": lambda: change("deposited") - change("eroded"),
        "slope": lambda: slope_degrees(heights(), domain.sides),
        "bedrock": bedrock,
        "erodibility": erodibility,
    }
    return {name: makers[name]() for name in names}


def per_cell(points: Reals, amounts: Reals, domain: Domain) -> Reals:
    """Sum up amounts over the cells in which points lie."""
    rows, columns = domain.shape
    i = np.clip((points[:, 1] / domain.cell_size).astype(np.int64), 0, rows - 1)
    j = np.clip((points[:, 0] / domain.cell_size).astype(np.int64), 0, columns - 1)
    sums = np.bincount(i * columns + j, weights=amounts, minlength=rows * columns)
    return sums.astype(np.float64).reshape(rows, columns)  # without any points they would be whole numbers
