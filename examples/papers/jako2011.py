"""Figures 5 to 9 and Tables 1 and 2 of Jákó & Tóth 2011.

    python examples/papers/jako2011.py           into out/papers/jako2011
    python examples/papers/jako2011.py --only speed

Figures are drawn with Table 2 of the paper and with the preset `jako2011`, whose values lie within the ranges of that
table. Measured are local minima, lakes, the roughness of lake floors and of still water, and the banks of valleys.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import slopewash as sw
from slopewash.reports.chart import Chart

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.look import HIGH, box_mean, plan, sheet, views
from examples.papers.profiles import section, write
from examples.papers.record import Record, Row, options_of, seconds_of

TABLE_2 = sw.VirtualPipes(transport="semi_lagrangian")
PRESET: sw.VirtualPipes = sw.preset("jako2011")  # type: ignore[assignment]
SETS = {"table2": TABLE_2, "preset": PRESET}
PUBLISHED = {128: (25.7, 0.295), 256: (102.4, 1.01), 512: (412.6, 3.835), 1024: (1647.0, 15.47)}
"""Table 1: cells along a side, then ms per iteration of CPU2 (Core2 Q9550) and GPU2 (Radeon HD4870)."""
LAKE_DEPTH, SHORE_DEPTH = 1.0, 0.02
"""Cells of depth that make a lake, and that count as wet."""
SECTION = 22
"""Cells on either side of the water in a cross-section of a valley."""
STILL_REACH = 4
"""Cells between still water and the nearest shore."""
STREAM = 100
"""Cells that a stream drains at least where its confluences are counted."""
CAMERA_7D: dict[str, Any] = {"azimuth": 150.0, "pitch": 40.0, "zoom": 1.12}
SECTION_7D: dict[str, Any] = {"azimuth": 178.0, "pitch": 33.0, "zoom": 1.12, "sun": (262.0, 24.0), "exaggeration": 1.3}
"""Five valleys cut across, with a low sun and heights exaggerated."""
CAMERA_8: dict[str, Any] = {"azimuth": 172.0, "pitch": 36.0, "sun": (262.0, 22.0)}
CAMERA_MEI: dict[str, Any] = {"pitch": 34.0, "sun": (250.0, 40.0), "zoom": 1.12}
MEASURES = ("local minima", "lake share", "sediment share", "deepest", "floor", "surface", "steeper than talus")

READINGS: dict[str, dict[str, Any]] = {
    "preset": {},
    "K_c 0.3": {"sediment_capacity": 0.3},
    "K_s 0.1": {"suspension_rate": 0.1},
    "K_d 3": {"deposition_rate": 3.0},
    "K_d 0.1": {"deposition_rate": 0.1},
    "K_r 0.012": {"rain_rate": 0.012},
    "K_r 0.03": {"rain_rate": 0.03},
    "K_t 0.5": {"thermal_rate": 0.5},
    "K_a 0.6, K_i 0.3": {"talus_slope_range": 0.6, "talus_slope_bias": 0.3},
    "A 5": {"pipe_area": 5.0},
    "g 3": {"gravity": 3.0},
    "Δt 0.01, twice the iterations": {"time_step": 0.01},
    "conservative transport": {"transport": "donor_cell"},
}
"""One value changed at a time, all but the last within the ranges of Table 2."""

STARTS: dict[str, dict[str, Any]] = {
    "half the relief": {"relief": 1280.0},
    "roughness 0.1": {"roughness": 0.1},
    "seed 0": {"seed": 0},
    "half the cells along a side": {"size": 0.5},
    "all of these, K_r 0.012": {"relief": 1280.0, "roughness": 0.1, "seed": 0, "size": 0.5},
}
"""Other starts for the preset; the last is that of the preset before, with its rain."""

MEI_READINGS: dict[str, dict[str, Any]] = {
    "preset": {},
    "K_s 0.1": {"suspension_rate": 0.1},
    "K_d 3": {"deposition_rate": 3.0},
    "K_c 0.06": {"sediment_capacity": 0.06},
    "depth 4": {"maximum_erosion_depth": 4.0},
    "depth 8, K_c 0.3": {"maximum_erosion_depth": 8.0, "sediment_capacity": 0.3},
    "A 2": {"pipe_area": 2.0},
    "K_r 0.1": {"rain_rate": 0.1},
}
"""Values of `mei2007` changed."""

REGULAR = replace(PRESET, dig_limit=0.5, rain_rate=TABLE_2.rain_rate)
"""Of figures 5 and 6: without a limit to digging, single cells of the furrows become holes."""

DIRECTIONS = {
    1: (0, 1), 2: (1, 1), 4: (1, 0), 8: (1, -1), 16: (0, -1), 32: (-1, -1), 64: (-1, 0), 128: (-1, 1),
}  # fmt: skip
"""Cells to the south and east, by the code of a direction of flow."""

Field = NDArray[np.float64]
Cells = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows and columns of a line of cells."""


def main(words: Sequence[str] | None = None) -> None:
    """Make all figures and tables."""
    options = options_of("jako2011", words, doc=__doc__)
    record = Record("jako2011", quick=options.quick)
    if options.only != "speed":
        size, steps = (48, 3) if options.quick else (256, 1000)
        draw_figures(options.out, record, size, steps, options.backend)
        table_2(record)
    if options.only != "figures":
        measure(record, (32,) if options.quick else tuple(PUBLISHED), options.backend)
    record.write(options.out)


def draw_figures(out: Path, record: Record, size: int, steps: int, backend: str) -> None:
    """Figures 5 to 9, with either set of values; 7 and 9 on twice as many cells along a side as 5, 6 and 8."""

    @cache
    def eroded(start: sw.Terrain, model: sw.VirtualPipes, edges: Literal["closed", "open"] = "closed") -> sw.Terrain:
        simulation = sw.Simulation(start, model, backend=backend, edges=edges)
        simulation.run(steps=steps)
        return as_flowing(simulation.terrain, model)

    def maps(name: str, terrains: dict[str, sw.Terrain], columns: int) -> None:
        sheet([plan(t, 720) for t in terrains.values()], [*terrains], out / f"{name}.jpg", columns=columns)

    def blocks(name: str, terrains: dict[str, sw.Terrain], size: tuple[int, int], **options: Any) -> None:
        sheet(views([*terrains.values()], size, **options), [*terrains], out / f"{name}.jpg")

    regular = regular_field(size)
    random = sw.preset_source("jako2011", size=2 * size).make()
    rows: list[Row] = [("initial", *measured(random))]
    banks: list[Row] = []
    three = {"initial": regular} | {
        f"{title} after {steps} iterations": eroded(regular, replace(REGULAR, processes=process), "open")
        for title, process in (("5: thermal", "thermal"), ("6: hydraulic", "hydraulic"))
    }
    blocks("jako-fig5-6", three, (640, 470), **HIGH)
    regular_sections(out / "jako-fig5-6-sections.svg", *three.values())
    changed: list[Row] = [(title, *changes(terrain, regular)) for title, terrain in three.items()]
    record.table("regular", ("", "deepest cut", "thickest deposit", "steepest dry ground, degrees"), changed)
    for name, model in SETS.items():
        hydraulic, thermal = (eroded(random, replace(model, processes=p)) for p in ("hydraulic", "thermal"))
        both = eroded(random, model)
        four = {"7a: initial": random, "7b: hydraulic": hydraulic, "7c: thermal": thermal, "7d: combined": both}
        maps(f"jako-fig7-{name}", four, 2)
        rows += [(f"{name}, {title}", *measured(terrain)) for title, terrain in [*four.items()][1:]]
        for title, terrain in (("hydraulic", hydraulic), ("combined", both)):
            banks.append((f"{name}, {title}", *(float(rise) for rise in valley_profile(terrain))))
    draw_7d(out / "jako-fig7d.jpg", eroded(random, PRESET), steps)
    alone = eroded(random, replace(PRESET, processes="hydraulic"))
    lines = {"7a: initial": random, "7b: hydraulic": alone, "7d: combined": eroded(random, PRESET)}
    places = crossings(eroded(random, PRESET), 2)
    write([valley_section(f"valley {k}", lines, at) for k, at in enumerate(places, 1)], out / "jako-fig7d-sections.svg")

    # Their transport makes mud of the lakes of this gentle ground, so the pair has the conservative one; on that of
    # figure 7 lakes are smaller and muddier.
    lower = replace(TABLE_2, transport="donor_cell")
    gentle = sw.generate("diamond_square", size=size, extent=random.cell_size * len(random["elevation"]), roughness=0.1)
    pair = {
        "8: sediment has no volume": eroded(gentle, replace(lower, sediment_volume=0.0)),
        "8: sediment counts as water": eroded(gentle, lower),
    }
    blocks("jako-fig8", {title: north_lake(terrain) for title, terrain in pair.items()}, (760, 480), **CAMERA_8)
    rows += [(f"table2, {title}", *measured(terrain)) for title, terrain in pair.items()]

    limits = {
        "9: no depth limit": eroded(random, replace(PRESET, maximum_erosion_depth=math.inf)),
        "9: limit 10 cells, as in Table 2": eroded(random, replace(PRESET, maximum_erosion_depth=10.0)),
        "9: limit 1 cell": eroded(random, PRESET),
    }
    maps("jako-fig9", limits, 3)
    deepest = crossing(limits["9: no depth limit"], deepest_cut(limits["9: no depth limit"], random))
    compared = {"initial": random, **limits}
    write([valley_section("the deepest cut", compared, deepest, width=820)], out / "jako-fig9-section.svg")
    rows += [(title, *measured(terrain)) for title, terrain in limits.items()]
    record.table("figures", ("", *MEASURES), rows)
    record.table("banks", ("rise of the banks, cells", *(str(k) for k in range(7))), banks)
    compare_losses(record, random, steps, backend)
    draw_mei(out / "jako-mei.jpg", record, size, steps, backend)


def draw_7d(file: Path, terrain: sw.Terrain, steps: int) -> None:
    """Figure 7d as a whole, and a part of it cut across its valleys."""
    rows, columns = terrain.shape
    part = cut_out(terrain, (slice(rows * 11 // 32, rows * 17 // 32), slice(columns * 10 // 32, columns * 25 // 32)))
    images = [*views([terrain], (1500, 840), **CAMERA_7D), *views([part], (1500, 840), **SECTION_7D)]
    titles = [f"7d: combined, {steps} iterations, preset jako2011", "a part of it, cut across; heights x 1.3"]
    sheet(images, titles, file, columns=1)


def compare_losses(record: Record, start: sw.Terrain, steps: int, backend: str) -> None:
    """Solids that the paper's transport loses, depth and confluences of valleys, for other values and other starts."""

    def row(name: str, start: sw.Terrain, model: sw.VirtualPipes) -> Row:
        simulation = sw.Simulation(start, model, backend=backend, edges="closed")
        simulation.run(round(steps * PRESET.time_step / model.time_step))
        terrain = as_flowing(simulation.terrain, model)
        rise, muddy = float(valley_profile(terrain)[-1]), measures(terrain).get("sediment share")
        return name, 100 * simulation.budget.solids_drift, rise, muddy, confluences(terrain, start)

    columns = ("", "solids gained or lost, %", "rise of the banks, cells", "sediment share", "confluences")
    record.table("losses", columns, [row(name, start, replace(PRESET, **new)) for name, new in READINGS.items()])
    starts: list[Row] = [row("preset", start, PRESET)]
    extent = start.cell_size * len(start["elevation"])
    for name, new in STARTS.items():
        size = round(len(start["elevation"]) * new.get("size", 1))
        options = {**sw.find_preset("jako2011").start, **{key: value for key, value in new.items() if key != "size"}}
        ground = sw.generate("diamond_square", size=size, extent=extent, **options)
        starts.append(row(name, ground, replace(PRESET, rain_rate=0.012) if "K_r" in name else PRESET))
    record.table("starts", columns, starts)


def draw_mei(file: Path, record: Record, size: int, steps: int, backend: str) -> None:
    """The model that the paper improves, [Mei07], as printed and with the values of the preset."""
    start = sw.preset_source("mei2007", size=size).make()
    grounds = {"the start": start}
    for name in ("mei2007_printed", "mei2007"):
        preset = sw.find_preset(name)
        simulation = sw.Simulation(start, preset.model, backend=backend, edges=preset.edges)
        simulation.run(steps)
        grounds[f"{name}, {steps} iterations"] = simulation.terrain
    flank = (slice(size // 2, size), slice(size // 4, size * 3 // 4))
    parts = [cut_out(terrain, flank) for terrain in grounds.values()]
    sheet(views(parts, (720, 560), water=False, **CAMERA_MEI), [*grounds], file)
    rows: list[Row] = []
    for title, terrain in grounds.items():
        bed = terrain["elevation"].astype(np.float64) / terrain.cell_size
        share = 100 * float(slots(bed).mean())
        rows.append((title, root_mean_square(bed - box_mean(bed, 1)), share, sw.analysis.axis_preference(bed)))
    columns = ("", "height of spikes, cells", "cells in slots, %", "power along the axes to that along the diagonals")
    record.table("mei", columns, rows)
    readings: list[Row] = []
    for name, changes in MEI_READINGS.items():
        preset = sw.find_preset("mei2007")
        simulation = sw.Simulation(start, preset.model.replace(**changes), backend=backend, edges=preset.edges)
        simulation.run(steps)
        after = simulation.terrain["elevation"].astype(np.float64) / start.cell_size
        cut = np.quantile(start["elevation"] / start.cell_size - after, 0.99)
        shares = 100 * float(slots(after).mean()), 100 * simulation.budget.solids_drift
        readings.append((name, float(cut), *shares))
    record.table("mei_readings", ("", "depth of gullies, cells", "cells in slots, %", "solids lost, %"), readings)


def slots(bed: Field) -> NDArray[np.bool_]:
    """Cells at least half a cell below the next ones on both sides, along a row or a column."""
    inner = bed[1:-1, 1:-1]
    pairs = ((bed[1:-1, :-2], bed[1:-1, 2:]), (bed[:-2, 1:-1], bed[2:, 1:-1]))
    return np.logical_or(*(np.minimum(before, after) - inner > 0.5 for before, after in pairs))


def table_2(record: Record) -> None:
    """Table 2: the paper's ranges and values beside those of the preset."""
    rows: list[Row] = []
    for p in sw.VirtualPipes.parameters():
        default, ours = getattr(sw.VirtualPipes(), p.name), getattr(PRESET, p.name)
        if p.typical is not None and not isinstance(default, str) and p.name in PRINTED_IN_TABLE_2:
            low, high = p.typical
            rows.append((f"{p.symbol} `{p.name}`", f"{low:g} .. {high:g}", f"{default:g}", f"{ours:g}"))
    record.table("table2", ("parameter", "range", "printed", "`jako2011`"), rows)


PRINTED_IN_TABLE_2 = (
    "time_step", "rain_rate", "evaporation_rate", "pipe_area", "gravity", "sediment_capacity", "thermal_rate",
    "suspension_rate", "deposition_rate", "softening_rate", "maximum_erosion_depth", "talus_slope_range",
    "talus_slope_bias",
)  # fmt: skip


def measure(record: Record, sizes: Sequence[int], backend: str) -> None:
    """Table 1: milliseconds per iteration."""
    rows: list[Row] = []
    for size in sizes:
        ground = sw.preset_source("jako2011", size=size).make()
        steps = max(20, 2**23 // size**2)
        start = partial(sw.Simulation, ground, TABLE_2, backend=backend, edges="periodic")
        wall, used = (1000 * seconds / steps for seconds in seconds_of(start, steps))
        cpu, gpu = PUBLISHED.get(size, (None, None))
        rows.append((f"{size} x {size}", cpu, gpu, wall, used, cpu and cpu / wall))
    published = ("published CPU2, ms", "published GPU2, ms")
    record.table("table1", ("terrain", *published, f"{backend} here, ms", "CPU time, ms", "times faster"), rows)


def regular_field(size: int) -> sw.Terrain:
    """A frustum with eight furrows down each flank: the regular height field of figures 5 and 6.

    Its furrows are four cells deep at most; on even flanks water has no reason to gather.
    """
    x = (np.arange(size) + 0.5) / size * 2 - 1
    east, south = np.meshgrid(x, x)
    height = np.clip((1 - np.maximum(np.abs(east), np.abs(south)) - 0.16) / 0.64, 0, 1)
    along = np.where(np.abs(east) > np.abs(south), south, east)
    furrows = size / 128 * (np.cos(8 * np.pi * along) - 1) * np.sin(np.pi * height)
    return sw.Terrain((48 / 256 * size * height + furrows) * 10.0, cell_size=10.0)


def regular_sections(file: Path, start: sw.Terrain, thermal: sw.Terrain, hydraulic: sw.Terrain) -> None:
    """Figure 5 from the western edge to the top, figure 6 along the southern flank at half its height."""
    before, slid, cut = (t["elevation"].astype(np.float64) / t.cell_size for t in (start, thermal, hydraulic))
    size = len(before)
    half, flank = size // 2, round(0.5 * size * 1.52)
    x = np.arange(half, dtype=np.float64)
    middle = size // 4
    softness = float(thermal["erodibility"][half, size // 8 : 3 * size // 8].mean())
    slope = PRESET.talus_slope_range * softness + PRESET.talus_slope_bias
    talus = np.where(np.abs(x - middle) < size / 10, before[half, middle] + (x - middle) * slope, np.nan)
    name = f"talus of this flank, {math.degrees(math.atan(slope)):.0f} degrees"
    profile = {"initial": before[half, :half], "5: thermal": slid[half, :half]}
    left = section("5: from the edge to the top", "cells from the edge", x, profile, slopes={name: talus})
    near = slice(half - size // 5, half + size // 5)
    along = np.arange(near.start, near.stop, dtype=np.float64) - half
    profile = {"initial": before[flank, near], "6: hydraulic": cut[flank, near]}
    write([left, section("6: along the flank, at half its height", "cells from the middle", along, profile)], file)


def steepest_talus() -> float:
    """Slope at which ground of erodibility 1 begins to slide."""
    return TABLE_2.talus_slope_range + TABLE_2.talus_slope_bias


def valley_section(title: str, terrains: Mapping[str, sw.Terrain], cells: Cells, *, width: int = 520) -> Chart:
    """Heights of several terrains along a line of cells."""
    lines = {name: t["elevation"][cells].astype(np.float64) / t.cell_size for name, t in terrains.items()}
    x = np.arange(len(cells[0]), dtype=np.float64) - len(cells[0]) // 2
    return section(title, "cells from the stream", x, lines, width=width)


def crossings(terrain: sw.Terrain, count: int) -> list[Cells]:
    """Lines across the valleys with the highest banks, far from each other."""
    size = len(terrain["elevation"])
    bed = terrain["elevation"].astype(np.float64) / terrain.cell_size
    rows, columns = np.nonzero(running(terrain, margin_of(size)))
    banks = np.max([np.minimum(bed[rows - d, columns - e], bed[rows + d, columns + e]) for d, e in ((0, 6), (6, 0))], 0)
    chosen: list[tuple[int, int]] = []
    for k in np.argsort(bed[rows, columns] - banks):
        at = int(rows[k]), int(columns[k])
        if len(chosen) < count and all(math.dist(at, other) > size / 4 for other in chosen):
            chosen.append(at)
    return [crossing(terrain, at) for at in chosen]


def crossing(terrain: sw.Terrain, at: tuple[int, int]) -> Cells:
    """A line along a row or a column, whichever has the higher banks beside this cell."""
    reach = margin_of(len(terrain["elevation"]))
    along, still = np.arange(-reach, reach + 1), np.zeros(2 * reach + 1, int)
    lines = [(at[0] + still, at[1] + along), (at[0] + along, at[1] + still)]
    bed = terrain["elevation"]
    return max(lines, key=lambda line: float(min(bed[line][reach - 6], bed[line][reach + 6])))


def deepest_cut(terrain: sw.Terrain, start: sw.Terrain) -> tuple[int, int]:
    """The cell that was lowered most, not too near to the edge for a section."""
    margin = margin_of(len(start["elevation"]))
    inner = (start["elevation"] - terrain["elevation"])[margin:-margin, margin:-margin]
    row, column = np.unravel_index(int(inner.argmax()), inner.shape)
    return int(row) + margin, int(column) + margin


def margin_of(size: int) -> int:
    """Half the length of a section in cells; small terrains have shorter ones."""
    return min(SECTION, size // 4)


def changes(terrain: sw.Terrain, start: sw.Terrain) -> list[float]:
    """Deepest cut and thickest deposit in cells, and the steepest slope of dry ground in degrees."""
    change = (terrain["elevation"] - start["elevation"]) / terrain.cell_size
    south, east = np.gradient(terrain["elevation"].astype(np.float64) / terrain.cell_size)
    dry = terrain["water"] < SHORE_DEPTH * terrain.cell_size if "water" in terrain else np.ones(terrain.shape, bool)
    steepest = float(np.degrees(np.arctan(np.hypot(south, east)[dry].max(initial=0.0))))
    return [max(0.0, -float(change.min())), max(0.0, float(change.max())), steepest]


def as_flowing(terrain: sw.Terrain, model: sw.VirtualPipes) -> sw.Terrain:
    """Return the terrain with all that flows as its water, so that surfaces are drawn where the pipes have them.

    The paper's water depth d contains the sediment. Sediment per water, which colours the water, stays as it is.
    """
    water, suspended = terrain["water"], terrain["suspended"]
    flowing = water + np.float32(model.sediment_volume) * suspended
    load = suspended * (flowing / np.maximum(water, np.float32(1e-6)))
    return terrain.replace(water=flowing, suspended=load)


def north_lake(terrain: sw.Terrain) -> sw.Terrain:
    """Cut out the northern lake and its southern shore."""
    rows, columns = terrain.shape
    return cut_out(terrain, (slice(0, rows * 29 // 128), slice(columns * 15 // 32, columns * 103 // 128)))


def cut_out(terrain: sw.Terrain, window: tuple[slice, slice]) -> sw.Terrain:
    """A part of a terrain with all its layers."""
    layers = {name: layer[window] for name, layer in terrain.items() if name != "elevation"}
    part = sw.Terrain(terrain["elevation"][window], cell_size=terrain.cell_size)
    return part.replace(**layers)


def measured(terrain: sw.Terrain) -> list[float | None]:
    """The measures in the order of the table; None where there is no lake."""
    values = measures(terrain)
    return [values.get(name) for name in MEASURES]


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
    limit = math.degrees(math.atan(steepest_talus()))
    if "slope" in terrain and dry.any():
        result["steeper than talus"] = float((terrain["slope"] > limit)[dry].mean())
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


def confluences(terrain: sw.Terrain, start: sw.Terrain) -> int:
    """How often two valleys meet that were cut: streams, their beds at least one cell below the start."""
    flow = sw.analysis.Flow(terrain)
    cut = start["elevation"] - terrain["elevation"] > terrain.cell_size
    valley = (flow.cells >= STREAM) & cut
    entered = np.zeros((valley.shape[0] + 2, valley.shape[1] + 2), int)
    for code, (south, east) in DIRECTIONS.items():
        rows, columns = np.nonzero(valley & (flow.directions == code))
        np.add.at(entered, (rows + south + 1, columns + east + 1), 1)
    return int((entered[1:-1, 1:-1][valley] > 1).sum())


def valley_profile(terrain: sw.Terrain) -> Field:
    """Median rise of the banks at 0 .. 6 cells beside running water, in cells: equal steps are a V, one step is a slot.

    Measured along rows or columns, whichever crosses the valley better, from the 7 % of the cells with the largest flow
    that are not lake and have no lower ground within 6 cells to either side; none or few of them give NaN.
    """
    reach = 6
    bed = terrain["elevation"].astype(np.float64) / terrain.cell_size
    rows, columns = (cells[:, None] for cells in np.nonzero(running(terrain, reach)))
    along = np.arange(-reach, reach + 1)
    across = np.stack([bed[rows, columns + along], bed[rows + along, columns]]) - bed[rows, columns]
    banks = np.minimum(across[..., 0], across[..., -1])
    best = np.where((banks[0] > banks[1])[:, None], across[0], across[1])
    best = best[best.min(axis=1, initial=0.0) >= 0]
    if len(best) < 20:
        return np.full(reach + 1, np.nan)
    both_banks = (best + best[:, ::-1]) / 2
    return np.asarray(np.median(both_banks, axis=0)[reach:])


def running(terrain: sw.Terrain, margin: int) -> NDArray[np.bool_]:
    """The 7 % of the cells with the largest flow that are not lake, but for a margin along the edges."""
    busy = (terrain["flow"] > np.quantile(terrain["flow"], 0.93)) & (terrain["water"] < LAKE_DEPTH * terrain.cell_size)
    busy[:margin], busy[-margin:], busy[:, :margin], busy[:, -margin:] = False, False, False, False
    return np.asarray(busy)


def root_mean_square(values: Field) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


if __name__ == "__main__":
    main()
