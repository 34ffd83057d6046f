"""All five sources on one terrain: the same dome, eroded by each of their presets.

python examples/papers/one_terrain.py        into out/papers/one_terrain
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import HIGH, sheet, views
from examples.papers.record import Record, Row, options_of, seconds_of

STEPS = {"jako2011": 1000, "salamin": 50, "outerrain": 300, "chiba_fig2": 200, "bezin2010": 3000}
"""Presets, each with the iterations that its figures have."""
STREAMS = (0.3, 0.5, 0.7)
"""Where the streams of `bezin2010` begin, from west to east, as fractions of the side."""
SEED, CELL = 5, 10.0


def main(words: Sequence[str] | None = None) -> None:
    """Erode, draw and measure."""
    options = options_of("one_terrain", words, doc=__doc__)
    record = Record("one_terrain", quick=options.quick)
    size = 33 if options.quick else 129
    start = sw.generate("dome", size=size, cell_size=CELL, seed=SEED, relief=0.2 * size * CELL)
    steps = dict.fromkeys(STEPS, 3) if options.quick else STEPS
    if options.only != "speed":
        draw(options.out / "one-terrain.jpg", record, start, steps, options.backend)
    if options.only != "figures":
        measure(record, start, steps, options.backend)
    record.write(options.out)


def simulation_of(name: str, start: sw.Terrain, backend: str) -> sw.Simulation:
    """A run of a preset that starts from this terrain."""
    preset = sw.find_preset(name)
    if name == "bezin2010":  # streams that the camera sees, instead of one on the highest ground
        places = [(x * start.width, 0.5 * start.height) for x in STREAMS]
        start = start.replace(emitters=[sw.Emitter(x=x, y=y, radius=20.0, rate=20) for x, y in places])
    return sw.Simulation(start, preset.model, backend=backend, edges=preset.edges)


def draw(file: Path, record: Record, start: sw.Terrain, steps: Mapping[str, int], backend: str) -> None:
    """What each preset leaves of the dome, as pictures and in metres."""
    grounds, titles = [start], ["the start"]
    rows: list[Row] = []
    for name, count in steps.items():
        simulation = simulation_of(name, start, backend)
        simulation.run(count)
        simulation.settle(0, dry=name == "bezin2010")  # its particles would hide the bed
        after = simulation.terrain
        grounds.append(after)
        titles.append(f"{name}, {count} iterations")
        change = after["elevation"] - start["elevation"]
        changed = float(np.mean(np.abs(change) > 0.01 * start.cell_size))
        amounts = [float(amount) for amount in (np.abs(change).mean(), -change.min(), change.max())]
        rows.append(
            (f"`{name}`", simulation.model.name, count, *amounts, 100 * changed, simulation.budget.solids_drift)
        )
    sheet(views(grounds, (760, 560), **HIGH), titles, file, columns=2)
    columns = (
        "preset", "model", "iterations", "mean change, m", "deepest cut, m", "thickest deposit, m", "ground changed, %",
        "solids gained or lost",
    )  # fmt: skip
    record.table("models", columns, rows)


def measure(record: Record, start: sw.Terrain, steps: Mapping[str, int], backend: str) -> None:
    """Seconds that each run takes."""
    rows: list[Row] = []
    for name, count in steps.items():
        spent = seconds_of(partial(simulation_of, name, start, backend), count, rounds=2)
        rows.append((f"`{name}`", count, *spent, 1000 * spent.wall / count))
    record.table("times", ("preset", "iterations", f"{backend}, s", "CPU time, s", "ms/iteration"), rows)


if __name__ == "__main__":
    main()
