"""Slope, and the local minima in which water collects."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidParameter, InvalidTerrain
from slopewash.terrain import Layer, Terrain
from slopewash.terrain.arrays import as_real, mask_of


def slope(elevation: ArrayLike | Terrain, cell_size: float | None = None, *, nodata: ArrayLike | None = None) -> Layer:
    """Return the slope of the ground in degrees: central differences, one-sided at the edges and beside nodata.

    A terrain has its own cell size and nodata; heights alone need the former. Nodata cells have a slope of 0, and
    those whose height is NaN or masked one of NaN.

    >>> slope([[0.0, 10.0, 20.0]], cell_size=10.0).tolist()
    [[45.0, 45.0, 45.0]]
    >>> slope([[0.0, 10.0, -9999.0]], cell_size=10.0, nodata=[[False, False, True]]).tolist()
    [[45.0, 45.0, 0.0]]
    """
    heights = as_heights(elevation)
    if isinstance(elevation, Terrain):
        if cell_size not in (None, elevation.cell_size):
            raise InvalidParameter(
                f"cell_size is {cell_size} m, and the terrain's cells are {elevation.cell_size:g} m; leave it out"
            )
        cell_size, nodata = elevation.cell_size, elevation.nodata if nodata is None else nodata
    if cell_size is None:
        raise InvalidParameter("cell_size is missing; heights without a terrain need it, in metres")
    if not (math.isfinite(cell_size) and cell_size > 0):
        raise InvalidParameter(f"cell_size is {cell_size} m; it must be positive and finite")
    missing = _missing(heights, nodata)
    if missing is None:
        steepness = np.hypot(_derivative(heights, 0, cell_size), _derivative(heights, 1, cell_size))
    else:
        steepness = np.hypot(*(_rise(heights, missing, axis) / cell_size for axis in (0, 1)))
        steepness[missing] = np.nan
        if nodata is not None:
            steepness[np.asarray(nodata, np.bool_)] = 0.0
    return np.degrees(np.arctan(steepness)).astype(np.float32)


def local_minima_mask(
    elevation: ArrayLike | Terrain, border: int = 4, *, nodata: ArrayLike | None = None
) -> NDArray[np.bool_]:
    """Mark cells lower than all their eight neighbours, except within `border` cells of the edge.

    Cells without a height (nodata, NaN, masked) are neither minima nor neighbours.

    >>> local_minima_mask([[2, 2, 2], [2, 1, 2], [2, 2, 2]], border=1).astype(int).tolist()
    [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    """
    heights = as_heights(elevation)
    if border < 0:
        raise InvalidParameter(f"border is {border} cells; it must not be negative")
    missing = _missing(heights, nodata)
    if missing is not None:
        heights = np.where(missing, np.inf, heights)
    rows, columns = heights.shape
    # Padding gives edge cells eight neighbours, so that a border of 0 is no special case.
    walled = np.pad(heights, 1, constant_values=np.inf)
    lowest = np.ones(heights.shape, dtype=np.bool_)
    for down in range(3):
        for right in range(3):
            if (down, right) != (1, 1):
                lowest &= heights < walled[down : down + rows, right : right + columns]
    inner = np.zeros(heights.shape, dtype=np.bool_)
    inner[border : max(rows - border, 0), border : max(columns - border, 0)] = True
    return lowest & inner


def local_minima(elevation: ArrayLike | Terrain, border: int = 4, *, nodata: ArrayLike | None = None) -> int:
    """Count the cells of `local_minima_mask`.

    >>> local_minima([[2, 2, 2], [2, 1, 2], [2, 2, 2]], border=1)
    1
    """
    return int(local_minima_mask(elevation, border, nodata=nodata).sum())


def as_heights(elevation: ArrayLike | Terrain) -> NDArray[np.float64]:
    """Return a grid of heights in float64, NaN where there is none, or raise."""
    if isinstance(elevation, Terrain):
        values, missing = elevation["elevation"], elevation.nodata
    else:
        values, missing = as_real("elevation", elevation), mask_of(elevation)
    heights = values.astype(np.float64)
    if heights.ndim != 2 or heights.size == 0:
        raise InvalidTerrain(f"elevation has shape {heights.shape}; it must have two dimensions, rows and columns")
    if missing is not None:
        heights[missing] = np.nan
    return heights


def _missing(heights: NDArray[np.float64], nodata: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Cells without a height; None where all have one."""
    missing = np.isnan(heights)
    if nodata is not None:
        given = np.asarray(nodata, dtype=np.bool_)
        if given.shape != heights.shape:
            raise InvalidTerrain(f"nodata has shape {given.shape}; it must be {heights.shape}, as elevation is")
        missing |= given
    return missing if missing.any() else None


def _rise(heights: NDArray[np.float64], missing: NDArray[np.bool_], axis: int) -> NDArray[np.float64]:
    """Rise over one cell along an axis, from the neighbours that are there."""
    near, there = np.moveaxis(heights, axis, 0), np.moveaxis(~missing, axis, 0)
    edge = [(1, 1), (0, 0)]
    known = np.pad(there, edge)
    padded = np.pad(near, edge)
    before, after = (np.where(known[part], padded[part], near) for part in (slice(None, -2), slice(2, None)))
    both = known[:-2] & known[2:]
    return np.moveaxis((after - before) * np.where(both, 0.5, 1.0), 0, axis)


def _derivative(heights: NDArray[np.float64], axis: int, cell_size: float) -> NDArray[np.float64]:
    if heights.shape[axis] == 1:
        return np.zeros_like(heights)
    derivative: NDArray[np.float64] = np.gradient(heights, cell_size, axis=axis)
    return derivative
