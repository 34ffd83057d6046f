from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from slopewash.models.mesh_particles.engine import MeshEngine
from slopewash.models.mesh_particles.reference_engine import ReferenceEngine

from slopewash.models import MeshParticles
from slopewash.models.mesh_particles.cpu import CpuEngine
from slopewash.terrain import Emitter, Terrain

ENGINES: dict[str, type[MeshEngine]] = {"reference": ReferenceEngine, "cpu": CpuEngine}
NOWHERE = Emitter(x=1.0, y=1.0, radius=1.0, rate=0.0)
"""An emitter that emits nothing."""


def engine_of(backend: str) -> type[MeshEngine]:
    if backend != "gpu":
        return ENGINES[backend]
    from slopewash.models.mesh_particles.gpu import GpuEngine  # wgpu is an extra

    return GpuEngine


class Lab:
    """What the tests of this folder share."""

    engines = ENGINES

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
    def start(terrain: Terrain, backend: str = "cpu", *, emit: bool = False, **parameters: Any) -> MeshEngine:
        if not emit:
            terrain = terrain.replace(emitters=[NOWHERE])
        return engine_of(backend)(MeshParticles(**{"triangles": 600, **parameters}), terrain)

    @staticmethod
    def place(engine: MeshEngine, X: ArrayLike, V: ArrayLike = 0.0) -> None:
        """Put particles at (x, y, height above the ground)."""
        points = np.asarray(X, np.float64).reshape(-1, 3)
        n = len(points)
        flow = engine.flow = engine.flow.with_room(n + 16)
        flow.count = n
        flow.X[:n], flow.V[:n] = points, V
        flow.at[:n] = engine._locate(*(flow.X[:n, k].astype(np.float64) for k in (0, 1)))
        flow.X[:n, 2] += engine._height_at(slice(0, n)).astype(flow.X.dtype)
        engine._born += n

    @staticmethod
    def heights_above_ground(engine: MeshEngine) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Of all living particles, by another way than the engine's: the mesh's own look-up in float64."""
        flow = engine.flow
        X = flow.X[: flow.count][flow.alive()].astype(np.float64)
        ground = engine.mesh().height_at(X[:, 0], X[:, 1]) - engine._datum
        above: np.ndarray[Any, np.dtype[np.float64]] = X[:, 2] - ground
        return above


@pytest.fixture
def lab() -> type[Lab]:
    return Lab


@pytest.fixture(params=["reference", "cpu", "gpu"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)
