"""The result in the store: layers, overviews of them, and attributes by which GIS programs find their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slopewash.terrain.fields import layer_spec
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import Ground

Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
SMALLEST_OVERVIEW = 512
"""Cells along the longer side of the coarsest overview, at most."""
CONVENTIONS = (
    {"name": "multiscales", "uuid": "d35379db-88df-4056-af3a-620245f8e347"},
    {"name": "proj:", "uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f"},
    {"name": "spatial:", "uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"},
)
"""Conventions of Zarr that the attributes follow."""


@dataclass(frozen=True, kw_only=True)
class Compressed(Ground):
    """Layers that are written once and read by others: they are compressed."""

    def field(self, name: str) -> Field:
        """Array of a layer."""
        return dataclasses.replace(super().field(name), raw=False)


def overviews_of(grid: TileGrid) -> list[tuple[int, TileGrid]]:
    """Factors of the overviews, each half of the one before, and their tiles."""
    found, factor, shape = [], 1, grid.shape
    while max(shape) > SMALLEST_OVERVIEW:
        factor, shape = 2 * factor, (-(-shape[0] // 2), -(-shape[1] // 2))
        found.append((factor, TileGrid.of(shape, grid.tile)))
    return found


def overview_field(ground: Ground, name: str, factor: int) -> Field:
    """Array of a layer's overview."""
    field = ground.field(name)
    return field if factor == 1 else dataclasses.replace(field, path=f"overviews/{factor}/{field.path}")


def add_overviews(ground: Ground, run: Run, names: Sequence[str] | None = None) -> None:
    """Write overviews of every layer, or of some, each from the one before."""
    finer, chosen = ground.grid, tuple(ground.names if names is None else names)
    for factor, grid in overviews_of(ground.grid):
        for name in chosen:
            ground.store.create(overview_field(ground, name, factor), grid)
        calls = [(ground, chosen, factor, finer, grid, n) for n in range(len(grid))]
        run(overview_tile, calls, f"overview 1:{factor}")
        finer = grid


def overview_tile(
    ground: Ground, names: Sequence[str], factor: int, finer: TileGrid, grid: TileGrid, number: int
) -> None:
    """Write a tile of overviews of that factor: means of four cells, of those with ground where some have none."""
    rows, columns = grid.window(number)
    window = (
        slice(2 * rows.start, min(2 * rows.stop, finer.shape[0])),
        slice(2 * columns.start, min(2 * columns.stop, finer.shape[1])),
    )
    shape = rows.stop - rows.start, columns.stop - columns.start

    def read(name: str) -> Any:
        values = ground.store.read(overview_field(ground, name, factor // 2), finer, window)
        beyond = [(0, 2 * n - have) for n, have in zip(shape, values.shape, strict=True)]
        return np.pad(values, beyond, mode="edge").reshape(shape[0], 2, shape[1], 2)

    present = ~read("nodata") if ground.has_nodata else np.ones((shape[0], 2, shape[1], 2), bool)
    count = present.sum(axis=(1, 3))
    for name in names:
        if name == "nodata":
            values: Any = count == 0
        else:
            total = (read(name).astype(np.float64) * present).sum(axis=(1, 3))
            values = (total / np.maximum(count, 1)).astype(np.float32)
        ground.store.write(overview_field(ground, name, factor), grid, number, values)


def describe(ground: Ground) -> None:
    """Write attributes: place and projection, levels of detail, units."""
    store, grids = ground.store, {1: ground.grid, **dict(overviews_of(ground.grid))}
    if len(grids) > 1:
        store.create_group("overviews")
    for factor in list(grids)[1:]:
        attributes = {**placed(ground, factor), **projected(ground), "spatial:dimensions": ["y", "x"]}
        store.create_group(f"overviews/{factor}", attributes)
    store.create_group("", described(ground))
    for name in ground.names:
        for factor, grid in grids.items():
            store.describe(overview_field(ground, name, factor), grid, attributes_of(ground, name))


def described(ground: Ground) -> dict[str, Any]:
    """Attributes of the result: place and projection, and its levels of detail."""
    layout: list[dict[str, Any]] = []
    for factor in [1, *(factor for factor, _ in overviews_of(ground.grid))]:
        entry: dict[str, Any] = {"asset": "." if factor == 1 else f"overviews/{factor}", **placed(ground, factor)}
        if factor > 1:
            finer = "." if factor == 2 else f"overviews/{factor // 2}"
            entry |= {"derived_from": finer, "transform": {"scale": [2.0, 2.0], "translation": [0.0, 0.0]}}
        layout.append(entry)
    return {
        "zarr_conventions": list(CONVENTIONS), "spatial:dimensions": ["y", "x"], **placed(ground, 1),
        **projected(ground), "multiscales": {"layout": layout, "resampling_method": "average"},
        "cell_size": ground.cell_size,
    }  # fmt: skip


def attributes_of(ground: Ground, name: str) -> dict[str, str]:
    """What others are told of an array."""
    spec = layer_spec(name) if name in ground.layers else None
    return {"units": "" if spec is None else spec.units, "long_name": "" if spec is None else spec.doc}


def transform_of(ground: Ground) -> tuple[float, ...]:
    """From column and row to world coordinates; without a place of its own, metres from the north-west corner."""
    size = ground.cell_size
    return ground.transform or (size, 0.0, 0.0, 0.0, -size, ground.height)


def placed(ground: Ground, factor: int) -> dict[str, Any]:
    """Where a grid lies."""
    a, b, c, d, e, f = transform_of(ground)
    rows, columns = (-(-n // factor) for n in ground.shape)
    corners = [(a * x + b * y + c, d * x + e * y + f) for x in (0, ground.shape[1]) for y in (0, ground.shape[0])]
    xs, ys = ([corner[k] for corner in corners] for k in (0, 1))
    return {
        "spatial:transform": [a * factor, b * factor, c, d * factor, e * factor, f], "spatial:shape": [rows, columns],
        "spatial:bbox": [min(xs), min(ys), max(xs), max(ys)],
    }  # fmt: skip


def projected(ground: Ground) -> dict[str, Any]:
    """The coordinate reference system, as a code or in full."""
    if not ground.crs:
        return {}
    authority, _, code = ground.crs.partition(":")
    is_code = authority.isalpha() and code.isdigit()
    return {"proj:code": ground.crs} if is_code else {"proj:wkt2": ground.crs}
