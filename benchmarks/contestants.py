"""The implementations that are compared: reference, cpu backend and yardstick, on the same terrain and laws."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import slopewash as sw
from slopewash.models.backend import Backend
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.cpu import CpuBackend
from slopewash.models.virtual_pipes.reference import ReferenceBackend
from slopewash.models.virtual_pipes.room import DEPTH

WARM_UP = 2 * DEPTH
"""Iterations before timing; their result is the checksum."""
SECONDS_PER_TURN = 0.25
TOLERANCE = 1e-3
"""In cells: tolerated error of a yardstick compiled with fast math after the warm-up, in 99 of 100 cells."""
AT_MOST = 0.1
"""In all cells: in some, soil slides in one of the two and not in the other."""


@dataclass(frozen=True)
class Laws:
    """A model with the edges and the terrain it is measured on."""

    name: str
    model: sw.VirtualPipes
    edges: Any = "closed"
    generator: str = "diamond_square"

    def terrain(self, size: int) -> sw.Terrain:
        return sw.generate(self.generator, size=size, cell_size=10.0, seed=7)


def _of_preset(name: str) -> Laws:
    preset = sw.find_preset(name)
    assert isinstance(preset.model, sw.VirtualPipes)
    return Laws(name, preset.model, preset.edges, preset.generator)


TABLE_2 = Laws("table 2", sw.VirtualPipes())
LAWS = (TABLE_2, _of_preset("single_grid"), _of_preset("landscape"))
VARIANTS = (
    Laws("hydraulic", sw.VirtualPipes(processes="hydraulic")),
    Laws("thermal", sw.VirtualPipes(processes="thermal")),
    Laws("semi_lagrangian", sw.VirtualPipes(transport="semi_lagrangian")),
    Laws("mean_depth", sw.VirtualPipes(velocity="mean_depth")),
    Laws("collision", sw.VirtualPipes(capacity="collision")),
    Laws("fall_line", sw.VirtualPipes(hillslope="fall_line")),
    Laws("periodic", sw.VirtualPipes(), edges="periodic"),
)


@dataclass
class Contestant:
    """One implementation with a number of threads, and its times in seconds per iteration."""

    name: str
    threads: int
    advance: Callable[[int], None]
    elevation: Callable[[], NDArray[Any]]
    exact: bool = True
    group: int = DEPTH
    """Iterations done at once: fewer would measure incomplete blocks."""
    iterations: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def set_pace(self) -> None:
        """Find the number of iterations of a round."""
        begin = time.perf_counter()
        self.advance(self.group)
        groups = SECONDS_PER_TURN / (time.perf_counter() - begin)
        self.iterations = self.group * max(1, round(groups))

    def take_turn(self) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        self.advance(self.iterations)
        self.cpu.append((time.process_time() - cpu) / self.iterations)
        self.wall.append((time.perf_counter() - wall) / self.iterations)


def start(backend: type[Backend], laws: Laws, terrain: sw.Terrain) -> tuple[Backend, Any]:
    """A run on a backend, and the coefficients of its iterations."""
    domain, state = laws.model.prepare(terrain, sides=Sides.of(laws.edges), seed=0)
    return backend(state, domain), laws.model.coefficients(domain, substeps=1)


def reference(laws: Laws, terrain: sw.Terrain) -> Contestant:
    run, c = start(ReferenceBackend, laws, terrain)
    return Contestant("reference", 1, lambda n: run.advance(c, n), lambda: run.read("elevation"), group=1)


def cpu(laws: Laws, terrain: sw.Terrain, threads: int) -> Contestant:
    run, c = start(CpuBackend, laws, terrain)

    def advance(iterations: int) -> None:
        numba.set_num_threads(threads)
        run.advance(c, iterations)

    return Contestant("cpu", threads, advance, lambda: run.read("elevation"))


def race(contestants: list[Contestant], rounds: int) -> int:
    """Measure all in turn after checking that their results agree; returns the checksum."""
    for contestant in contestants:
        contestant.advance(WARM_UP)
    checksum = check(contestants)
    for contestant in contestants:
        contestant.set_pace()
    for _ in range(rounds):
        for contestant in contestants:
            contestant.take_turn()
    return checksum


def check(contestants: list[Contestant]) -> int:
    """Compare results, so that a wrong kernel cannot be a fast one."""
    first = contestants[0].elevation().copy()
    for other in contestants[1:]:
        result = other.elevation()
        error = np.abs(first - result)
        same = not error.any() if other.exact else np.quantile(error, 0.99) < TOLERANCE and error.max() < AT_MOST
        if not same:
            raise SystemExit(f"{other.name} with {other.threads} threads gives a different result: not measured")
    return zlib.crc32(first.tobytes())
