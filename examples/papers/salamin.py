"""Figure 1 and Table I of Salamin & Szénási: rain on a cone for 50 iterations, and how long that takes.

    python examples/papers/salamin.py            into out/papers/salamin
    python examples/papers/salamin.py --only speed

Figure 1 is drawn with the preset `salamin` and with `salamin_printed`, the values of Jákó & Tóth.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import sheet, views
from examples.papers.record import Record, Row, options_of, seconds_of

PUBLISHED = {256: (3.3678, 0.7072), 512: (12.4146, 1.6418), 1024: (51.1994, 4.5739), 2048: (198.3065, 16.3993)}
"""Table I: cells along a side, then seconds for 50 iterations on an i5-13600K and on a GTX 1050 Ti."""
RADII = (0.25, 0.5, 0.75)


def main(words: Sequence[str] | None = None) -> None:
    """Make the figure and the table."""
    options = options_of("salamin", words, doc=__doc__)
    record = Record("salamin", quick=options.quick)
    if options.only != "speed":
        draw(options.out, record, 48 if options.quick else 256, options.backend)
    if options.only != "figures":
        measure(record, (32,) if options.quick else tuple(PUBLISHED), options.backend)
    record.write(options.out)


def draw(out: Path, record: Record, size: int, backend: str) -> None:
    """Figure 1: the cone before and after."""
    cones, titles, rows = [], [], []
    for name in ("salamin", "salamin_printed"):
        preset = sw.find_preset(name)
        cone = sw.preset_source(name, size=size).make()
        simulation = sw.Simulation(cone, preset.model, backend=backend, edges=preset.edges)
        simulation.run(preset.steps)
        after = simulation.terrain
        cones += [cone, after]
        titles += [f"{name}: start", f"{name}: after {preset.steps} iterations"]
        depth = [float(after[layer].max() / after.cell_size) for layer in ("wear", "deposit")]
        rows.append((name, *(rills(after, radius) for radius in RADII), *depth, simulation.budget.solids_drift))
    sheet(views(cones, (860, 540), water=False), titles, out / "salamin-fig1.jpg", columns=2)
    columns = [f"relief along the circle at {radius:g} of the radius" for radius in RADII]
    record.table("figure1", ("preset", *columns, "deepest rill", "thickest deposit", "solids gained or lost"), rows)


def rills(terrain: sw.Terrain, radius: float) -> float:
    """Standard deviation of the height above the smooth cone along a circle, in cells."""
    size = len(terrain["elevation"])
    angle = np.linspace(0, 2 * np.pi, 4 * size, endpoint=False)
    row, column = (np.rint((size - 1 + radius * size * f(angle)) / 2).astype(int) for f in (np.sin, np.cos))
    above: NDArray[np.float32] = terrain["elevation"] - sw.generate("cone", size=size)["elevation"]
    return float(np.std(above[row, column]) / terrain.cell_size)


def measure(record: Record, sizes: Sequence[int], backend: str) -> None:
    """Table I: seconds for 50 iterations."""
    preset = sw.find_preset("salamin")
    rows: list[Row] = []
    for size in sizes:
        cone = sw.preset_source("salamin", size=size).make()
        start = partial(sw.Simulation, cone, preset.model, backend=backend, edges=preset.edges)
        wall, used = seconds_of(start, preset.steps)
        cpu, gpu = PUBLISHED.get(size, (None, None))
        rows.append((f"{size} x {size}", cpu, gpu, wall, used, cpu and cpu / wall))
    columns = ("map", "published CPU, s", "published GPU, s", f"{backend} here, s", "CPU time, s", "times faster")
    record.table("table1", columns, rows)


if __name__ == "__main__":
    main()
