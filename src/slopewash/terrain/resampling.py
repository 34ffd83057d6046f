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
Window = tuple[slice, slice]
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
    valid = None if terrain.nodata is None else (~terrain.nodata).astype(np.float64)
    grid = Resampling(terrain.shape, size, smooth=valid is None)
    share = None if valid is None else grid.carry_over(valid)
    layers = {
        name: resampled_layer(grid, layer, valid, share, (layer.min(), layer.max())) for name, layer in terrain.items()
    }
    strata = terrain.strata
    if strata is not None and strata.top is not None:
        strata = strata.replace(top=grid.carry_over(np.broadcast_to(strata.top, terrain.shape)))
    return terrain.replace(
        **layers,
        cell_size=terrain.cell_size * ratio,
        nodata=None if share is None else share < 0.5,
        transform=scaled(terrain.transform, ratio),
        strata=strata,
    )


def resampled_shape(shape: tuple[int, int], size: int) -> tuple[int, int]:
    """Rows and columns with so many cells along the longer side.

    >>> resampled_shape((300, 400), 100)
    (75, 100)
    """
    ratio = max(shape) / size
    rows, columns = (math.ceil(side / ratio - 1e-9) for side in shape)
    return rows, columns


class Resampling:
    """Which old cells a new cell takes its value from, and how much of each: by position, so that parts agree."""

    def __init__(self, shape: tuple[int, int], size: int, *, smooth: bool) -> None:
        self._old, self._ratio, self._smooth = shape, max(shape) / size, smooth
        self.shape = resampled_shape(shape, size)

    def needs(self, window: Window) -> Window:
        """Old rows and columns that a window of the new grid takes its values from."""
        rows, columns = (self._span(span, old) for span, old in zip(window, self._old, strict=True))
        return rows, columns

    def _span(self, span: slice, old: int) -> slice:
        first, weights = self._shares(np.array([span.start, span.stop - 1]), old)
        return slice(min(max(int(first[0]), 0), old - 1), min(max(int(first[1]) + len(weights), 1), old))

    def carry_over(self, layer: NDArray[Any], window: Window | None = None, origin: tuple[int, int] = (0, 0)) -> Field:
        """Values of the new grid, or of a window of it; `layer` is the old grid, or a part that begins at `origin`."""
        rows, columns = window or (slice(0, self.shape[0]), slice(0, self.shape[1]))
        along = self._along(layer, rows, self._old[0], origin[0])
        return self._along(along.T, columns, self._old[1], origin[1]).T

    def _along(self, values: NDArray[Any], span: slice, old: int, origin: int) -> Field:
        first, weights = self._shares(np.arange(span.start, span.stop), old)
        result = np.zeros((len(first), values.shape[1]))
        total = np.zeros((len(first), 1))
        for k, weight in enumerate(weights):
            result += weight[:, None] * values[np.clip(first + k, 0, old - 1) - origin]
            total += weight[:, None]
        return result / total

    def _shares(self, at: NDArray[np.intp], old: int) -> tuple[NDArray[np.intp], list[Field]]:
        return self._areas(at, old) if self._ratio > 1 else self._curve(at)

    def _areas(self, at: NDArray[np.intp], old: int) -> tuple[NDArray[np.intp], list[Field]]:
        """Overlap of each new cell with the old ones, which end at `old`."""
        begin = at * self._ratio
        end = np.minimum(begin + self._ratio, old)
        first = np.floor(begin).astype(np.intp)
        span = math.ceil(self._ratio) + 1
        cells = [first + k for k in range(span)]
        return first, [np.clip(np.minimum(end, cell + 1) - np.maximum(begin, cell), 0, None) for cell in cells]

    def _curve(self, at: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Field]]:
        """Catmull-Rom between cell centres, or straight lines where some cells are missing."""
        place = (at + 0.5) * self._ratio - 0.5
        first = np.floor(place).astype(np.intp)
        t = place - first
        if not self._smooth:
            return first, [1 - t, t]
        before = 0.5 * t * (-1 + t * (2 - t))
        after = 0.5 * t * t * (t - 1)
        near = 1 + 0.5 * t * t * (3 * t - 5)
        return first - 1, [before, near, 1 - before - near - after, after]


def resampled_layer(
    grid: Resampling,
    layer: NDArray[np.float32],
    valid: Field | None,
    share: Field | None,
    limits: tuple[float, float],
    window: Window | None = None,
    origin: tuple[int, int] = (0, 0),
) -> Field:
    """A layer on the new grid, within the limits of the whole layer; `valid` is 1 where there is ground."""
    if valid is None or share is None:
        return np.clip(grid.carry_over(layer, window, origin), *limits)
    return np.asarray(grid.carry_over(layer * valid, window, origin) / np.where(share > 0, share, 1.0))


def scaled(transform: tuple[float, ...] | None, ratio: float) -> tuple[float, ...] | None:
    """Return the transform of a grid whose cells are so many times as large."""
    if transform is None:
        return None
    a, b, c, d, e, f = transform
    return a * ratio, b * ratio, c, d * ratio, e * ratio, f
