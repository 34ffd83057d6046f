"""Plate 2 of Chiba, Muraoka & Fujita 1998: five strata eroded to terraces, level and tilted.

Run it: python examples/chiba_strata.py --out out/chiba
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

import slopewash as sw

THIN = 0.1
"""Loose soil thinner than this fraction of a cell is drawn as the rock beneath it."""
LYING = {"level": {}, "tilted": {"dip": 8.0, "direction": 90.0}}


def erode(size: int, steps: int, seed: int, lying: dict[str, float]) -> sw.Terrain:
    preset = sw.find_preset("chiba_strata")
    assert preset.strata is not None
    terrain = sw.generate(preset.generator, **{**preset.start, "size": size}, seed=seed)
    terrain = terrain.replace(strata=preset.strata.fitted(terrain.relief).replace(**lying))
    simulation = sw.Simulation(terrain, preset.model, edges=preset.edges)
    simulation.add(sw.Progress())
    simulation.run(steps)
    print(simulation.budget)
    return simulation.terrain


def exposed(terrain: sw.Terrain) -> sw.Terrain:
    """Add the index of the exposed layer, counted from 1; loose soil is 0."""
    assert terrain.strata is not None
    bare = terrain["elevation"] - terrain["bedrock"] < THIN * terrain.cell_size
    rock = np.where(bare, terrain["bedrock"], terrain["elevation"])
    numbers = terrain.strata.exposed(rock, terrain["bedrock"]) + 1
    return terrain.replace(own_layers={"stratum": numbers.astype(np.float32)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="cells along a side")
    parser.add_argument("--steps", type=int, default=200, help="iterations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the noise")
    parser.add_argument("--out", type=Path, default=Path("out/chiba"), help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    images: list[Image.Image] = []
    titles: list[str] = []
    for name, lying in LYING.items():
        terrain = exposed(erode(options.size, options.steps, options.seed, lying))
        images += [
            sw.render_view(terrain, size=(900, 560), azimuth=150, pitch=38),
            sw.overlay(terrain, "stratum", title="exposed layer, 0 is loose soil", limits=(0.0, 5.0), width=512),
        ]
        titles += [f"{name} strata after {options.steps}", "exposed layers"]
        sw.hillshade(terrain, options.out / f"chiba_strata_{name}_shape.png")
    sw.side_by_side(images, titles, options.out / "chiba_strata.png", columns=2, height=480)


if __name__ == "__main__":
    main()
