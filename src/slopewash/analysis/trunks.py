"""Whether two grids of the same ground have their large valleys in the same places."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.drainage import Drainage
from slopewash.analysis.rivers import gathered
from slopewash.errors import InvalidParameter, InvalidTerrain
from slopewash.terrain import Terrain

Mask = NDArray[np.bool_]

TRUNK_SHARE = 0.01
"""Share of the terrain that drains through a trunk channel, at least: some twenty valleys on an eroded dome."""
REACH = 3.0
"""Cells of the coarser grid within which two channels count as the same."""


def trunk_channels(terrain: Terrain, *, share: float = TRUNK_SHARE, gather: bool = True) -> Mask:
    """Mark the trunk channels: cells through which at least that share of the terrain drains.

    The area is that along single flow lines over the filled ground, where each cell drains to one neighbour, so that a
    channel is a line one cell wide. With `gather`, streams that run side by side over a valley floor are drawn together
    first, as `add_water` does: on ground that is level across, the lines themselves mean little. Nodata does not count
    as terrain.

    >>> valley = Terrain(np.abs(np.arange(9.0) - 4) + np.zeros((9, 1)) + 0.1 * np.arange(9.0)[::-1, None])
    >>> np.flatnonzero(trunk_channels(valley, share=0.5)[8]).tolist()
    [4]
    """
    if not 0 < share <= 1:
        raise InvalidParameter(f"share is {share}; it must be above 0 and at most 1")
    drainage = Drainage(terrain)
    if gather:
        drainage = gathered(terrain, drainage)
    rows, columns = terrain.shape
    least = share * float(np.count_nonzero(~drainage.missing)) * terrain.cell_size**2
    area = drainage.lines.area.reshape(rows + 2, columns + 2)[1:-1, 1:-1]
    marked: Mask = (area >= least * (1 - 1e-9)) & ~drainage.missing[1:-1, 1:-1]  # areas are sums of floats
    return marked


def trunk_agreement(
    coarse: Terrain, fine: Terrain, *, share: float = TRUNK_SHARE, reach: float = REACH, gather: bool = True
) -> float:
    """Return the share of the coarse terrain's trunk channels that lie close to one of the fine terrain.

    Both are grids of the same ground. Trunk channels are those of `trunk_channels`; with `gather`, which acts over so
    many cells, the fine terrain is averaged onto the coarse grid first. A coarse cell of a trunk is close if a coarse
    cell through which a trunk of the fine terrain passes lies within `reach` coarse cells, centre to centre. The
    measure is one-sided: trunks that only the fine terrain has do not count, so exchange the two to see those. It is
    NaN for a coarse terrain without trunks.

    >>> import slopewash as sw
    >>> dome = sw.generate("dome", size=64)
    >>> trunk_agreement(dome.resampled(32), dome) > 0.8
    True
    """
    if not (math.isfinite(reach) and reach >= 0):
        raise InvalidParameter(f"reach is {reach}; it must be finite and not negative")
    # A side that is no whole number of cells reaches beyond the ground by less than one.
    allowed = max(coarse.cell_size, fine.cell_size)
    if max(abs(coarse.height - fine.height), abs(coarse.width - fine.width)) > allowed:
        shown = " and ".join(f"{terrain.width:g} x {terrain.height:g} m" for terrain in (coarse, fine))
        raise InvalidTerrain(f"the terrains are {shown}; pass two grids of the same ground")
    wanted = trunk_channels(coarse, share=share, gather=gather)
    other = fine.resampled(max(coarse.shape)) if gather else fine
    near = _within(_on_grid(trunk_channels(other, share=share, gather=gather), other.cell_size, coarse), reach)
    return float(near[wanted].mean()) if wanted.any() else math.nan


def _on_grid(mask: Mask, cell_size: float, grid: Terrain) -> Mask:
    """Cells of a grid that have the centre of a marked cell within them."""
    marked = np.zeros(grid.shape, np.bool_)
    at = (
        np.minimum(((found + 0.5) * (cell_size / grid.cell_size)).astype(np.int64), length - 1)
        for found, length in zip(np.nonzero(mask), grid.shape, strict=True)
    )
    marked[tuple(at)] = True
    return marked


def _within(mask: Mask, reach: float) -> Mask:
    """Mark every cell within so many cells of a marked one."""
    border = int(reach)
    padded, (rows, columns) = np.pad(mask, border), mask.shape
    near = np.zeros_like(mask)
    for down in range(-border, border + 1):
        for right in range(-border, border + 1):
            if math.hypot(down, right) <= reach:
                near |= padded[border + down :, border + right :][:rows, :columns]
    return near
