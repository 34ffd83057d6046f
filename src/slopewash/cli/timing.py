"""Measures how long an iteration takes, fairly: cases take turns, and the best of several rounds counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slopewash import Simulation, Stage

ROUNDS = 4
SECONDS_PER_ROUND = 0.4
"""About how long one case runs in one round, unless the steps are given."""
STEPS_IN_FLIGHT = 4
"""Kernels may fuse so many steps: measuring fewer would measure incomplete blocks."""
GENERATOR_WITHOUT_PRESET = "diamond_square"
COPIED_CELLS = 2**25
"""128 MiB of float32: larger than any cache."""
BYTES_COPIED = 8
"""A float32 read and written."""


@dataclass
class Case:
    """One model on one backend at one size, and its best times in seconds per iteration."""

    stage: Stage
    backend: str
    size: int
    simulation: Simulation
    steps: int
    first: float
    """Seconds until the first steps were done, compilation included."""
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Run once more and record wall and CPU time per iteration."""
        wall, cpu = time.perf_counter(), time.process_time()
        self.simulation.run(self.steps)
        self.cpu.append((time.process_time() - cpu) / self.steps)
        self.wall.append((time.perf_counter() - wall) / self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report; the best round counts, because everything else on the machine only adds time."""
        return {
            "preset": self.stage.preset,
            "model": self.stage.model.name,
            "backend": self.backend,
            "size": self.size,
            "steps": self.steps,
            "milliseconds": 1e3 * min(self.wall),
            "cpu_milliseconds": 1e3 * min(self.cpu),
            "cells_per_second": self.size**2 / min(self.wall),
            "first_seconds": self.first,
            "traffic": self.simulation.traffic,
        }


def prepare(stage: Stage, backend: str, size: int, steps: int | None) -> Case:
    """Set up a case, compile its kernels and choose the number of steps of a round."""
    import slopewash as sw

    kind = sw.find_preset(stage.preset).generator if stage.preset else GENERATOR_WITHOUT_PRESET
    start = sw.generate(kind, size=size, cell_size=10.0, seed=7)  # as in the papers, more cells are more ground
    begin = time.perf_counter()
    simulation = sw.Simulation(start, stage.model, backend=backend, edges=stage.edges)
    simulation.run(STEPS_IN_FLIGHT)
    first = time.perf_counter() - begin
    if steps is None:
        begin = time.perf_counter()
        simulation.run(STEPS_IN_FLIGHT)
        groups = SECONDS_PER_ROUND / (time.perf_counter() - begin)
        steps = STEPS_IN_FLIGHT * max(1, round(groups))
    return Case(stage, simulation.backend, size, simulation, steps, first)


def measure(stages: Sequence[Stage], backends: Sequence[str], size: int, steps: int | None) -> list[dict[str, Any]]:
    """Measure every stage on every backend at one size, taking turns."""
    cases = [prepare(stage, backend, size, steps) for stage in stages for backend in backends]
    for _ in range(ROUNDS):
        for case in cases:
            case.measure()
    results = [case.as_dict() for case in cases]
    for case in cases:
        case.simulation.close()
    return results


def measure_copying() -> float:
    """Copy bandwidth of all threads together, read plus written bytes per second, beyond caches."""
    from concurrent.futures import ThreadPoolExecutor

    import numba
    import numpy as np

    threads = numba.get_num_threads()
    source = np.ones((threads, COPIED_CELLS // threads), np.float32)
    target = np.zeros_like(source)
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(2 * ROUNDS):
            begin = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            best = min(best, time.perf_counter() - begin)
    return source.size * BYTES_COPIED / best
