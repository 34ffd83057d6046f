"""From coarse to fine: the same ground eroded on a coarse grid first, then on ever finer ones.

A coarse grid makes the trunk valleys, each finer one their tributaries and the gullies. Only the change is taken along
from level to level, so that the start's own fine detail returns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.breaching import breach_depressions
from slopewash.analysis.drainage import Drainage, fill_depressions
from slopewash.analysis.rivers import blurred, gathered
from slopewash.models.catalogue import Level
from slopewash.models.state import Sides
from slopewash.terrain import Terrain
from slopewash.terrain.noise import fractal_noise

if TYPE_CHECKING:
    from slopewash.recipes.definition import Stage

Heights = NDArray[np.float64]

COARSEST = 48
"""Least cells along the longer side of a level."""
USUAL_RELIEF = 970 / 5120
"""Relief over the longer side that steps are made for."""
GENTLER = 0.3
"""Power of the relief that steps grow with on gentler ground: about the same share of it is taken away."""
LEAST_STEPS, LEAST_SETTLING = 4, 40
"""Of a level, however little strength is asked for: what flows must come to rest, or it would stand as spires."""
DETAIL_WAVELENGTH, DETAIL_OCTAVES = 16, 3
"""Of the noise that a level adds; in cells."""
STEEPEST_DETAIL = 1.5
"""Slope above which detail grows no more."""
DETAIL_REACH = 6
"""Cells around a cell that its detail depends on: by its slope, and whether that is a floor's."""
CARRIED = ("elevation", "water", "suspended", "bedrock")
"""Layers that a level takes from the one before."""

FLOOR_SLOPES = (0.1, 0.35)
"""Slope up to which ground is all floor, where a level has reshaped it, and from which on it is all flank."""
BED_DEPTH, DEEPEST_BED, BED_REACH = 1 / 385, 3, 2
"""Of the bed of a large stream: a share of the longer side, the most in cells of the level before, and its reach in
them. Each level raises floors by about half a cell."""
BED_CELLS = 512, 4096
"""Of the levels whose streams get beds for the next: coarser ones still make the valleys themselves, and for finer ones
the drainage of the whole would not fit into memory."""
BED_SHARES = (0.0025, 0.04)
"""Shares of the terrain that drain through a stream where its bed begins, and where it is as deep as it gets."""


def sizes(longest: int) -> list[int]:
    """Cells along the longer side of each level, up to a terrain's own.

    >>> sizes(512), sizes(700), sizes(64)
    ([64, 128, 256, 512], [88, 175, 350, 700], [64])
    """
    found = [longest]
    while found[0] / 2 >= COARSEST:
        found.insert(0, math.ceil(found[0] / 2))
    return found


def values_at(levels: Sequence[Level], cells: int) -> Level:
    """What to do on a grid of so many cells: between two levels of the table, in proportion to the logarithm.

    >>> a = Level(cells=128, steps=800, settle=200, parameters={"thermal_rate": 5.0})
    >>> b = Level(cells=512, steps=1200, settle=200, parameters={"thermal_rate": 1.0})
    >>> values_at((a, b), 256).parameters["thermal_rate"], values_at((a, b), 256).steps
    (3.0, 1000)
    """
    known = [math.log2(level.cells) for level in levels]
    at = math.log2(cells)

    def between(values: Sequence[float]) -> float:
        return float(np.interp(at, known, values))

    return Level(
        cells=cells,
        steps=round(between([level.steps for level in levels])),
        settle=round(between([level.settle for level in levels])),
        parameters={name: between([level.parameters[name] for level in levels]) for name in levels[0].parameters},
    )


class Extent(Protocol):
    """What levels depend on: a terrain, or one that no memory holds."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def width(self) -> float:
        """Extent from west to east in metres."""

    @property
    def height(self) -> float:
        """Extent from north to south in metres."""

    @property
    def relief(self) -> float:
        """Highest less lowest ground in metres."""


def expanded(stage: Stage, terrain: Extent) -> list[Stage]:
    """One stage for each level that suits a terrain, from coarse to fine; the stage itself where it has none."""
    if not stage.levels:
        return [stage]
    side = max(terrain.width, terrain.height)
    # Twice as steep, water does the same in half the steps. Half as steep, twice the steps would leave only plains and
    # the bones of hills: there is less to take away.
    gentler = USUAL_RELIEF * side / max(terrain.relief, 1e-9)
    relief = max(gentler, 0.3) if gentler < 1 else min(gentler**GENTLER, 1.6)
    levels = [values_at(stage.levels, cells) for cells in sizes(max(terrain.shape))]
    whole = relief * sum(level.steps for level in levels)
    share = stage.steps / whole if stage.strength is None else stage.strength
    usual = stage.usual_settling(stage.steps)
    calm = (
        share * (relief if stage.strength is None else 1.0) * (stage.settle / usual if stage.settle and usual else 1.0)
    )
    stages = []
    for level in levels:
        last = level is levels[-1]
        settle: int | None = 0 if stage.settle == 0 else max(LEAST_SETTLING, round(level.settle * calm))
        settle = None if last and stage.settle is None else settle
        stages.append(
            dataclasses.replace(
                stage,
                model=stage.model.replace(**{**level.parameters, **stage.settings}),
                steps=max(LEAST_STEPS, round(level.steps * share * relief)),
                settle=settle,
                levels=(),
                cells=level.cells,
                dry=stage.dry and last,
                low_water=stage.low_water if last else {},
                gullies=stage.gullies if last else 0.0,
            )
        )
    return stages


def terrain_of(stage: Stage, start: Terrain, before: Terrain | None, *, seed: int, last: bool = False) -> Terrain:
    """Terrain that a level begins with: the start on its grid, with what the level before has changed.

    With `last`, no level follows which would bring its own sea.
    """
    assert stage.cells is not None
    here = start.resampled(stage.cells)
    if before is None:
        return drained(stage, here)
    coarse = here.resampled(max(before.shape))  # the start as the level before saw it
    beds = stream_beds(before, stage.model.water_beyond)
    before = _without_sea(before, -math.inf if last else stage.model.water_beyond)
    fine = before.resampled(max(here.shape))
    return merged(
        stage,
        here,
        {name: fitted(fine[name], here.shape) for name in CARRIED if name in before},
        fitted(coarse.resampled(max(here.shape))["elevation"], here.shape),
        None if fine.nodata is None else fitted(fine.nodata, here.shape) > 0,
        None if beds is None else fitted(beds.resampled(max(here.shape))["elevation"], here.shape),
        seed=seed,
    )


def merged(
    stage: Stage,
    here: Terrain,
    fine: Mapping[str, Heights],
    start: Heights,
    missing: NDArray[np.bool_] | None,
    beds: Heights | None,
    *,
    seed: int,
    origin: tuple[int, int] = (0, 0),
) -> Terrain:
    """Terrain that a level begins with, or a part of it.

    Parameters
    ----------
    here
        The start on the level's grid.
    fine
        Layers of the level before, on this grid.
    start
        The start as the level before saw it, on this grid.
    missing
        Where the level before had no ground.
    beds
        Depth of the beds of large streams.
    origin
        Row and column of the first cell of a part.
    """
    assert stage.cells is not None
    cell = here.cell_size
    made = fine["elevation"]
    bare = _none(here.nodata, missing)
    floor = _floor(made, made - start, cell, bare)
    own = here["elevation"] - start  # detail that the level before could not see
    z = made + stage.restored * (1 - floor) * own
    if beds is not None:
        z -= floor * np.maximum(beds, 0)
    if missing is not None:  # land too small for the level before, which has changed nothing there
        z = np.where(missing, here["elevation"], z)
    if stage.detail:
        noise = fractal_noise(
            here.shape,
            cell,
            wavelength=DETAIL_WAVELENGTH * cell,
            octaves=DETAIL_OCTAVES,
            seed=1000 * seed + stage.cells,
            origin=origin,
        )
        z += stage.detail * cell * np.minimum(_steepness(z, cell, here.nodata), STEEPEST_DETAIL) * (1 - floor) * noise
    layers: dict[str, Any] = {"elevation": z, "water": np.maximum(fine["water"], 0)}
    if "suspended" in here or "suspended" in fine:
        layers["suspended"] = np.maximum(fine["suspended"], 0) if "suspended" in fine else 0.0
    if "bedrock" in fine:  # as deep below the ground as it was
        layers["bedrock"] = z - np.maximum(fine["elevation"] - fine["bedrock"], 0)
    return here.replace(**layers)


def drained(stage: Stage, terrain: Terrain) -> Terrain:
    """The start of the first level, its closed basins treated as the stage asks for.

    On a coarse grid a way out of a basin is a valley; on a fine one it would be a ditch. Water is taken to leave at
    all sides: where it cannot, basins are left alone.
    """
    if stage.basins == "kept" or Sides.of(stage.edges).word != "open":
        return terrain
    if stage.basins == "lakes":
        standing = fill_depressions(terrain) - terrain["elevation"]
        return terrain.replace(water=np.maximum(terrain["water"], standing) if "water" in terrain else standing)
    breached = breach_depressions(terrain)
    rock = {"bedrock": np.minimum(terrain["bedrock"], breached)} if "bedrock" in terrain else {}
    return terrain.replace(elevation=breached, **rock)


def _without_sea(before: Terrain, sea_level: float) -> Terrain:
    """The level before, without the sea: the next level starts with its own."""
    if sea_level == -math.inf:
        return before
    return drop_sea(before, fill_depressions(before) <= sea_level, sea_level)  # not the lakes behind higher ground


def drop_sea(before: Terrain, open_ways: NDArray[np.bool_], sea_level: float) -> Terrain:
    """Take the sea away where ways lead to the border that are nowhere above it; what stands higher is water still."""
    ground = before["elevation"].astype(np.float64)
    sea = (ground < sea_level) & open_ways
    surface = ground + before["water"]
    return before.replace(water=np.where(sea, np.maximum(surface - sea_level, 0), before["water"]))


def fitted(values: NDArray[Any], shape: tuple[int, int]) -> Heights:
    """A resampled layer with that very shape: where sides do not come out even, it may be a cell off."""
    rows, columns = shape
    beyond = ((0, max(0, rows - values.shape[0])), (0, max(0, columns - values.shape[1])))
    return np.pad(values, beyond, mode="edge")[:rows, :columns].astype(np.float64)


def _none(*masks: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Where one of the masks says that there is no ground; None for nowhere."""
    given = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(given) if given else None


def _floor(made: Heights, change: Heights, cell_size: float, missing: NDArray[np.bool_] | None) -> Heights:
    """How much of a valley floor the ground is, 0 to 1: gentle, and no longer what it was at the start.

    The start's detail is buried there or worn away; to bring it back would lead streams astray, as noise would.
    """
    most, least = FLOOR_SLOPES
    gentle = np.clip((least - _steepness(made, cell_size, missing)) / (least - most), 0, 1)
    return gentle * np.minimum(np.abs(change) / cell_size, 1)


def stream_beds(before: Terrain, sea_level: float) -> Terrain | None:
    """Depth of the beds that large streams of a level hand to the next, as the elevation of a terrain; None for none.

    Floors are level across: without a bed, a stream would run anywhere on them once the next level has laid down its
    sediment. Lakes and the sea have none.
    """
    if not BED_CELLS[0] <= max(before.shape) <= BED_CELLS[1]:
        return None
    drainage = Drainage(before)
    rows, columns = before.shape
    area = gathered(before, drainage).lines.area.reshape(rows + 2, columns + 2)[1:-1, 1:-1]
    share = area / max(np.count_nonzero(~drainage.missing) * before.cell_size**2, 1e-9)
    begin, whole = np.log2(BED_SHARES)
    large = np.clip((np.log2(np.maximum(share, 1e-12)) - begin) / (whole - begin), 0, 1)
    width = 2 * BED_REACH + 1
    middle = (3 * width**2 + 1) / 4 / width**3  # what is left of a line in its middle after three averages
    bed = np.minimum(blurred(large, BED_REACH) / middle, 1)
    ground = before["elevation"].astype(np.float64)
    bed[(drainage.filled - ground > 0.5 * before.cell_size) | (ground < sea_level)] = 0
    depth = min(BED_DEPTH * max(before.width, before.height), DEEPEST_BED * before.cell_size)
    return Terrain(depth * bed, cell_size=before.cell_size)


def _steepness(z: Heights, cell_size: float, missing: NDArray[np.bool_] | None) -> Heights:
    """Slope of the ground without its roughest detail; beside nodata, as beside the border, there is no neighbour."""
    ground = np.ones(z.shape, np.bool_) if missing is None else ~missing
    near = [_beside(ground, axis, beyond=False) for axis in (0, 1)]

    def neighbours(axis: int) -> list[Heights]:
        """Heights before and after along an axis, a cell's own where there is no ground."""
        return [np.where(there, w, z) for there, w in zip(near[axis], _beside(z, axis, beyond=0), strict=True)]

    for _ in range(2):
        for axis in (0, 1):
            before, after = neighbours(axis)
            z = 0.25 * (before + after) + 0.5 * z
    squares = np.zeros_like(z)
    for axis in (0, 1):
        before, after = neighbours(axis)
        apart = near[axis][0] + near[axis][1].astype(np.float64)
        squares += ((after - before) / (np.maximum(apart, 1) * cell_size)) ** 2
    return np.sqrt(squares)


def _beside(values: NDArray[Any], axis: int, *, beyond: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values of the cells before and after each along an axis."""
    p = np.pad(values, [(1, 1) if k == axis else (0, 0) for k in (0, 1)], constant_values=beyond)
    return (p[:-2], p[2:]) if axis == 0 else (p[:, :-2], p[:, 2:])
