"""A terrain as an xarray Dataset, in the conventions that rioxarray and CF readers share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from slopewash.crs_texts import names_files
from slopewash.terrain.fields import layer_spec

if TYPE_CHECKING:
    import xarray

    from slopewash.terrain.terrain import Layer, Terrain

PLACE = "spatial_ref"
"""Coordinate without a dimension that holds the CRS and the transform."""


def to_dataset(terrain: Terrain) -> xarray.Dataset:
    """Return the layers with coordinates, CRS and units.

    >>> from slopewash.terrain import Terrain
    >>> to_dataset(Terrain([[1.0], [2.0]], cell_size=10.0))["y"].values.tolist()
    [15.0, 5.0]
    """
    try:
        import xarray
    except ImportError:
        raise ImportError('to_xarray needs the xarray extra: pip install "slopewash[xarray]"') from None
    a, b, c, d, e, f = transform = _transform(terrain)
    rows, columns = np.arange(terrain.shape[0]) + 0.5, np.arange(terrain.shape[1]) + 0.5
    place, axes = _reference(terrain)
    coordinates: dict[str, Any] = {}
    if b == d == 0:
        coordinates = {"y": ("y", f + e * rows, axes["y"]), "x": ("x", c + a * columns, axes["x"])}
    else:  # rows and columns do not run along the axes: every cell has its own pair
        across, down = np.meshgrid(columns, rows)
        coordinates["yc"] = (("y", "x"), d * across + e * down + f, axes["y"])
        coordinates["xc"] = (("y", "x"), a * across + b * down + c, axes["x"])
    place["GeoTransform"] = " ".join(repr(number) for number in (c, a, b, f, d, e))
    coordinates[PLACE] = ((), 0, place)
    fields = {name: _field(terrain, name, layer) for name, layer in terrain.items()}
    attributes: dict[str, Any] = {"cell_size": terrain.cell_size, "transform": transform}
    if terrain.crs:
        attributes["crs"] = terrain.crs
    dataset = xarray.Dataset(fields, coords=coordinates, attrs=attributes)
    for name in fields:
        dataset[name].encoding |= {"grid_mapping": PLACE, "_FillValue": np.float32(np.nan)}
    return dataset


def _transform(terrain: Terrain) -> tuple[float, ...]:
    size = terrain.cell_size
    return terrain.transform or (size, 0.0, 0.0, 0.0, -size, terrain.height)


def _field(terrain: Terrain, name: str, layer: Layer) -> tuple[Any, ...]:
    values = layer if terrain.nodata is None else np.where(terrain.nodata, np.float32(np.nan), layer)
    spec = layer_spec(name)
    return ("y", "x"), values, {"units": spec.units} | ({"long_name": spec.doc.rstrip(".")} if spec.doc else {})


def _reference(terrain: Terrain) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Attributes of the CRS and of the axes; a CRS that is only a name stays one where pyproj is not installed."""
    axes: dict[str, dict[str, str]] = {name: {"axis": name.upper()} for name in "xy"}
    if terrain.crs is None:
        return {}, {name: {**axis, "units": "m"} for name, axis in axes.items()}
    place: dict[str, Any] = {"spatial_ref": terrain.crs}
    try:
        from pyproj import CRS
        from pyproj.exceptions import CRSError
    except ImportError:
        a, _, _, d, _, _ = _transform(terrain)
        if math.isclose(math.hypot(a, d), terrain.cell_size, rel_tol=1e-6):
            axes = {name: {**axis, "units": "m"} for name, axis in axes.items()}
        return place, axes
    try:
        crs = None if names_files(terrain.crs) else CRS.from_user_input(terrain.crs)
    except CRSError:
        crs = None
    if crs is None:  # any text is allowed
        return place, axes
    place = crs.to_cf()
    place["spatial_ref"] = place["crs_wkt"]
    found = {axis.get("axis"): axis for axis in crs.cs_to_cf()}
    return place, {name: {**axes[name], **found.get(name.upper(), {})} for name in "xy"}
