"""Thermal erosion as in the Outerrain post: a base terrain, and the same after 300 iterations.

    python examples/outerrain.py --out out/outerrain

Writes `before_after.png` (the base terrain, the law as published, and the same with true distances) and
`piles.png` (a pillar of soil that has slid to rest under each law), and prints the mass budget, which is exact.

What to look for: spikes and cliffs become uniform scree slopes, and hollows fill. Soil slides to one of eight
neighbours, so slopes at rest are flat facets: piles have eight sides, and four as published, where a diagonal neighbour
counts as close as an axial one. A map lit from the side shows these facets, axis-aligned as published, and a ripple one
cell wide and one amplitude high; an oblique view shows scree. A smaller amplitude makes finer ripples and slower runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import slopewash as sw

EXTENT = 5120.0
"""Side of the terrain in metres, with any number of cells."""
LAWS = {"as published": sw.preset("outerrain"), "true distance": sw.SteepestTalus()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Thermal erosion as in the Outerrain post.")
    parser.add_argument("--out", type=Path, default=Path("out/outerrain"))
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=sw.find_preset("outerrain").steps)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    base = sw.generate("fbm", size=options.size, extent=EXTENT, seed=7, relief=0.6 * EXTENT)
    terrains = {"base terrain": base}
    for name, model in LAWS.items():
        simulation = sw.Simulation(base, model, edges="closed")
        simulation.run(options.steps)
        print(f"{name}\n{simulation.budget}\n")
        terrains[f"{options.steps} iterations, {name}"] = simulation.terrain

    views = [sw.render_view(terrain, size=(720, 720)) for terrain in terrains.values()]
    maps = [sw.hillshade(terrain, width=720) for terrain in terrains.values()]
    titles = [*terrains, *("" for _ in maps)]
    sw.side_by_side([*views, *maps], titles, options.out / "before_after.png", columns=len(views))
    draw_piles(options.out / "piles.png")


def draw_piles(file: Path) -> None:
    """Let a pillar of soil slide to rest under each law."""
    heights = np.zeros((33, 33))
    heights[16, 16] = 500.0
    pictures = []
    for model in LAWS.values():
        simulation = sw.Simulation(sw.Terrain(heights), model, edges="closed")
        moved = -1.0
        while simulation.budget.solids_moved > moved:
            moved = simulation.budget.solids_moved
            simulation.run(1000)
        pictures.append(sw.hillshade(simulation.terrain, width=528))
    sw.side_by_side(pictures, [*LAWS], file)


if __name__ == "__main__":
    main()
