"""What more threads cost the fused kernel of `VirtualPipes`, measured with one thread.

    python benchmarks/bands.py                     landscape at 2048² in 1, 16 and 64 bands
    python benchmarks/bands.py --sizes 1024 --bands 1 2 16

A thread works on a band of rows and does some of its neighbours' work again, so that threads never wait for each other.
Here one thread works on all bands in turn: their CPU time, compared with that of a single band, is what is done again.
Runs take turns, and the least time of all rounds counts, because other processes only add time. Prints one JSON line
per case; `rows` is the same share counted in rows of all stages, without the clock.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import slopewash as sw
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.cpu import CpuBackend
from slopewash.models.virtual_pipes.sweep import LAG

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.surroundings import facts

from benchmarks import records

ITERATIONS = 8


def rows_worked(rows: int, bands: int, depth: int) -> float:
    """Rows of all stages that all bands work on, per row and stage of the grid."""
    total = 0
    for i in range(bands):
        y0, y1 = i * rows // bands, (i + 1) * rows // bands
        for k in range(depth):
            for beyond in range(4):  # carry, work, flow, pour
                reach = LAG * (depth - 1 - k) + beyond
                total += min(y1 + reach, rows) - max(y0 - reach, 0)
    return total / (4 * rows * depth)


def start(preset: Any, size: int, bands: int, depth: int | None) -> tuple[CpuBackend, Any]:
    terrain = sw.generate("diamond_square", size=size, cell_size=10.0, seed=7)
    domain, state = preset.model.prepare(terrain, sides=Sides.of(preset.edges), seed=0)
    return CpuBackend(state, domain, bands=bands, depth=depth), preset.model.coefficients(domain, substeps=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="landscape")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2048], help="cells along a side")
    parser.add_argument("--bands", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--depth", type=int, help="iterations in flight; what the backend would choose if not given")
    parser.add_argument("--rounds", type=int, default=5)
    records.add_option(parser, "bands")
    options = parser.parse_args()
    numba.set_num_threads(1)
    results = []
    preset = sw.find_preset(options.preset)
    for size in options.sizes:
        runs = {bands: start(preset, size, bands, options.depth) for bands in options.bands}
        best = dict.fromkeys(runs, float("inf"))
        for run, coefficients in runs.values():
            run.advance(coefficients, ITERATIONS)
        first, *others = [run.read("elevation") for run, _ in runs.values()]
        if not all(np.array_equal(first, other) for other in others):
            raise SystemExit(f"bands give different elevations at {size}: not measured")
        for _ in range(options.rounds):
            for bands, (run, coefficients) in runs.items():
                begin = time.process_time()
                run.advance(coefficients, ITERATIONS)
                best[bands] = min(best[bands], (time.process_time() - begin) / ITERATIONS)
        for bands, seconds in best.items():
            depth = runs[bands][0].depth
            row = {
                "case": "bands", "preset": options.preset, "size": size, "bands": bands, "depth": depth,
                "cpu_ms": round(1e3 * seconds, 3), "times_one_band": round(seconds / best[min(best)], 3),
                "rows": round(rows_worked(size, bands, depth), 3),
            }  # fmt: skip
            results.append(row)
            print(json.dumps(row | facts()), flush=True)
    if options.record:
        records.record("bands", results)


if __name__ == "__main__":
    main()
