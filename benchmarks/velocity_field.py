"""CPU nanoseconds per particle-step of the velocity field, and seconds for figure 2 of the paper.

Prints one JSON line per case: python benchmarks/velocity_field.py --size 512
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import time

import numba
import numpy as np

import slopewash as sw
from slopewash.models import Sides

PAPER_SECONDS = 7062.0
"""Figure 2, 200 iterations at 128² on an SGI O2 (R10000SC, 175 MHz)."""


def start(size: int) -> sw.Terrain:
    # Noise of the same height in cells at every size, as the figures have at 128².
    return sw.generate("noisy_cylinder", size=size, noise=0.02 * 128 / size, seed=1)


class Run:
    """A run without a simulation around it: nothing but iterations is timed."""

    def __init__(self, model: sw.VelocityField, size: int) -> None:
        domain, state = model.prepare(start(size), sides=Sides.of("open"), seed=0)
        self.coefficients = model.coefficients(domain, substeps=1)
        self.backend = model.backend("cpu")(state, domain)

    def advance(self, iterations: int) -> tuple[float, float]:
        """Take some iterations; returns seconds of wall and of CPU time."""
        wall, cpu = time.perf_counter(), time.process_time()
        self.backend.advance(self.coefficients, iterations)
        return time.perf_counter() - wall, time.process_time() - cpu

    def checksum(self) -> str:
        return hashlib.sha256(self.backend.read("elevation").tobytes()).hexdigest()[:16]


def particle_steps(size: int, steering: str, iterations: int) -> dict[str, object]:
    run = Run(sw.VelocityField(steering=steering), size)
    began = time.perf_counter()
    Run(sw.VelocityField(steering=steering), 8).advance(1)
    compiled = time.perf_counter() - began
    wall, cpu = run.advance(iterations)
    steps = run.backend.scalars["particle_steps"]
    return {
        "case": "particle_steps",
        "size": size,
        "steering": steering,
        "compile_seconds": round(compiled, 2),
        "steps_per_particle": round(steps / size**2 / iterations, 1),
        "cpu_ns_per_particle_step": round(cpu / steps * 1e9, 1),
        "cpu_seconds_per_iteration": round(cpu / iterations, 3),
        "wall_seconds_per_iteration": round(wall / iterations, 3),
        "checksum": run.checksum(),
    }


def figure(iterations: int) -> dict[str, object]:
    run = Run(sw.VelocityField(), 128)
    wall, cpu = run.advance(iterations)
    return {
        "case": "figure 2",
        "iterations": iterations,
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "paper_seconds": PAPER_SECONDS,
        "checksum": run.checksum(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append", help="cells along a side; may be repeated")
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--figure", action="store_true", help="also time figure 2 as a whole")
    options = parser.parse_args()
    machine = {"machine": platform.processor() or platform.machine(), "threads": numba.get_num_threads()}
    versions = {"numba": numba.__version__, "numpy": np.__version__, "slopewash": sw.__version__}
    for size in options.size or [128, 512]:
        for steering in ("gradient", "steepest"):
            print(json.dumps(particle_steps(size, steering, options.iterations) | machine | versions), flush=True)
    if options.figure:
        print(json.dumps(figure(200) | machine | versions), flush=True)


if __name__ == "__main__":
    main()
