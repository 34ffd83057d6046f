"""Figures 2-4, plates 1 and 2 and Table I of Chiba, Muraoka & Fujita 1998.

    python examples/papers/chiba1998.py          into out/papers/chiba1998
    python examples/papers/chiba1998.py --only speed
    python examples/papers/chiba1998.py --only chiba_fig2       one figure with its pictures: 10 CPU-s, kernels compiled

Figures 2-4 show terrain and velocity field every 50 iterations; figure 2 is drawn a second time on a cylinder turned by
30 degrees, where valleys cannot follow the grid. Plate 1 is figure 2 on twice as many cells in winter, plate 2 has five
strata.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image, ImageDraw

import slopewash as sw
from slopewash.rendering.colours import colour_table
from slopewash.terrain.fields import layer_spec

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import HIGH, box_mean, colour_bar, legend, plan, sheet, views
from examples.papers.profiles import section, write
from examples.papers.record import Record, Row, options_of, seconds_of

Line = tuple[NDArray[np.int64], NDArray[np.int64]]

FIGURES = ("chiba_fig2", "chiba_fig3", "chiba_fig4")
TIMED = {"chiba_fig2": 7062, "chiba_fig3": 5001, "chiba_fig4": 6189, "chiba_strata": 5697}
"""Presets, and seconds of Table I on an SGI O2."""
SNAPSHOTS = 4
TURN = 30.0
SEED = 0
PASSING = (100.0, 50_000.0)
"""Water that passes a cell, in m² per unit of time, at the ends of the colour bar of all figures."""
FLANK = (0.2, 0.4, 0.6, 0.8)
"""Places between crest and foot at which the figures are measured."""
DEEP = 0.3
"""Cells of depth that make a valley."""
STREAM = 60
"""Cells drained that make a stream."""
FINER = 6
"""Cells of plate 2 as drawn for each cell of the model, along a side, so that layers have clean edges."""
OUTLINE = 3
"""Such cells along its edges that are drawn dark."""
ENDS = 16
"""Columns of 128 that plate 2 leaves out on either side."""
WEST = 40
"""Columns of 256 that plate 1 leaves out in the west: a valley of the northern flank would cut into its corner."""
CRAG = 24
"""Cells of plate 1 as drawn, of which there are four to a cell of the model, within which crags rise and fall."""
CRAGS = (0.3, 1.8)
"""Root-mean-square height of these crags, in such cells: on level ground and on walls."""
MAP_SUN = (315.0, 45.0)
LAWS: dict[str, dict[str, Any]] = {
    "as published": {"steering": "steepest", "breadth": 0, "creep_rate": 0.0, "slide_rate": 0.0},
    "points, no slides, gradient steering": {"breadth": 0, "creep_rate": 0.0, "slide_rate": 0.0},
    "points with creep and slides": {"breadth": 0},
    "breadth 2 without creep and slides": {"creep_rate": 0.0, "slide_rate": 0.0},
    **{f"breadth {breadth} with creep and slides": {"breadth": breadth} for breadth in (1, 2, 3)},
}
LYING = {"level": {}, "tilted": {"dip": 8.0, "direction": 90.0}}


def main(words: Sequence[str] | None = None) -> None:
    """Make the figures, the plates and the table."""
    options = options_of("chiba1998", words, doc=__doc__, parts=(*FIGURES, "plate1"))
    size, steps = (24, 4) if options.quick else (128, 200)
    if options.only in FIGURES:
        figure(options.only, options.out, size, steps, options.backend)
        return
    if options.only == "plate1":
        plate_1(options.out / "chiba-plate1.jpg", size, steps, options.backend)
        return
    record = Record("chiba1998", quick=options.quick)
    if options.only != "speed":
        draw(options.out, record, size, steps, options.backend)
        compare_laws(record, min(size, 48), min(steps, 100), options.backend)
    if options.only != "figures":
        measure_speed(record, size, steps, options.backend)
    record.write(options.out)


def draw(out: Path, record: Record, size: int, steps: int, backend: str) -> None:
    """Figures 2 to 4 and both plates."""
    shapes: list[Row] = []
    for name in FIGURES:
        start, eroded = figure(name, out, size, steps, backend)
        shapes.append((f"figure {name[-1]}", *measures(eroded, start)))
        if name == "chiba_fig2":
            shapes += turned(out / "chiba-turned.jpg", eroded, size, steps, backend)
    plate_1(out / "chiba-plate1.jpg", size, steps, backend)
    plate_2(out / "chiba-plate2.jpg", size, steps, backend)
    columns = (
        "", *(f"valleys at {100 * place:.0f} %" for place in FLANK), "confluences", "relief near the crest",
        "near the foot", "lowering near the crest", "near the foot", "cells above or below all neighbours, %",
    )  # fmt: skip
    record.table("figures", columns, shapes)


def figure(name: str, out: Path, size: int, steps: int, backend: str) -> tuple[sw.Terrain, sw.Terrain]:
    """Draw one of the figures 2 to 4; returns the terrain before and after."""
    start = start_of(name, size)
    stages = run(start, name, steps, backend)
    grounds = views(stages, (560, 420), water=False, **HIGH)
    images = [image for k, stage in enumerate(stages) for image in (water(stage), grounds[k])]
    titles = [title for k in range(SNAPSHOTS) for title in (f"after {steps * (k + 1) // SNAPSHOTS} iterations", "")]
    bar = partial(colour_bar, layer="flow", limits=PASSING)
    sheet(images, titles, out / f"chiba-fig{name[-1]}.jpg", columns=4, key=bar)
    if name == "chiba_fig4":
        sections(out / "chiba-fig4-sections.svg", start, stages[-1], steps)
    return start, stages[-1]


def compare_laws(record: Record, size: int, steps: int, backend: str) -> None:
    """What each law that is not the paper's does, with the rates of figure 4 on the smooth cylinder."""
    rows: list[Row] = []
    start = start_of("chiba_printed", size)
    for name, changes in LAWS.items():
        model = sw.VelocityField(collision_erosion=1e-3).replace(**changes)
        simulation = sw.Simulation(start, model, backend=backend, edges="open")
        simulation.run(steps)
        stays = simulation.budget.water_evaporated / simulation.budget.water_rain
        rows.append((name, speckle(simulation.terrain), 100 * stays))
    record.table("laws", ("", "cells above or below all neighbours, %", "water that stays on the ground, %"), rows)


def measure_speed(record: Record, size: int, steps: int, backend: str) -> None:
    """Table I: seconds of each run."""
    rows: list[Row] = []
    for name, published in TIMED.items():
        start = partial(sw.Simulation, start_of(name, size), sw.preset(name), backend=backend, edges="open")
        wall, used = seconds_of(start, steps, rounds=2)
        model: sw.VelocityField = sw.preset(name)  # type: ignore[assignment]
        rates = [f"{rate:g}" for rate in (model.flow_erosion, model.collision_erosion, model.transport_capacity)]
        shown = ["five layers", "five layers", "1"] if name == "chiba_strata" else rates
        rows.append((name, *shown, f"{size} x {size}", published, wall, used, published / wall))
    here = (f"{backend} here, s", "CPU time, s", "times faster")
    record.table("table1", ("preset", "K_q", "K_e", "K_c", "array", "published, s", *here), rows)


def start_of(name: str, size: int, *, lying: Mapping[str, float] | None = None, **changes: float) -> sw.Terrain:
    """The cylinder of a preset, with its strata, level or as they lie."""
    preset = sw.find_preset(name)
    options = {**preset.start, "size": size, "cell_size": 1280.0 / size, **changes}
    terrain = sw.generate(preset.generator, **options, seed=SEED)
    if preset.strata is None:
        return terrain
    return terrain.replace(strata=preset.strata.fitted(terrain.relief).replace(**(lying or {})))


def run(start: sw.Terrain, name: str, steps: int, backend: str) -> list[sw.Terrain]:
    """Erode; returns the terrain at equal intervals, the last at the end."""
    simulation = sw.Simulation(start, sw.preset(name), backend=backend, edges="open")
    stages: list[sw.Terrain] = []
    for part in range(1, SNAPSHOTS + 1):
        simulation.run(steps * part // SNAPSHOTS - simulation.step)
        stages.append(simulation.terrain)
    return stages


def eroded(start: sw.Terrain, name: str, steps: int, backend: str) -> sw.Terrain:
    """What a preset leaves of a terrain."""
    simulation = sw.Simulation(start, sw.preset(name), backend=backend, edges="open")
    simulation.run(steps)
    return simulation.terrain


def water(terrain: sw.Terrain) -> Image.Image:
    """The velocity field: the water that passes each cell."""
    return sw.overlay(terrain, "flow", limits=PASSING, width=420, framed=False)


def sections(file: Path, start: sw.Terrain, after: sw.Terrain, steps: int) -> None:
    """Heights from crest to foot, over the southern flank, and along it at 60 % of the way."""
    before, left = (t["elevation"].astype(np.float64) / t.cell_size for t in (start, after))
    half = len(before) // 2
    down = {
        "start, mean": before[half:].mean(axis=1), f"after {steps}, mean": left[half:].mean(axis=1),
        "valleys: 10 % of the cells are lower": np.quantile(left[half:], 0.1, axis=1),
        "ridges: 10 % are higher": np.quantile(left[half:], 0.9, axis=1),
    }  # fmt: skip
    fall = section("from crest to foot", "cells from the crest", np.arange(half, dtype=np.float64), down)
    line = strike(len(before), 0.6, 0.0)
    across = {"start": before[line], f"after {steps} iterations": left[line]}
    along = section("along the flank, 60 % of the way down", "cells", np.arange(2.0 * half), across)
    write([fall, along], file)


def turned(file: Path, straight: sw.Terrain, size: int, steps: int, backend: str) -> list[Row]:
    """Figure 2 on a cylinder whose axis is not one of the grid's."""
    start = start_of("chiba_fig2", size, turn=TURN)
    after = eroded(start, "chiba_fig2", steps, backend)
    maps = [with_crest(plan(t, 640, water=False, sun=MAP_SUN), turn) for t, turn in ((straight, 0.0), (after, TURN))]
    sheet(maps, ["2: crest (dashed) from west to east", f"2: turned by {TURN:g} degrees"], file)
    return [(f"figure 2 turned by {TURN:g}°", *measures(after, start, TURN))]


def with_crest(picture: Image.Image, turn: float) -> Image.Image:
    """Draw a dashed line where the crest of the cylinder was at the start."""
    draw, middle = ImageDraw.Draw(picture), picture.width / 2
    east, south = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    for begin in np.arange(-0.7, 0.7, 0.03) * picture.width:
        ends = [(middle + at * east, middle + at * south) for at in (begin, begin + 0.015 * picture.width)]
        draw.line(ends, fill="#a03020", width=max(1, picture.width // 240))
    return picture


def plate_1(file: Path, size: int, steps: int, backend: str) -> None:
    """Plate 1: the terrain of figure 2 on twice as many cells, in winter; drawn on more, so that snow has edges."""
    terrain = eroded(start_of("chiba_fig2", 2 * size), "chiba_fig2", steps, backend)
    ground = smoothed(terrain["elevation"])[:, WEST * 2 * size // 256 :]
    bare = sw.Terrain(ground, cell_size=terrain.cell_size)
    seen = sw.render_view(
        with_crags(bare.resampled(4 * max(bare.shape))), size=(1600, 900), season="winter", azimuth=200, pitch=24,
        zoom=1.12, sun=(130.0, 24.0),
    )  # fmt: skip
    seen.convert("RGB").save(file, quality=84, optimize=True)


def with_crags(terrain: sw.Terrain) -> sw.Terrain:
    """Add rock finer than the cells of the model, most of it on steep ground: even walls look like icing."""
    rows, columns = terrain.shape
    side, cell = max(terrain.shape), terrain.cell_size
    rock = sw.generate("diamond_square", size=side, cell_size=cell, seed=SEED, roughness=0.35)["elevation"]
    fine = rock[:rows, :columns].astype(np.float64)
    fine -= box_mean(fine, CRAG)
    south, east = np.gradient(terrain["elevation"].astype(np.float64), cell)
    steep = box_mean(np.clip((np.hypot(south, east) - 0.3) / 0.9, 0, 1), 4)
    height = cell * (CRAGS[0] + (CRAGS[1] - CRAGS[0]) * steep)
    return terrain.replace(elevation=(terrain["elevation"] + height * fine / fine.std()).astype(np.float32))


def smoothed(heights: NDArray[np.float32]) -> NDArray[np.float32]:
    """One pass of the filter 1 2 1 both ways: floors of valleys one cell wide would hold snow here and there only."""
    for axis in (0, 1):
        padded = np.pad(heights, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        heights = (sliding_window_view(padded, 3, axis=axis) @ np.array([0.25, 0.5, 0.25])).astype(np.float32)
    return heights


def plate_2(file: Path, size: int, steps: int, backend: str) -> None:
    """Plate 2: five strata eroded to terraces, level and tilted."""
    grounds = [
        without_ends(exposed(eroded(start_of("chiba_strata", size, lying=how), "chiba_strata", steps, backend)))
        for how in LYING.values()
    ]
    blocks = views([outlined(ground) for ground in grounds], (800, 520), water=False, layer="stratum", zoom=1.1)
    images: list[Image.Image] = []
    titles: list[str] = []
    for lying, terrain, seen in zip(LYING, grounds, blocks, strict=True):
        images += [seen, sw.overlay(terrain, "stratum", limits=(0.0, 5.0), width=terrain.shape[1], framed=False)]
        titles += [f"{lying} strata after {steps} iterations", "from above"]
    table = colour_table(layer_spec("stratum").colour_map)
    colours = {f"layer {k}": tuple(table[k * (len(table) - 1) // 5].tolist()) for k in range(1, 6)}
    sheet(images, titles, file, columns=2, key=partial(legend, colours=colours))


def exposed(terrain: sw.Terrain) -> sw.Terrain:
    """The ground on finer cells, with the number of the exposed layer; loose soil counts as the rock beneath it."""
    assert terrain.strata is not None
    assert terrain.strata.top is not None
    tops = np.broadcast_to(terrain.strata.top, terrain.shape)
    ground, bedrock, top = (
        sw.Terrain(heights, cell_size=terrain.cell_size).resampled(FINER * max(terrain.shape))["elevation"]
        for heights in (terrain["elevation"], terrain["bedrock"], tops)
    )
    numbers = terrain.strata.replace(top=top).exposed(bedrock, bedrock) + 1
    fine = sw.Terrain(ground, cell_size=terrain.cell_size / FINER)
    return fine.replace(own_layers={"stratum": numbers.astype(np.float32)})


def without_ends(terrain: sw.Terrain) -> sw.Terrain:
    """Leave out what lies near the western and the eastern edge, where water left the terrain in all directions."""
    columns = terrain.shape[1]
    inner = (slice(None), slice(columns * ENDS // 128, columns - columns * ENDS // 128))
    part = sw.Terrain(terrain["elevation"][inner], cell_size=terrain.cell_size)
    return part.replace(own_layers={"stratum": terrain["stratum"][inner]})


def outlined(terrain: sw.Terrain) -> sw.Terrain:
    """Number the cells along the edges 0: a dark line around the block, and the colours of the map for the layers."""
    inner = np.zeros(terrain.shape, bool)
    inner[OUTLINE:-OUTLINE, OUTLINE:-OUTLINE] = True
    return terrain.replace(own_layers={"stratum": np.where(inner, terrain["stratum"], np.float32(0))})


def measures(terrain: sw.Terrain, start: sw.Terrain, turn: float = 0.0) -> list[float]:
    """Valleys from crest to foot and where they join, relief and lowering, and speckle; lengths are in cells."""
    after, before = (t["elevation"].astype(np.float64) / t.cell_size for t in (terrain, start))
    size = len(after)
    lines = [strike(size, place, turn) for place in FLANK]
    across = [sum(len(valleys(after[side])) for side in (line, opposite(line, size))) for line in lines]
    relief = [float(after[lines[k]].std()) for k in (0, -1)]
    lowering = [float((before - after)[lines[k]].mean()) for k in (0, -1)]
    return [*across, confluences(terrain), *relief, *lowering, speckle(terrain)]


def speckle(terrain: sw.Terrain) -> float:
    """Percentage of cells above or below all their neighbours."""
    heights = terrain["elevation"]
    odd = sw.local_minima(heights, border=1) + sw.local_minima(-heights, border=1)
    return 100 * odd / (len(heights) - 2) ** 2


def strike(size: int, place: float, turn: float) -> Line:
    """Cells of a line along the southern flank, at a place between crest (0) and foot (1)."""
    angle, middle = np.radians(turn), (size - 1) / 2
    along = np.arange(size) - middle
    if turn:  # the foot then lies nearer to the corner than to the edge, and its line would leave the grid
        along, place = 0.7 * along, 0.8 * place
    down = 0.5 * size * place
    row = middle + along * np.sin(angle) + down * np.cos(angle)
    column = middle + along * np.cos(angle) - down * np.sin(angle)
    row, column = (np.clip(np.rint(at), 0, size - 1).astype(int) for at in (row, column))
    return row, column


def opposite(line: Line, size: int) -> Line:
    """The same line on the northern flank."""
    return size - 1 - line[0], size - 1 - line[1]


def valleys(profile: NDArray[np.float64]) -> list[int]:
    """Places of the minima that lie at least `DEEP` below the ground on both sides."""
    found: list[int] = []
    high, low = 0, -1
    for i, height in enumerate(profile):
        if low < 0:
            high = i if height > profile[high] else high
            low = i if profile[high] - height >= DEEP else -1
        elif height < profile[low]:
            low = i
        elif height - profile[low] >= DEEP:
            found.append(low)
            high, low = i, -1
    return found


def confluences(terrain: sw.Terrain) -> int:
    """How often two streams meet that drain `STREAM` cells or more each: so many more begin than leave."""
    flow = sw.analysis.Flow(terrain)
    order, begins = flow.stream_orders(STREAM * terrain.cell_size**2)
    leaves = (order > 0) & (flow.directions == 0)
    return int(begins.sum()) - int(leaves.sum())


if __name__ == "__main__":
    main()
