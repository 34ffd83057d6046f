"""Figures 5 to 9 of Jákó & Tóth 2011: thermal and hydraulic erosion, separate and combined, ripples, depth limit.

    python examples/jako_figures.py                       512 x 512 cells, 1000 iterations, into out/jako
    python examples/jako_figures.py --size 128 --steps 200

Every figure is drawn twice: with Table 2 of the paper, and with the nearest parameters that reproduce the
pictures of the paper. Prints measurements: local minima, lakes, the roughness of lake floors and of still water.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import slopewash as sw

TABLE_2 = sw.VirtualPipes()
NEAREST = replace(TABLE_2, sediment_capacity=0.1, maximum_erosion_depth=1.0)
"""Two numbers of Table 2 changed, both within the range that the paper gives for them (0.1 .. 3 and 0 .. 40)."""
SETS = {"table2": TABLE_2, "nearest": NEAREST}

SEED, ROUGHNESS = 0, 0.1
"""The paper gives neither. Rougher ground hides the valleys of Table 2 in noise."""
LAKE_DEPTH, SHORE_DEPTH = 1.0, 0.02
"""Cells of depth that make a lake, and that count as wet."""
STILL_REACH = 4
"""Cells between still water and the nearest shore."""

Field = NDArray[np.float64]
View = Literal["map", "bare", "perspective"]

PICTURES: dict[View, Callable[[sw.Terrain, int], Image.Image]] = {
    "map": lambda terrain, width: sw.render(terrain, width=width),
    "bare": lambda terrain, width: sw.hillshade(terrain, width=width),
    "perspective": lambda terrain, width: sw.render(terrain, view="perspective", width=width),
}


def main(words: Sequence[str] | None = None) -> None:
    """Run everything and write the sheets."""
    parser = argparse.ArgumentParser(description="Figures 5 to 9 of Jákó & Tóth 2011.")
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--steps", type=int, default=1000, help="iterations of every run")
    parser.add_argument("--seed", type=int, default=SEED, help="of the diamond-square terrain")
    parser.add_argument("--roughness", type=float, default=ROUGHNESS, help="of the diamond-square terrain, 0 .. 1")
    parser.add_argument("--out", type=Path, default=Path("out/jako"), help="folder for the pictures")
    parser.add_argument("--width", type=int, default=1024, help="pixels across each map or view")
    parser.add_argument("--backend", default="auto", help="auto, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)

    @cache
    def eroded(start: sw.Terrain, model: sw.VirtualPipes) -> sw.Terrain:
        simulation = sw.Simulation(start, model, backend=options.backend, edges="closed")
        simulation.add(sw.Progress())
        simulation.run(steps=options.steps)
        return as_flowing(simulation.terrain, model)

    def draw(name: str, view: View, terrains: dict[str, sw.Terrain]) -> None:
        images = [PICTURES[view](terrain, options.width) for terrain in terrains.values()]
        columns = 2 if len(images) == 4 else None
        sw.side_by_side(images, list(terrains), options.out / f"{name}.png", columns=columns)

    blocks = regular_blocks(max(options.size // 4, 16))
    random = sw.generate("diamond_square", size=options.size, seed=options.seed, roughness=options.roughness)
    report("initial", random)
    for name, model in SETS.items():
        thermal, hydraulic = (eroded(blocks, replace(model, processes=p)) for p in ("thermal", "hydraulic"))
        regular = {"initial": blocks, "figure 5: thermal": thermal, "figure 6: hydraulic": hydraulic}
        draw(f"figure5_6_{name}", "perspective", regular)

        hydraulic, thermal = (eroded(random, replace(model, processes=p)) for p in ("hydraulic", "thermal"))
        both = eroded(random, model)
        four = {"7a: initial": random, "7b: hydraulic": hydraulic, "7c: thermal": thermal, "7d: combined": both}
        draw(f"figure7_{name}", "map", four)
        draw(f"figure7_{name}_bare", "bare", four)
        draw(f"figure7d_{name}", "perspective", {"7d: combined": both})

        original = eroded(random, replace(model, sediment_volume=0.0))
        pair = {"8, upper: sediment has no volume": original, "8, lower: sediment counts as water": both}
        draw(f"figure8_{name}", "map", pair)
        draw(f"figure8_{name}_near", "perspective", {title: north_lake(terrain) for title, terrain in pair.items()})

        deep, table, shallow = (
            eroded(random, replace(model, maximum_erosion_depth=limit)) for limit in (math.inf, 10.0, 1.0)
        )
        limits = {"9, upper: no depth limit": deep, "9, lower: limit 10 cells": table, "limit 1 cell": shallow}
        draw(f"figure9_{name}", "map", limits)

        for title, terrain in (("hydraulic", hydraulic), ("combined", both)):
            rise = " ".join(f"{height:.2f}" for height in valley_profile(terrain))
            print(f"{name}, {title}: banks rise {rise} cells over 0 .. 6 cells")
        for title, terrain in (four | pair | limits).items():
            if terrain is not random:
                report(f"{name}, {title}", terrain)
    print(f"pictures are in {options.out}")


def regular_blocks(size: int) -> sw.Terrain:
    """Four by four blocks with flat tops and flanks of slope two: the regular height field of figures 5 and 6."""
    spacing = size / 4
    offset = np.abs((np.arange(size) + 0.5) % spacing - spacing / 2)
    inwards = spacing / 2 - np.maximum(offset[:, None], offset[None, :])
    return sw.Terrain(np.clip(2 * (inwards - spacing / 8), 0, spacing / 2) * 10.0, cell_size=10.0)


def as_flowing(terrain: sw.Terrain, model: sw.VirtualPipes) -> sw.Terrain:
    """Return the terrain with all that flows as its water, so that surfaces are drawn where the pipes have them.

    The paper's water depth d contains the sediment. Sediment per water, which colours the water, stays as it is.
    """
    water, suspended = terrain["water"], terrain["suspended"]
    flowing = water + np.float32(model.sediment_volume) * suspended
    load = suspended * (flowing / np.maximum(water, np.float32(1e-6)))
    return terrain.replace(water=flowing, suspended=load)


def north_lake(terrain: sw.Terrain) -> sw.Terrain:
    """Cut out the northern lake and the valleys that reach it."""
    rows, columns = terrain.shape
    window = (slice(0, rows * 5 // 16), slice(columns * 7 // 16, columns * 15 // 16))
    layers = {name: layer[window] for name, layer in terrain.items() if name != "elevation"}
    part = sw.Terrain(terrain["elevation"][window], cell_size=terrain.cell_size)
    return part.replace(**layers)


def report(name: str, terrain: sw.Terrain) -> None:
    """Print the measures of one terrain."""
    measured = ", ".join(f"{what} {value:.3g}" for what, value in measures(terrain).items())
    print(f"{name}: {measured}")


def measures(terrain: sw.Terrain) -> dict[str, float]:
    """Measure a terrain; lengths are in cells.

    `floor` and `surface` are the deviations of the bed of still water and of its surface from the mean of their
    surroundings (3 x 3 and 9 x 9 cells), `checkerboard` the part of the former that alternates from cell to cell.
    """
    cell = terrain.cell_size
    bed = terrain["elevation"].astype(np.float64) / cell
    flowing = terrain["water"] / cell if "water" in terrain else np.zeros_like(bed)
    lake = flowing > LAKE_DEPTH
    result = {"local minima": float(sw.local_minima(terrain["elevation"])), "lake share": float(lake.mean())}
    dry = flowing < SHORE_DEPTH
    steepest_talus = math.degrees(math.atan(TABLE_2.talus_slope_range + TABLE_2.talus_slope_bias))
    if "slope" in terrain and dry.any():
        result["steeper than talus"] = float((terrain["slope"] > steepest_talus)[dry].mean())
    still = box_mean(lake.astype(np.float64), STILL_REACH) > 1 - 1e-6
    if still.any():
        rows, columns = np.indices(bed.shape)
        rough = bed - box_mean(bed, 1)
        surface = bed + flowing
        load = terrain["suspended"] / cell
        result |= {
            "deepest": float(flowing.max()),
            "sediment share": float((load[still] / (flowing + load)[still]).mean()),
            "floor": root_mean_square(rough[still]),
            "checkerboard": root_mean_square(box_mean(rough * (-1.0) ** (rows + columns), STILL_REACH)[still]),
            "surface": root_mean_square((surface - box_mean(surface, STILL_REACH))[still]),
        }
    return result


def valley_profile(terrain: sw.Terrain) -> Field:
    """Median rise of the banks at 0 .. 6 cells beside running water, in cells: equal steps are a V, one step is a slot.

    Measured along rows or columns, whichever crosses the valley better, from the 7 % of the cells with the largest flow
    that are not lake and have no lower ground within 6 cells to either side; none or few of them give NaN.
    """
    reach = 6
    bed = terrain["elevation"].astype(np.float64) / terrain.cell_size
    busy = (terrain["flow"] > np.quantile(terrain["flow"], 0.93)) & (terrain["water"] < LAKE_DEPTH * terrain.cell_size)
    busy[:reach], busy[-reach:], busy[:, :reach], busy[:, -reach:] = False, False, False, False
    rows, columns = (cells[:, None] for cells in np.nonzero(busy))
    along = np.arange(-reach, reach + 1)
    across = np.stack([bed[rows, columns + along], bed[rows + along, columns]]) - bed[rows, columns]
    banks = np.minimum(across[..., 0], across[..., -1])
    best = np.where((banks[0] > banks[1])[:, None], across[0], across[1])
    best = best[best.min(axis=1, initial=0.0) >= 0]
    if len(best) < 20:
        return np.full(reach + 1, np.nan)
    both_banks = (best + best[:, ::-1]) / 2
    return np.asarray(np.median(both_banks, axis=0)[reach:])


def box_mean(field: Field, reach: int) -> Field:
    """Mean over the square of `reach` cells around every cell."""
    for axis in (0, 1):
        padding = [(reach, reach) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(field, padding, mode="edge")
        field = np.mean([np.roll(padded, -k, axis) for k in range(2 * reach + 1)], axis=0)
        field = field[: padded.shape[0] - padding[0][1] * 2, : padded.shape[1] - padding[1][1] * 2]
    return field


def root_mean_square(values: Field) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


if __name__ == "__main__":
    main()
