"""Groups of layers in Zarr, read by windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from slopewash.errors import InvalidFile
from slopewash.terrain import Terrain, TerrainPart
from slopewash.terrain.fields import LAYERS
from slopewash.tiles.arrays import require_zarr
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.ground import Ground
from slopewash.tiles.store import Store

SOURCE = "state/source"


def _open_zarr(path: str) -> Any:
    zarr = require_zarr()
    try:
        return zarr.open_group(path, mode="r")
    except (FileNotFoundError, ValueError) as error:
        raise InvalidFile(f"{path} is no Zarr group of layers") from error


def describe_zarr(path: str, options: Mapping[str, Any], store: Store, tile: int | tuple[int, int]) -> Ground:
    """What is known of a group before it is read."""
    group = _open_zarr(path)
    names = [name for name in group.array_keys() if name in LAYERS]
    if "elevation" not in names:
        raise InvalidFile(f"{path} has no array named elevation")
    attributes = dict(group.attrs)
    transform = attributes.get("spatial:transform")
    cell_size = options.get("cell_size") or attributes.get("cell_size") or (transform and abs(transform[0])) or 1.0
    crs = attributes.get("proj:code") or attributes.get("proj:wkt2")
    return Ground(
        store=store, path=SOURCE, grid=TileGrid.of(group["elevation"].shape, tile), cell_size=float(cell_size),
        layers=("elevation", *(name for name in names if name in INPUTS)), has_nodata=True, crs=crs,
        transform=tuple(transform) if crs and transform else None,
    )  # fmt: skip


INPUTS = (
    "water", "suspended", "erodibility", "rainfall", "evaporation", "capacity", "talus", "sliding", "bedrock",
)  # fmt: skip
"""Layers that a run may begin with; what another run has changed is not its start."""


def read_zarr(path: str, ground: Ground, number: int) -> Terrain:
    """One tile of it."""
    group, window = _open_zarr(path), ground.grid.window(number)
    layers: dict[str, Any] = {name: np.asarray(group[name][window]) for name in ground.layers}
    missing = ~np.isfinite(layers["elevation"])
    if "nodata" in group:
        missing |= np.asarray(group["nodata"][window])
    layers = {name: np.where(missing, 0, values) for name, values in layers.items()}
    return TerrainPart(**layers, nodata=missing, cell_size=ground.cell_size)
