"""Figures 5 to 9 and Tables 1 and 2 of Jákó & Tóth 2011.

    python examples/papers/jako2011.py           into out/papers/jako2011
    python examples/papers/jako2011.py --only speed

Figures are drawn with Table 2 of the paper and with the preset `jako2011`, whose values lie within the ranges of that
table. Measured are local minima, lakes, the roughness of lake floors and of still water, and the banks of valleys.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.papers.record import Record, Row, options_of, seconds_of, sheet

TABLE_2 = sw.VirtualPipes(transport="semi_lagrangian")
PRESET: sw.VirtualPipes = sw.preset("jako2011")  # type: ignore[assignment]
SETS = {"table2": TABLE_2, "preset": PRESET}
PUBLISHED = {128: (25.7, 0.295), 256: (102.4, 1.01), 512: (412.6, 3.835), 1024: (1647.0, 15.47)}
"""Table 1: cells along a side, then ms per iteration of CPU2 (Core2 Q9550) and GPU2 (Radeon HD4870)."""
LAKE_DEPTH, SHORE_DEPTH = 1.0, 0.02
"""Cells of depth that make a lake, and that count as wet."""
STILL_REACH = 4
"""Cells between still water and the nearest shore."""
MEASURES = ("local minima", "lake share", "sediment share", "deepest", "floor", "surface", "steeper than talus")

Field = NDArray[np.float64]


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
    """Figures 5 to 9, with either set of values."""

    @cache
    def eroded(start: sw.Terrain, model: sw.VirtualPipes) -> sw.Terrain:
        simulation = sw.Simulation(start, model, backend=backend, edges="closed")
        simulation.run(steps=steps)
        return as_flowing(simulation.terrain, model)

    def maps(name: str, terrains: dict[str, sw.Terrain], columns: int) -> None:
        images = [sw.render(t, width=560, snow_line=None) for t in terrains.values()]
        sheet(images, [*terrains], out / f"{name}.jpg", columns=columns)

    def views(name: str, terrains: dict[str, sw.Terrain]) -> None:
        sheet([seen(terrain) for terrain in terrains.values()], [*terrains], out / f"{name}.jpg")

    blocks = regular_blocks(max(size // 4, 16))
    random = sw.preset_source("jako2011", size=size).make()
    rows: list[Row] = [("initial", *measured(random))]
    banks: list[Row] = []
    thermal, hydraulic = (eroded(blocks, replace(TABLE_2, processes=p)) for p in ("thermal", "hydraulic"))
    views("jako-fig5-6", {"initial": blocks, "figure 5: thermal": thermal, "figure 6: hydraulic": hydraulic})
    for name, model in SETS.items():
        hydraulic, thermal = (eroded(random, replace(model, processes=p)) for p in ("hydraulic", "thermal"))
        both = eroded(random, model)
        four = {"7a: initial": random, "7b: hydraulic": hydraulic, "7c: thermal": thermal, "7d: combined": both}
        maps(f"jako-fig7-{name}", four, 2)
        rows += [(f"{name}, {title}", *measured(terrain)) for title, terrain in [*four.items()][1:]]
        for title, terrain in (("hydraulic", hydraulic), ("combined", both)):
            banks.append((f"{name}, {title}", *(float(rise) for rise in valley_profile(terrain))))
    sheet([seen(eroded(random, PRESET), (1500, 900))], ["7d: combined, preset jako2011"], out / "jako-fig7d.jpg")

    # Their transport makes mud of every lake here (see the table), so the pair has the conservative one.
    lower = replace(TABLE_2, transport="donor_cell")
    pair = {
        "8, upper: sediment has no volume": eroded(random, replace(lower, sediment_volume=0.0)),
        "8, lower: sediment counts as water": eroded(random, lower),
    }
    views("jako-fig8", {title: north_lake(terrain) for title, terrain in pair.items()})
    rows += [(f"table2, {title}", *measured(terrain)) for title, terrain in pair.items()]

    limits = {
        "9, upper: no depth limit": eroded(random, replace(PRESET, maximum_erosion_depth=math.inf)),
        "limit 10 cells, as in Table 2": eroded(random, replace(PRESET, maximum_erosion_depth=10.0)),
        "9, lower: limit 1 cell": eroded(random, PRESET),
    }
    maps("jako-fig9", limits, 3)
    rows += [(title, *measured(terrain)) for title, terrain in limits.items()]
    record.table("figures", ("", *MEASURES), rows)
    record.table("banks", ("rise of the banks, cells", *(str(k) for k in range(7))), banks)
    draw_mei(out / "jako-mei.jpg", record, size, steps, backend)


def draw_mei(file: Path, record: Record, size: int, steps: int, backend: str) -> None:
    """The model that the paper improves, [Mei07], as printed and with the values of the preset."""
    start = sw.preset_source("mei2007", size=size).make()
    grounds = {"the start": start}
    for name in ("mei2007_printed", "mei2007"):
        preset = sw.find_preset(name)
        simulation = sw.Simulation(start, preset.model, backend=backend, edges=preset.edges)
        simulation.run(steps)
        grounds[f"{name}, {steps} iterations"] = simulation.terrain
    sheet([sw.hillshade(terrain, width=560) for terrain in grounds.values()], [*grounds], file)
    rows: list[Row] = []
    for title, terrain in grounds.items():
        bed = terrain["elevation"].astype(np.float64) / terrain.cell_size
        share = 100 * float(slots(bed).mean())
        rows.append((title, root_mean_square(bed - box_mean(bed, 1)), share, sw.analysis.axis_preference(bed)))
    columns = ("", "height of spikes, cells", "cells in slots, %", "power along the axes to that along the diagonals")
    record.table("mei", columns, rows)


def slots(bed: Field) -> NDArray[np.bool_]:
    """Cells at least half a cell below the next ones on both sides, along a row or a column."""
    inner = bed[1:-1, 1:-1]
    pairs = ((bed[1:-1, :-2], bed[1:-1, 2:]), (bed[:-2, 1:-1], bed[2:, 1:-1]))
    return np.logical_or(*(np.minimum(before, after) - inner > 0.5 for before, after in pairs))


def seen(terrain: sw.Terrain, size: tuple[int, int] = (760, 520)) -> Image.Image:
    """A view from the south."""
    return sw.render_view(terrain, size=size, azimuth=160, pitch=40, sun=(250.0, 36.0), snow_line=None)


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
