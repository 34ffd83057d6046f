"""Compares the speed of two source trees in one interleaved run: has a change made the cpu backend slower?

    python benchmarks/compare_trees.py before/src after/src

A child process of each tree holds the same run; they take turns, the parent keeping the other one waiting. CPU time is
counted, and the least of all turns, because whatever else a machine does only adds time. Where a process happens to lay
its arrays makes a percent or two of difference: each pair of children is replaced several times. Both must show the
same elevations after the warm-up.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

CHILD = """
import sys, time, zlib
import numpy as np
import slopewash as sw
name, size, warm_up = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
preset = sw.find_preset(name)
# Not of a generator, which may have changed too: a rough dome whose relief is a quarter of its side.
x = np.linspace(-1, 1, size)
rough = np.random.default_rng(7).random((size, size)) + sum(np.outer(np.sin(k * x), np.cos(k * x + k)) for k in (5, 11))
terrain = sw.Terrain(2.5 * size * (np.outer(1 - x * x, 1 - x * x) + 0.02 * rough), cell_size=10.0)
simulation = sw.Simulation(terrain, preset.model, backend="cpu", edges=preset.edges)
simulation.run(warm_up)
print(zlib.crc32(simulation.terrain["elevation"].tobytes()), flush=True)
for line in sys.stdin:
    steps = int(line)
    begin = time.process_time()
    simulation.run(steps)
    print((time.process_time() - begin) / steps, flush=True)
"""
WARM_UP = 20
SECONDS_PER_TURN = 0.5
ALLOWED = 0.03


class Child:
    """A run in a process of its own, from one tree."""

    def __init__(self, tree: Path, preset: str, size: int, threads: int) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree.resolve()), "NUMBA_NUM_THREADS": str(threads)}
        command = [sys.executable, "-c", CHILD, preset, str(size), str(WARM_UP)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.checksum = self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a child ended early; see above")
        return line.strip()

    def take_turn(self, steps: int) -> float:
        """CPU seconds per step."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return float(self._answer())

    def end(self) -> None:
        self._process.communicate()


def compare(
    trees: tuple[Path, Path], presets: tuple[str, str], size: int, threads: int, starts: int, turns: int
) -> list[float]:
    """Least CPU seconds per step of each tree."""
    best = [float("inf")] * 2
    for start in range(starts):
        order = (0, 1) if start % 2 == 0 else (1, 0)
        children = {k: Child(trees[k], presets[k], size, threads) for k in order}
        if children[0].checksum != children[1].checksum:
            raise SystemExit(f"{presets[1]} at {size}: the trees give different elevations: not measured")
        steps = max(1, round(SECONDS_PER_TURN / max(children[0].take_turn(2), 1e-6)))
        for _ in range(turns):
            for k in order:
                best[k] = min(best[k], children[k].take_turn(steps))
        for child in children.values():
            child.end()
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="folder that holds the package before the change")
    parser.add_argument("after", type=Path, help="the same after it")
    parser.add_argument("--preset", default="single_grid")
    parser.add_argument("--preset-before", help="what it was called before the change")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024], help="cells along a side")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--starts", type=int, default=4, help="pairs of processes")
    parser.add_argument("--turns", type=int, default=8, help="turns of each process")
    options = parser.parse_args()
    slower = False
    for size in options.sizes:
        before, after = compare(
            (options.before, options.after),
            (options.preset_before or options.preset, options.preset),
            size,
            options.threads,
            options.starts,
            options.turns,
        )
        change = after / before - 1
        slower |= change > ALLOWED
        print(
            f"{options.preset} {size} x {size}, {options.threads} threads: "
            f"{1e3 * before:.3f} -> {1e3 * after:.3f} ms of CPU per step, {change:+.1%}",
            flush=True,
        )
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
