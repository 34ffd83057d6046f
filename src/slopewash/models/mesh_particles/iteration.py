"""Steps the state by the specification; the other backends do the slow parts in ways of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.interrupts import Stopped, safe_point
from slopewash.models.backend import Backend
from slopewash.models.mesh_particles import reference
from slopewash.models.mesh_particles.particles import ALIVE, GONE, LEFT, Particles, births, cells_of, lift
from slopewash.models.mesh_particles.physics import Coefficients, Physics, physics_of
from slopewash.models.mesh_particles.sediment import Grains, ball, diameter, fall, transport_steps
from slopewash.models.mesh_particles.strata import triangle_erodibility
from slopewash.models.mesh_particles.surface import hash_cell, surface_of
from slopewash.models.mesh_particles.table import height
from slopewash.models.mesh_particles.vertices import deposit, erode
from slopewash.models.state import Array, Domain, Reals, State, Window
from slopewash.terrain import emitters_of

EMITTERS = ("emitters", "emitter_due", "emitter_count")
CHANGING = (
    "vertices", "vertex_bedrock", "pending_erosion", "pending_deposit", *Particles.fields, *Grains.fields,
)  # fmt: skip
"""Fields that steps may change in place."""


class ReferenceBackend(Backend):
    """Steps the state with the specification, in float64 unless asked otherwise.

    While it steps, mesh, particles and grains are in objects of their own; between steps `host` has their arrays.
    """

    c: Coefficients
    physics: Physics
    cell: float
    """Side of the cells in which particles are looked for, in metres."""

    def __init__(self, state: State, domain: Domain, *, dtype: DTypeLike = np.float64) -> None:
        super().__init__(state, domain)
        for name in ("particle_position", "particle_velocity"):
            self.host[name] = self.host[name].astype(dtype)
        self._load()

    # State

    def _load(self) -> None:
        """Make mesh, particles and grains of what `host` has."""
        host = self.host
        self.surface = surface_of(State(host, self._scalars))
        self.bedrock: Reals = host["vertex_bedrock"]
        self.erodible = triangle_erodibility(self.surface, self.bedrock, host, self.domain)
        self.erosion: Reals = np.array(host["pending_erosion"])
        self.deposit: Reals = np.array(host["pending_deposit"])
        self.flow = Particles(*(host[name] for name in Particles.fields))
        self.grains = Grains(*(np.array(host[name]) for name in Grains.fields))
        self._stale = False

    def _store(self) -> None:
        """Bring `host` up to date."""
        self.host |= {
            "vertices": self.surface.vertices,
            "vertex_bedrock": self.bedrock,
            "pending_erosion": self.erosion,
            "pending_deposit": self.deposit,
            **dict(zip(Particles.fields, self.flow.taken(), strict=True)),
            **dict(zip(Grains.fields, (self.grains.carrier, self.grains.left, self.grains.volume), strict=True)),
        }

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field."""
        super().write(name, values, window)
        self._stale |= name not in EMITTERS

    # The main loop

    def use(self, coefficients: Coefficients) -> None:
        """Put numbers in force for the next steps."""
        if self._stale:
            self._load()
        self.c = coefficients
        if self.surface.uniform != coefficients.uniform:
            self.surface.uniform = coefficients.uniform
            self.surface.follow_heights()
        self.physics = physics_of(coefficients, self.surface.edge)
        self.cell = hash_cell(2 * self.physics.radius, self.surface.extent)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some sub-steps, which must make up whole steps."""
        self.use(coefficients)
        self._steps(iterations // coefficients.substeps)
        self._store()

    def _steps(self, count: int) -> None:
        for done in range(count):
            with self._whole_or_not_at_all(done):
                self._step()

    @property
    def _has_safe_points(self) -> bool:
        """Whether a step is left where somebody waits, which then costs a copy of the state before it."""
        return True

    @contextmanager
    def _whole_or_not_at_all(self, done: int) -> Iterator[None]:
        """Go back to the state before this step where it is left at a safe point, after `done` whole ones."""
        if not self._has_safe_points:
            yield
            return
        self._store()
        kept = {name: self.host[name].copy() for name in CHANGING}
        before, scalars = self.host | kept, dict(self._scalars)
        try:
            yield
        except Stopped as early:
            self.host.update(before)
            self._scalars.update(scalars)
            self._stale = True
            early.done = done * self.c.substeps
            raise

    def _step(self) -> None:
        self._emit()
        for part in range(self.c.substeps):
            if part:
                safe_point()
            self._sort()
            touched, erosion = self._move_and_collide(self._pair_forces())
            self.erosion += self._erosion_per_vertex(touched, erosion)
            self._export()
        self._scalars["time"] += self.c.time_step
        self._scalars["step"] += 1
        self._age()
        if self._scalars["step"] % self.c.update_every == 0:
            self._move_vertices()

    def _sort(self) -> None:
        self.grains.carrier = self._hash()[self.grains.carrier]

    # Water

    def _emit(self) -> None:
        c, flow, scalars = self.c, self.flow, self._scalars
        due, emitted = (self.host[name].copy() for name in ("emitter_due", "emitter_count"))
        for e, emitter in enumerate(emitters_of(self.host["emitters"])):
            due[e] += emitter.rate * c.time_step
            count = min(int(due[e]), max(0, c.maximum_particles - flow.count))
            due[e] = min(due[e] - count, 1.0)
            if count == 0:
                continue
            if flow.count + count > flow.room:
                flow = self.flow = Particles(*flow.taken(), room=2 * (flow.count + count))
            seed, turn = self.domain.seed * 1_000_003 + e, math.radians(emitter.direction)
            new = slice(flow.count, flow.count + count)
            X = flow.X[new]
            X[:, 0], X[:, 1] = births(emitter, seed, int(emitted[e]), count, self.surface.extent)
            x, y = (X[:, k].astype(np.float64) for k in (0, 1))
            flow.at[new] = self._locate(x, y)
            X[:, 2] = height(self.surface.table[flow.at[new]], x, y) + self.physics.radius
            flow.V[new] = (emitter.speed * math.sin(turn), -emitter.speed * math.cos(turn), 0.0)
            flow.born[new] = scalars["time"]
            flow.fate[new] = ALIVE
            flow.count += count
            emitted[e] += count
            scalars["born"] += count
        self.host |= {"emitter_due": due, "emitter_count": emitted}

    def _age(self) -> None:
        """Let particles evaporate, and grains fall, whose time is up."""
        flow, n = self.flow, self.flow.count
        dry = flow.alive() & (self._scalars["time"] - flow.born[:n] >= self.c.lifetime)
        if dry.any():
            flow.fate[:n][dry] = GONE
            self._scalars["evaporated"] += int(dry.sum())
            self._drop(dry[self.grains.carrier])
        self.grains.left -= 1
        self._drop(self.grains.left <= 0)

    # Sediment

    def _export(self) -> None:
        """Export the grains of particles that have left."""
        gone = self.flow.fate[: self.flow.count] == LEFT
        if gone.any():
            self._scalars["left"] += int(gone.sum())
            self._scalars["exported"] += float(self.grains.take_out(gone[self.grains.carrier])[1].sum())
            self.flow.fate[: self.flow.count][gone] = GONE

    def _drop(self, which: NDArray[np.bool_]) -> None:
        """Let grains fall to the triangles below."""
        carrier, volume = self.grains.take_out(which)
        self._fall(self.flow.at[carrier], volume)

    def _fall(self, triangle: NDArray[np.int32], volume: Reals) -> None:
        """Let volumes wait at the corners of triangles until the next move of the vertices."""
        if len(triangle):
            per_vertex, exported = fall(self.surface, triangle, volume)
            self.deposit += per_vertex
            self._scalars["exported"] += exported

    def _move_vertices(self) -> None:
        volume = self._erode_and_deposit()
        self._sort()
        self._take_up(volume)

    def _erode_and_deposit(self) -> Reals:
        """Erode the vertices and deposit what has fallen on them; returns the volume each has lost."""
        c, surface, scalars = self.c, self.surface, self._scalars
        before, smallest = surface.z.copy(), ball(c.smallest_grain * surface.edge)
        volume = erode(surface, self.erosion, c.dig_limit, smallest, lateral=c.lateral)
        scalars["eroded"] += float(volume.sum())
        self.bedrock = np.minimum(self.bedrock, surface.z)
        gained = deposit(surface, self.deposit)
        scalars["deposited"] += float(gained.sum())
        self.deposit = self.deposit - gained
        surface.follow_heights(None if c.lateral else surface.z != before)
        scalars["shifted"] = int(scalars["shifted"] or c.lateral)
        self.erodible = triangle_erodibility(surface, self.bedrock, self.host, self.domain)
        self._lift(plan=c.lateral)
        return volume

    def _take_up(self, volume: Reals) -> None:
        """Give what was eroded to the nearest particles; where none is near, it falls at once."""
        source = np.flatnonzero(volume)
        carrier = self._nearest_particles(source)
        found = carrier >= 0
        taken = volume[source[found]]
        steps = transport_steps(diameter(taken) / self.surface.edge, self.c.transport_time, self.c.grain_size)
        self.grains.take_up(carrier[found], steps, taken)
        self.deposit[source[~found]] += volume[source[~found]]

    def lay_down(self, *, dry: bool) -> None:
        """Let every grain fall where it is; with `dry` the particles evaporate."""
        flow, surface, scalars = self.flow, self.surface, self._scalars
        self._drop(np.ones(len(self.grains.left), np.bool_))
        gained = deposit(surface, self.deposit, limited=False)
        scalars["deposited"] += float(gained.sum())
        self.deposit = np.zeros_like(gained)  # what is left is rounding
        surface.follow_heights()
        self._lift(plan=False)
        if dry:
            scalars["evaporated"] += int(flow.alive().sum())
            flow.fate[:] = GONE
        self._sort()
        self._store()

    # What other backends do faster

    def _hash(self) -> NDArray[np.int32]:
        """Sort the living particles by cell of the hash grid; returns the new place of each, -1 for the dead."""
        flow, living = self.flow, np.flatnonzero(self.flow.alive())
        cells = cells_of(flow.X[living], self.cell)
        order = living[np.lexsort((cells[:, 0], cells[:, 1]))]
        place = np.full(max(flow.count, 1), -1, np.int32)
        place[order] = np.arange(len(order))
        self.flow = Particles(*(a[order] for a in flow.arrays()))
        return place

    def _pair_forces(self) -> NDArray[np.floating]:
        """Acceleration of every particle by its neighbours."""
        X, V, *_ = self.flow.taken()
        return reference.pair_forces(X, V, self.physics)

    def _move_and_collide(self, pushes: NDArray[np.floating]) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        """Move particles along the surface; returns the triangle each touches (-1 for none) and the erosion C."""
        flow, n, p = self.flow, self.flow.count, self.physics
        flow.V[:n] = reference.accelerate(flow.V[:n], pushes, p)
        touched, erosion = np.full(n, -1, np.int32), np.zeros(n)
        for i in range(n):
            safe_point()
            moved = reference.collide(self.surface, self.erodible, flow.X[i], flow.V[i], int(flow.at[i]), p)
            flow.X[i], flow.V[i], flow.at[i], touched[i], erosion[i], left = moved
            flow.fate[i] = LEFT if left else ALIVE
        return touched, erosion

    def _erosion_per_vertex(self, touched: NDArray[np.int32], erosion: NDArray[np.floating]) -> Reals:
        """Sum up what all particles erode off each vertex."""
        return reference.erosion_per_vertex(touched, erosion, self.surface)

    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        """Particle nearest to each vertex, -1 where none is near. The hash is fresh."""
        X, *_ = self.flow.taken()
        cells, points = cells_of(X, self.cell), self.surface.vertices[vertices]
        own = cells_of(points, self.cell)
        found = np.full(len(vertices), -1, np.int32)
        for k, (point, cell) in enumerate(zip(points, own, strict=True)):
            safe_point()
            found[k] = reference.nearest_particle(X, cells, point, cell)
        return found

    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        """Triangle below each point."""
        at = np.zeros(len(x), np.int32)
        for k, (a, b) in enumerate(zip(x, y, strict=True)):
            safe_point()
            at[k] = reference.triangle_at(self.surface.table, a, b)
        return at

    def _lift(self, *, plan: bool) -> None:
        """Lift particles that the ground has risen above; with `plan`, triangles have moved in plan too."""
        X, _, _, at, _ = self.flow.taken()
        if plan:
            at[:] = self._locate(*(X[:, k].astype(np.float64) for k in (0, 1)))
        lift(X, at, self.surface.table)
