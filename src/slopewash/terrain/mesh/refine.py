"""Adaptive triangles over a height field, without cracks [Bezin10, Sec. 3.3].

Right triangles are bisected from the midpoint of their longest side to the opposite corner. The midpoint is a vertex of
both triangles that share the side, so it requires the two corners opposite it, its parents. Any set of vertices that
contains the parents of its members gives a conforming mesh: no cracks, no T-junctions. So the importance of every
vertex is first raised to that of its most important descendant, and then the most important vertices are taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidMesh, InvalidParameter
from slopewash.terrain.terrain import Terrain

Field = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_BLOCKS = 4
"""Squares along the short side at the start: more give a better approximation of squares on oblong terrains."""
SKEW = 0.1
"""Tolerated logarithm of the ratio of the sides of blocks: fewer blocks leave more triangles to choose."""
STEEP = 0.95
"""Quantile of the gradient that counts as the steepest: otherwise single cliffs would take all triangles."""


def refine(terrain: Terrain, budget: int, gradient_weight: float, depth_weight: float) -> tuple[Field, Integers]:
    """Vertices and triangles of the mesh."""
    _check(terrain, budget, gradient_weight, depth_weight)
    blocks, levels = _lattice_of(terrain.shape)
    side = 1 << levels
    rows, columns = blocks[0] * side + 1, blocks[1] * side + 1
    x = 0.5 + np.linspace(0, terrain.shape[1] - 1, columns)
    y = 0.5 + np.linspace(0, terrain.shape[0] - 1, rows)
    cells = terrain["elevation"].astype(np.float64)
    heights = sample(cells, x[None, :], y[:, None])
    density = (1 + gradient_weight * _steepness(cells, terrain.cell_size)) * (1 + depth_weight * _depth(cells))
    importance = _propagate(_importance(sample(density, x[None, :], y[:, None]), side), side)
    least = 2 * blocks[0] * blocks[1]
    chosen = _choose(importance, side, budget - least)
    triangles = _extract(chosen, blocks, side)
    used, numbers = np.unique(triangles, return_inverse=True)
    i, j = used // columns, used % columns
    vertices = np.stack([x[j] * terrain.cell_size, y[i] * terrain.cell_size, heights[i, j]], axis=1)
    return _along_a_curve(vertices, numbers.reshape(-1, 3))


def every_cell(terrain: Terrain) -> tuple[Field, Integers]:
    """Vertices and triangles of the mesh through all cell centres; diagonals alternate from square to square."""
    _check_ground(terrain)
    i, j = np.indices(terrain.shape)
    l = terrain.cell_size  # noqa: E741
    heights = terrain["elevation"].astype(np.float64)
    vertices = np.stack([(j + 0.5) * l, (i + 0.5) * l, heights], axis=-1).reshape(-1, 3)
    number = i * terrain.shape[1] + j
    nw, ne, sw, se = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    even = ((i + j)[:-1, :-1].ravel() % 2 == 0)[:, None]
    first = np.where(even, np.stack([ne, se, nw], axis=1), np.stack([nw, ne, sw], axis=1))
    second = np.where(even, np.stack([sw, nw, se], axis=1), np.stack([se, sw, ne], axis=1))
    return vertices, np.stack([first, second], axis=1).reshape(-1, 3)


def sample(cells: Field, x: Field, y: Field) -> Field:
    """Bilinear samples at points in cells from the outer corner; constant beyond the outermost centres."""
    i = np.clip(y - 0.5, 0, cells.shape[0] - 1)
    j = np.clip(x - 0.5, 0, cells.shape[1] - 1)
    i0 = np.minimum(i.astype(np.int64), max(cells.shape[0] - 2, 0))
    j0 = np.minimum(j.astype(np.int64), max(cells.shape[1] - 2, 0))
    i1, j1 = np.minimum(i0 + 1, cells.shape[0] - 1), np.minimum(j0 + 1, cells.shape[1] - 1)
    down, across = i - i0, j - j0
    top = cells[i0, j0] * (1 - across) + cells[i0, j1] * across
    bottom = cells[i1, j0] * (1 - across) + cells[i1, j1] * across
    value: Field = top * (1 - down) + bottom * down
    return value


def _check(terrain: Terrain, budget: int, gradient_weight: float, depth_weight: float) -> None:
    _check_ground(terrain)
    for name, weight in (("gradient_weight", gradient_weight), ("depth_weight", depth_weight)):
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidParameter(f"{name} is {weight}; it must not be negative")
    blocks, _ = _lattice_of(terrain.shape)
    least = 2 * blocks[0] * blocks[1]
    if budget < least:
        raise InvalidParameter(f"the mesh may have {budget} triangles; a terrain of this shape needs {least} or more")


def _check_ground(terrain: Terrain) -> None:
    if terrain.nodata is not None:
        count = int(terrain.nodata.sum())
        raise InvalidMesh(
            f"the terrain has {count} nodata cell{'s'[: count != 1]}; a mesh needs ground everywhere, fill them first"
        )
    if min(terrain.shape) < 2:
        raise InvalidMesh(f"the terrain has shape {terrain.shape}; a mesh needs two rows and two columns")


def _lattice_of(shape: tuple[int, int]) -> tuple[tuple[int, int], int]:
    """Numbers of nearly square blocks down and across, and how often their sides are halved to match the cells."""
    rows, columns = shape[0] - 1, shape[1] - 1
    short, long = min(rows, columns), max(rows, columns)

    def skew(count: int) -> float:
        return abs(math.log(max(1, round(count * long / short)) * short / (count * long)))

    few = min(range(1, MOST_BLOCKS + 1), key=lambda count: (max(skew(count), SKEW), count))
    many = max(1, round(few * long / short))
    levels = max(0, math.ceil(math.log2(short / few)))
    return ((few, many) if rows <= columns else (many, few)), levels


def _steepness(cells: Field, cell_size: float) -> Field:
    """Gradient relative to the steepest, 0 .. 1."""
    gy, gx = np.gradient(cells, cell_size)
    slope = np.hypot(gy, gx)
    most = float(np.quantile(slope, STEEP)) or float(slope.max())
    relative: Field = np.minimum(slope / most, 1.0) if most > 0 else np.zeros_like(slope)
    return relative


def _depth(cells: Field) -> Field:
    """Depth below the highest ground relative to the relief, 0 .. 1."""
    low, high = float(cells.min()), float(cells.max())
    relative: Field = (high - cells) / (high - low) if high > low else np.zeros_like(cells)
    return relative


def _importance(density: Field, side: int) -> Field:
    """Triangles wanted in the diamond that a vertex would divide: its area times the mean density there."""
    rows, columns = density.shape
    sums = np.zeros((rows + 1, columns + 1))
    sums[1:, 1:] = density.cumsum(axis=0).cumsum(axis=1)
    importance = np.full(density.shape, np.inf)
    s = side // 2
    while s >= 1:
        # Midpoints of squares, then of their vertical and horizontal sides: area 4 s² and 2 s².
        for down, across, area in ((s, s, 4.0), (s, 0, 2.0), (0, s, 2.0)):
            i, j = np.arange(down, rows, 2 * s)[:, None], np.arange(across, columns, 2 * s)[None, :]
            i0, i1 = np.maximum(i - s, 0), np.minimum(i + s + 1, rows)
            j0, j1 = np.maximum(j - s, 0), np.minimum(j + s + 1, columns)
            total = sums[i1, j1] - sums[i0, j1] - sums[i1, j0] + sums[i0, j0]
            importance[down :: 2 * s, across :: 2 * s] = area * s * s * total / ((i1 - i0) * (j1 - j0))
        s //= 2
    return importance


def _propagate(importance: Field, side: int) -> Field:
    """Raise every vertex to its most important descendant, the finest first."""
    s = 1
    while s < side:
        middle = importance[s :: 2 * s, s :: 2 * s]
        upright, level = importance[s :: 2 * s, :: 2 * s], importance[:: 2 * s, s :: 2 * s]
        # The midpoint of a side has the midpoints of the squares on both sides of it as parents.
        for child in (upright[:, :-1], upright[:, 1:], level[:-1], level[1:]):
            np.maximum(middle, child, out=middle)
        # The midpoint of a square has the two corners that its diagonal does not join: those of odd index.
        corner = importance[:: 2 * s, :: 2 * s]
        most = np.full(corner.shape, -np.inf)
        for near in (most[:-1, :-1], most[:-1, 1:], most[1:, :-1], most[1:, 1:]):
            np.maximum(near, middle, out=near)
        uneven = np.add.outer(np.arange(corner.shape[0]), np.arange(corner.shape[1])) % 2 == 1
        corner[uneven] = np.maximum(corner, most)[uneven]
        s *= 2
    return importance


def _choose(importance: Field, side: int, triangles: int) -> NDArray[np.bool_]:
    """Mark the most important vertices that add at most so many triangles; among equals the coarser come first."""
    rows, columns = importance.shape
    fineness = np.zeros((rows, columns), dtype=np.int8)
    s, rank = side // 2, 1
    while s >= 1:
        fineness[s :: 2 * s, s :: 2 * s] = rank
        fineness[s :: 2 * s, :: 2 * s] = fineness[:: 2 * s, s :: 2 * s] = rank + 1
        s, rank = s // 2, rank + 2
    adds = np.full((rows, columns), 2, dtype=np.int64)
    adds[[0, -1]] = adds[:, [0, -1]] = 1
    adds[::side, ::side] = 0
    order = np.lexsort((fineness.ravel(), -importance.ravel()))
    total = np.cumsum(adds.ravel()[order])
    chosen = np.zeros(rows * columns, dtype=np.bool_)
    chosen[order[: int(np.searchsorted(total, triangles, side="right"))]] = True
    return chosen.reshape(rows, columns)


def _extract(chosen: NDArray[np.bool_], blocks: tuple[int, int], side: int) -> Integers:
    """Triangles of the mesh whose vertices are marked: corner opposite the longest side first."""
    columns = chosen.shape[1]
    a, b = (g.ravel() for g in np.meshgrid(np.arange(blocks[0]), np.arange(blocks[1]), indexing="ij"))
    even = (a + b) % 2 == 0
    nw, ne = a * side * columns + b * side, a * side * columns + (b + 1) * side
    sw, se = nw + side * columns, ne + side * columns
    parts = np.concatenate(
        [
            np.where(even[:, None], np.stack([ne, se, nw], axis=1), np.stack([nw, ne, sw], axis=1)),
            np.where(even[:, None], np.stack([sw, nw, se], axis=1), np.stack([se, sw, ne], axis=1)),
        ]
    )
    flat, done = chosen.ravel(), []
    while len(parts):
        apex, left, right = parts.T
        i, j = left // columns + right // columns, left % columns + right % columns
        middle = (i // 2) * columns + j // 2
        split = (i % 2 == 0) & (j % 2 == 0) & flat[middle]
        done.append(parts[~split])
        apex, left, right, middle = apex[split], left[split], right[split], middle[split]
        parts = np.concatenate([np.stack([middle, apex, left], axis=1), np.stack([middle, right, apex], axis=1)])
    return np.concatenate(done)


def _along_a_curve(vertices: Field, triangles: Integers) -> tuple[Field, Integers]:
    """Number vertices and triangles along a Z-order curve, so that neighbours lie near each other in memory."""
    order = np.argsort(_z_order(vertices[:, :2]), kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    vertices, triangles = vertices[order], number[triangles]
    centres = vertices[triangles][..., :2].mean(axis=1)
    return vertices, triangles[np.argsort(_z_order(centres), kind="stable")]


def _z_order(points: Field) -> Integers:
    low, high = points.min(axis=0), points.max(axis=0)
    cells = ((points - low) / max(float((high - low).max()), 1e-300) * 65535).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(16):
        code |= ((cells[:, 0] >> bit) & 1) << (2 * bit) | ((cells[:, 1] >> bit) & 1) << (2 * bit + 1)
    return code
