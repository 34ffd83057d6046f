"""Filled depressions and lakes on tiles: the layer `lake`, as `add_water` gives it for the whole, to the bit.

How high water stands in each tile is found from its rim inwards, over a graph of spills between all rims
(`analysis.spilling`). Depressions that meet across a seam are one lake: its depth and extent are summed over its tiles.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.labels import Labels, labelled
from slopewash.analysis.rivers import standing
from slopewash.analysis.sea import level_along
from slopewash.analysis.spilling import Spills, flooded_part, levels_out, spills_of
from slopewash.models.state import Sides, Window
from slopewash.tiles.arrays import Field
from slopewash.tiles.ground import Ground, span_of
from slopewash.tiles.reach import groups_across
from slopewash.tiles.sea import LowWays

Array = NDArray[Any]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
LAKE = "lake"
DEPTH = 0.08
"""Depth in cells of the smallest depression that holds a lake, as `add_water` has it."""
AREA = 1.5e-4
"""The same for its area, as a fraction of the terrain."""
FILLED = Field(path="state/filled", dtype="float32")
OPEN = Sides.of("open")


# Filling


@dataclass(frozen=True)
class Basin:
    """What the whole must know of the water in one tile."""

    count: int
    """Numbers of its rim, from 1; 0 is where water leaves."""
    spills: Spills
    lines: Mapping[str, tuple[Numbers, Floats]]
    """Numbers along each side, -1 for nodata, and the ground there."""


def fill_on_tiles(ground: Ground, run: Run) -> None:
    """Write the elevation with depressions filled to the array `FILLED`."""
    ground.store.create(FILLED, ground.grid)
    numbers = range(len(ground.grid))
    basins: list[Basin] = run(basin_of, [(ground, n) for n in numbers], "looking for depressions")
    first = np.concatenate([[0], np.cumsum([basin.count for basin in basins])])
    levels = levels_out(int(first[-1]) + 1, _all_spills(ground, basins, first))
    calls = [(ground, levels[first[n] + 1 : first[n + 1] + 1], n) for n in numbers]
    run(fill_basin, calls, "filling depressions")


def basin_of(ground: Ground, number: int) -> Basin:
    """Flood one tile from its rim."""
    z, level, drains_to, rim_count = _flooded(ground, ground.grid.window(number))
    places: dict[str, Any] = {"north": np.s_[0], "south": np.s_[-1], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    lines = {name: (drains_to[place].copy(), z[place].astype(np.float64)) for name, place in places.items()}
    return Basin(rim_count, spills_of(level, drains_to), lines)


def fill_basin(ground: Ground, levels: Floats, number: int) -> None:
    """Fill one tile, given the level at which water leaves from each number of its rim."""
    core = ground.grid.window(number)
    z, level, drains_to, _ = _flooded(ground, core)
    out = np.concatenate([[-np.inf], levels])
    filled = np.where(drains_to < 0, z, np.maximum(level, out[np.maximum(drains_to, 0)]))
    ground.store.write(FILLED, ground.grid, number, filled.astype(np.float32))


def _flooded(ground: Ground, core: Window) -> tuple[Array, Floats, Numbers, int]:
    """Ground of a tile, its level and numbers if water left at its rim, and how many cells of the rim are numbered."""
    leaves = LowWays(ground, np.inf).look(core)[1]
    part = ground.part(core, ["elevation"])
    missing = np.zeros(part.shape, bool) if part.nodata is None else part.nodata
    rim = np.zeros(part.shape, bool)
    rim[[0, -1]] = rim[:, 0] = rim[:, -1] = True
    level, drains_to = flooded_part(part["elevation"], missing, leaves, rim)
    return part["elevation"], level, drains_to, int(np.count_nonzero(rim & ~leaves & ~missing))


def _all_spills(ground: Ground, basins: Sequence[Basin], first: Numbers) -> Spills:
    """Spills within tiles and across the seams between them, with numbers that are unique over all."""
    found = [
        (_unique(basin.spills.one, first[n]), _unique(basin.spills.other, first[n]), basin.spills.level)
        for n, basin in enumerate(basins)
    ]

    def line(tile: int, name: str) -> tuple[Numbers, Floats]:
        drains_to, z = basins[tile].lines[name]
        return _unique(drains_to, first[tile]), z

    rows, columns = ground.grid.counts
    tiles = np.arange(rows * columns).reshape(rows, columns)
    seams = [(tiles[k], "south", tiles[k + 1], "north") for k in range(rows - 1)]
    seams += [(tiles[:, k], "east", tiles[:, k + 1], "west") for k in range(columns - 1)]
    for near, side, far, other_side in seams:
        (one, z), (other, beyond) = (
            tuple(np.concatenate(parts) for parts in zip(*(line(int(n), name) for n in along), strict=True))
            for along, name in ((near, side), (far, other_side))
        )
        for a, b in ((np.s_[:], np.s_[:]), (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:])):
            meet = (one[a] >= 0) & (other[b] >= 0)
            found.append((one[a][meet], other[b][meet], np.maximum(z[a], beyond[b])[meet]))
    return Spills.lowest(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _unique(numbers: Numbers, first: int) -> Numbers:
    """Numbers of a tile that are unique over all; 0 and -1 mean the same everywhere."""
    return np.where(numbers > 0, numbers + first, numbers)


# Lakes


@dataclass(frozen=True)
class Shores:
    """Depressions of a tile that touch its rim, which may go on beyond it."""

    lines: Mapping[str, Labels]
    numbers: NDArray[np.int32]
    deepest: Floats
    stands: Floats
    """Highest surface of the water above the deepest ground; infinite where there is no layer of it."""
    level: Floats
    ring: tuple[Array, Array]
    """Ground and water of the tile's cells along the border of the whole."""


@dataclass(frozen=True)
class Lakes:
    """What the whole knows of a tile's depressions that touch its rim: by their number in the tile."""

    deepest: Mapping[int, float]
    stands: Mapping[int, float]
    kept: Mapping[int, bool]


@dataclass(frozen=True, kw_only=True)
class Least:
    """The smallest depression that holds a lake: depth in metres, area in m²."""

    depth: float
    area: float

    @classmethod
    def of(cls, ground: Ground, depth: float = DEPTH, area: float = AREA) -> Least:
        """From a depth in cells and a fraction of the ground."""
        return cls(depth=depth * ground.cell_size, area=area * ground.cells * ground.cell_size**2)


def with_lakes(ground: Ground, run: Run) -> Ground:
    """Write the layer `lake` beside the others of a ground, as `add_water` gives it by default."""
    after = dataclasses.replace(ground, layers=(*ground.layers, LAKE))
    after.store.create(after.field(LAKE), after.grid)
    ranges = find_lakes(ground, after, run, least=Least.of(ground), sea_level="auto")
    return dataclasses.replace(after, ranges={**ground.ranges, LAKE: span_of(ranges)})


def find_lakes(
    ground: Ground, after: Ground, run: Run, *, least: Least, sea_level: float | str | None
) -> list[tuple[float, float]]:
    """Write the layer `lake` of a finished run; returns the range of each tile."""
    fill_on_tiles(ground, run)
    numbers = range(len(ground.grid))
    shores: list[Shores] = run(shores_of, [(ground, n) for n in numbers], "looking for lakes")
    if sea_level == "auto":
        heights, water = (np.concatenate([found.ring[k] for found in shores]) for k in (0, 1))
        sea_level = level_along(heights, water, ground.cell_size) if "water" in ground.layers else None
    group = groups_across(ground.grid, [found.lines for found in shores], OPEN, diagonally=True)
    joined = _joined(shores, group)
    counts = run(count_lakes, [(ground, joined[n], n) for n in numbers], "measuring lakes")
    lakes = _kept(joined, shores, group, counts, least, ground.cell_size)
    return run(lake_tile, [(ground, after, lakes[n], least, sea_level, n) for n in numbers], "writing lakes")


def shores_of(ground: Ground, number: int) -> Shores:
    """Look at the depressions of a tile."""
    core = ground.grid.window(number)
    z, filled, water, missing, labels = _hollows(ground, core)
    lines = {"north": labels[0], "south": labels[-1], "west": labels[:, 0], "east": labels[:, -1]}
    found = np.unique(np.concatenate(list(lines.values())))
    found = found[found > 0]
    deepest, stands, level = _standing(z, filled, water, labels)
    ring = np.zeros(z.shape, bool)
    (rows, columns), (height, width) = core, ground.shape
    ring[0] |= rows.start == 0
    ring[-1] |= rows.stop == height
    ring[:, 0] |= columns.start == 0
    ring[:, -1] |= columns.stop == width
    ring &= ~missing
    at_border = z[ring], (z if water is None else water)[ring]
    return Shores(
        {name: line.copy() for name, line in lines.items()},
        found,
        deepest[found],
        stands[found],
        level[found],
        at_border,
    )


def _hollows(ground: Ground, core: Window) -> tuple[Array, Array, Array | None, NDArray[np.bool_], Labels]:
    """Ground, filled ground, water and nodata of a tile, and the numbers of its depressions."""
    part = ground.part(core, ["elevation", "water"])
    z, filled = part["elevation"], ground.store.read(FILLED, ground.grid, core)
    missing = np.zeros(part.shape, bool) if part.nodata is None else part.nodata
    labels = labelled((filled > z) & ~missing, diagonally=True)
    return z, filled, part.get("water"), missing, labels


def _standing(z: Array, filled: Array, water: Array | None, labels: Labels) -> tuple[Floats, Floats, Floats]:
    """Deepest ground, surface of the water there, and level of each depression of a tile."""
    inside = labels > 0
    owner, count = labels[inside].astype(np.int64), int(labels.max(initial=0)) + 1
    surface = z[inside] if water is None else z[inside] + water[inside]
    deepest, stands = standing(z[inside], surface, owner, count)
    level = np.full(count, -np.inf)
    level[owner] = filled[inside]
    return deepest, np.full(count, np.inf) if water is None else stands, level


def _joined(shores: Sequence[Shores], group: Sequence[Mapping[int, int]]) -> list[Lakes]:
    """Depressions that go on in other tiles have the deepest ground of all their parts, and the water there."""
    deepest: dict[int, float] = {}
    stands: dict[int, float] = {}
    for found, groups in zip(shores, group, strict=True):
        for number, deep, surface in zip(found.numbers.tolist(), found.deepest, found.stands, strict=True):
            one = groups[number]
            if deep < deepest.get(one, np.inf):
                deepest[one], stands[one] = float(deep), float(surface)
            elif deep == deepest[one]:
                stands[one] = max(stands[one], float(surface))
    return [
        Lakes({n: deepest[one] for n, one in groups.items()}, {n: stands[one] for n, one in groups.items()}, {})
        for groups in group
    ]


def _stands(ground: Ground, core: Window, lakes: Lakes) -> tuple[Array, Array, Labels, Floats, Array]:
    """Ground, filled ground, numbers, deepest ground of each, and depth of the water as it would stand everywhere."""
    z, filled, water, _, labels = _hollows(ground, core)
    deepest, stands, _ = _standing(z, filled, water, labels)
    for number, deep in lakes.deepest.items():
        deepest[number], stands[number] = deep, lakes.stands[number]
    level = filled if water is None else np.minimum(filled, stands[labels])
    depth = np.where(labels > 0, np.maximum(level - z, 0), np.zeros((), level.dtype))
    return z, filled, labels, deepest, depth


def count_lakes(ground: Ground, lakes: Lakes, number: int) -> dict[int, int]:
    """Cells under water of each depression that touches the rim of a tile."""
    _, _, labels, _, depth = _stands(ground, ground.grid.window(number), lakes)
    wet = np.bincount(labels[depth > 0], minlength=int(labels.max(initial=0)) + 1)
    return {n: int(wet[n]) for n in lakes.deepest}


def _kept(
    joined: Sequence[Lakes], shores: Sequence[Shores], group: Sequence[Mapping[int, int]],
    counts: Sequence[Mapping[int, int]], least: Least, cell_size: float,
) -> list[Lakes]:  # fmt: skip
    """Which of the depressions that go on in other tiles are lakes."""
    cells: dict[int, int] = {}
    level: dict[int, float] = {}
    for found, groups, wet in zip(shores, group, counts, strict=True):
        for number, high in zip(found.numbers.tolist(), found.level, strict=True):
            cells[groups[number]] = cells.get(groups[number], 0) + wet[number]
            level[groups[number]] = float(high)
    return [
        dataclasses.replace(
            lakes,
            kept={
                n: _greatest(level[one], lakes.stands[n], lakes.deepest[n]) >= least.depth
                and cells[one] * cell_size**2 >= least.area
                for n, one in groups.items()
            },
        )
        for lakes, groups in zip(joined, group, strict=True)
    ]


def _greatest(level: float, stands: float, deepest: float) -> float:
    """Greatest depth; without a layer of water in the precision of the ground, as on the whole."""
    if stands == np.inf:
        return float(np.float32(level) - np.float32(deepest))
    return min(level, stands) - deepest


def lake_tile(
    ground: Ground, after: Ground, lakes: Lakes, least: Least, sea_level: float | None, number: int
) -> tuple[float, float]:
    """Write the depth of the lakes of a tile, and of the sea; returns its range, NaN if there is no ground."""
    core = ground.grid.window(number)
    z, filled, labels, _, depth = _stands(ground, core, lakes)
    count = int(labels.max(initial=0)) + 1
    greatest = np.zeros(count)
    np.maximum.at(greatest, labels.ravel(), depth.ravel())
    extent = np.bincount(labels[depth > 0], minlength=count) * ground.cell_size**2
    kept = (greatest >= least.depth) & (extent >= least.area)
    for one, keep in lakes.kept.items():
        kept[one] = keep
    kept[0] = False
    lake = np.where(kept[labels], depth, 0).astype(np.float32)
    part = ground.part(core, ["elevation"])
    if sea_level is not None:
        sea = (z < sea_level) & (filled <= sea_level)
        if part.nodata is not None:
            sea &= ~part.nodata
        lake[sea] = (sea_level - z.astype(np.float64))[sea]
    ground.store.write(after.field(LAKE), ground.grid, number, lake)
    return part.replace(lake=lake).range(LAKE)
