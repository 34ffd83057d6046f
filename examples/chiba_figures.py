"""Figures 2-4 of Chiba, Muraoka & Fujita 1998: terrain and velocity field every 50 iterations.

Run it: python examples/chiba_figures.py --out out/chiba
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from PIL import Image

import slopewash as sw

FIGURES = ("chiba_fig2", "chiba_fig3", "chiba_fig4")
SNAPSHOTS = 4
PRINTED = {"steering": "steepest", "breadth": 0, "creep_rate": 0.0, "slide_rate": 0.0}
"""The laws as published, without our additions."""
FLANK = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Places between crest and foot at which the figures are measured."""


def draw(terrain: sw.Terrain, fastest: float) -> list[Image.Image]:
    """Velocity field and terrain, left and right as in the paper."""
    field = sw.overlay(terrain, "velocity", title="speed of the water", limits=(0.0, fastest), width=512)
    return [field, sw.render_view(terrain, size=(900, 560), azimuth=150, pitch=38)]


def speckle(terrain: sw.Terrain) -> float:
    """Fraction of inner cells above or below all eight neighbours: single-cell spikes and pits."""
    heights = terrain["elevation"]
    up = sw.local_minima(-heights, border=1)
    return (sw.local_minima(heights, border=1) + up) / max(1, (heights.shape[0] - 2) * (heights.shape[1] - 2))


def along_flank(terrain: sw.Terrain, start: sw.Terrain) -> tuple[list[float], list[float]]:
    """Relief along the strike (root mean square) and mean lowering, in cells, from crest to foot of the south flank."""
    heights, before = (t["elevation"].astype(np.float64) / t.cell_size for t in (terrain, start))
    rows = [int(0.5 * len(heights) * (1 + place)) for place in FLANK]
    relief = [float(heights[row].std()) for row in rows]
    return relief, [float((before - heights)[row].mean()) for row in rows]


def numbers(values: list[float]) -> str:
    return " ".join(f"{v:.2f}" for v in values)


def run(name: str, size: int, steps: int, seed: int, out: Path, laws: dict[str, object]) -> None:
    preset = sw.find_preset(name)
    terrain = sw.generate(preset.generator, **{**preset.start, "size": size}, seed=seed)
    simulation = sw.Simulation(terrain, preset.model.replace(**laws), edges=preset.edges)
    simulation.add(sw.Progress())
    images: list[Image.Image] = []
    titles: list[str] = []
    seconds = 0.0
    for part in range(1, SNAPSHOTS + 1):
        started = time.perf_counter()
        simulation.run(steps * part // SNAPSHOTS - simulation.step)
        seconds += time.perf_counter() - started
        images += draw(simulation.terrain, fastest=12 * terrain.cell_size)
        titles += [f"{name}, velocity field after {simulation.step}", f"terrain after {simulation.step}"]
    relief, lowering = along_flank(simulation.terrain, terrain)
    print(f"{name}: {seconds:.1f} s, mass-balance error of solids {simulation.budget.solids_drift:.1e}")
    print(f"  cells above or below all neighbours: {speckle(simulation.terrain):.2%}")
    print(f"  from crest to foot: relief {numbers(relief)}, lowering {numbers(lowering)} cells")
    sw.side_by_side(images, titles, out / f"{name}.png", columns=2, height=480)
    sw.hillshade(simulation.terrain, out / f"{name}_shape.png")
    sw.overlay(simulation.terrain, "flow", out / f"{name}_flow.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="cells along a side")
    parser.add_argument("--steps", type=int, default=200, help="iterations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the noise")
    parser.add_argument(
        "--printed", action="store_true", help="the laws as published, without breadth, creep and slides"
    )
    parser.add_argument("--figure", choices=FIGURES, action="append", help="draw this one only; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("out/chiba"), help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.figure or FIGURES:
        run(name, options.size, options.steps, options.seed, options.out, PRINTED if options.printed else {})


if __name__ == "__main__":
    main()
