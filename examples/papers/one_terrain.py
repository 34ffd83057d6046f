"""All five sources on one terrain: the same dome, eroded by each of their presets.

python examples/papers/one_terrain.py        into out/papers/one_terrain
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.record import Record, Row, options_of, sheet

STEPS = {"jako2011": 1000, "salamin": 50, "outerrain": 300, "chiba_fig2": 200, "bezin2010": 3000}
"""Presets, each with the iterations that its figures have."""
SEED, CELL = 5, 10.0


def main(words: Sequence[str] | None = None) -> None:
    """Erode, draw and measure."""
    options = options_of("one_terrain", words, doc=__doc__)
    record = Record("one_terrain")
    size = 33 if options.quick else 129
    start = sw.generate("dome", size=size, cell_size=CELL, seed=SEED, relief=0.2 * size * CELL)
    images, titles = [sw.render_view(start, size=(760, 520))], ["the start"]
    rows: list[Row] = []
    for name, steps in STEPS.items():
        preset = sw.find_preset(name)
        sw.Simulation(start, preset.model, backend=options.backend, edges=preset.edges).run(1)  # compiles the kernels
        simulation = sw.Simulation(start, preset.model, backend=options.backend, edges=preset.edges)
        started = time.perf_counter()
        simulation.run(3 if options.quick else steps)
        seconds = time.perf_counter() - started
        simulation.settle(0, dry=name == "bezin2010")  # its particles would hide the bed
        after = simulation.terrain
        images.append(sw.render_view(after, size=(760, 520)))
        titles.append(f"{name}, {simulation.step} iterations")
        change = after["elevation"] - start["elevation"]
        changed = float(np.mean(np.abs(change) > 0.01 * start.cell_size))
        rows.append(
            (
                f"`{name}`",
                preset.model.name,
                simulation.step,
                float(np.abs(change).mean()),
                float(-change.min()),
                float(change.max()),
                100 * changed,
                seconds,
                simulation.budget.solids_drift,
            )
        )
    sheet(images, titles, options.out / "one-terrain.jpg", columns=2)
    columns = (
        "preset", "model", "iterations", "mean change, m", "deepest cut, m", "thickest deposit, m", "ground changed, %",
        "seconds", "solids gained or lost",
    )  # fmt: skip
    record.table("models", columns, rows)
    print(f"numbers are in {record.write(options.out, quick=options.quick)}")


if __name__ == "__main__":
    main()
