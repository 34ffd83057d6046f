"""Gullies on tiles: one wavelength after the other, each of which must know the lowest ground of the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from slopewash.models import Model
from slopewash.terrain import lattice
from slopewash.terrain.gullies import layer_of_gullies, reach_of_gullies, usual_wavelength, wavelengths
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import inside, widened
from slopewash.tiles.ground import Ground
from slopewash.tiles.results import terrain_after, yielded
from slopewash.tiles.work import Work

Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
WATER = Field(path="state/gully-water", dtype="float32")


def draw_gullies(
    work: Work, before: Ground, group: str, iterations: int, model: Model, run: Run, *, depth: float, seed: int
) -> Field:
    """Draw gullies into the ground that a stage leaves; returns the array of its elevation, as `add_gullies` has it."""
    for field in (_heights(0), _heights(1), WATER):
        work.store.create(field, work.grid)
    numbers = range(len(work.grid))
    calls = [(work, before, group, iterations, model, n) for n in numbers]
    lowest = min(run(begin_gullies, calls, "gullies"))
    cell, turn = before.cell_size, 0
    has_water = "water" in before.layers or "water" in yielded(work, before)
    longest = usual_wavelength(before.width, before.height, cell)
    for octave, length in enumerate(wavelengths(longest, cell)):
        facts = (turn, depth, length, lattice.key(seed, octave), float(lowest), has_water)
        lowest = min(run(gully_tile, [(work, before, *facts, n) for n in numbers], f"gullies {length:.3g} m apart"))
        turn = 1 - turn
    return _heights(turn)


def remove_gullies(work: Work) -> None:
    """Remove the arrays that were needed."""
    for field in (_heights(0), _heights(1), WATER):
        work.store.remove(field.path)


def begin_gullies(work: Work, before: Ground, group: str, iterations: int, model: Model, number: int) -> float:
    """Write the ground and the water of a tile; returns its lowest ground."""
    core = work.grid.window(number)
    names = [name for name in yielded(work, before) if name in ("elevation", "water")]
    terrain = terrain_after(work, before, group, iterations, model, names, core, core)
    z = terrain["elevation"].astype(np.float64)
    work.store.write(_heights(0), work.grid, number, z)
    if "water" in terrain:
        work.store.write(WATER, work.grid, number, terrain["water"])
    present = np.ones(z.shape, bool) if terrain.nodata is None else ~terrain.nodata
    return float(z.min(where=present, initial=np.inf))


def gully_tile(
    work: Work,
    before: Ground,
    turn: int,
    depth: float,
    length: float,
    key: int,
    lowest: float,
    has_water: bool,
    number: int,
) -> float:
    """Draw gullies of one wavelength into a tile; returns its lowest ground afterwards."""
    core = work.grid.window(number)
    wide = widened(core, reach_of_gullies(length, before.cell_size), work.grid.shape)
    own = inside(core, wide)
    z = work.store.read(_heights(turn), work.grid, wide)
    nodata = before.part(wide, ["elevation"]).nodata
    present = np.ones(z.shape, bool) if nodata is None else ~nodata
    water = work.store.read(WATER, work.grid, wide) if has_water else None
    origin = wide[0].start, wide[1].start
    datum = lowest if np.isfinite(lowest) else 0.0
    z += depth * layer_of_gullies(z, present.astype(np.float64), water, before.cell_size, length, key, origin, datum)
    work.store.write(_heights(1 - turn), work.grid, number, z[own])
    return float(z[own].min(where=present[own], initial=np.inf))


def _heights(turn: int) -> Field:
    return Field(path=f"state/gully-heights-{turn}", dtype="float64")
