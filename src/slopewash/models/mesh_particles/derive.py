"""From a state to what users see: layers on the grid it started from, the mesh and the particles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import slope_degrees
from slopewash.models.mesh_particles.particles import ALIVE
from slopewash.models.mesh_particles.strata import exposed_erodibility
from slopewash.models.state import Array, Domain, State
from slopewash.terrain import Layer, Terrain, TriangleMesh

Reals = NDArray[np.float64]


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


def derive(names: Sequence[str], state: State, domain: Domain, particle_volume: float) -> dict[str, Array]:
    """Work layers out; a particle stands for so many cubic metres of water."""
    view = _Layers(state, domain)
    makers: dict[str, Callable[[], Array]] = {
        "elevation": lambda: view.raster["elevation"],
        "water": lambda: view.particles * (particle_volume / view.area),
        "suspended": view.suspended,
        "velocity": view.velocity,
        "wear": lambda: view.change("eroded"),
        "deposit": lambda: view.change("deposited"),
        "difference": lambda: view.change("deposited") - view.change("eroded"),
        "slope": lambda: slope_degrees(view.raster["elevation"] / np.float32(domain.cell_size), domain.sides),
        "bedrock": lambda: view.bedrock,
        "erodibility": view.erodibility,
    }
    return {name: makers[name]() for name in names}


class _Layers:
    """Layers of one state, and what several of them need."""

    def __init__(self, state: State, domain: Domain) -> None:
        self.state, self.domain = state, domain
        self.area = domain.cell_size * domain.cell_size
        alive = living(state)
        self.X, self.V = (state[name][alive].astype(np.float64) for name in ("particle_position", "particle_velocity"))

    @cached_property
    def raster(self) -> Terrain:
        """The mesh on the grid."""
        return mesh_of(self.state, self.domain).to_terrain(self.domain.cell_size, shape=self.domain.shape)

    @cached_property
    def bedrock(self) -> Layer:
        """Top of the bedrock."""
        heights = self.domain.datum + self.state["vertex_bedrock"]
        mesh = TriangleMesh(np.column_stack([self.state["vertices"][:, :2], heights]), self.state["triangles"])
        return mesh.to_terrain(self.domain.cell_size, shape=self.domain.shape)["elevation"]

    @cached_property
    def particles(self) -> Reals:
        """Particles in each cell."""
        return self.per_cell(self.X, np.ones(len(self.X)))

    def suspended(self) -> Array:
        state = self.state
        carried = self.per_cell(
            state["particle_position"][state["grain_carrier"]].astype(np.float64), state["grain_volume"]
        )
        return (carried + self.per_cell(state["vertices"], state["pending_deposit"])) / self.area

    def velocity(self) -> Array:
        speed = np.sqrt((self.V * self.V).sum(axis=1))
        return self.per_cell(self.X, speed) / np.maximum(self.particles, 1)

    def change(self, attribute: str) -> Array:
        return np.maximum(self.raster[attribute], 0)  # interpolation may undershoot

    def erodibility(self) -> Array:
        state = self.state
        if "strata_top" in state:
            return exposed_erodibility(self.raster["elevation"], self.bedrock, state["strata_top"], self.domain)
        layer = state.get("erodibility")
        return np.ones(self.domain.shape, np.float32) if layer is None else layer

    def per_cell(self, points: Reals, amounts: Reals) -> Reals:
        """Sum up amounts over the cells in which points lie."""
        rows, columns = self.domain.shape
        i = np.clip((points[:, 1] / self.domain.cell_size).astype(np.int64), 0, rows - 1)
        j = np.clip((points[:, 0] / self.domain.cell_size).astype(np.int64), 0, columns - 1)
        sums = np.bincount(i * columns + j, weights=amounts, minlength=rows * columns)
        return sums.astype(np.float64).reshape(rows, columns)  # without any points they would be whole numbers
