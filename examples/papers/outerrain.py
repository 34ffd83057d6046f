"""Thermal erosion as in the Outerrain post: base terrains, the same after 300 iterations, and its table of times.

    python examples/papers/outerrain.py          into out/papers/outerrain
    python examples/papers/outerrain.py --only speed

What to look for: spikes and cliffs become uniform scree slopes, and hollows fill. Soil slides to one of eight
neighbours, so slopes at rest are flat facets: piles have eight sides, and four as published, where a diagonal neighbour
counts as close as an axial one. A map lit from the side shows these facets, axis-aligned as published, and a ripple one
cell wide and one amplitude high; an oblique view shows scree. A smaller amplitude makes finer ripples and slower runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import plan, sheet, views
from examples.papers.record import Record, Row, options_of, seconds_of

EXTENT = 5120.0
"""Side of the terrain in metres, with any number of cells."""
LAWS = {"as published": sw.preset("outerrain"), "true distance": sw.SteepestTalus()}
RELIEF = 0.35
"""Of the base terrains that are drawn, as a fraction of the side."""
BASES = {"fbm": 7, "ridged": 4}
"""The post shows two base height fields and gives no dimensions; kinds and seeds are ours."""
PUBLISHED = {128: (0.434, 0.364), 256: (1.583, 0.838), 512: (6.538, 2.948), 1024: (35.135, 7.706)}
"""Seconds for 1000 iterations, CPU and GPU."""


def main(words: Sequence[str] | None = None) -> None:
    """Make the figures and the table."""
    options = options_of("outerrain", words, doc=__doc__)
    record = Record("outerrain", quick=options.quick)
    if options.only != "speed":
        draw(options.out, record, 24 if options.quick else 512, 5 if options.quick else 300, options.backend)
        draw_piles(options.out / "outerrain-piles.jpg", 50.0 if options.quick else 500.0, options.backend)
    if options.only != "figures":
        measure(record, (32,) if options.quick else tuple(PUBLISHED), options.backend)
    record.write(options.out)


def draw(out: Path, record: Record, size: int, steps: int, backend: str) -> None:
    """The post's figures: base terrains, and what 300 iterations leave of them."""
    images, titles, maps, rows = [], [], [], []
    for kind, seed in BASES.items():
        base = sw.generate(kind, size=size, extent=EXTENT, seed=seed, relief=RELIEF * EXTENT)
        states = {"base": base}
        for name, model in LAWS.items():
            simulation = sw.Simulation(base, model, backend=backend, edges="closed")
            simulation.run(steps)
            states[f"{steps} iterations, {name}"] = simulation.terrain
            moved = simulation.budget.solids_moved / base.width / base.height
            rows.append(
                (
                    f"{kind}, {name}",
                    too_steep(base),
                    too_steep(simulation.terrain),
                    moved,
                    simulation.budget.solids_drift,
                )
            )
        images += views([*states.values()], (620, 440))
        titles += [f"{kind}: {title}" for title in states]
        maps += [plan(terrain, 480) for terrain in states.values()]
    sheet(images, titles, out / "outerrain-before-after.jpg", columns=3)
    sheet(maps, titles, out / "outerrain-maps.jpg", columns=3)
    columns = ("terrain and law", "steeper than 0.6 before, %", "after, %", "moved, m", "solids gained or lost")
    record.table("figures", columns, rows)


def too_steep(terrain: sw.Terrain) -> float:
    """Percentage of neighbouring cells in rows and columns whose slope exceeds the published threshold."""
    b = terrain["elevation"] / terrain.cell_size
    return 100 * float(np.mean([np.mean(np.abs(np.diff(b, axis=axis)) > 0.6) for axis in (0, 1)]))


def draw_piles(file: Path, height: float, backend: str) -> None:
    """Let a pillar of soil slide to rest under each law."""
    heights = np.zeros((33, 33))
    heights[16, 16] = height
    piles = []
    for model in LAWS.values():
        simulation = sw.Simulation(sw.Terrain(heights), model, backend=backend, edges="closed")
        moved = -1.0
        while simulation.budget.solids_moved > moved:
            moved = simulation.budget.solids_moved
            simulation.run(1000)
        piles.append(simulation.terrain)
    sheet(views(piles, (620, 420), pitch=50.0), [*LAWS], file)


def measure(record: Record, sizes: Sequence[int], backend: str) -> None:
    """The post's table: seconds for 1000 iterations."""
    rows: list[Row] = []
    for size in sizes:
        base = sw.generate("fbm", size=size, extent=EXTENT, seed=7, relief=0.6 * EXTENT)
        start = partial(sw.Simulation, base, LAWS["as published"], backend=backend, edges="closed")
        wall, used = seconds_of(start, 1000)
        cpu, gpu = PUBLISHED.get(size, (None, None))
        rows.append((f"{size} x {size}", cpu, gpu, wall, used, cpu and cpu / wall))
    columns = ("grid", "published CPU, s", "published GPU, s", f"{backend} here, s", "CPU time, s", "times faster")
    record.table("times", columns, rows)


if __name__ == "__main__":
    main()
