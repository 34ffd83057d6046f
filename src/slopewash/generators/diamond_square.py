"""Diamond-square midpoint displacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.generators import checks
from slopewash.generators.registry import Grid, generator
from slopewash.terrain import lattice

Points = NDArray[np.float32]


@generator("diamond_square")
def diamond_square(grid: Grid, *, roughness: float = 0.3) -> Points:
    """Displace midpoints of squares, then of the diamonds between them, by normally distributed numbers.

    The lattice has 2^n + 1 points per side, the smallest that covers the grid, which shows its north-west part. The
    displacement of a point depends on (seed, level, position at that level) only, so that sizes of 257 and 513, or of
    300 and 600, agree at shared points (exactly, before their heights are scaled to the relief).

    Parameters
    ----------
    grid
        The grid to fill.
    roughness
        0 (smooth) .. 1 (rough). Displacements shrink by 2^(roughness - 1) per level, so that it is 1 minus the Hurst
        exponent, and 3 - (1 - roughness) is the fractal dimension.
    """
    roughness = checks.fraction("roughness", roughness)
    levels = max(max(grid.shape) - 2, 0).bit_length()
    points = lattice.normal(np.arange(2), np.arange(2), grid.seed, 0)
    shrink = np.float32(2.0 ** (0.5 * (roughness - 1.0)))
    amplitude = np.float32(1.0)
    needed = _needed_points(grid.shape, levels)
    for level in range(1, levels + 1):
        points = _refine(points, level, grid.seed, amplitude * shrink, amplitude * shrink * shrink)
        points = points[: needed[level][0], : needed[level][1]]
        amplitude *= shrink * shrink
    return np.ascontiguousarray(points[: grid.rows, : grid.columns])


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
    fine[1::2, 1::2] = 0.25 * ((coarse[:-1, :-1] + coarse[1:, 1:]) + (coarse[:-1, 1:] + coarse[1:, :-1]))
    fine[1::2, 1::2] += square * lattice.normal(row[1::2], column[1::2], seed, level)
    centres = fine[1::2, 1::2]
    # Midpoints of the edges: two ends along the edge, and the centres on both sides (one at the border).
    fine[::2, 1::2] = _mean_of_diamond(coarse[:, :-1], coarse[:, 1:], centres)
    fine[1::2, ::2] = _mean_of_diamond(coarse[:-1].T, coarse[1:].T, centres.T).T
    fine[::2, 1::2] += diamond * lattice.normal(row[::2], column[1::2], seed, level)
    fine[1::2, ::2] += diamond * lattice.normal(row[1::2], column[::2], seed, level)
    return fine


def _mean_of_diamond(one: Points, other: Points, centres: Points) -> Points:
    ends = one + other
    mean = np.empty_like(ends)
    mean[1:-1] = 0.25 * (ends[1:-1] + (centres[:-1] + centres[1:]))
    mean[0] = (ends[0] + centres[0]) / np.float32(3.0)
    mean[-1] = (ends[-1] + centres[-1]) / np.float32(3.0)
    return mean
