"""Sources that never exist as a whole in memory: each fills the store tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.generators import describe_generator
from slopewash.generators.registry import Planned, plan
from slopewash.io.suspects import Look
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, Source
from slopewash.terrain import Terrain
from slopewash.terrain.parts import strata_facts
from slopewash.tiles.arrays import Field
from slopewash.tiles.files import ByWindows, opened
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import SOURCE, Ground, Survey, cropped
from slopewash.tiles.store import Store

Array = NDArray[Any]
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
"""Runs a task for each tile and returns the results in the order of the tiles; the last is what to call it."""

RAW = "state/raw"
LARGEST = 2**20
"""Most cells along a side of a generated terrain on tiles."""


def fill(store: Store, source: Source, tile: int | tuple[int, int], run: Run) -> tuple[Ground, dict[str, Array]]:
    """Bring a source into the store; returns what is known of it, and the ground along its border."""
    if isinstance(source, Generated):
        return _generate(store, source, tile, run)
    if isinstance(source, FromTerrain):
        return keep(store, source.make(), tile)
    windowed = opened(source)
    if windowed is None:
        return keep(store, source.make(), tile)
    ground = windowed.ground(store, tile)
    ground.create()
    found = run(fill_tile, [(ground, windowed, n) for n in range(len(ground.grid))], "reading")
    Look.over(look for _, look in found).question(windowed.path, windowed.suspects)
    return ground.known(survey for survey, _ in found)


def outline(store: Store, source: Source, tile: int | tuple[int, int]) -> Ground | None:
    """What the header of a source tells of its ground; None where it must be made or read as a whole."""
    windowed = opened(source) if isinstance(source, FromFile) else None
    return None if windowed is None else windowed.ground(store, tile)


def keep(store: Store, terrain: Terrain, tile: int | tuple[int, int]) -> tuple[Ground, dict[str, Array]]:
    """Store a terrain that is in memory."""
    ground = Ground(
        store=store, path=SOURCE, grid=TileGrid.of(terrain.shape, tile), cell_size=terrain.cell_size,
        layers=tuple(terrain), own=tuple(sorted(terrain.own_layers)), has_nodata=terrain.nodata is not None,
        strata=None if terrain.strata is None else strata_facts(terrain.strata), sources=terrain.sources,
        crs=terrain.crs, transform=terrain.transform,
    )  # fmt: skip
    ground.create()
    return ground.known([ground.write(n, cropped(terrain, window)) for n, window in enumerate(ground.grid)])


# Generators


def _generate(
    store: Store, source: Generated, tile: int | tuple[int, int], run: Run
) -> tuple[Ground, dict[str, Array]]:
    own = describe_generator(source.kind)[1]
    for name in source.options:
        if name not in own:
            raise InvalidParameter(f'generator "{source.kind}" has no option "{name}"')
    planned = _planned(source)
    if not planned.generator.by_position and max(planned.grid.shape) <= WHOLE_SIDE:
        return keep(store, source.make(), tile)
    grid = TileGrid.of(planned.grid.shape, tile)
    ground = Ground(store=store, path=SOURCE, grid=grid, cell_size=planned.grid.cell_size)
    ground.create()
    raw = Field(path=RAW, dtype=str(planned.raw(np.s_[0:1, 0:1]).dtype))
    if planned.anchored:
        return ground.known(run(fit_tile, [(ground, source, raw, None, n) for n in range(len(grid))], "generating"))
    store.create(raw, grid)
    ranges = run(raw_tile, [(store, grid, source, raw, n) for n in range(len(grid))], "generating")
    whole = min(low for low, _ in ranges), max(high for _, high in ranges)
    surveys = run(fit_tile, [(ground, source, raw, whole, n) for n in range(len(grid))], "fitting to the relief")
    store.remove(RAW)
    return ground.known(surveys)


WHOLE_SIDE = 8192
"""Most cells along a side that a generator which must see the whole makes at once."""


def _planned(source: Generated) -> Planned:
    return plan(
        source.kind, size=source.size, cell_size=source.cell_size, extent=source.extent, seed=source.seed,
        relief=source.relief, maximum_size=LARGEST, **source.options,
    )  # fmt: skip


def raw_tile(store: Store, grid: TileGrid, source: Generated, field: Field, number: int) -> tuple[Any, Any]:
    """Generate raw heights of a tile; returns the lowest and the highest."""
    raw = _planned(source).raw(grid.window(number))
    store.write(field, grid, number, raw)
    return raw.min(), raw.max()


def fit_tile(ground: Ground, source: Generated, field: Field, whole: tuple[Any, Any] | None, number: int) -> Survey:
    """Fit a tile to the relief of the whole; without its range, the heights are anchored to the world."""
    planned, window = _planned(source), ground.grid.window(number)
    if whole is None:
        raw = planned.raw(window)
        planned.fit(raw, 0, 0)
    else:
        raw = ground.store.read(field, ground.grid, window)
        planned.fit(raw, *whole)
    return ground.write(number, Terrain(raw, cell_size=ground.cell_size))


def fill_tile(ground: Ground, source: ByWindows, number: int) -> tuple[Survey, Look]:
    """Read one tile of a file."""
    part, look = source.read(ground, number)
    return ground.write(number, part), look
