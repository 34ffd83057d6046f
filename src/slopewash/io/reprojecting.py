"""A terrain in another coordinate reference system, resampled to square cells in metres."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.io import wkt
from slopewash.io.gdal import ENVIRONMENT, rasterio_for
from slopewash.io.gdal_raster import crs_text
from slopewash.io.gdal_writing import parsed_crs
from slopewash.io.grids import Grid
from slopewash.io.ground_scale import question_scale
from slopewash.io.limits import MAXIMUM_PIXELS
from slopewash.io.projection import Points, projected
from slopewash.terrain import Terrain, check_terrain

POLE = 84.0
"""Latitude beyond which UTM has no zones."""
ALONG_A_SIDE = 33
"""Points of each side that are projected to find the extent: sides become curves."""


def reproject(terrain: Terrain, target: str = "utm", *, cell_size: float | None = None) -> Terrain:
    """Return the terrain in another CRS, in square cells (needs the gis extra).

    Layers are interpolated by cubic convolution within their range. Cells of the new grid that lie outside the old one
    are nodata. Heights stay as they are: no vertical datum is changed.

    Parameters
    ----------
    terrain
        What to resample; it needs a CRS and a transform, as read from a file.
    target
        "utm" for the UTM zone of its middle, or any CRS with lengths: a code such as "EPSG:3035", or well-known text.
    cell_size
        Side of a new cell in metres. The default keeps the area of a cell, rounded to three digits.

    >>> import slopewash as sw
    >>> sw.reproject(sw.generate("hill", size=16))
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidParameter: the terrain has no CRS or no transform to reproject it from; read one that has
    """
    check_terrain(terrain)
    if terrain.crs is None or terrain.transform is None:
        raise InvalidParameter("the terrain has no CRS or no transform to reproject it from; read one that has")
    if terrain.sources or terrain.emitters or terrain.strata:
        raise InvalidParameter("the terrain has water sources, emitters or strata; reproject it before adding them")
    rasterio = rasterio_for(f'reproject="{target}"')
    from rasterio.warp import Resampling
    from rasterio.warp import reproject as warp

    source = parsed_crs(terrain.crs)
    wanted = _utm(terrain, source) if target.lower() == "utm" else parsed_crs(target)
    text = str(wanted.to_wkt(version="WKT2_2019"))
    if wanted.is_geographic:
        raise InvalidParameter(f'reproject is "{target}", which is in degrees; name a CRS in metres, or "utm"')
    metres = wkt.horizontal_unit(text)
    if metres is None:
        raise InvalidParameter(f'reproject is "{target}", which has no unit of length; name a CRS in metres, or "utm"')
    if cell_size is None:
        cell_size = float(f"{_usual_side(terrain, source, wanted) * metres:.3g}")
    step = cell_size / metres
    left, bottom, right, top = _extent(terrain, source, wanted)
    left, top = math.floor(left / step) * step, math.ceil(top / step) * step
    columns, rows = max(1, math.ceil((right - left) / step)), max(1, math.ceil((top - bottom) / step))
    if rows * columns > MAXIMUM_PIXELS:
        raise InvalidParameter(
            f'reproject="{target}" gives {columns} x {rows} cells of {cell_size:g} m; give a larger cell_size'
        )
    place = (step, 0.0, left, 0.0, -step, top)
    layers: dict[str, NDArray[np.float32]] = {}
    for name, layer in terrain.items():
        values = layer if terrain.nodata is None else np.where(terrain.nodata, np.float32(np.nan), layer)
        resampled = np.full((rows, columns), np.nan, np.float32)
        with rasterio.Env(**ENVIRONMENT):
            warp(
                values, resampled, src_transform=rasterio.Affine(*terrain.transform), src_crs=source, src_nodata=np.nan,
                dst_transform=rasterio.Affine(*place), dst_crs=wanted, dst_nodata=np.nan,
                resampling=Resampling.cubic,
            )  # fmt: skip
        low, high = terrain.range(name)
        layers[name] = np.clip(resampled, np.float32(low), np.float32(high))
    nodata = np.isnan(layers["elevation"])
    if nodata.all():
        raise InvalidParameter(f'reproject="{target}" leaves no ground; does that CRS cover the terrain?')
    question_scale("the reprojected terrain", Grid((rows, columns), crs_text(wanted), place), cell_size)
    return terrain.replace(
        **layers, cell_size=cell_size, nodata=nodata, crs=crs_text(wanted), transform=place, south_up=False
    )


def _utm(terrain: Terrain, source: Any) -> Any:
    """UTM zone of the middle of a terrain, on WGS 84."""
    from rasterio.crs import CRS

    rows, columns = terrain.shape
    (longitude,), (latitude,) = _projected(
        _world(terrain, np.array([columns / 2]), np.array([rows / 2])), source, CRS.from_epsg(4326)
    )
    if not abs(latitude) <= POLE:
        raise InvalidParameter(f"the terrain lies at latitude {latitude:.1f}, where UTM has no zones; name another CRS")
    zone = int((longitude + 180) % 360 // 6) + 1
    return CRS.from_epsg((32600 if latitude >= 0 else 32700) + zone)


def _usual_side(terrain: Terrain, source: Any, wanted: Any) -> float:
    """Side, in units of the new CRS, of a square as large as the cell in the middle."""
    rows, columns = terrain.shape
    right, down = np.array([0.0, 1.0, 0.0]) + columns / 2 - 0.5, np.array([0.0, 0.0, 1.0]) + rows / 2 - 0.5
    x, y = _projected(_world(terrain, right, down), source, wanted)
    area = abs((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]))
    return math.sqrt(area)


def _extent(terrain: Terrain, source: Any, wanted: Any) -> tuple[float, float, float, float]:
    rows, columns = terrain.shape
    t = np.linspace(0, 1, ALONG_A_SIDE)
    ends = np.zeros_like(t)
    right = np.concatenate([t, t, ends, ends + 1]) * columns
    down = np.concatenate([ends, ends + 1, t, t]) * rows
    x, y = _projected(_world(terrain, right, down), source, wanted)
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def _world(terrain: Terrain, columns: NDArray[np.float64], rows: NDArray[np.float64]) -> Points:
    assert terrain.transform is not None
    a, b, c, d, e, f = terrain.transform
    return a * columns + b * rows + c, d * columns + e * rows + f


def _projected(points: Points, source: Any, wanted: Any) -> Points:
    found = projected(points, source, wanted)
    if found is None:
        raise InvalidParameter(
            "nothing leads from the CRS of the terrain to that one, as if on another planet; name another"
        )
    if not np.isfinite(found).all():
        raise InvalidParameter("the terrain reaches beyond where that CRS is defined; name another")
    return found
