"""Figures 2-4, plates 1 and 2 and Table I of Chiba, Muraoka & Fujita 1998.

    python examples/papers/chiba1998.py          into out/papers/chiba1998
    python examples/papers/chiba1998.py --only speed
    python examples/papers/chiba1998.py --only chiba_fig2       one figure with its pictures: 10 CPU-s, kernels compiled

Figures 2-4 show terrain and velocity field every 50 iterations; figure 2 is drawn a second time on a cylinder turned by
30 degrees, where valleys cannot follow the grid. Plate 1 is the terrain of figure 2 in winter, plate 2 has five strata.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.record import Record, Row, options_of, sheet

FIGURES = {"chiba_fig2": 7062, "chiba_fig3": 5001, "chiba_fig4": 6189, "chiba_strata": 5697}
"""Presets, and seconds of Table I on an SGI O2."""
SNAPSHOTS = 4
TURN = 30.0
SEED = 1
FLANK = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Places between crest and foot at which the figures are measured."""
THIN = 0.1
"""Loose soil thinner than this fraction of a cell is drawn as the rock beneath it."""
LYING = {"level": {}, "tilted": {"dip": 8.0, "direction": 90.0}}


def main(words: Sequence[str] | None = None) -> None:
    """Make the figures, the plates and the table; the times are those of the figures."""
    options = options_of("chiba1998", words, doc=__doc__, parts=list(FIGURES))
    size, steps = (24, 4) if options.quick else (128, 200)
    draws = options.only != "speed"
    record = Record("chiba1998")
    shapes: list[Row] = []
    times: list[Row] = []
    alone = options.only in FIGURES
    for name, published in FIGURES.items():
        if alone and name != options.only:
            continue
        start = start_of(name, size)
        simulation, images, seconds = run(start, name, steps, options.backend, draws=draws)
        model: sw.VelocityField = sw.preset(name)  # type: ignore[assignment]
        rates = [f"{rate:g}" for rate in (model.flow_erosion, model.collision_erosion, model.transport_capacity)]
        shown = ["five layers", "five layers", "1"] if name == "chiba_strata" else rates
        times.append((name, *shown, f"{size} x {size}", published, seconds, published / seconds))
        if draws and name != "chiba_strata":
            titles = [
                f"{what} after {steps * (k + 1) // SNAPSHOTS}" for k in range(SNAPSHOTS) for what in ("water", "ground")
            ]
            sheet(images, titles, options.out / f"chiba-fig{name[-1]}.jpg", columns=4)
            shapes.append((f"figure {name[-1]}", *measures(simulation.terrain, start)))
        if draws and name == "chiba_fig2" and not alone:
            plate_1(simulation.terrain, options.out / "chiba-plate1.jpg", quick=options.quick)
            shapes += turned(options.out / "chiba-turned.jpg", simulation.terrain, size, steps, options.backend)
    if alone:
        print(f"{options.only}: {times[0][6]:.1f} s of wall time for {steps} iterations, pictures apart")
        return
    if draws:
        plate_2(options.out / "chiba-plate2.jpg", size, steps, options.backend)
        places = [f"relief at {place:g}" for place in FLANK] + ["lowering near the crest", "near the foot"]
        record.table("figures", ("", *places, "cells above or below all neighbours, %"), shapes)
    columns = ("preset", "K_q", "K_e", "K_c", "array", "published, s", f"{options.backend} here, s", "times faster")
    record.table("table1", columns, times)
    print(f"numbers are in {record.write(options.out, quick=options.quick)}")


def start_of(name: str, size: int, *, lying: Mapping[str, float] | None = None, **changes: float) -> sw.Terrain:
    """The cylinder of a preset, with its strata, level or as they lie."""
    preset = sw.find_preset(name)
    options = {**preset.start, "size": size, "cell_size": 1280.0 / size, **changes}
    terrain = sw.generate(preset.generator, **options, seed=SEED)
    if preset.strata is None:
        return terrain
    return terrain.replace(strata=preset.strata.fitted(terrain.relief).replace(**(lying or {})))


def run(
    start: sw.Terrain, name: str, steps: int, backend: str, *, draws: bool
) -> tuple[sw.Simulation, list[Image.Image], float]:
    """Erode, with pictures of water and ground at intervals; seconds are those of the simulation alone."""
    simulation = sw.Simulation(start, sw.preset(name), backend=backend, edges="open")
    images: list[Image.Image] = []
    seconds = 0.0
    for part in range(1, SNAPSHOTS + 1):
        started = time.perf_counter()
        simulation.run(steps * part // SNAPSHOTS - simulation.step)
        seconds += time.perf_counter() - started
        if draws:
            images += draw(simulation.terrain)
    return simulation, images, seconds


def draw(terrain: sw.Terrain) -> list[Image.Image]:
    """Velocity field and terrain, left and right as in the paper."""
    fastest = float(np.quantile(terrain["velocity"], 0.99))
    field = sw.overlay(terrain, "velocity", title="speed of the water", limits=(0.0, max(fastest, 1e-6)), width=420)
    return [field.convert("RGB").resize((420, 400)), view(terrain, (640, 400))]


def view(terrain: sw.Terrain, size: tuple[int, int]) -> Image.Image:
    """The ground without water, from the south-east."""
    bare = terrain.replace(water=None, suspended=None)
    return sw.render_view(bare, size=size, azimuth=150, pitch=38)


def turned(file: Path, straight: sw.Terrain, size: int, steps: int, backend: str) -> list[Row]:
    """Figure 2 on a cylinder whose axis is not one of the grid's."""
    start = start_of("chiba_fig2", size, turn=TURN)
    simulation, _, _ = run(start, "chiba_fig2", steps, backend, draws=False)
    maps = [sw.hillshade(terrain, width=640) for terrain in (straight, simulation.terrain)]
    sheet(maps, ["figure 2, ridge from west to east", f"turned by {TURN:g} degrees"], file)
    return [(f"figure 2 turned by {TURN:g}°", *measures(simulation.terrain, start, TURN))]


def plate_1(terrain: sw.Terrain, file: Path, *, quick: bool) -> None:
    """Plate 1: figure 2's terrain in winter, on more cells than were eroded so that snow has an edge to lie on."""
    bare = sw.Terrain(terrain["elevation"], cell_size=terrain.cell_size)
    finer = bare if quick else bare.resampled(4 * max(bare.shape))
    sw.render_view(finer, size=(1600, 900), season="winter", azimuth=155, pitch=22).convert("RGB").save(
        file, quality=85
    )


def plate_2(file: Path, size: int, steps: int, backend: str) -> None:
    """Plate 2: five strata eroded to terraces, level and tilted."""
    images: list[Image.Image] = []
    titles: list[str] = []
    for lying, how in LYING.items():
        start = start_of("chiba_strata", size, lying=how)
        simulation, _, _ = run(start, "chiba_strata", steps, backend, draws=False)
        terrain = exposed(simulation.terrain)
        layers = sw.overlay(terrain, "stratum", title="exposed layer, 0 is loose soil", limits=(0.0, 5.0), width=480)
        images += [view(terrain, (760, 480)), layers.convert("RGB").resize((500, 480))]
        titles += [f"{lying} strata after {steps}", "exposed layers"]
    sheet(images, titles, file, columns=2)


def exposed(terrain: sw.Terrain) -> sw.Terrain:
    """Add the index of the exposed layer, counted from 1; loose soil is 0."""
    assert terrain.strata is not None
    bare = terrain["elevation"] - terrain["bedrock"] < THIN * terrain.cell_size
    rock = np.where(bare, terrain["bedrock"], terrain["elevation"])
    numbers = terrain.strata.exposed(rock, terrain["bedrock"]) + 1
    return terrain.replace(own_layers={"stratum": numbers.astype(np.float32)})


def measures(terrain: sw.Terrain, start: sw.Terrain, turn: float = 0.0) -> list[float]:
    """Relief along the strike from crest to foot, lowering at both ends, and speckle."""
    after, before = (t["elevation"].astype(np.float64) / t.cell_size for t in (terrain, start))
    size = len(after)
    lines = [strike(size, place, turn) for place in FLANK]
    relief = [float(after[line].std()) for line in lines]
    lowering = [float((before - after)[line].mean()) for line in (lines[0], lines[-1])]
    heights = terrain["elevation"]
    odd = sw.local_minima(heights, border=1) + sw.local_minima(-heights, border=1)
    return [*relief, *lowering, 100 * odd / (size - 2) ** 2]


def strike(size: int, place: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a line along the southern flank, at a place between crest (0) and foot (1)."""
    angle, middle = np.radians(turn), (size - 1) / 2
    along = np.linspace(-0.35, 0.35, 2 * size) * size
    # Turned, the foot lies nearer to the corner than to the edge, and its line would leave the grid.
    down = 0.5 * size * place * (1.0 if turn == 0 else 0.8)
    row = middle + along * np.sin(angle) + down * np.cos(angle)
    column = middle + along * np.cos(angle) - down * np.sin(angle)
    return tuple(np.clip(np.rint(at), 0, size - 1).astype(int) for at in (row, column))


if __name__ == "__main__":
    main()
