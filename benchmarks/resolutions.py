"""Whether the preset landscape gives the same landscape at every resolution, and how long each takes.

    python benchmarks/resolutions.py                                    # 256², 512² and 1024² of three starts: minutes
    python benchmarks/resolutions.py --starts dome:7 --sizes 1024 2048  # one pair of one start
    python benchmarks/resolutions.py --sizes 256 512 --keep out/levels  # the terrains are written too

Two Markdown tables: one row for each run, and one for each pair of neighbouring sizes. What misses its target is bold.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import slopewash as sw
from slopewash.analysis import slope

EXTENT, RELIEF = 5120.0, 970.0
STARTS = ("dome:7", "dome:31", "ridged:4")
SIZES = (256, 512, 1024)
LOW_PASS = 64
"""Cells a side of the grid on which changes are compared: valleys, not gullies."""
TRUNK_GRID = 256
"""Cells a side of the grid on which trunks are compared too: there the reach is the same in metres for all pairs."""

LEAST_CORRELATION, MOST_EROSION_RATIO, LEAST_TRUNKS = 0.97, 1.07, 0.75
STEEPEST_DOME, AXIS_PREFERENCE, MOST_DRIFT = 35.0, (0.7, 1.6), 1e-5


def start(kind: str, seed: int, size: int) -> sw.Terrain:
    return sw.generate(kind, size=size, extent=EXTENT, seed=seed, relief=RELIEF)


def low_passed(terrain: sw.Terrain) -> NDArray[Any]:
    change = sw.Terrain(terrain["difference"]).resampled(LOW_PASS)
    return change["elevation"].astype(np.float64).ravel()


def marked(text: str, good: bool) -> str:
    return text if good else f"**{text}**"


def run_row(kind: str, seed: int, result: sw.Result) -> str:
    terrain, budget = result.terrain, result.budget
    steepness = float(slope(terrain["elevation"], terrain.cell_size).mean())
    preference = sw.axis_preference(terrain["elevation"])
    low, high = AXIS_PREFERENCE
    cells = (
        f"{kind} {seed}", f"{terrain.shape[1]}²", f"{result.seconds:.1f}",
        marked(f"{steepness:.1f}°", kind != "dome" or steepness <= STEEPEST_DOME),
        marked(f"{preference:.2f}", low <= preference <= high),
        f"{terrain['wear'].mean():.1f} m",
        f"{terrain['deposit'].max() / RELIEF:.3f}",
        marked(f"{budget.water_drift:.0e}", budget.water_drift < MOST_DRIFT),
        marked(f"{budget.solids_drift:.0e}", budget.solids_drift < MOST_DRIFT),
    )  # fmt: skip
    return row(cells)


def pair_row(kind: str, seed: int, coarse: sw.Terrain, fine: sw.Terrain) -> str:
    correlation = float(np.corrcoef(low_passed(coarse), low_passed(fine))[0, 1])
    ratio = float(fine["wear"].mean() / coarse["wear"].mean())
    trunks, lines = (sw.trunk_agreement(coarse, fine, gather=gather) for gather in (True, False))
    grid = min(TRUNK_GRID, max(coarse.shape))
    cells = (
        f"{kind} {seed}", f"{coarse.shape[1]}² / {fine.shape[1]}²",
        marked(f"{correlation:.3f}", correlation >= LEAST_CORRELATION),
        marked(f"{ratio:.3f}", 1 / MOST_EROSION_RATIO <= ratio <= MOST_EROSION_RATIO),
        marked(f"{trunks:.3f}", trunks >= LEAST_TRUNKS),
        f"{sw.trunk_agreement(coarse.resampled(grid), fine.resampled(grid)):.3f}",
        f"{lines:.3f}",
    )  # fmt: skip
    return row(cells)


def row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


RUN_HEAD = (
    "start", "cells", "seconds", "mean slope", "axis preference", "mean erosion", "highest deposit / relief",
    "water drift", "solids drift",
)  # fmt: skip
PAIR_HEAD = (
    "start", "cells", f"correlation of the change on {LOW_PASS}²", "ratio of mean erosion", "trunk agreement",
    f"both on {TRUNK_GRID}²", "without gathering",
)  # fmt: skip


def table(head: tuple[str, ...], *rows: str) -> str:
    return "\n".join((row(head), row(("---",) * len(head)), *rows))


def erode(terrain: sw.Terrain, seed: int, backend: str, strength: float = 1.0) -> sw.Result:
    return sw.recipe("landscape", source=terrain, seed=seed, backend=backend, strength=strength).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", nargs="+", default=STARTS, metavar="KIND:SEED")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--keep", type=Path, help="folder to write the terrains to")
    asked = parser.parse_args()
    erode(start("dome", 0, 512), 0, asked.backend, 0.01)  # compiles the kernels of all levels
    print(table(RUN_HEAD), flush=True)
    pairs = []
    for kind, _, seed in (name.partition(":") for name in asked.starts):
        terrains = []
        for size in sorted(asked.sizes):
            result = erode(start(kind, int(seed), size), int(seed), asked.backend)
            terrains.append(result.terrain)
            print(run_row(kind, int(seed), result), flush=True)
            if asked.keep is not None:
                asked.keep.mkdir(parents=True, exist_ok=True)
                sw.write(result.terrain, asked.keep / f"{kind}-{seed}-{size}.npz")
        pairs += [pair_row(kind, int(seed), *two) for two in itertools.pairwise(terrains)]
    print("", table(PAIR_HEAD, *pairs), sep="\n")


if __name__ == "__main__":
    main()
