"""Compares the speed of two source trees in one interleaved run: has a change made the cpu backend slower?

    python benchmarks/compare_trees.py before/src after/src
    python benchmarks/compare_trees.py before/src after/src --particles 130000      over a mesh of 80 000 triangles

A child process of each tree holds the same run; they take turns, the parent keeping the other one waiting. CPU time is
counted, and the least of all turns, because whatever else a machine does only adds time. Where a process happens to lay
its arrays makes a percent or two of difference: each pair of children is replaced several times. Both must show the
same elevations after the warm-up. Wall time is printed too; it counts on a quiet machine only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

GRID = """
import sys, zlib
import numpy as np
import slopewash as sw
name, size, warm_up = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
preset = sw.find_preset(name)
# Not of a generator, which may have changed too: a rough dome whose relief is a quarter of its side.
x = np.linspace(-1, 1, size)
rough = np.random.default_rng(7).random((size, size)) + sum(np.outer(np.sin(k * x), np.cos(k * x + k)) for k in (5, 11))
terrain = sw.Terrain(2.5 * size * (np.outer(1 - x * x, 1 - x * x) + 0.02 * rough), cell_size=10.0)
simulation = sw.Simulation(terrain, preset.model, backend="cpu", edges=preset.edges)
run = simulation.run
run(warm_up)
checksum = zlib.crc32(simulation.terrain["elevation"].tobytes())
"""
PARTICLES = """
import sys, zlib
import slopewash as sw
from benchmarks.mesh_particles import pour, start
count, warm_up = int(sys.argv[2]), int(sys.argv[3])
model = sw.MeshParticles(triangles=80_000, particle_radius=0.25, maximum_particles=1_000_000)
backend, numbers = start(model, "cpu")
pour(backend, count)
run = lambda steps: backend.advance(numbers, steps * numbers.substeps)
run(warm_up)
checksum = zlib.crc32(backend.surface.vertices.tobytes())
"""
TURNS = """
import time
print(checksum, flush=True)
for line in sys.stdin:
    steps = int(line)
    cpu, wall = time.process_time(), time.perf_counter()
    run(steps)
    print((time.process_time() - cpu) / steps, (time.perf_counter() - wall) / steps, flush=True)
"""
MESH = "particles over a mesh"
WARM_UP = 20
SECONDS_PER_TURN = 0.5
UPDATE = 10
"""Steps after which particles move the vertices: turns have whole such rounds."""
ALLOWED = 0.03


class Child:
    """A run in a process of its own, from one tree."""

    def __init__(self, tree: Path, preset: str, size: int, threads: int) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree.resolve()), "NUMBA_NUM_THREADS": str(threads)}
        code = PARTICLES if preset == MESH else GRID
        command = [sys.executable, "-c", code + TURNS, preset, str(size), str(WARM_UP)]
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=tree.resolve().parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.checksum = self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a child ended early; see above")
        return line.strip()

    def take_turn(self, steps: int) -> tuple[float, float]:
        """CPU and wall seconds per step."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        cpu, wall = map(float, self._answer().split())
        return cpu, wall

    def end(self) -> None:
        self._process.communicate()


def compare(
    trees: tuple[Path, Path], presets: tuple[str, str], size: int, threads: int, starts: int, turns: int
) -> tuple[list[float], list[float]]:
    """Least CPU and least wall seconds per step of each tree."""
    cpu, wall = [float("inf")] * 2, [float("inf")] * 2
    for start in range(starts):
        order = (0, 1) if start % 2 == 0 else (1, 0)
        children = {k: Child(trees[k], presets[k], size, threads) for k in order}
        if children[0].checksum != children[1].checksum:
            raise SystemExit(f"{presets[1]} at {size}: the trees give different elevations: not measured")
        steps = max(1, round(SECONDS_PER_TURN / max(children[0].take_turn(UPDATE)[0], 1e-6) / UPDATE)) * UPDATE
        for _ in range(turns):
            for k in order:
                turn = children[k].take_turn(steps)
                cpu[k], wall[k] = min(cpu[k], turn[0]), min(wall[k], turn[1])
        for child in children.values():
            child.end()
    return cpu, wall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="folder that holds the package before the change")
    parser.add_argument("after", type=Path, help="the same after it")
    parser.add_argument("--preset", default="single_grid")
    parser.add_argument("--preset-before", help="what it was called before the change")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024], help="cells along a side")
    parser.add_argument("--particles", type=int, nargs="+", help="numbers of particles, instead of a preset")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--starts", type=int, default=4, help="pairs of processes")
    parser.add_argument("--turns", type=int, default=8, help="turns of each process")
    options = parser.parse_args()
    slower = False
    preset = MESH if options.particles else options.preset
    for size in options.particles or options.sizes:
        cpu, wall = compare(
            (options.before, options.after),
            (options.preset_before or preset, preset),
            size,
            options.threads,
            options.starts,
            options.turns,
        )
        change = cpu[1] / cpu[0] - 1
        slower |= change > ALLOWED
        what = f"{size} {MESH}" if options.particles else f"{preset} {size} x {size}"
        print(
            f"{what}, {options.threads} threads: {1e3 * cpu[0]:.3f} -> {1e3 * cpu[1]:.3f} ms of CPU per step, "
            f"{change:+.1%}; {1e3 * wall[0]:.3f} -> {1e3 * wall[1]:.3f} ms of wall time",
            flush=True,
        )
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
