"""Bring a terrain to the size of an export: resampled, cropped or padded about its centre."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.sizes import Plan, Shape
from slopewash.terrain import Terrain

Values = NDArray[Any]


def fitted(terrain: Terrain, plan: Plan) -> Terrain:
    """Return the terrain with the rows and columns of the plan; padding repeats the values of the edge.

    >>> from slopewash.exports.sizes import Sizes, plan_sizes
    >>> plan = plan_sizes((3, 3), Sizes(target="gis"), size=5, tiles=(1, 1), fit="pad", shared=None)
    >>> fitted(Terrain(np.eye(3)), plan)["elevation"][0].tolist()
    [1.0, 1.0, 0.0, 0.0, 0.0]
    """
    bare = terrain.replace(sources=(), emitters=(), strata=None)  # what has positions of its own is not exported
    if plan.fit is None:
        return bare
    if plan.fit == "resample":
        return bare.resampled(max(plan.whole))
    if plan.fit == "crop":
        rows, columns = ((old - new) // 2 for old, new in zip(terrain.shape, plan.whole, strict=True))
        window = slice(rows, rows + plan.whole[0]), slice(columns, columns + plan.whole[1])
        return _changed(bare, lambda values: values[window], (rows, columns))
    before = [(new - old) // 2 for old, new in zip(terrain.shape, plan.whole, strict=True)]
    after = [new - old - first for old, new, first in zip(terrain.shape, plan.whole, before, strict=True)]
    margins = list(zip(before, after, strict=True))
    return _changed(bare, lambda values: np.pad(values, margins, mode="edge"), (-before[0], -before[1]))


def _changed(terrain: Terrain, change: Callable[[Values], Values], origin: Shape) -> Terrain:
    """Apply a change of the grid to all layers; `origin` is the old row and column of the new first cell."""
    own = {name: change(terrain[name]) for name in terrain.own_layers}
    layers: dict[str, Any] = {name: change(layer) for name, layer in terrain.items() if name not in own}
    return Terrain(
        **layers,
        own_layers=own,
        cell_size=terrain.cell_size,
        nodata=None if terrain.nodata is None else change(terrain.nodata),
        crs=terrain.crs,
        transform=_moved(terrain.transform, origin),
    )


def _moved(transform: tuple[float, ...] | None, origin: Shape) -> tuple[float, ...] | None:
    if transform is None:
        return None
    a, b, c, d, e, f = transform
    row, column = origin
    return a, b, c + a * column + b * row, d, e, f + d * column + e * row
