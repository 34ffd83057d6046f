"""Figures 2-4 of Chiba, Muraoka & Fujita 1998: terrain and velocity field every 50 iterations.

Run it: python examples/chiba_figures.py --out out/chiba
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from PIL import Image

import slopewash as sw

FIGURES = ("chiba_fig2", "chiba_fig3", "chiba_fig4")
SNAPSHOTS = 4


def draw(terrain: sw.Terrain, fastest: float) -> list[Image.Image]:
    """Velocity field and terrain, left and right as in the paper."""
    field = sw.overlay(terrain, "velocity", title="speed of the water", limits=(0.0, fastest), width=512)
    return [field, sw.render_view(terrain, size=(900, 560), azimuth=150, pitch=38)]


def run(name: str, size: int, steps: int, seed: int, out: Path, steering: str | None) -> None:
    preset = sw.find_preset(name)
    terrain = sw.generate(preset.generator, **{**preset.start, "size": size}, seed=seed)
    model = preset.model if steering is None else preset.model.replace(steering=steering)
    simulation = sw.Simulation(terrain, model, edges=preset.edges)
    simulation.add(sw.Progress())
    images: list[Image.Image] = []
    titles: list[str] = []
    seconds = 0.0
    for part in range(1, SNAPSHOTS + 1):
        started = time.perf_counter()
        simulation.run(steps * part // SNAPSHOTS - simulation.step)
        seconds += time.perf_counter() - started
        images += draw(simulation.terrain, fastest=14 * terrain.cell_size)
        titles += [f"{name}, velocity field after {simulation.step}", f"terrain after {simulation.step}"]
    print(f"{name}: {seconds:.1f} s, solids drift {simulation.budget.solids_drift:.1e}")
    sw.side_by_side(images, titles, out / f"{name}.png", columns=2, height=480)
    sw.hillshade(simulation.terrain, out / f"{name}_shape.png")
    sw.overlay(simulation.terrain, "flow", out / f"{name}_flow.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="cells along a side")
    parser.add_argument("--steps", type=int, default=200, help="iterations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the noise")
    parser.add_argument(
        "--steering", choices=("gradient", "steepest"), help="how the ground pulls; the preset's if not given"
    )
    parser.add_argument("--figure", choices=FIGURES, action="append", help="draw this one only; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("out/chiba"), help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.figure or FIGURES:
        run(name, options.size, options.steps, options.seed, options.out, options.steering)


if __name__ == "__main__":
    main()
