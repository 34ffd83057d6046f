"""All five sources on one terrain: the same dome, eroded by each of their presets.

python examples/papers/one_terrain.py        into out/papers/one_terrain
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import colour_bar, plan, sheet, views
from examples.papers.record import Record, Row, options_of, seconds_of

STEPS = {"jako2011": 1000, "salamin": 50, "outerrain": 300, "chiba_fig2": 200, "bezin2010": 6000}
"""Presets, each with the iterations that its figures have."""
STREAMS = (90.0, 140.0, 190.0, 240.0)
"""Where the streams of `bezin2010` begin, in degrees from north: around the summit, but not behind it."""
SUMMIT = (0.17, 0.23)
"""How far from the middle, as fractions of the side: in the lowest place of this ring near each of the directions."""
ASIDE = 20.0
"""Degrees to either side of a direction in which that place is looked for."""
CUTTING = 0.06
"""Erosion rate of `bezin2010`, as in its figure 4: the beds of its own 0.04 are too shallow to be seen."""
CHANGE = 30.0
"""Metres of erosion and of deposition at the ends of the colour bar of all maps."""
NEAR: dict[str, Any] = {"pitch": 44.0, "zoom": 1.12, "sun": (250.0, 26.0), "supersampling": 3}
"""A low sun, for beds of a few metres."""
MAP = 440
"""Pixels along a side of these maps."""
SEED, CELL = 5, 10.0


def main(words: Sequence[str] | None = None) -> None:
    """Erode, draw and measure."""
    options = options_of("one_terrain", words, doc=__doc__)
    record = Record("one_terrain", quick=options.quick)
    size = 33 if options.quick else 129
    start = sw.generate("dome", size=size, cell_size=CELL, seed=SEED, relief=0.25 * size * CELL, noise=0.4)
    steps = dict.fromkeys(STEPS, 3) if options.quick else STEPS
    if options.only != "speed":
        draw(options.out / "one-terrain.jpg", record, start, steps, options.backend)
    if options.only != "figures":
        measure(record, start, steps, options.backend)
    record.write(options.out)


def simulation_of(name: str, start: sw.Terrain, backend: str) -> sw.Simulation:
    """A run of a preset that starts from this terrain."""
    preset = sw.find_preset(name)
    model = preset.model
    if name == "bezin2010":  # streams that the camera sees, instead of one on the highest ground
        start, model = start.replace(emitters=streams(start)), model.replace(erosion_rate=CUTTING)
    # Between closed edges all water would stand around the dome.
    return sw.Simulation(start, model, backend=backend, edges="open" if name == "jako2011" else preset.edges)


def streams(terrain: sw.Terrain) -> list[sw.Emitter]:
    """Return an emitter in the lowest place near each of the directions around the middle."""
    ground = terrain["elevation"]
    y, x = ((np.arange(n) + 0.5) / n - 0.5 for n in ground.shape)
    away, bearing = np.hypot(x, y[:, None]), np.degrees(np.arctan2(x, -y[:, None]))
    ring = (away > SUMMIT[0]) & (away < SUMMIT[1])
    found = []
    for direction in STREAMS:
        near = ring & (np.abs((bearing - direction + 180) % 360 - 180) < ASIDE)
        i, j = np.unravel_index(int(np.where(near, ground, np.inf).argmin()), ground.shape)
        found.append(sw.Emitter(x=(float(j) + 0.5) * CELL, y=(float(i) + 0.5) * CELL, radius=20.0, rate=12))
    return found


def draw(file: Path, record: Record, start: sw.Terrain, steps: Mapping[str, int], backend: str) -> None:
    """What each preset leaves of the dome, as pictures, as maps of the change, and in metres."""
    grounds, titles, maps = [start], ["the start", "from above"], [plan(start, MAP, water=False)]
    rows: list[Row] = []
    for name, count in steps.items():
        simulation = simulation_of(name, start, backend)
        simulation.run(count)
        simulation.settle(0, dry=name == "bezin2010")  # its particles would hide the bed
        after = simulation.terrain
        grounds.append(after)
        titles += [f"{name}, {count} iterations", "change of its ground"]
        change = after["elevation"] - start["elevation"]
        bare = sw.Terrain(start["elevation"], cell_size=CELL, difference=change)
        maps.append(sw.overlay(bare, "difference", limits=(-CHANGE, CHANGE), width=MAP, framed=False))
        changed = float(np.mean(np.abs(change) > 0.01 * start.cell_size))
        amounts = [float(amount) for amount in (np.abs(change).mean(), -change.min(), change.max())]
        rows.append(
            (f"`{name}`", simulation.model.name, count, *amounts, 100 * changed, simulation.budget.solids_drift)
        )
    seen = views(grounds, (round(1.4 * MAP), MAP), **NEAR)
    images = [image for pair in zip(seen, maps, strict=True) for image in pair]
    bar = partial(colour_bar, layer="difference", limits=(-CHANGE, CHANGE))
    sheet(images, titles, file, columns=4, key=bar)
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
