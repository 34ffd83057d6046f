"""One step of the model, shared by the backends: they differ in how neighbours, triangles and sums are found."""

from __future__ import annotations

import math
import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.errors import StabilityWarning
from slopewash.models.base import Engine, Ledger
from slopewash.models.ground import slope_degrees
from slopewash.models.mesh_particles.doors import bedrock_below, layers_of_strata, per_cell, refined
from slopewash.models.mesh_particles.model import MeshParticles
from slopewash.models.mesh_particles.particles import (
    ALIVE,
    GONE,
    LEFT,
    Particles,
    births,
    default_emitter,
)
from slopewash.models.mesh_particles.physics import Physics
from slopewash.models.mesh_particles.sediment import Grains, ball, diameter, transport_steps
from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.mesh_particles.vertices import lay_up, wear_down
from slopewash.terrain import Emitter, Terrain, TriangleMesh

Reals = NDArray[np.float64]

PHASES = ("hashing", "forces", "collision", "erosion", "sediment", "vertices")
MESH_PARAMETERS = ("triangles", "gradient_weight", "depth_weight")
FIRST_ROOM = 1024
FURTHEST = 4.0
"""Radii that a particle moves at most in one sub-step."""
MOST_CELLS = 1 << 24
"""Of a hash grid: on larger ones cells are wider."""


class MeshEngine(Engine):
    """A run of `MeshParticles`; backends provide the abstract methods."""

    dtype: DTypeLike = np.float32
    clock = staticmethod(time.perf_counter)
    """What phases are timed with."""

    def __init__(self, model: MeshParticles, terrain: Terrain, *, substeps: int = 1, seed: int = 0) -> None:
        self._start = terrain
        self._datum = terrain.range("elevation")[0]
        self._seed = seed
        self._first = refined(terrain, model)
        self.surface = Surface(self._first, self._datum, uniform=model.weights == "uniform")
        self._solids_at_start = self.surface.volume()
        self._z0 = self.surface.z.copy()
        """ground at the start where each vertex is"""
        self._shifted = False
        self._bedrock = bedrock_below(terrain, self.surface, self._datum)
        self.emitters: tuple[Emitter, ...] = terrain.emitters or (default_emitter(terrain, self.surface.edge),)
        self._due = [0.0] * len(self.emitters)
        self._emitted = [0] * len(self.emitters)
        self.flow = Particles(FIRST_ROOM, self.dtype)
        self.grains = Grains()
        count = len(self._z0)
        self.worn = np.zeros(count)
        """height to be worn off each vertex at the next move"""
        self.waiting = np.zeros(count)
        """volume to be laid on each vertex"""
        self._step, self._time = 0, 0.0
        self._born = self._left = self._evaporated = 0
        self._eroded = self._deposited = self._exported = 0.0
        self.seconds = dict.fromkeys(PHASES, 0.0)
        """Time spent in each phase of the steps, for benchmarks."""
        self._model = model
        self._erodible = np.ones(len(self.surface.triangles))
        self._erodible = self._erodibility()
        self._warned = 1
        self.set_model(model, substeps)
        self._take_in_load()

    # What the backends do

    @abstractmethod
    def _hash(self) -> NDArray[np.int32]:
        """Sort the living particles by cell of the hash grid; returns the new place of each, -1 for the dead."""

    @abstractmethod
    def _pair_forces(self, physics: Physics) -> NDArray[np.floating]:
        """Acceleration of every particle by its neighbours."""

    @abstractmethod
    def _move_and_collide(
        self, pushes: NDArray[np.floating], physics: Physics
    ) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
        """Move particles along the surface; returns the triangle each touches (-1 for none) and the wear C."""

    @abstractmethod
    def _wear_per_vertex(self, touched: NDArray[np.int32], wear: NDArray[np.floating]) -> Reals:
        """Sum up what all particles wear off each vertex."""

    @abstractmethod
    def _nearest_particles(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        """Particle nearest to each vertex, -1 where none is near. The hash is fresh."""

    @abstractmethod
    def _locate(self, x: Reals, y: Reals) -> NDArray[np.int32]:
        """Triangle below each point."""

    def _mesh_changed(self, *, plan: bool) -> None:
        """Vertices have moved, in plan too if so told."""

    # The main loop

    def set_model(self, model: MeshParticles, substeps: int) -> None:
        """Go on with other parameter values; those of the mesh refine the ground as it is now anew."""
        refine = any(getattr(model, name) != getattr(self._model, name) for name in MESH_PARAMETERS)
        self._model = model
        if refine:
            self._refine_anew()
        radius = model.particle_radius * self.surface.edge
        parts = model.contact_substeps(radius)
        if parts > self._warned:
            warnings.warn(
                f"time_step is {model.time_step:g} s, too long for contacts of particles of radius {radius:.3g} m: "
                f"each step is taken in {parts} parts",
                StabilityWarning,
                stacklevel=4,
            )
            self._warned = parts
        self._substeps = parts * substeps
        dt = model.time_step / self._substeps
        critical = math.sqrt(2 * model.spring(radius))
        self.physics = Physics(
            dt=dt,
            radius=radius,
            spring=model.spring(radius),
            damper=model.damping * critical,
            friction=model.friction * critical,
            gravity=model.gravity,
            slowing=1 / (1 + model.drag * dt),
            bounce=model.bounce,
            fastest=FURTHEST * radius / dt,
            wear=model.erosion_rate * dt,
        )
        west, north, east, south = self.surface.extent
        self.cell = max(2 * radius, math.sqrt((east - west) * (south - north) / MOST_CELLS))
        """Side of the cells in which particles are looked for, in metres."""
        if self.surface.uniform != (model.weights == "uniform"):
            self.surface.uniform = model.weights == "uniform"
            self.surface.follow_heights()

    def _refine_anew(self) -> None:
        """Put other triangles under the run: heights are sampled, and shifted so that no ground is gained or lost."""
        model, old = self._model, self.surface
        raster = self.mesh().to_terrain(self._start.cell_size, shape=self.shape)
        mesh = refined(raster, model)
        x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
        rock = TriangleMesh(np.column_stack([old.vertices[:, :2], self._bedrock]), old.triangles)
        self._z0, self._bedrock = self._first.height_at(x, y) - self._datum, rock.height_at(x, y)
        ground, waiting, total = old.volume(), self.waiting, old.vertices
        self.surface = surface = Surface(mesh, self._datum, uniform=model.weights == "uniform")
        # The border stays where it is, if that is not all there is; the others move by a hair.
        inner = np.ones(len(surface.z)) if surface.border.all() else np.where(surface.border, 0.0, 1.0)
        shift = (ground - surface.volume()) / float((inner * surface.around).sum() / 3)
        surface.vertices[:, 2] += shift * inner
        surface.follow_heights()
        self._bedrock = np.minimum(self._bedrock, surface.z)
        self._erodible = np.ones(len(surface.triangles))
        self._erodible = self._erodibility()
        self._mesh_changed(plan=True)
        self.worn = np.zeros(len(surface.z))
        under = surface.triangles[self._locate(total[:, 0], total[:, 1])]
        free = under[np.arange(len(under)), surface.border[under].argmin(axis=1)]
        self.waiting = np.bincount(free, weights=waiting, minlength=len(surface.z)).astype(np.float64)

    def set_emitters(self, emitters: Sequence[Emitter]) -> None:
        """Go on with other emitters."""
        self._start = self._start.replace(emitters=emitters)
        discs = self._start.emitters
        self._due, self._emitted = [0.0] * len(discs), [self._born] * len(discs)
        self.emitters = discs

    def advance(self, steps: int) -> None:
        """Advance by whole time steps."""
        self._advance(steps, 1.0)

    def carry(self, steps: int, strength: float) -> None:
        """Advance while the power to erode has faded to `strength`."""
        self._advance(steps, strength)

    def _advance(self, steps: int, strength: float) -> None:
        physics = self.physics._replace(wear=self.physics.wear * strength)
        for _ in range(steps):
            self._emit()
            for _ in range(self._substeps):
                self._flow(physics)
            self._time += self._model.time_step
            self._step += 1
            with self._timed("sediment"):
                self._evaporate()
                self.grains.left -= 1
                self._drop(self.grains.left <= 0)
            if self._step % int(self._model.update_every) == 0:
                self._move_vertices()

    def _flow(self, physics: Physics) -> None:
        with self._timed("hashing"):
            self._sort()
        with self._timed("forces"):
            pushes = self._pair_forces(physics)
        with self._timed("collision"):
            touched, wear = self._move_and_collide(pushes, physics)
        with self._timed("erosion"):
            self.worn += self._wear_per_vertex(touched, wear)
        with self._timed("sediment"):
            self._let_go()

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
        model, flow = self._model, self.flow
        for e, emitter in enumerate(self.emitters):
            self._due[e] += emitter.rate * model.time_step
            count = min(int(self._due[e]), max(0, int(model.maximum_particles) - flow.count))
            self._due[e] = min(self._due[e] - count, 1.0)
            if count == 0:
                continue
            born = births(emitter, self._seed * 1_000_003 + e, self._emitted[e], count, self.surface.extent)
            if flow.count + count > flow.room:
                flow = self.flow = flow.with_room(2 * (flow.count + count))
            new = slice(flow.count, flow.count + count)
            flow.X[new, 0], flow.X[new, 1] = born.x, born.y
            flow.at[new] = self._locate(*(flow.X[new, k].astype(np.float64) for k in (0, 1)))
            flow.X[new, 2] = self._height_at(new) + self.physics.radius
            flow.V[new] = (born.vx, born.vy, 0.0)
            flow.born[new] = self._time
            flow.fate[new] = ALIVE
            flow.count += count
            self._emitted[e] += count
            self._born += count

    def _height_at(self, which: slice) -> Reals:
        t = self.surface.table[self.flow.at[which]]
        x, y = (self.flow.X[which, k].astype(np.float64) for k in (0, 1))
        height: Reals = t[:, 2] + t[:, 3] * (x - t[:, 0]) + t[:, 4] * (y - t[:, 1])
        return height

    def _evaporate(self) -> None:
        flow = self.flow
        n = flow.count
        dry = flow.alive() & (self._time - flow.born[:n] >= self._model.lifetime)
        if dry.any():
            flow.fate[:n][dry] = GONE
            self._evaporated += int(dry.sum())
            self._drop(dry[self.grains.carrier])

    # Sediment

    def _take_in_load(self) -> None:
        """Lay the load of the water that the terrain came with on the ground below, at the next move."""
        if "suspended" not in self._start:
            return
        l = self._start.cell_size  # noqa: E741
        i, j = np.nonzero(self._start["suspended"])
        x, y = (l * (at.astype(np.float64) + 0.5) for at in (j, i))
        volume = self._start["suspended"][i, j].astype(np.float64) * (l * l)
        self._solids_at_start += float(volume.sum())
        self._fall(self._locate(x, y), volume)

    def _let_go(self) -> None:
        """Export the grains of particles that have left."""
        gone = self.flow.fate[: self.flow.count] == LEFT
        if gone.any():
            self._left += int(gone.sum())
            self._exported += float(self.grains.take_out(gone[self.grains.carrier])[1].sum())
            self.flow.fate[: self.flow.count][gone] = GONE

    def _drop(self, which: NDArray[np.bool_]) -> None:
        """Let grains fall to the triangles below."""
        carrier, volume = self.grains.take_out(which)
        self._fall(self.flow.at[carrier], volume)

    def _fall(self, triangle: NDArray[np.int32], volume: Reals) -> None:
        """Share volumes out over the corners of triangles, where they wait until the next move."""
        if len(triangle) == 0:
            return
        parts = self.surface.shares.fall[triangle] * volume[:, None]
        corners = self.surface.triangles[triangle]
        self.waiting += np.bincount(corners.ravel(), weights=parts.ravel(), minlength=len(self.waiting))
        self._exported += float(volume[parts.sum(axis=1) == 0].sum())

    def _move_vertices(self) -> None:
        """Wear the vertices down, lay what has fallen on them, and give what was worn off to the particles."""
        model, surface = self._model, self.surface
        lateral = model.displacement == "lateral"
        with self._timed("vertices"):
            before = surface.z.copy()
            smallest = ball(model.smallest_grain * surface.edge)
            volume = wear_down(surface, self.worn, model.dig_limit, smallest, lateral=lateral)
            self._bedrock = np.minimum(self._bedrock, surface.z)
            self._raise(limited=True)
            surface.follow_heights(None if lateral else surface.z != before)
            self._shifted |= lateral
            self._erodible = self._erodibility()
            self._mesh_changed(plan=lateral)
        with self._timed("hashing"):
            self._sort()
        with self._timed("sediment"):
            self._eroded += float(volume.sum())
            source = np.flatnonzero(volume)
            carrier = self._nearest_particles(source)
            found = carrier >= 0
            taken = volume[source[found]]
            steps = transport_steps(diameter(taken) / surface.edge, model.transport_time, model.grain_size)
            self.grains.take_up(carrier[found], steps, taken)
            self.waiting[source[~found]] += volume[source[~found]]

    def _raise(self, *, limited: bool) -> None:
        gained = lay_up(self.surface, self.waiting, limited=limited)
        self._deposited += float(gained.sum())
        # Without limits all is laid down, and what is left is rounding.
        self.waiting = self.waiting - gained if limited else np.zeros_like(gained)

    def _erodibility(self) -> Reals:
        """Erodibility of each triangle, the mean of its corners; deposits on the bedrock are loose."""
        start, surface = self._start, self.surface
        if start.strata is None and "erodibility" not in start:
            return self._erodible
        x, y = surface.vertices[:, 0] / start.cell_size, surface.vertices[:, 1] / start.cell_size
        i = np.clip(y.astype(np.int64), 0, start.shape[0] - 1)
        j = np.clip(x.astype(np.int64), 0, start.shape[1] - 1)
        if start.strata is not None and start.strata.top is not None:
            strata = start.strata.replace(top=start.strata.top[i, j][None, :])
            rock = (self._datum + self._bedrock)[None, :]
            exposed = strata.exposed((self._datum + surface.z)[None, :], rock)
            soft = strata.lookup("erodibility", exposed, otherwise=1.0)[0]
        else:
            soft = np.where(surface.z > self._bedrock, 1.0, start["erodibility"][i, j])
        per_triangle: Reals = soft[surface.triangles].mean(axis=1)
        return per_triangle

    def lay_down(self, *, dry: bool) -> None:
        """Let every grain fall where it is; with `dry` the particles evaporate."""
        self._drop(np.ones(len(self.grains.left), np.bool_))
        self._raise(limited=False)
        self.surface.follow_heights()
        self._mesh_changed(plan=False)
        if dry:
            living = self.flow.alive()
            self._evaporated += int(living.sum())
            self.flow.fate[: self.flow.count] = GONE
        self._sort()

    # What comes out

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the terrain it started from."""
        return self._start.shape

    @property
    def eroded(self) -> float:
        """Cubic metres worn off so far."""
        return self._eroded

    @property
    def deposited(self) -> float:
        """Cubic metres laid down so far."""
        return self._deposited

    @property
    def exported(self) -> float:
        """Cubic metres of grains that have left."""
        return self._exported

    @property
    def carried(self) -> float:
        """Cubic metres of grains on their way, or fallen and waiting for the next move of the vertices."""
        return float(self.grains.volume.sum()) + float(self.waiting.sum())

    @property
    def particle_volume(self) -> float:
        """Cubic metres of water that a particle stands for."""
        return 4 / 3 * math.pi * self.physics.radius**3

    def particles(self) -> NDArray[np.float32]:
        """Particles as rows of x (east), y (south), z (up) in metres and place in the flow, 0 newest .. 1 oldest."""
        flow, living = self.flow, self.flow.alive()
        out = np.zeros((int(living.sum()), 4), np.float32)
        if len(out):
            out[:, :3] = flow.X[: flow.count][living]
            out[:, 2] += np.float32(self._datum)
            age = self._time - flow.born[: flow.count][living]
            out[:, 3] = age / max(float(age.max()), 1e-9)
        return out

    def mesh(self) -> TriangleMesh:
        """Return the mesh as it is now, with `eroded` and `deposited` in metres at each vertex."""
        vertices = self.surface.vertices.copy()
        if self._shifted:
            self._z0 = self._first.height_at(vertices[:, 0], vertices[:, 1]) - self._datum
            self._shifted = False
        change = vertices[:, 2] - self._z0
        vertices[:, 2] += self._datum
        return TriangleMesh(
            vertices, self.surface.triangles, eroded=np.maximum(-change, 0), deposited=np.maximum(change, 0)
        )

    def ledger(self) -> Ledger:
        """Amounts in cubic metres; a particle is a ball of water."""
        cubic = self.particle_volume
        return Ledger(
            water_sources=self._born * cubic,
            water_evaporated=self._evaporated * cubic,
            water_exported=self._left * cubic,
            water_now=int(self.flow.alive().sum()) * cubic,
            solids_start=self._solids_at_start,
            solids_exported=self._exported,
            solids_moved=self._eroded + self._deposited,
            solids_now=self.surface.volume() + self.carried,
        )

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Find the first vertex or particle that is not finite, by the cell it is in."""
        flow = self.flow
        for name, points in (("elevation", self.surface.vertices), ("water", flow.X[: flow.count][flow.alive()])):
            if not np.isfinite(points.sum()):
                bad = points[int((~np.isfinite(points).all(axis=1)).argmax())]
                x, y = (int(v / self._start.cell_size) if math.isfinite(v) else 0 for v in bad[:2])
                return name, y, x
        return None

    def terrain(self) -> Terrain:
        """Rasterise the mesh on the grid it started from, with water, load and what the run changed as layers."""
        flow, living = self.flow, self.flow.alive()
        l, shape = self._start.cell_size, self.shape  # noqa: E741
        raster = self.mesh().to_terrain(l, shape=shape)
        X, V = (a[: flow.count][living].astype(np.float64) for a in (flow.X, flow.V))
        number = per_cell(X, np.ones(len(X)), l, shape)
        load = per_cell(flow.X[self.grains.carrier].astype(np.float64), self.grains.volume, l, shape)
        load += per_cell(self.surface.vertices, self.waiting, l, shape)
        wear, deposit = (
            np.maximum(raster[name], 0) for name in ("eroded", "deposited")
        )  # interpolation may undershoot
        return self._start.replace(
            **layers_of_strata(self._start, self.surface, self._datum + self._bedrock, raster["elevation"]),
            elevation=raster["elevation"],
            water=number * (self.particle_volume / (l * l)),
            suspended=load / (l * l),
            velocity=per_cell(X, np.sqrt((V * V).sum(axis=1)), l, shape) / np.maximum(number, 1),
            wear=wear,
            deposit=deposit,
            difference=deposit - wear,
            slope=slope_degrees(raster["elevation"] / np.float32(l), "open"),
        )
