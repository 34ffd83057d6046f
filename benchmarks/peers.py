"""Speed beside other open tools at what all of them do: fill depressions, and sum the area that drains through cells.

    pip install pyflwdir "landlab<2.10"         # in an environment of their own, beside slopewash
    python benchmarks/peers.py                  a table of those that are installed
    python benchmarks/peers.py --record         added to results/peers.jsonl, from which docs/benchmarks.md is made

All take turns on the same ground, one thread, CPU time of the best round; kernels are compiled before. Each begins with
heights in memory and ends with the drainage area of every cell (D8), and the area that leaves must be the terrain's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from benchmarks.tables import table

import slopewash as sw
from benchmarks import records

Areas = tuple[np.ndarray, float]
"""Drainage area of every cell in cells, and how many cells drain to where water leaves."""


def with_slopewash(ground: np.ndarray) -> Areas:
    from slopewash.analysis import Flow

    flow = Flow(sw.Terrain(ground, cell_size=1.0))
    return flow.area, float(flow.area[flow.directions == 0].sum())


def with_pyflwdir(ground: np.ndarray) -> Areas:
    import pyflwdir

    flow = pyflwdir.from_dem(ground.astype(np.float32), nodata=-9999.0, latlon=False)
    area = flow.upstream_area()
    return area, float(area.ravel()[flow.idxs_pit].sum())


def with_landlab(ground: np.ndarray) -> Areas:
    from landlab import RasterModelGrid
    from landlab.components import FlowAccumulator

    grid = RasterModelGrid(ground.shape, xy_spacing=1.0)
    grid.add_field("topographic__elevation", ground.astype(float).ravel(), at="node")
    FlowAccumulator(
        grid, flow_director="FlowDirectorD8", depression_finder="DepressionFinderAndRouter", routing="D8"
    ).run_one_step()
    area = grid.at_node["drainage_area"]
    # Its border nodes have no area of their own: what arrives there is that of the nodes inside.
    leaves = float(area[grid.boundary_nodes].sum()) + ground.size - grid.number_of_core_nodes
    return area.reshape(ground.shape), leaves


TOOLS: dict[str, Callable[[np.ndarray], Areas]] = {
    "slopewash": with_slopewash,
    "pyflwdir": with_pyflwdir,
    "landlab": with_landlab,
}


def timed(tool: Callable[[np.ndarray], Areas], ground: np.ndarray) -> float:
    begin = time.process_time()
    _, leaves = tool(ground)
    took = time.process_time() - begin
    if abs(leaves - ground.size) > 1e-6 * ground.size:
        raise SystemExit(f"{leaves} of {ground.size} cells leave the terrain")
    return took


def measure(sizes: list[int], rounds: int) -> list[records.Row]:
    installed = {name: tool for name, tool in TOOLS.items() if importlib.util.find_spec(name)}
    small = sw.generate("diamond_square", size=64, seed=3)["elevation"]
    for tool in installed.values():
        timed(tool, small)
    rows: list[records.Row] = []
    for size in sizes:
        ground = sw.generate("diamond_square", size=size, seed=3)["elevation"]
        best = dict.fromkeys(installed, float("inf"))
        for _ in range(rounds):
            for name, tool in installed.items():
                best[name] = min(best[name], timed(tool, ground))
        rows += [
            {"tool": name, "tool_version": version(name), "size": size, "cpu_s": took} for name, took in best.items()
        ]
    return rows


def markdown(rows: list[records.Row]) -> str:
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    took: dict[str, dict[int, Any]] = {}
    for row in rows:
        took.setdefault(f"{row['tool']} {row['tool_version']}", {})[row["size"]] = f"{row['cpu_s']:.3g}"
    lines = [(name, *(times.get(size, "") for size in sizes)) for name, times in took.items()]
    return table(("CPU-s", *(f"{size}²" for size in sizes)), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024])
    parser.add_argument("--rounds", type=int, default=3)
    records.add_option(parser, "peers")
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # read when the first tool is loaded
    rows = measure(options.sizes, options.rounds)
    print(markdown(rows))
    if options.record:
        records.record("peers", rows)


if __name__ == "__main__":
    main()
