"""Speed of `SteepestTalus`, over size, law, threads and backend, compared with the table of the Outerrain post.

    python benchmarks/steepest_talus.py                            a table
    python benchmarks/steepest_talus.py --lines results.jsonl      also appends JSON lines

Cases of one size take turns, round after round, with a plain copy of memory among them; the best round counts, because
other processes only add time. A checksum of the heights after `CHECKED` iterations is compared with the
reference, so that a wrong kernel cannot be a fast one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import resource
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np

import slopewash as sw

SIZES = (128, 256, 512, 1024)
POST: dict[int, tuple[float, float]] = {
    128: (0.434, 0.364), 256: (1.583, 0.838), 512: (6.538, 2.948), 1024: (35.135, 7.706),
}  # fmt: skip
"""Seconds for 1000 iterations as posted, on the author's CPU and GPU."""
MODELS = {"outerrain": sw.preset("outerrain"), "true_distance": sw.SteepestTalus()}
CHECKED = 3
"""Iterations compared with the reference."""
COPIED_CELLS = 2**25
BYTES_PER_CELL = 8
"""Heights read and written once: the memory traffic of an iteration without blocking, and of a copy."""


@dataclass
class Case:
    """One law at one size on some threads."""

    law: str
    size: int
    threads: int
    steps: int
    simulation: sw.Simulation
    first: float
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self) -> None:
        numba.set_num_threads(self.threads)
        wall, cpu = time.perf_counter(), time.process_time()
        self.simulation.run(self.steps)
        self.cpu.append((time.process_time() - cpu) / self.steps)
        self.wall.append((time.perf_counter() - wall) / self.steps)


def prepare(law: str, size: int, threads: int, cells: float) -> Case:
    terrain = sw.generate("diamond_square", size=size, seed=7)
    numba.set_num_threads(threads)
    simulation = sw.Simulation(terrain, MODELS[law], backend="cpu", edges="closed")
    begin = time.perf_counter()
    simulation.run(CHECKED)
    first = time.perf_counter() - begin
    if size <= 256:
        reference = sw.erode(terrain, MODELS[law], steps=CHECKED, backend="reference", edges="closed")
        if checksum(reference) != checksum(simulation.terrain):
            raise SystemExit(f"{law} at {size} differs from the reference after {CHECKED} iterations")
    return Case(law, size, threads, 20 * max(1, round(cells / size**2 / 20)), simulation, first)


def checksum(terrain: sw.Terrain) -> str:
    return hashlib.sha256(terrain["elevation"].tobytes()).hexdigest()[:16]


def copier(threads: int) -> Callable[[], float]:
    """Return a function that copies memory with so many threads and returns bytes per second, read plus written."""
    source = np.ones((threads, COPIED_CELLS // threads), np.float32)
    target = np.zeros_like(source)
    pool = ThreadPoolExecutor(threads)

    def copy() -> float:
        begin = time.perf_counter()
        list(pool.map(np.copyto, target, source))
        return source.size * BYTES_PER_CELL / (time.perf_counter() - begin)

    return copy


def facts() -> dict[str, Any]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "commit": commit.stdout.strip(),
        "processor": processor(),
        "slopewash": sw.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of SteepestTalus, compared with the Outerrain post.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, numba.get_num_threads()}))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--cells", type=float, default=1e8, help="cell updates per case and round, about")
    parser.add_argument("--lines", type=Path, help="append results as JSON lines")
    options = parser.parse_args()

    cases = [prepare(law, n, t, options.cells) for n in options.sizes for law in MODELS for t in options.threads]
    copiers = {threads: copier(threads) for threads in options.threads}
    copied = dict.fromkeys(copiers, 0.0)
    for _ in range(options.rounds):
        for case in cases:
            case.measure()
        for threads, copy in copiers.items():
            copied[threads] = max(copied[threads], copy())

    print("size  law            threads  ms/it  CPU ms/it  ns/cell  layer copies  post CPU  post GPU")
    for case in cases:
        wall, cpu = min(case.wall), min(case.cpu)
        copies = wall * copied[case.threads] / (case.size**2 * BYTES_PER_CELL)
        post = POST.get(case.size, (float("nan"), float("nan")))
        print(
            f"{case.size:<5} {case.law:<14} {case.threads:>7} {wall * 1e3:>6.3f} {cpu * 1e3:>10.3f} "
            f"{wall / case.size**2 * 1e9:>8.2f} {copies:>13.2f} {post[0]:>9.3f} {post[1]:>9.3f}"
        )
        result = facts() | {
            "model": "steepest_talus", "law": case.law, "size": case.size, "threads": case.threads,
            "milliseconds": wall * 1e3, "cpu_milliseconds": cpu * 1e3, "cells_per_second": case.size**2 / wall,
            "layer_copies": copies, "copied_bytes_per_second": copied[case.threads], "first_seconds": case.first,
            "post_cpu_milliseconds": post[0], "post_gpu_milliseconds": post[1],
            "checksum": checksum(case.simulation.terrain), "iterations": case.simulation.step,
            "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }  # fmt: skip
        if options.lines:
            with options.lines.open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
    for threads, rate in copied.items():
        print(f"copying memory with {threads} thread{'s'[: threads != 1]}: {rate / 1e9:.3g} GB/s read and written")


if __name__ == "__main__":
    main()
