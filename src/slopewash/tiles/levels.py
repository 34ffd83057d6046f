"""The grounds that levels and stages begin with, made tile by tile."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Window
from slopewash.recipes.definition import Beds, Stage
from slopewash.recipes.levels import BED_CELLS, CARRIED, DETAIL_REACH, drained, fitted, merged, stream_beds
from slopewash.simulation.budget import Budget
from slopewash.terrain import Terrain, TerrainPart
from slopewash.terrain.parts import strata_facts, strata_from
from slopewash.terrain.resampling import Resampling, resampled_layer, resampled_shape, scaled
from slopewash.tiles.grid import inside, widened
from slopewash.tiles.ground import Ground, Survey, cropped
from slopewash.tiles.sea import without_sea

Array = NDArray[Any]
CELLS_AT_ONCE = 2**23
"""Cells of the finer grid that are read at once when a coarser one is made."""
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]


def contents(ground: Ground) -> Budget:
    """What a terrain holds before anything happens to it."""
    cell = ground.cell_size**2
    solids, water = (ground.solids - ground.low * ground.cells) * cell, ground.water * cell
    return Budget(water_start=water, water_now=water, solids_start=solids, solids_now=solids)


# Strata


def with_strata(
    ground: Ground, border: dict[str, Array], beds: Beds | None, run: Run
) -> tuple[Ground, dict[str, Array]]:
    """Lay strata beneath a ground, as `Beds.under` does beneath a terrain."""
    if beds is None or (ground.strata is not None and not beds.replace):
        return ground, border
    strata = beds.strata
    if beds.shares:
        if ground.relief == 0 and not beds.replace:
            return ground, border
        strata = strata.fitted(ground.relief or 1.0)
    numbers = range(len(ground.grid))
    layered = dataclasses.replace(ground, strata=strata_facts(strata))
    layered.store.create(layered.field("strata_top"), layered.grid)
    highest = 0.0
    if strata.top is None and not strata.follow:
        highest = max(run(above_plane, [(ground, strata, n) for n in numbers], "laying strata"))
    run(lay_strata, [(layered, ground, strata, highest, n) for n in numbers], "laying strata")
    return layered, border


def above_plane(ground: Ground, strata: Any, number: int) -> float:
    """How far the ground of a tile rises above the plane of its strata."""
    window = ground.grid.window(number)
    return float((_filled(ground, number) - strata.plane(ground.shape, ground.cell_size, window)).max())


def lay_strata(layered: Ground, ground: Ground, strata: Any, highest: float, number: int) -> None:
    """Write the top of the strata beneath a tile."""
    window = ground.grid.window(number)
    if strata.top is not None and strata.top.ndim == 2:
        top = strata.top[window]
    elif strata.follow:
        top = _filled(ground, number) + (0.0 if strata.top is None else float(strata.top))
    else:
        plane = strata.plane(ground.shape, ground.cell_size, window)
        top = plane + (highest if strata.top is None else float(strata.top))
    field = layered.field("strata_top")
    layered.store.write(field, layered.grid, number, top.astype(np.float32))


def _filled(ground: Ground, number: int) -> Array:
    """Ground of a tile, nodata at the level of the lowest ground."""
    part = ground.part(ground.grid.window(number), ["elevation"])
    z = part["elevation"]
    if part.nodata is not None:
        z = np.where(part.nodata, ground.low, z)
    return z.astype(np.float64)


# Levels


def ground_of(
    stage: Stage, start: Ground, before: Ground | None, *, seed: int, number: int, run: Run
) -> tuple[Ground, dict[str, Array]]:
    """Make the ground that a level begins with, as `terrain_of` does in memory."""
    assert stage.cells is not None
    here = _resampled(start, stage.cells, f"state/here-{number}", start.names, run)
    path = f"state/level-{number}"
    if before is None:
        # The coarsest grid has fewer than a hundred cells along a side: it is drained as a whole.
        whole = here.part((slice(0, here.shape[0]), slice(0, here.shape[1])))
        terrain = drained(stage, Terrain(**_pieces(whole)))
        ground = dataclasses.replace(here, path=path, layers=tuple(terrain))
        ground.create()
        made = ground.known([ground.write(n, cropped(terrain, window)) for n, window in enumerate(ground.grid)])
    else:
        coarse = _resampled(here, max(before.shape), f"state/coarse-{number}", ("elevation", "nodata"), run)
        layers = tuple(
            dict.fromkeys([*here.layers, "water", *(n for n in ("suspended", "bedrock") if n in before.layers)])
        )
        ground = dataclasses.replace(here, path=path, layers=layers)
        ground.create()
        beds = _stream_beds(before, stage, f"state/beds-{number}")
        dry, level = before, stage.model.water_beyond
        if level > -math.inf:
            dry = without_sea(before, level, f"state/dry-{number}", run)
        calls = [(stage, ground, here, coarse, dry, beds, seed, n) for n in range(len(ground.grid))]
        made = ground.known(run(level_tile, calls, "refining"))
        start.store.remove(coarse.path)
        if dry is not before:
            start.store.remove(dry.path)
        if beds is not None:
            start.store.remove(beds.path)
    if here.path != start.path:
        start.store.remove(here.path)
    return made


def _stream_beds(before: Ground, stage: Stage, path: str) -> Ground | None:
    """Depth of the beds of large streams, found on the level before as a whole: no larger one than fits has any."""
    if not BED_CELLS[0] <= max(before.shape) <= BED_CELLS[1]:
        return None
    whole = before.part((slice(0, before.shape[0]), slice(0, before.shape[1])), ["elevation"])
    depth = stream_beds(Terrain(**_pieces(whole)), stage.model.water_beyond)
    assert depth is not None
    beds = dataclasses.replace(before, path=path, layers=("elevation",), own=(), has_nodata=False, strata=None)
    beds.create()
    return beds.known([beds.write(n, cropped(depth, window)) for n, window in enumerate(beds.grid)])[0]


def _pieces(terrain: Terrain) -> dict[str, Any]:
    own = {name: terrain[name] for name in terrain.own_layers}
    layers: dict[str, Any] = {name: layer for name, layer in terrain.items() if name not in own}
    return {
        **layers, "own_layers": own, "nodata": terrain.nodata, "strata": terrain.strata, "cell_size": terrain.cell_size,
    }  # fmt: skip


def _resampled(ground: Ground, size: int, path: str, names: Sequence[str], run: Run) -> Ground:
    """The same ground with so many cells along its longer side, in the store."""
    if size == max(ground.shape) and set(names) >= set(ground.names):
        return ground
    ratio = max(ground.shape) / size
    made = dataclasses.replace(
        ground, path=path, grid=ground.grid.coarser(resampled_shape(ground.shape, size)),
        cell_size=ground.cell_size * ratio, transform=scaled(ground.transform, ratio),
        layers=tuple(name for name in ground.layers if name in names),
        own=tuple(name for name in ground.own if name in names),
        strata=ground.strata if "strata_top" in names else None,
    )  # fmt: skip
    made.create()
    calls = [(made, ground, size, n) for n in range(len(made.grid))]
    return made.known(run(resampled_tile, calls, f"resampling to {size} cells"))[0]


def resampled_tile(made: Ground, ground: Ground, size: int, number: int) -> Survey:
    """Resample one tile."""
    return made.write(number, resampled_window(ground, size, made.grid.window(number), made.names))


def resampled_window(ground: Ground, size: int, window: Window, names: Sequence[str]) -> Terrain:
    """A window of a ground with so many cells along its longer side, to the bit as `Terrain.resampled` gives it.

    Rows are made a few at a time: a cell of a coarse grid may be the mean of many.
    """
    grid = Resampling(ground.shape, size, smooth=not ground.has_nodata)
    same = size == max(ground.shape)
    for name in ground.names:  # tiles of another grid, of which no task may read one as a whole
        if name in names:
            ground.store.check(ground.field(name), ground.grid, window if same else grid.needs(window))
    if same:
        return ground.part(window, names)
    (rows, columns), made = window, []
    wide = grid.needs((slice(rows.start, rows.start + 1), columns))
    per_row = (wide[0].stop - wide[0].start) * (wide[1].stop - wide[1].start)
    count = max(1, CELLS_AT_ONCE // per_row)
    for first in range(rows.start, rows.stop, count):
        made.append(_resampled_rows(ground, grid, (slice(first, min(first + count, rows.stop)), columns), names))
    layers = {name: np.concatenate([part[name] for part in made]) for name in made[0]}
    nodata, top = layers.pop("nodata", None), layers.pop("strata_top", None)
    strata = None if top is None or ground.strata is None else strata_from(dict(ground.strata), top)
    own = {name: layers.pop(name) for name in ground.own if name in layers}
    given: dict[str, Any] = dict(layers)
    cell_size = ground.cell_size * (max(ground.shape) / size)
    return TerrainPart(**given, own_layers=own, nodata=nodata, strata=strata, cell_size=cell_size)


def _resampled_rows(ground: Ground, grid: Resampling, window: Window, names: Sequence[str]) -> dict[str, Array]:
    wide = grid.needs(window)
    origin = wide[0].start, wide[1].start
    read = {name: ground.store.read(ground.field(name), ground.grid, wide) for name in ground.names if name in names}
    nodata = read.pop("nodata", None)
    valid = None if nodata is None else (~nodata).astype(np.float64)
    share = None if valid is None else grid.carry_over(valid, window, origin)
    made: dict[str, Array] = {}
    if "strata_top" in read:
        made["strata_top"] = grid.carry_over(read.pop("strata_top").astype(np.float64), window, origin)
    for name, layer in read.items():
        made[name] = resampled_layer(grid, layer, valid, share, ground.ranges[name], window, origin)
    if share is not None:
        made["nodata"] = share < 0.5
    return made


def level_tile(
    stage: Stage,
    ground: Ground,
    here: Ground,
    coarse: Ground,
    before: Ground,
    beds: Ground | None,
    seed: int,
    number: int,
) -> Survey:
    """Write a tile of the ground that a level begins with."""
    core = ground.grid.window(number)
    wide = widened(core, DETAIL_REACH, ground.shape)
    size = max(here.shape)
    carried = [name for name in CARRIED if name in before.layers]
    fine = _fitted_window(before, size, wide, [*carried, "nodata"])
    start = _fitted_window(coarse, size, wide, ["elevation", "nodata"])["elevation"]
    missing = fine.pop("nodata", None)
    depth = None if beds is None else _fitted_window(beds, size, wide, ["elevation"])["elevation"]
    terrain = merged(
        stage, here.part(wide), fine, start, None if missing is None else missing > 0, depth, seed=seed,
        origin=(wide[0].start, wide[1].start),
    )  # fmt: skip
    return ground.write(number, terrain, inside(core, wide))


def _fitted_window(ground: Ground, size: int, window: Window, names: Sequence[str]) -> dict[str, Array]:
    """Layers on a finer grid, whose sides may be a cell off from those of the window's grid."""
    shape = (window[0].stop - window[0].start, window[1].stop - window[1].start)
    there = resampled_shape(ground.shape, size)
    rows, columns = (slice(min(span.start, n - 1), min(span.stop, n)) for span, n in zip(window, there, strict=True))
    part = resampled_window(ground, size, (rows, columns), names)
    layers: dict[str, Any] = dict(part)
    if ground.has_nodata:
        layers["nodata"] = np.zeros(part.shape, bool) if part.nodata is None else part.nodata
    return {name: fitted(layer, shape) for name, layer in layers.items()}
