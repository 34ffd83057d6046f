"""Rivers and lakes to look at: narrow smooth lines along the drainage, and level water in depressions."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.drainage import Drainage
from slopewash.analysis.sea import find_sea_level, sea_of
from slopewash.errors import InvalidParameter
from slopewash.terrain import Layer, Terrain

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

SMOOTHING = 40
"""Passes of a (1, 2, 1)/4 average along a river: a deviation of 4.5 cells, the size of the steps on plains."""
GATHERING_REACH = (4, 2)
"""Cells over which streams draw together, in turn."""
GATHERING_DEPTH = 0.15
"""Cells by which the ground is lowered for each doubling of the area that drains through it."""
SOURCE_CELLS = 30
"""Cells that drain into a river where it begins, at least: a small terrain is not all rivers."""
VALLEY = 0.08
"""Rise of the ground beside a river, per cell, at which smoothing moves it half as far: it stays in its valley."""
DEPTH_OF_WIDTH = 0.25
"""Depth of a river relative to its width."""
SHORE = 0.75
"""Cells from the edge of a river to where its depth ends: a profile as smooth as this has no steps when enlarged."""
NARROWEST = 1.0
"""Cells of width that a river keeps; a narrower one becomes shallower instead, so that it fades and never breaks up."""


def add_water(
    terrain: Terrain,
    *,
    source_area: float = 0.002,
    river_width: float = 0.01,
    lake_depth: float = 0.08,
    lake_area: float = 1.5e-4,
    sea_level: float | Literal["auto"] | None = "auto",
) -> Terrain:
    """Return the terrain with rivers and lakes to look at: the layers `drainage`, `river` and `lake`.

    Pictures show these instead of `water`, the depth of water in the simulation, which stays as it is. A lake stands
    in a depression as high as the simulated water does there, or up to the rim if the terrain has no `water`.

    Parameters
    ----------
    terrain
        Terrain to add the layers to.
    source_area
        Drainage area at which a river begins, as a fraction of the terrain.
    river_width
        Width of a river per square root of its drainage area. Real rivers have about a fifth of the default.
    lake_depth, lake_area
        Depth in cells, and area as a fraction of the terrain, of the smallest depression that holds a lake.
    sea_level
        Elevation of the sea in metres, or None for no sea. By default the level at which `water` stands along the
        border, as it does after a run with `sea_level`. The sea is part of the layer `lake`, and rivers end at it.

    Examples
    --------
    >>> valley = Terrain(np.abs(np.arange(33.0) - 16) + np.arange(33.0)[:, None], cell_size=10.0)
    >>> watered = add_water(valley)
    >>> bool(watered["river"][8, 16] > 0), bool(watered["river"][8, 4] > 0), bool(watered["lake"].any())
    (True, False, False)
    """
    given = {"source_area": source_area, "river_width": river_width, "lake_depth": lake_depth, "lake_area": lake_area}
    for name, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise InvalidParameter(f"{name} is {value}; it must be finite and not negative")
    level = find_sea_level(terrain) if sea_level == "auto" else sea_level
    drainage = Drainage(terrain)
    whole = float(np.count_nonzero(~drainage.missing)) * terrain.cell_size**2
    lake = _lakes(terrain, drainage, lake_depth * terrain.cell_size, lake_area * whole)
    land, area = terrain, drainage.area
    if level is not None:
        sea = sea_of(terrain, level, drainage)
        lake[sea] = (level - terrain["elevation"].astype(np.float64))[sea]
        if not sea.all():  # rivers leave the land where the sea begins, as they do at nodata
            land = terrain.replace(nodata=sea if terrain.nodata is None else sea | terrain.nodata)
            drainage = Drainage(land)
            area = np.where(sea, area, drainage.area)
    source = max(source_area * whole, SOURCE_CELLS * terrain.cell_size**2)
    river = _rivers(gathered(land, drainage), source, river_width)
    river[lake > river] = 0
    return terrain.replace(drainage=area, river=river, lake=lake)


def _lakes(terrain: Terrain, drainage: Drainage, least_depth: float, least_area: float) -> Layer:
    """Depth of standing water in the depressions that are deep and large enough."""
    number = drainage.hollows
    cells = np.flatnonzero(number)
    lake = np.zeros(terrain.shape, np.float32)
    if not cells.size:
        return lake
    ground, owner = terrain["elevation"].ravel()[cells], number.ravel()[cells]
    level = drainage.filled.ravel()[cells]
    count = int(owner.max()) + 1
    if "water" in terrain:
        stands = standing(ground, ground + terrain["water"].ravel()[cells], owner, count)[1]
        level = np.minimum(level, stands[owner])
    depth = np.maximum(level - ground, 0)
    greatest = np.zeros(count)
    np.maximum.at(greatest, owner, depth)
    extent = np.bincount(owner[depth > 0], minlength=count) * terrain.cell_size**2
    kept = (greatest >= least_depth) & (extent >= least_area)
    lake.ravel()[cells] = np.where(kept[owner], depth, 0)
    return lake


def standing(ground: Layer, surface: Layer, owner: Cells, count: int) -> tuple[Floats, Floats]:
    """Deepest ground of each depression, and the highest surface of the water that stands there."""
    deepest, stands = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(deepest, owner, ground)
    lowest = ground == deepest[owner]
    np.maximum.at(stands, owner[lowest], surface[lowest])
    return deepest, stands


def gathered(terrain: Terrain, drainage: Drainage) -> Drainage:
    """Return the drainage after streams have cut a little into the ground.

    On a plain, streams that come out of neighbouring valleys run side by side for ever. Real ones dig and join. Ground
    is lowered where much water passes, on average over the surroundings, which deepens broad furrows and is nothing
    against the relief of a valley.
    """
    for reach in GATHERING_REACH:
        passing = np.log2(np.maximum(drainage.area, terrain.cell_size**2) / np.float32(terrain.cell_size**2))
        furrow = blurred(passing.astype(np.float64), reach) * (GATHERING_DEPTH * terrain.cell_size)
        drainage = Drainage(terrain.replace(elevation=drainage.filled - furrow))
    return drainage


def blurred(values: Floats, reach: int) -> Floats:
    """Average over a square of that many cells each way, three times: nearly round."""
    for _ in range(3):
        for axis in (0, 1):
            padded = np.pad(values, [(reach + 1, reach) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
            sums = np.cumsum(padded, axis=axis)
            length, width = values.shape[axis], 2 * reach + 1
            values = (np.take(sums, range(width, width + length), axis) - np.take(sums, range(length), axis)) / width
    return values


def _rivers(drainage: Drainage, least_area: float, width: float) -> Layer:
    """Depth of rivers, greatest in the middle of the line and falling to nothing a little beyond its edge."""
    lines = drainage.lines
    cells = np.flatnonzero(lines.area > least_area)
    depth = np.zeros(drainage.shape, np.float32)
    if not cells.size:
        return depth
    wide = width * np.sqrt(lines.area[cells]) / drainage.cell_size
    rows, columns = _smooth_lines(drainage, cells)
    below = np.searchsorted(cells, np.maximum(lines.receiver[cells], 0))
    ends = lines.receiver[cells] < 0
    below[ends] = np.flatnonzero(ends)
    deep = DEPTH_OF_WIDTH * drainage.cell_size * wide
    _draw_lines(depth, (rows, columns), below, np.maximum(wide, NARROWEST), deep)
    return depth


def _smooth_lines(drainage: Drainage, cells: Cells) -> tuple[Floats, Floats]:
    """Rows and columns of the points of all rivers, moved off their cells; a tributary follows the river it joins."""
    across = drainage.shape[1] + 2
    lines = drainage.lines
    # Every river cell drains to a river cell: its area is larger.
    above, below = lines.donor[cells], lines.receiver[cells]
    fixed = (below < 0) | (above < 0) | (lines.area[np.maximum(above, 0)] <= lines.area[cells].min())
    up, down = (np.searchsorted(cells, np.where(fixed, cells, other)) for other in (above, below))
    up = np.minimum(up, len(cells) - 1)
    around = drainage.ground[cells + drainage.steps[:, None]] - drainage.ground[cells]
    points = smoothed(np.stack([cells // across - 1.0, cells % across - 1.0]), up, down, around / drainage.cell_size)
    return points[0], points[1]


def smoothed(points: Floats, up: Cells, down: Cells, around: Floats) -> Floats:
    """Points of lines over cells, moved so that the lines bend smoothly.

    Every point moves towards the middle between the one above and the one below it, which may be itself. On ground
    that rises beside the line, in a valley, points stay where they are: `around` is the rise to the eight neighbours.
    """
    # The third smallest of eight: the line itself leads to two, and at the foot of a slope three more are level.
    rise = np.partition(np.abs(around), 2, axis=0)[2]
    free = 1 / (1 + (rise / VALLEY) ** 2)
    start = points
    for _ in range(SMOOTHING):
        points = 0.5 * points + 0.25 * (points[:, up] + points[:, down])
        points = points + 0.1 * (1 - free) * (start - points)
    return points


def _draw_lines(depth: Layer, points: tuple[Floats, Floats], below: Cells, wide: Floats, deep: Floats) -> None:
    """Draw segments from every point to the one below it; where several cover a cell, the deepest counts."""
    y, x = points
    radius = wide / 2 + SHORE
    reach = int(np.ceil(radius.max() + 1))
    rows, columns = depth.shape
    dy, dx = y[below] - y, x[below] - x
    length = np.maximum(dy * dy + dx * dx, 1e-12)
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            i, j = np.rint(y + dy / 2).astype(np.int64) + down, np.rint(x + dx / 2).astype(np.int64) + right
            along = np.clip(((i - y) * dy + (j - x) * dx) / length, 0, 1)
            aside = np.hypot(i - y - along * dy, j - x - along * dx)
            profile = np.maximum(1 - (aside / radius) ** 2, 0) ** 2
            inside = (profile > 0) & (i >= 0) & (j >= 0) & (i < rows) & (j < columns)
            np.maximum.at(depth, (i[inside], j[inside]), (profile * deep)[inside].astype(np.float32))
