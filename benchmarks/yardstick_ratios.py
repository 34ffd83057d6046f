"""CPU time of the fused kernel over that of the C++ yardstick, one thread, beside what bounds it from below.

    python benchmarks/yardstick_ratios.py                       Table 2, single_grid and landscape at 512² .. 4096²
    python benchmarks/yardstick_ratios.py --sizes 1024 --starts 10

Kernel and yardstick take turns after both have given the same elevations; the least time of all rounds counts, because
other processes only add time. Where their arrays happen to lie makes some percent of difference, so that both start
anew several times. The floors are those of `floors.py`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.contestants import LAWS, Contestant, Laws, cpu, race
from benchmarks.floors import floors
from benchmarks.yardstick import Yardstick, available, compile_library

from benchmarks import records

FLAGS = "same bits"


def measure(laws: Laws, size: int, library: Any, starts: int, rounds: int) -> records.Row:
    terrain = laws.terrain(size)
    ns = [float("inf")] * 2
    for _ in range(starts):
        stick = Yardstick(library, laws.model, terrain, laws.edges, 1)
        ours, theirs = cpu(laws, terrain, 1), Contestant("yardstick", 1, stick.advance, stick.elevation)
        race([ours, theirs], rounds)
        ns = [min(best, 1e9 * min(c.cpu) / size**2) for best, c in zip(ns, (ours, theirs), strict=True)]
    return {"laws": laws.name, "size": size, "cpu_ns": ns[0], "yardstick_ns": ns[1], "ratio": ns[0] / ns[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048, 4096], help="cells along a side")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4, help="after each start")
    records.add_option(parser, "yardstick_ratios")
    options = parser.parse_args()
    if not available():
        raise SystemExit("no g++ here: there is no yardstick to measure")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(Path(folder), FLAGS)
        for laws in LAWS:
            below = floors(laws.name)
            for size in options.sizes:
                row = measure(laws, size, library, options.starts, options.rounds) | {
                    name: below[name] for name in ("row_kernels_ns", "divider_ns", "divisions", "roots")
                }
                rows.append(row)
                print(
                    f"{laws.name} at {size}²: {row['cpu_ns']:.2f} CPU-ns per cell, {row['ratio']:.3f} times the C++; "
                    f"row functions alone {row['row_kernels_ns']:.2f}, divider alone {row['divider_ns']:.2f}",
                    flush=True,
                )
    if options.record:
        records.record("yardstick_ratios", rows)


if __name__ == "__main__":
    main()
