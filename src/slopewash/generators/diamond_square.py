"""Diamond-square midpoint displacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.generators import checks
from slopewash.generators.registry import Grid, generator
from slopewash.needs import Cost
from slopewash.terrain import lattice

Points = NDArray[np.float32]
Indices = NDArray[np.int64]


@generator("diamond_square", by_position=False, cost=Cost(16, 35e-9, fixed=30e6))
def diamond_square(grid: Grid, *, roughness: float = 0.3) -> Points:
    """Displace midpoints of squares, then of the diamonds between them, by normally distributed numbers.

    The lattice has 2^n + 1 points along the longer side, the fewest with a square for every cell; cells are the centres
    of the squares, displaced like those of any level. Where the side has fewer cells than 2^n, the lattice is
    interpolated and each cell displaced like the square that it lies in. The displacement of a point depends on (seed,
    level, position at that level) only: a finer grid has the displacements of a coarser one and those of finer levels.

    Parameters
    ----------
    roughness
        0 (smooth) .. 1 (rough). Displacements shrink by 2^(roughness - 1) per level, so that it is 1 minus the Hurst
        exponent, and 3 - (1 - roughness) is the fractal dimension.
    """
    roughness = checks.fraction("roughness", roughness)
    longest = max(grid.shape)
    levels = (longest - 1).bit_length()
    ratio = 2**levels / longest
    points = lattice.normal(np.arange(2), np.arange(2), grid.seed, 0)
    shrink = np.float32(2.0 ** (0.5 * (roughness - 1.0)))
    amplitude = np.float32(1.0)
    # Two squares more than the cells cover, because interpolation reaches beyond them.
    rows, columns = (min(int(n * ratio) + 2, 2**levels) for n in grid.shape)
    needed = _needed_points((rows + 1, columns + 1), levels)
    for level in range(1, levels + 1):
        points = _refine(points, level, grid.seed, amplitude * shrink, amplitude * shrink * shrink)
        points = points[: needed[level][0], : needed[level][1]]
        amplitude *= shrink * shrink
    heights = _means(points)
    if ratio > 1:
        heights = _interpolated(_interpolated(heights, grid.rows, ratio).T, grid.columns, ratio).T
    heights = np.ascontiguousarray(heights[: grid.rows, : grid.columns])
    row, column = (np.floor((np.arange(n) + 0.5) * ratio).astype(np.int64) for n in grid.shape)
    heights += _displacements(row, column, levels + 1, grid.seed, amplitude * shrink)
    return heights


def _needed_points(shape: tuple[int, int], levels: int) -> list[tuple[int, int]]:
    """Points per level that the cropped result depends on: one beyond half of those of the next level."""
    needed = [shape]
    for level in range(levels - 1, -1, -1):
        rows, columns = (min(n // 2 + 3, 2**level + 1) for n in needed[0])
        needed.insert(0, (rows, columns))
    return needed


def _refine(coarse: Points, level: int, seed: int, square: np.float32, diamond: np.float32) -> Points:
    """Halve the spacing: `square` and `diamond` are the standard deviations of the two steps."""
    rows, columns = 2 * coarse.shape[0] - 1, 2 * coarse.shape[1] - 1
    row, column = np.arange(rows), np.arange(columns)
    fine = np.empty((rows, columns), dtype=np.float32)
    fine[::2, ::2] = coarse
    centres = _means(coarse)
    centres += _displacements(np.arange(rows // 2), np.arange(columns // 2), level, seed, square)
    fine[1::2, 1::2] = centres
    # Midpoints of the edges: two ends along the edge, and the centres on both sides (one at the border).
    fine[::2, 1::2] = _mean_of_diamond(coarse[:, :-1], coarse[:, 1:], centres)
    fine[1::2, ::2] = _mean_of_diamond(coarse[:-1].T, coarse[1:].T, centres.T).T
    fine[::2, 1::2] += diamond * lattice.normal(row[::2], column[1::2], seed, level)
    fine[1::2, ::2] += diamond * lattice.normal(row[1::2], column[::2], seed, level)
    return fine


def _means(points: Points) -> Points:
    """Heights of the squares between the points, before they are displaced."""
    return np.float32(0.25) * ((points[:-1, :-1] + points[1:, 1:]) + (points[:-1, 1:] + points[1:, :-1]))


def _displacements(row: Indices, column: Indices, level: int, seed: int, deviation: np.float32) -> Points:
    """Displacements of the centres of squares, which are the odd points of that level."""
    return deviation * lattice.normal(2 * row + 1, 2 * column + 1, seed, level)


def _interpolated(values: Points, count: int, ratio: float) -> Points:
    """Rows at the centres of `count` cells, each `ratio` old rows long, on a quadratic B-spline.

    It smooths nearly alike wherever a cell lies between the old rows, so that the two grids make no pattern.
    """
    place = (np.arange(count) + 0.5) * ratio
    nearest = np.floor(place).astype(np.intp)
    t = (place - nearest - 0.5).astype(np.float32)[:, None]
    half, last = np.float32(0.5), len(values) - 1
    result: Points = half * (half - t) ** 2 * values[np.maximum(nearest - 1, 0)]
    result += (np.float32(0.75) - t * t) * values[nearest]
    result += half * (half + t) ** 2 * values[np.minimum(nearest + 1, last)]
    return result


def _mean_of_diamond(one: Points, other: Points, centres: Points) -> Points:
    ends = one + other
    mean = np.empty_like(ends)
    mean[1:-1] = 0.25 * (ends[1:-1] + (centres[:-1] + centres[1:]))
    mean[0] = (ends[0] + centres[0]) / np.float32(3.0)
    mean[-1] = (ends[-1] + centres[-1]) / np.float32(3.0)
    return mean
