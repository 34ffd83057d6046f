"""One step of the model, shared by the backends: they differ in how neighbours, triangles and sums are found."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.models.backend import Backend
from slopewash.models.mesh_particles.particles import ALIVE, GONE, LEFT, Particles, births, ground_below
from slopewash.models.mesh_particles.physics import Coefficients, Physics, physics_of
from slopewash.models.mesh_particles.sediment import Grains, ball, diameter, fall, transport_steps
from slopewash.models.mesh_particles.strata import triangle_erodibility
from slopewash.models.mesh_particles.surface import hash_cell, surface_of
from slopewash.models.mesh_particles.vertices import deposit, erode
from slopewash.models.state import Array, Domain, State, Window
from slopewash.terrain import emitters_of

Reals = NDArray[np.float64]

PHASES = ("hashing", "forces", "collision", "erosion", "sediment", "vertices")
PARTICLES = ("particle_position", "particle_velocity", "particle_birth", "particle_triangle", "particle_fate")
GRAINS = ("grain_carrier", "grain_steps", "grain_volume")
EMITTERS = ("emitters", "emitter_due", "emitter_count")


class MeshBackend(Backend):
    """Steps the state; subclasses provide the abstract methods.

    While it steps, mesh, particles and grains are in objects of their own; between steps `host` has their arrays.
    """

    dtype: DTypeLike = np.float32
    clock = staticmethod(time.perf_counter)
    """What phases are timed with."""
    c: Coefficients
    physics: Physics
    cell: float
    """Side of the cells in which particles are looked for, in metres."""

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain)
        for name in ("particle_position", "particle_velocity"):
            self.host[name] = self.host[name].astype(self.dtype)
        self.seconds = dict.fromkeys(PHASES, 0.0)
        """Time spent in each phase of the steps, for benchmarks."""
        self._load()

    # What subclasses do

    @abstractmethod
    def _hash(self) -> NDArray[np.int32]:
        """Sort the living particles by cell of the hash grid; returns the new place of each, -1 for the dead."""

    @abstractmethod
    def _pair_forces(self) -> NDArray[np.floating]:
        """Acceleration of every particle by its neighbours."""

    @abstractmethod
    def _move_and_collide(self, pushes: NDArray[np.floating]) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        """Move particles along the surface; returns the triangle each touches (-1 for none) and the erosion C."""

    @abstractmethod
    def _erosion_per_vertex(self, touched: NDArray[np.int32], erosion: NDArray[np.floating]) -> Reals:
        """Sum up what all particles erode off each vertex."""

    @abstractmethod
    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        """Particle nearest to each vertex, -1 where none is near. The hash is fresh."""

    @abstractmethod
    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        """Triangle below each point."""

    @abstractmethod
    def _set_down(self, *, plan: bool) -> None:
        """Lift particles that the ground has risen above; with `plan`, triangles have moved in plan too."""

    # State

    def _load(self) -> None:
        """Make mesh, particles and grains of what `host` has."""
        host = self.host
        self.surface = surface_of(State(host, self._scalars))
        self.bedrock: Reals = host["vertex_bedrock"]
        self.erodible = self._erodibility()
        self.erosion: Reals = np.array(host["pending_erosion"])
        self.deposit: Reals = np.array(host["pending_deposit"])
        self.flow = Particles.of(*(host[name] for name in PARTICLES))
        self.grains = Grains(*(np.array(host[name]) for name in GRAINS))
        self._stale = False

    def _store(self) -> None:
        """Bring `host` up to date."""
        self.host |= {
            "vertices": self.surface.vertices,
            "vertex_bedrock": self.bedrock,
            "pending_erosion": self.erosion,
            "pending_deposit": self.deposit,
            **dict(zip(PARTICLES, self.flow.taken(), strict=True)),
            **dict(zip(GRAINS, (self.grains.carrier, self.grains.left, self.grains.volume), strict=True)),
        }

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field."""
        super().write(name, values, window)
        self._stale |= name not in EMITTERS

    def _erodibility(self) -> Reals:
        return triangle_erodibility(
            self.surface, self.bedrock, self.domain, layer=self.host.get("erodibility"), top=self.host.get("strata_top")
        )

    # The main loop

    def use(self, coefficients: Coefficients) -> None:
        """Put numbers in force for the next steps."""
        if self._stale:
            self._load()
        self.c = coefficients
        self.surface.weigh(uniform=coefficients.uniform)
        self.physics = physics_of(coefficients, self.surface.edge)
        self.cell = hash_cell(2 * self.physics.radius, self.surface.extent)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some sub-steps, which must make up whole steps."""
        self.use(coefficients)
        self._steps(iterations // coefficients.substeps)
        self._store()

    def _steps(self, count: int) -> None:
        for _ in range(count):
            self._step()

    def _step(self) -> None:
        self._emit()
        for _ in range(self.c.substeps):
            self._substep()
        self._scalars["time"] += self.c.time_step
        self._scalars["step"] += 1
        with self._timed("sediment"):
            self._evaporate()
            self.grains.left -= 1
            self._drop(self.grains.left <= 0)
        if self._scalars["step"] % self.c.update_every == 0:
            self._move_vertices()

    def _substep(self) -> None:
        with self._timed("hashing"):
            self._sort()
        with self._timed("forces"):
            pushes = self._pair_forces()
        with self._timed("collision"):
            touched, erosion = self._move_and_collide(pushes)
        with self._timed("erosion"):
            self.erosion += self._erosion_per_vertex(touched, erosion)
        with self._timed("sediment"):
            self._export()

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        begin = self.clock()
        yield
        self.seconds[phase] += self.clock() - begin

    def _sort(self) -> None:
        place = self._hash()
        self.grains.carrier = place[self.grains.carrier]

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
            seed = self.domain.seed * 1_000_003 + e
            born = births(emitter, seed, int(emitted[e]), count, self.surface.extent)
            if flow.count + count > flow.room:
                flow = self.flow = Particles.of(*flow.taken(), room=2 * (flow.count + count))
            new = slice(flow.count, flow.count + count)
            flow.X[new, 0], flow.X[new, 1] = born.x, born.y
            flow.at[new] = self._locate(*(flow.X[new, k].astype(np.float64) for k in (0, 1)))
            flow.X[new, 2] = ground_below(flow.X[new], flow.at[new], self.surface.table) + self.physics.radius
            flow.V[new] = (born.vx, born.vy, 0.0)
            flow.born[new] = scalars["time"]
            flow.fate[new] = ALIVE
            flow.count += count
            emitted[e] += count
            scalars["born"] += count
        self.host |= {"emitter_due": due, "emitter_count": emitted}

    def _evaporate(self) -> None:
        flow = self.flow
        n = flow.count
        dry = flow.alive() & (self._scalars["time"] - flow.born[:n] >= self.c.lifetime)
        if dry.any():
            flow.fate[:n][dry] = GONE
            self._scalars["evaporated"] += int(dry.sum())
            self._drop(dry[self.grains.carrier])

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
        """Erode the vertices, deposit what has fallen on them, and give what was eroded to the particles."""
        c, surface, scalars = self.c, self.surface, self._scalars
        with self._timed("vertices"):
            before = surface.z.copy()
            smallest = ball(c.smallest_grain * surface.edge)
            volume = erode(surface, self.erosion, c.dig_limit, smallest, lateral=c.lateral)
            self.bedrock = np.minimum(self.bedrock, surface.z)
            gained = deposit(surface, self.deposit)
            scalars["deposited"] += float(gained.sum())
            self.deposit = self.deposit - gained
            surface.follow_heights(None if c.lateral else surface.z != before)
            scalars["shifted"] = int(scalars["shifted"] or c.lateral)
            self.erodible = self._erodibility()
            self._set_down(plan=c.lateral)
        with self._timed("hashing"):
            self._sort()
        with self._timed("sediment"):
            scalars["eroded"] += float(volume.sum())
            source = np.flatnonzero(volume)
            carrier = self._nearest_particles(source)
            found = carrier >= 0
            taken = volume[source[found]]
            steps = transport_steps(diameter(taken) / surface.edge, c.transport_time, c.grain_size)
            self.grains.take_up(carrier[found], steps, taken)
            self.deposit[source[~found]] += volume[source[~found]]
