"""Resample a terrain to more or fewer cells."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidTerrain

if TYPE_CHECKING:
    from slopewash.terrain.terrain import Terrain

Field = NDArray[np.float64]
MOST_CELLS = 65536
"""Along a side."""


def resampled(terrain: Terrain, size: int) -> Terrain:
    """Return the same ground on a grid with `size` cells along its longer side.

    Fewer cells take the mean over their area, so volumes are conserved; more cells are interpolated smoothly
    (Catmull-Rom), which leaves no facets and stays within the range of each layer. Cells stay square: where the shorter
    side is not a whole number of cells, the last cells reach beyond the old edge by less than a cell. A cell is nodata
    if less than half of it has data.

    >>> import numpy as np, slopewash as sw
    >>> sw.Terrain(np.arange(16.0).reshape(4, 4), cell_size=5.0).resampled(2)["elevation"].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    if not isinstance(size, Integral) or isinstance(size, bool) or not 1 <= size <= MOST_CELLS:
        raise InvalidTerrain(f"size is {size!r}; it must be a whole number within 1 .. {MOST_CELLS}")
    size = int(size)
    longest = max(terrain.shape)
    if size == longest:
        return terrain
    ratio = longest / size
    rows, columns = (math.ceil(side / ratio - 1e-9) for side in terrain.shape)
    valid = None if terrain.nodata is None else (~terrain.nodata).astype(np.float64)
    grid = _Grid(ratio, rows, columns, smooth=valid is None)
    share = None if valid is None else grid.carry_over(valid)
    layers = {name: _layer(grid, layer, valid, share) for name, layer in terrain.items()}
    strata = terrain.strata
    if strata is not None and strata.top is not None:
        strata = strata.replace(top=grid.carry_over(np.broadcast_to(strata.top, terrain.shape)))
    return terrain.replace(
        **layers,
        cell_size=terrain.cell_size * ratio,
        nodata=None if share is None else share < 0.5,
        transform=_scaled(terrain.transform, ratio),
        strata=strata,
    )


class _Grid:
    """Which old cells a new cell takes its value from, and how much of each."""

    def __init__(self, ratio: float, rows: int, columns: int, *, smooth: bool) -> None:
        self._ratio, self._smooth = ratio, smooth
        self._sides = rows, columns

    def carry_over(self, layer: NDArray[Any]) -> Field:
        rows, columns = self._sides
        return self._along(self._along(layer, rows).T, columns).T

    def _along(self, values: NDArray[Any], count: int) -> Field:
        old = len(values)
        first, weights = self._areas(count, old) if self._ratio > 1 else self._curve(count)
        result = np.zeros((count, values.shape[1]))
        total = np.zeros((count, 1))
        for k, weight in enumerate(weights):
            result += weight[:, None] * values[np.clip(first + k, 0, old - 1)]
            total += weight[:, None]
        return result / total

    def _areas(self, count: int, old: int) -> tuple[NDArray[np.intp], list[Field]]:
        """Overlap of each new cell with the old ones, which end at `old`."""
        begin = np.arange(count) * self._ratio
        end = np.minimum(begin + self._ratio, old)
        first = np.floor(begin).astype(np.intp)
        span = math.ceil(self._ratio) + 1
        cells = [first + k for k in range(span)]
        return first, [np.clip(np.minimum(end, cell + 1) - np.maximum(begin, cell), 0, None) for cell in cells]

    def _curve(self, count: int) -> tuple[NDArray[np.intp], list[Field]]:
        """Catmull-Rom between cell centres, or straight lines where some cells are missing."""
        place = (np.arange(count) + 0.5) * self._ratio - 0.5
        first = np.floor(place).astype(np.intp)
        t = place - first
        if not self._smooth:
            return first, [1 - t, t]
        before = 0.5 * t * (-1 + t * (2 - t))
        after = 0.5 * t * t * (t - 1)
        near = 1 + 0.5 * t * t * (3 * t - 5)
        return first - 1, [before, near, 1 - before - near - after, after]


def _layer(grid: _Grid, layer: NDArray[np.float32], valid: Field | None, share: Field | None) -> Field:
    if valid is None or share is None:
        return np.clip(grid.carry_over(layer), layer.min(), layer.max())
    return np.asarray(grid.carry_over(layer * valid) / np.where(share > 0, share, 1.0))


def _scaled(transform: tuple[float, ...] | None, ratio: float) -> tuple[float, ...] | None:
    if transform is None:
        return None
    a, b, c, d, e, f = transform
    return a * ratio, b * ratio, c, d * ratio, e * ratio, f
