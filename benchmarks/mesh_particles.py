"""Steps per second of the particle fluid over a mesh, and where the time goes.

A sheet of water, one particle thick, covers a sector of a dome that grows with the number of particles, so that a
particle has as many neighbours and triangles around it whatever their number. The split by phase is wall time, and CPU
time with one thread. Prints one JSON line per case:

    python benchmarks/mesh_particles.py                    20k, 130k and 500k particles over 80k triangles
    python benchmarks/mesh_particles.py --particles 130000 --markdown
    python benchmarks/mesh_particles.py --backend gpu
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import slopewash as sw
from slopewash.backends.compiled import parallel_kernel
from slopewash.models import Sides
from slopewash.models.mesh_particles.cpu import CpuBackend
from slopewash.models.mesh_particles.particles import ALIVE
from slopewash.models.mesh_particles.physics import Coefficients
from slopewash.models.mesh_particles.table import height

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, Python looks beside it only

from benchmarks.surroundings import facts

PAPER_STEPS_PER_SECOND = 20.0
"""130k particles over 80k triangles on an NVIDIA Quadro FX 3700M, with drawing."""
CASES = (20_000, 130_000, 500_000)
SETTLING = 15
"""Steps before the clock starts: kernels are compiled, particles find the ground."""
LEAST_SECONDS = 4.0
ROUNDS = 4
PHASES = {
    "hashing": ("_sort",),
    "forces": ("_pair_forces", "_upload", "_upload_ground", "_dispatch", "_download"),
    "collision": ("_move_and_collide",),
    "erosion": ("_erosion_per_vertex",),
    "sediment": ("_export", "_age", "_take_up", "_count"),
    "vertices": ("_erode_and_deposit",),
}
"""Methods of a backend that make up a phase of the steps. The gpu does not tell forces, collision and erosion apart."""


def dome() -> sw.Terrain:
    nowhere = sw.Emitter(x=1.0, y=1.0, radius=1.0, rate=0.0)
    return sw.generate("dome", size=513, cell_size=10.0, seed=7).replace(emitters=[nowhere])


def pour(backend: CpuBackend, count: int) -> None:
    """Set particles down on the sector of the dome, at rest, their spheres just not touching."""
    spacing = 2.02 * backend.physics.radius
    west, north, east, south = backend.surface.extent
    x, y = (
        a.ravel()
        for a in np.meshgrid(np.arange(west + 20, east - 20, spacing), np.arange(north + 20, south - 20, spacing))
    )
    turn = np.arctan2(y - (north + south) / 2, x - (west + east) / 2)
    chosen = np.argsort(turn, kind="stable")[:count]
    if len(chosen) < count:
        raise SystemExit(f"{count} particles do not fit; at most {len(x)} do")
    random = np.random.default_rng(1)
    X = np.zeros((count, 3), np.float32)
    X[:, 0] = x[chosen] + 0.005 * spacing * random.normal(size=count)
    X[:, 1] = y[chosen] + 0.005 * spacing * random.normal(size=count)
    places = [X[:, k].astype(np.float64) for k in (0, 1)]
    at = backend.surface.locate(places[0], places[1])
    X[:, 2] = height(backend.surface.table[at], places[0], places[1]) + 0.1
    backend.write("particle_position", X)
    backend.write("particle_velocity", np.zeros_like(X))
    backend.write("particle_birth", np.zeros(count))
    backend.write("particle_triangle", at)
    backend.write("particle_fate", np.full(count, ALIVE, np.int8))
    backend.scalars["born"] = count


def start(model: sw.MeshParticles, name: str) -> tuple[CpuBackend, Coefficients]:
    """Make a backend with the dome, and the numbers of its steps."""
    domain, state = model.prepare(dome(), sides=Sides.of("open"), seed=0)
    substeps = max(limit.substeps for limit in model.limits_in(state))
    backend: Any = model.backend(name)(state, domain)
    coefficients = model.coefficients(domain, substeps=substeps)
    backend.use(coefficients)
    return backend, coefficients


def time_phases(backend: CpuBackend, clock: Callable[[], float]) -> dict[str, float]:
    """Add up the time spent in each phase of the steps from now on."""
    seconds = dict.fromkeys(PHASES, 0.0)

    def timed(phase: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*values: Any, **named: Any) -> Any:
            begin = clock()
            result = method(*values, **named)
            seconds[phase] += clock() - begin
            return result

        return run

    for phase, names in PHASES.items():
        for name in names:
            if hasattr(backend, name):
                setattr(backend, name, timed(phase, getattr(backend, name)))
    return seconds


def measure(count: int, triangles: int, name: str, *, radius: float = 0.25) -> dict[str, Any]:
    """Time the steps; `radius` of the particles is in shortest edges of the mesh."""
    model = sw.MeshParticles(triangles=triangles, particle_radius=radius, maximum_particles=1_000_000)
    begin = time.perf_counter()
    backend, numbers = start(model, name)
    meshing = time.perf_counter() - begin
    # With one thread, other work on the machine does not count.
    clock = time.process_time if numba.get_num_threads() == 1 else time.perf_counter
    seconds = time_phases(backend, clock)
    pour(backend, count)
    begin = time.perf_counter()
    backend.advance(numbers, SETTLING * numbers.substeps)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    backend.advance(numbers, numbers.update_every * numbers.substeps)
    steps = numbers.update_every * max(1, round(LEAST_SECONDS / ROUNDS / (time.perf_counter() - begin)))
    wall, cpu, split = np.inf, np.inf, dict.fromkeys(seconds, 0.0)
    for _ in range(ROUNDS):
        seconds.update(dict.fromkeys(seconds, 0.0))
        w, c = time.perf_counter(), time.process_time()
        backend.advance(numbers, steps * numbers.substeps)
        w, c = (time.perf_counter() - w) / steps, (time.process_time() - c) / steps
        cpu = min(cpu, c)
        if w < wall:
            wall, split = w, {name: s / steps for name, s in seconds.items()}
    backend._sort()
    search = min(split["forces"], *(_timed(backend, clock) for _ in range(5)))
    split = {"neighbour search": search} | split
    split["forces"] -= search
    sums, carried = backend.scalars, float(backend.grains.volume.sum()) + float(backend.deposit.sum())
    return {
        "backend": name,
        "particles": count,
        "alive": int(backend.flow.alive().sum()),
        "triangles": len(backend.surface.triangles),
        "threads": numba.get_num_threads(),
        "neighbours": round(float(count_neighbours(backend).mean()), 2),
        "meshing_seconds": round(meshing, 2),
        "first_steps_seconds": round(first, 2),
        "steps_per_second": round(1 / wall, 1),
        "wall_ms_per_step": round(1e3 * wall, 2),
        "cpu_ms_per_step": round(1e3 * cpu, 2),
        "cpu_ns_per_particle": round(1e9 * cpu / count, 1),
        "split_ms": {name: round(1e3 * s, 2) for name, s in split.items()},
        "paper_steps_per_second": PAPER_STEPS_PER_SECOND if (count, triangles) == (130_000, 80_000) else None,
        "solids_drift": abs(sums["eroded"] - carried - sums["deposited"] - sums["exported"]) / sums["eroded"],
        "checksum": hashlib.sha256(backend.surface.vertices.tobytes()).hexdigest()[:16],
    }


def count_neighbours(backend: CpuBackend) -> NDArray[np.int32]:
    """Particles within two radii of each: what the search alone costs, and what it finds."""
    flow, found = backend.flow, np.zeros(backend.flow.count, np.int32)
    reach = np.float32(2 * backend.physics.radius)
    search(flow.count, flow.X, backend._cell, backend._plan[3], backend._start_of_cell, reach * reach, found)
    return found


@parallel_kernel
def search(n: int, X: Any, cell: Any, columns: int, start: Any, r2: Any, found: Any) -> None:
    """Look for neighbours as `push` does, without its forces."""
    for i in numba.prange(n):
        x, y, z = X[i, 0], X[i, 1], X[i, 2]
        near = -1  # a particle finds itself
        for row in range(-1, 2):
            middle = cell[i] + row * columns
            for j in range(start[middle - 1], start[middle + 2]):
                dx, dy, dz = X[j, 0] - x, X[j, 1] - y, X[j, 2] - z
                near += dx * dx + dy * dy + dz * dz < r2
        found[i] = near


def _timed(backend: CpuBackend, clock: Callable[[], float]) -> float:
    begin = clock()
    count_neighbours(backend)
    return clock() - begin


def markdown(rows: list[dict[str, Any]]) -> str:
    phases = list(rows[0]["split_ms"])
    heads = ("particles", "triangles", "threads", "steps/s", "ms/step", "CPU ms/step", "CPU ns/particle", *phases)
    lines = [heads, ("---",) * len(heads)]
    for row in rows:
        lines.append(
            (
                f"{row['particles']:,}",
                f"{row['triangles']:,}",
                str(row["threads"]),
                f"{row['steps_per_second']:g}",
                f"{row['wall_ms_per_step']:g}",
                f"{row['cpu_ms_per_step']:g}",
                f"{row['cpu_ns_per_particle']:.0f}",
                *(f"{row['split_ms'][phase]:g}" for phase in phases),
            )
        )
    ratio = max(r["cpu_ns_per_particle"] for r in rows) / min(r["cpu_ns_per_particle"] for r in rows)
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\nThe dearest particle costs {ratio:.2f} times the cheapest."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", type=int, action="append", help="number of particles; may be repeated")
    parser.add_argument("--triangles", type=int, default=80_000)
    parser.add_argument("--backend", choices=("cpu", "gpu"), default="cpu", help="gpu: all on the card is `forces`")
    parser.add_argument("--threads", type=int, help="threads to use; all if not given")
    parser.add_argument("--markdown", action="store_true", help="print a table too")
    options = parser.parse_args()
    if options.threads:
        numba.set_num_threads(options.threads)
    rows = []
    for count in options.particles or CASES:
        rows.append(measure(count, options.triangles, options.backend))
        print(json.dumps({"case": "mesh_particles"} | rows[-1] | facts()), flush=True)
    if options.markdown:
        print(markdown(rows))


if __name__ == "__main__":
    main()
