"""From triangles back to a grid: the exact height of the mesh at each cell centre."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidParameter
from slopewash.memory import check_memory
from slopewash.terrain.fields import LAYERS
from slopewash.terrain.terrain import Layer, Terrain

Points = NDArray[np.float64]
Integers = NDArray[np.int64]

SLACK = 1e-9
"""Fraction of a triangle by which a point may lie outside it and still count, so that rounding leaves no cracks."""
AT_ONCE = 4_000_000
"""Pairs of points and triangles processed at once, which limits memory."""
BYTES_PER_CELL = 120
"""Of the triangle under each cell, its corners and their weights, and what is worked out from them."""
LARGEST_GRID = 1 << 30
"""Cells of a grid that a mesh is sampled on: above it, the cell size is certainly not meant."""


def raster_of(
    vertices: Points,
    triangles: NDArray[np.int32],
    attributes: Mapping[str, Layer],
    cell_size: float,
    shape: tuple[int, int] | None,
) -> Terrain:
    """Sample heights and attributes at cell centres, the first at the north-west corner."""
    if not (math.isfinite(cell_size) and cell_size > 0):
        raise InvalidParameter(f"cell_size is {cell_size} m; it must be positive and finite")
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    across, down = (high - low) / cell_size + 1e-9
    if shape is not None:
        down, across = shape[0] - 1, shape[1] - 1
    count = float(across + 1) * float(down + 1)
    if not count <= LARGEST_GRID:
        raise InvalidParameter(
            f"cell_size is {cell_size:g} m, which gives {across + 1:.4g} x {down + 1:.4g} cells; use a larger one"
        )
    rows, columns = int(down) + 1, int(across) + 1
    check_memory(f"a grid of {columns} x {rows} cells", BYTES_PER_CELL * count, "use a larger cell_size")
    triangle, weights = find_on_grid(vertices, triangles, low, cell_size, (rows, columns))
    hit = triangle >= 0
    corners = triangles[np.where(hit, triangle, 0)]

    def cells(values: NDArray[np.floating]) -> NDArray[np.float64]:
        interpolated: Points = (values[corners].astype(np.float64) * weights).sum(axis=1)
        return interpolated.reshape(rows, columns)

    nodata = None if hit.all() else ~hit.reshape(rows, columns)
    layers: dict[str, Any] = {name: cells(values) for name, values in attributes.items()}
    own = {name: layers.pop(name) for name in list(layers) if name not in LAYERS}
    return Terrain(cells(vertices[:, 2]), cell_size=cell_size, nodata=nodata, own_layers=own, **layers)


def find_on_grid(
    vertices: Points, triangles: NDArray[np.int32], origin: Points, spacing: float, shape: tuple[int, int]
) -> tuple[Integers, Points]:
    """Triangle under each grid point (-1 for none; of several the first) and the weights of its corners."""
    rows, columns = shape
    found = np.full(rows * columns, -1, dtype=np.int64)
    weights = np.zeros((rows * columns, 3))
    corners = vertices[triangles][..., :2]
    i0, i1 = _lines(corners[..., 1], origin[1], spacing, rows)
    j0, j1 = _lines(corners[..., 0], origin[0], spacing, columns)
    counts = np.maximum(i1 - i0, 0) * np.maximum(j1 - j0, 0)
    ends = np.cumsum(counts)
    parts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1] + AT_ONCE, AT_ONCE), side="left"))
    # The last part first, so that of several triangles the first one stays.
    for begin, end in reversed(list(zip(parts, [*parts[1:], len(triangles)], strict=True))):
        t = np.repeat(np.arange(begin, end), counts[begin:end])[::-1]
        k = _ragged(counts[begin:end])[::-1]
        width = np.maximum(j1[t] - j0[t], 1)
        i, j = i0[t] + k // width, j0[t] + k % width
        inside, w = barycentric(corners[t], origin[0] + j * spacing, origin[1] + i * spacing)
        cell = (i * columns + j)[inside]
        found[cell] = t[inside]
        weights[cell] = w[inside]
    return found, weights


def _lines(values: Points, origin: float, spacing: float, count: int) -> tuple[Integers, Integers]:
    """First grid line that each triangle reaches, and the one after the last."""
    low = np.ceil((values.min(axis=1) - origin) / spacing - SLACK).astype(np.int64)
    high = np.floor((values.max(axis=1) - origin) / spacing + SLACK).astype(np.int64) + 1
    return np.clip(low, 0, count), np.clip(high, 0, count)


def _cells(values: Points, origin: float, spacing: float, count: int) -> tuple[Integers, Integers]:
    """First cell between grid lines that each triangle reaches, and the one after the last."""
    low = np.floor((values.min(axis=1) - origin) / spacing - SLACK).astype(np.int64)
    high = np.floor((values.max(axis=1) - origin) / spacing + SLACK).astype(np.int64) + 1
    return np.clip(low, 0, count - 1), np.clip(high, 1, count)


def _ragged(counts: Integers) -> Integers:
    """0, 1, 2 ... up to each count, one after another."""
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(starts, counts)


def barycentric(corners: Points, x: Points, y: Points) -> tuple[NDArray[np.bool_], Points]:
    """Whether points lie in triangles, and the weights of the corners."""
    (x0, y0), (x1, y1), (x2, y2) = (corners[:, k].T for k in range(3))
    twice = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    first = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / twice
    second = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / twice
    weights = np.stack([1 - first - second, first, second], axis=1)
    return weights.min(axis=1) >= -SLACK, weights


def heights_at(vertices: Points, triangles: NDArray[np.int32], x: ArrayLike, y: ArrayLike) -> Points:
    """Heights at any points, NaN outside the mesh: each point is looked up in a grid of triangles."""
    px, py = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    flat_x, flat_y = px.ravel(), py.ravel()
    corners = vertices[triangles][..., :2]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    spacing = max(float(np.sqrt(np.prod(high - low) / len(triangles))), 1e-300) * 2
    columns, rows = ((high - low) / spacing).astype(np.int64) + 1
    i0, i1 = _cells(corners[..., 1], low[1], spacing, int(rows))
    j0, j1 = _cells(corners[..., 0], low[0], spacing, int(columns))
    counts = (i1 - i0) * (j1 - j0)
    t = np.repeat(np.arange(len(triangles)), counts)
    k = _ragged(counts)
    cell = (i0[t] + k // (j1 - j0)[t]) * columns + j0[t] + k % (j1 - j0)[t]
    order = np.argsort(cell, kind="stable")
    cell, t = cell[order], t[order]
    ci = np.clip((flat_y - low[1]) / spacing, 0, rows - 1).astype(np.int64)
    cj = np.clip((flat_x - low[0]) / spacing, 0, columns - 1).astype(np.int64)
    begin, end = (np.searchsorted(cell, ci * columns + cj, side=side) for side in ("left", "right"))
    heights = np.full(flat_x.shape, np.nan)
    point = np.repeat(np.arange(len(flat_x)), end - begin)[::-1]
    candidate = t[np.repeat(begin, end - begin)[::-1] + _ragged(end - begin)[::-1]]
    inside, w = barycentric(corners[candidate], flat_x[point], flat_y[point])
    z = (vertices[:, 2][triangles[candidate]] * w).sum(axis=1)
    heights[point[inside]] = z[inside]
    return heights.reshape(px.shape)
