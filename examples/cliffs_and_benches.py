"""Cliffs and benches: the preset of one grid on alternating hard and soft layers, level and tilted.

    python examples/cliffs_and_benches.py
    python examples/cliffs_and_benches.py --size 256 --steps 1500 --out out/small

Prints the mean slope of bare hard layers, of bare soft layers and of loose soil.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import slopewash as sw

PRESET = sw.find_preset("single_grid")
MODEL = PRESET.model.replace(
    rain_rate=0.03,  # narrower rivers leave more of the benches
    thermal_rate=3.0,  # cliffs crumble as fast as rivers undermine them
    talus_slope_range=0.6,
    talus_slope_bias=0.5,  # soil stands at 27 degrees, hard rock at 47
)
RELIEF = 0.15
"""Relief of the initial terrain relative to its side."""
EXTENT = 5120.0
"""Side of the terrain in metres, with any number of cells."""
CYCLES = 5
"""Hard layers over the relief of the initial terrain."""
HARD, HARD_SHARE = 0.05, 0.4
"""Erodibility of a hard layer, and its fraction of the thickness of a hard and a soft one together."""
LYING: dict[str, dict[str, Any]] = {"level": {}, "tilted": {"dip": 6.0, "direction": 70.0}}


def start(size: int, seed: int, lying: dict[str, Any]) -> sw.Terrain:
    """Return a dome with bands beneath it, twice as deep as it is high, so that tilted ones reach its far side."""
    terrain = sw.generate(PRESET.generator, size=size, extent=EXTENT, relief=RELIEF * EXTENT, seed=seed)
    strata = sw.strata_bands(
        count=4 * CYCLES, thickness=HARD_SHARE, soft_thickness=1 - HARD_SHARE, hard=HARD, **lying
    ).fitted(2 * terrain.relief)
    return terrain.replace(strata=strata)


def exposed(terrain: sw.Terrain) -> NDArray[np.int64]:
    """Index of the exposed layer, from 0 at the top: even ones are hard, odd ones soft, -1 is loose soil."""
    assert terrain.strata is not None
    return terrain.strata.exposed(terrain["elevation"], terrain["bedrock"])


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Cliffs and benches in layered ground.")
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--steps", type=int, default=2400, help="iterations")
    parser.add_argument("--settle", type=int, default=400, help="iterations in which the sediment settles")
    parser.add_argument("--seed", type=int, default=7, help="seed of the dome")
    parser.add_argument("--out", type=Path, default=Path("out/strata"), help="folder for the pictures")
    parser.add_argument("--width", type=int, default=1200, help="pixels across each picture")
    parser.add_argument("--backend", default="auto", help="auto, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, lying in LYING.items():
        simulation = sw.Simulation(start(options.size, options.seed, lying), MODEL, backend=options.backend)
        simulation.add(sw.Progress())
        simulation.run(options.steps)
        simulation.settle(options.settle)
        after = simulation.terrain
        layer = exposed(after)
        kinds = {"hard": (layer >= 0) & (layer % 2 == 0), "soft": (layer >= 0) & (layer % 2 == 1), "loose": layer < 0}
        steep = ", ".join(f"{kind} {after['slope'][where].mean():.0f}°" for kind, where in kinds.items() if where.any())
        print(f"{name}: {steep}; mass-balance error of solids {simulation.budget.solids_drift:.1e}", flush=True)
        size = (options.width, options.width * 5 // 8)
        watered = sw.add_water(after)
        sw.render_view(watered, options.out / f"strata-{name}.png", size=size, zoom=1.25, season="desert")
        sw.hillshade(after, options.out / f"strata-{name}-shape.png", width=options.width)
        hardness = after.replace(own_layers={"hardness": 1 - after["erodibility"]})
        sw.overlay(
            hardness, "hardness", options.out / f"strata-{name}-exposed.png", title="hardness of the exposed layers",
            limits=(0.0, 1.0), width=options.width,
        )  # fmt: skip
        sw.write(after, options.out / f"strata-{name}.npz")
    print(f"pictures are in {options.out}")


if __name__ == "__main__":
    main()
