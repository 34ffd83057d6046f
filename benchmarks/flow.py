"""Speed of filling and D8 accumulation, over size and kind of ground.

    python benchmarks/flow.py                            a table
    python benchmarks/flow.py --lines results.jsonl      also appends JSON lines

CPU time counts, of the best of several rounds, since other processes only add to it; kernels are compiled before.
What is measured begins with a terrain in memory and ends with the drainage area of every cell. The water that leaves
must sum to the terrain, so that a wrong kernel cannot be a fast one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.analysis import Flow

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.surroundings import facts
from benchmarks.tables import table

KINDS = ("dome", "diamond_square")
"""Mountains with few depressions, and ground that is a third depressions."""


def measure(terrain: sw.Terrain) -> dict[str, Any]:
    """CPU seconds of each part, and a check of the sum."""
    begin = time.process_time()
    flow = Flow(terrain)
    filled = flow.filled
    after_fill = time.process_time()
    area = flow.area
    end = time.process_time()
    leaves = float(area[flow.directions == 0].sum())
    if abs(leaves - terrain.area) > 1e-9 * terrain.area:
        raise SystemExit(f"{leaves} m² leave a terrain of {terrain.area} m²")
    return {
        "fill": after_fill - begin,
        "d8": end - after_fill,
        "total": end - begin,
        "flooded": float((filled > terrain["elevation"]).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024, 2048, 4096])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=Path)
    options = parser.parse_args()
    measure(sw.generate("diamond_square", size=64))  # compiles
    rows = []
    for size in options.sizes:
        for kind in KINDS:
            terrain = sw.generate(kind, size=size, seed=3)
            best = min((measure(terrain) for _ in range(options.rounds)), key=lambda found: found["total"])
            rows.append({"kind": kind, "size": size, **best})
    shown = [
        [row["kind"], f"{row['size']}²", *(f"{row[part]:.2f}" for part in ("fill", "d8", "total")),
         f"{row['flooded']:.0%}"]
        for row in rows
    ]  # fmt: skip
    print(table(["ground", "size", "fill, CPU s", "D8, CPU s", "total, CPU s", "flooded"], shown))
    if options.lines is not None:
        with options.lines.open("a", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps({"benchmark": "flow", **row, **facts()}) + "\n")


if __name__ == "__main__":
    main()
