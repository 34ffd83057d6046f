from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from slopewash.models import MeshParticles, Sides
from slopewash.models.mesh_particles.particles import Particles
from slopewash.models.mesh_particles.sediment import Grains
from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.mesh_particles.table import height
from slopewash.models.state import Reals, State
from slopewash.simulation import Budget, Simulation
from slopewash.terrain import Emitter, Layer, Terrain, TriangleMesh

NOWHERE = Emitter(x=1.0, y=1.0, radius=1.0, rate=0.0)
"""An emitter that emits nothing."""


class Run:
    """A run without a simulation around it, whose mesh, particles and grains can be changed."""

    def __init__(self, model: MeshParticles, terrain: Terrain, backend: str = "cpu", **options: Any) -> None:
        self.model = model
        self.start = terrain
        self.domain, state = model.prepare(terrain, sides=Sides.of("open"), seed=0)
        self.backend: Any = model.backend(backend)(state, self.domain, **options)
        self.use(model)

    @classmethod
    def of(cls, simulation: Simulation) -> Run:
        """Look into a simulation."""
        run = cls.__new__(cls)
        run.model, run.domain, run.backend = simulation.model, simulation._domain, simulation._device  # type: ignore[assignment]
        return run

    def use(self, model: MeshParticles, times: int = 1) -> None:
        """Go on with other parameter values, and so many times the sub-steps needed."""
        model.adopt(self.model, self.state, self.domain)
        self.model = model
        self.substeps = times * max(limit.substeps for limit in model.limits_in(self.state))
        self.backend.use(model.coefficients(self.domain, substeps=self.substeps))

    def advance(self, steps: int) -> None:
        self.backend.advance(self.model.coefficients(self.domain, substeps=self.substeps), steps * self.substeps)

    def set_emitters(self, *emitters: Emitter) -> None:
        from slopewash.terrain import emitter_table

        self.backend.write("emitters", emitter_table(emitters))
        for patch in self.model.follow("emitters", None, self.state, self.domain):
            self.backend.write(patch.name, patch.values)

    def lay_down(self, *, dry: bool) -> None:
        self.model.lay_down(self.state, self.domain, dry=dry)
        self.backend.use(self.backend.c)

    @property
    def state(self) -> State:
        if not self.backend._stale:
            self.backend._store()
        state: State = self.backend.state
        return state

    @property
    def flow(self) -> Particles:
        flow: Particles = self.backend.flow
        return flow

    @property
    def grains(self) -> Grains:
        grains: Grains = self.backend.grains
        return grains

    @property
    def surface(self) -> Surface:
        surface: Surface = self.backend.surface
        return surface

    @property
    def physics(self) -> Any:
        return self.backend.physics

    @property
    def sums(self) -> dict[str, float | int]:
        sums: dict[str, float | int] = self.backend.scalars
        return sums

    @property
    def erosion(self) -> Reals:
        """Height to be eroded off each vertex."""
        erosion: Reals = self.backend.erosion
        units = self.backend.host.get("pending_erosion_units")
        return erosion if units is None else erosion + units / (2.0**32 * self.sums["pending_erosion_scale"])

    @property
    def waiting(self) -> Reals:
        """Volume to be deposited on each vertex."""
        waiting: Reals = self.backend.deposit
        return waiting

    @property
    def carried(self) -> float:
        return float(self.grains.volume.sum()) + float(self.waiting.sum())

    @property
    def budget(self) -> Budget:
        return Budget.of(self.model.amounts(self.state, self.domain))

    def mesh(self) -> TriangleMesh:
        return self.model.mesh(self.state, self.domain)

    def terrain(self) -> Terrain:
        state = self.state
        layers: dict[str, Layer] = self.model.derive_all(self.model.yields(state), state, self.domain)
        return self.start.replace(**layers)


class Lab:
    """What the tests of this folder share."""

    run = Run

    @staticmethod
    def rough(
        shape: tuple[int, int] = (17, 17), relief: float = 60.0, seed: int = 0, cell_size: float = 10.0
    ) -> Terrain:
        random = np.random.default_rng(seed)
        heights = relief * random.random(shape) + np.linspace(4 * relief, 0, shape[0])[:, None]
        return Terrain(heights, cell_size=cell_size)

    @staticmethod
    def slope(gradient: float = 0.5, size: int = 17) -> Terrain:
        """A plane that falls to the east."""
        return Terrain(np.tile(gradient * 10.0 * np.arange(size)[::-1], (size, 1)), cell_size=10.0)

    @staticmethod
    def start(terrain: Terrain, backend: str = "cpu", *, emit: bool = False, **parameters: Any) -> Run:
        if not emit:
            terrain = terrain.replace(emitters=[NOWHERE])
        return Run(MeshParticles(**{"triangles": 600, **parameters}), terrain, backend)

    @staticmethod
    def place(run: Run, X: ArrayLike, V: ArrayLike = 0.0) -> None:
        """Put particles at (x, y, height above the ground)."""
        points = np.asarray(X, np.float64).reshape(-1, 3)
        n, backend = len(points), run.backend
        flow = backend.flow = Particles(*run.flow.taken(), room=n + 16)
        flow.count = n
        flow.X[:n], flow.V[:n] = points, V
        x, y = (flow.X[:n, k].astype(np.float64) for k in (0, 1))
        flow.at[:n] = backend._locate(x, y)
        flow.X[:n, 2] += height(backend.surface.table[flow.at[:n]], x, y).astype(flow.X.dtype)
        run.sums["born"] += n

    @staticmethod
    def heights_above_ground(run: Run) -> Reals:
        """Of all living particles, by another way than the backend's: the mesh's own look-up in float64."""
        X = run.flow.X[: run.flow.count][run.flow.alive()].astype(np.float64)
        ground = run.mesh().height_at(X[:, 0], X[:, 1]) - run.domain.datum
        above: Reals = X[:, 2] - ground
        return above


@pytest.fixture
def lab() -> type[Lab]:
    return Lab


@pytest.fixture(params=["reference", "cpu", "gpu"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)
