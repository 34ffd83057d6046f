"""CPU time from the start of Python to the first iteration, cold and warm, of one or more source trees in turn.

    python benchmarks/first_run.py src                      # this tree
    python benchmarks/first_run.py before/src src           # two, interleaved, and their ratio

Cold means an empty cache of kernels: what somebody waits for who has just installed the package. Warm is every later
start. Each is the least of several starts, because whatever else a machine does only adds time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CHILD = """
import os, sys, time
import slopewash.simulation.simulation as simulation
taken = simulation.Simulation._take
def first(self, *arguments):
    done = taken(self, *arguments)
    print("CPU", time.process_time(), flush=True)
    os._exit(0)
simulation.Simulation._take = first
from slopewash.cli import main
main(sys.argv[1:])
"""


def start(tree: Path, arguments: list[str], cache: Path, folder: Path) -> float:
    """CPU seconds until the first steps are taken."""
    environment = os.environ | {"PYTHONPATH": str(tree.resolve()), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CHILD, *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("CPU")]
    if not lines:
        raise SystemExit(f"{' '.join(arguments)} took no step: {done.stderr}")
    return float(lines[0].split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, nargs="+", help="folders that hold the package")
    parser.add_argument("--size", type=int, default=256, help="cells along a side")
    parser.add_argument("--starts", type=int, default=3)
    options = parser.parse_args()
    size = str(options.size)
    least: dict[tuple[str, Path], float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.save(folder / "heights.npy", np.random.default_rng(1).random((options.size, options.size)) * 100)
        runs = {"demo": ["demo", "--size", size], "erode": ["erode", "heights.npy", "-o", "eroded.npy", "--force"]}
        for turn in range(options.starts):
            for k, tree in enumerate(options.trees):
                for name, arguments in runs.items():
                    caches = {"cold": folder / f"{turn}-{name}-{k}", "warm": folder / f"0-{name}-{k}"}
                    for state, cache in caches.items():
                        taken = start(tree, arguments, cache, folder)
                        key = (f"{name}, {state}", tree)
                        least[key] = min(least.get(key, taken), taken)
    for what in dict.fromkeys(what for what, _ in least):
        times = [least[what, tree] for tree in options.trees]
        ratio = f", {times[0] / times[-1]:.2f} times as fast" if len(times) > 1 else ""
        print(f"{what}: {' -> '.join(f'{t:.2f}' for t in times)} CPU-s to the first iteration{ratio}")


if __name__ == "__main__":
    main()
