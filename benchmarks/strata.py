"""What geological layers cost `SteepestTalus` and `VirtualPipes`: CPU time with one thread, over that without layers.

    python benchmarks/strata.py                            0, 2, 12 and 40 layers at 1024²
    python benchmarks/strata.py --sizes 512 --layers 0 12

Runs of a model take turns, and the least time of all rounds counts, because other processes only add time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numba

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks import records

STEPS = {"true_distance": 100, "single_grid": 16, "landscape": 16}
"""Steps per turn: about a tenth of a second."""


def start(laws: str, size: int, layers: int) -> sw.Simulation:
    preset = None if laws == "true_distance" else sw.find_preset(laws)
    model: Any = sw.SteepestTalus() if preset is None else preset.model
    terrain = sw.generate("diamond_square", size=size, seed=7)
    if layers:
        terrain = terrain.replace(strata=sw.strata_bands(count=layers, dip=3.0, direction=120.0).fitted(terrain.relief))
    simulation = sw.Simulation(terrain, model, backend="cpu", edges="closed" if preset is None else preset.edges)
    simulation.run(STEPS[laws])
    return simulation


def measure(laws: str, size: int, layers: list[int], rounds: int) -> list[records.Row]:
    runs = {count: start(laws, size, count) for count in layers}
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for count, run in runs.items():
            begin = time.process_time()
            run.run(STEPS[laws])
            least[count] = min(least[count], (time.process_time() - begin) / STEPS[laws])
    return [
        {
            "laws": laws, "size": size, "layers": count, "cpu_ms": 1e3 * seconds,
            "cpu_ns_per_cell": 1e9 * seconds / size**2, "times_first": seconds / least[layers[0]],
        }
        for count, seconds in least.items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laws", nargs="+", default=list(STEPS), choices=STEPS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024], help="cells along a side")
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 2, 12, 40])
    parser.add_argument("--rounds", type=int, default=12)
    records.add_option(parser, "strata")
    options = parser.parse_args()
    numba.set_num_threads(1)
    rows = []
    for laws in options.laws:
        for size in options.sizes:
            rows += measure(laws, size, options.layers, options.rounds)
            for row in rows[-len(options.layers) :]:
                print(
                    f"{laws} at {size}², {row['layers']} layers: {row['cpu_ns_per_cell']:.2f} CPU-ns per cell, "
                    f"{row['times_first']:.2f} times that with {options.layers[0]}",
                    flush=True,
                )
    if options.record:
        records.record("strata", rows)


if __name__ == "__main__":
    main()
