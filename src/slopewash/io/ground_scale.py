"""How far the cells of a map are apart on the ground: a projection stretches them, and degrees are no metres."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import numpy as np

from slopewash.errors import GeoreferenceWarning
from slopewash.io import gdal, wkt
from slopewash.io.cells import SQUARE
from slopewash.io.crs import short
from slopewash.io.geotiff import is_metric_code
from slopewash.io.grids import Grid, has_coordinates
from slopewash.remedies import option
from slopewash.terrain import Terrain

LARGEST_ERROR = 0.1
"""Share by which the side of a cell on the map may differ from that on the ground: less than that is usual."""
_EQUATOR, _FLATTENING = 6_378_137.0, 1 / 298.257223563
_MERCATORS = ("EPSG:3857", "EPSG:3395", "EPSG:3785", "EPSG:900913", "ESRI:102100", "ESRI:102113", "ESRI:54004")
_UTM = '"utm"'
_FINEST_DEGREES = 0.5
"""Cells of a grid of the whole earth in degrees are smaller; those in metres are seldom."""


def question_scale(name: str, grid: Grid, cell_size: float | None) -> None:
    """Warn of a map whose cells have another side on the ground than on the map, or seem to be in degrees.

    Not for one that is known to be in degrees.

    >>> question_scale("dem.tif", Grid((9, 9), "EPSG:32611", (30.0, 0, 500000, 0, -30, 4100000)), 30.0)
    """
    if grid.transform is None or cell_size is None:
        return
    remedy = f"name the side of a cell in metres with {option('cell_size')}"
    if _may_be_degrees(grid):
        crs = "no CRS" if grid.crs is None else f"the CRS {short(grid.crs)}, which is not in degrees,"
        warnings.warn(
            f"{name} has {crs} and coordinates that may be degrees; its cells of {cell_size:g} are taken for metres: "
            f"if they are degrees, give it their CRS, as gdal_translate -a_srs does, or {remedy}",
            GeoreferenceWarning,
            stacklevel=2,
        )
        return
    if grid.crs is None:
        return
    across, down = _sides(grid)
    if max(abs(across - cell_size), abs(down - cell_size)) > LARGEST_ERROR * cell_size:
        warnings.warn(
            f"{name} has cells of {cell_size:g} m in its CRS, {short(grid.crs)}, which are {across:.4g} x {down:.4g} m "
            f"on the ground; give {option('reproject', _UTM, 'utm')}, or {remedy}",
            GeoreferenceWarning,
            stacklevel=2,
        )


def question_step(path: Path, terrain: Terrain, *, keeps_size: bool) -> None:
    """Warn of a file that will be read with other cells than the terrain has, for its coordinates say otherwise.

    With `keeps_size`, the file has the side of a cell besides, which counts where the unit of coordinates is not known.
    """
    if terrain.transform is None or (terrain.crs is None and keeps_size):
        return
    unit = 1.0 if terrain.crs is None else _unit(terrain.crs)
    if unit is None:
        return
    side = math.hypot(terrain.transform[0], terrain.transform[3]) * unit
    if abs(side - terrain.cell_size) > SQUARE * terrain.cell_size:
        warnings.warn(
            f"{path} has coordinates with cells of {side:g} m, by which it is read, and not of the "
            f"{terrain.cell_size:g} m that the terrain has; .npz and .exr keep these",
            GeoreferenceWarning,
            stacklevel=2,
        )


def _unit(crs: str) -> float | None:
    """Metres per unit of coordinates, None for degrees and where nothing here can tell."""
    code = re.fullmatch(r"EPSG:(\d+)", crs)
    if code and is_metric_code(int(code[1])):
        return 1.0
    if wkt.parse(crs) is None and gdal.is_available():
        from slopewash.io import gdal_raster

        whole = gdal_raster.parsed(crs)
        return None if whole is None else wkt.horizontal_unit(whole[1])
    return wkt.horizontal_unit(crs)


def _may_be_degrees(grid: Grid) -> bool:
    assert grid.transform is not None
    a, b, c, d, e, f = grid.transform
    if not (has_coordinates(grid) and max(math.hypot(a, d), math.hypot(b, e)) < _FINEST_DEGREES):
        return False
    rows, columns = grid.shape
    corners = [(a * x + b * y + c, d * x + e * y + f) for x in (0, columns) for y in (0, rows)]
    return all(abs(x) <= 360 and abs(y) <= 90 for x, y in corners)


def _sides(grid: Grid) -> tuple[float, float]:
    """Metres on the ground along the sides of the cell in the middle; NaN where that cannot be known."""
    assert grid.transform is not None
    a, b, c, d, e, f = grid.transform
    row, column = grid.shape[0] / 2, grid.shape[1] / 2
    points = [(a * x + b * y + c, d * x + e * y + f) for x, y in ((column, row), (column + 1, row), (column, row + 1))]
    middle, right, below = _geographic(str(grid.crs), points) or [(math.nan, math.nan)] * 3
    return _metres(middle, right), _metres(middle, below)


def _metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Distance of two near points, longitude first, on the ellipsoid of WGS 84."""
    latitude = math.radians((one[1] + other[1]) / 2)
    squared = _FLATTENING * (2 - _FLATTENING)
    bent = 1 - squared * math.sin(latitude) ** 2
    east = math.radians((other[0] - one[0] + 180) % 360 - 180) * math.cos(latitude) * _EQUATOR / math.sqrt(bent)
    north = math.radians(other[1] - one[1]) * _EQUATOR * (1 - squared) / bent**1.5
    return math.hypot(east, north)


def _geographic(crs: str, points: list[tuple[float, float]]) -> list[tuple[float, float]] | None:
    """Longitude and latitude of points, None where nothing here can tell."""
    code = re.fullmatch(r"EPSG:(\d+)", crs)
    if code and is_metric_code(int(code[1])):
        return None
    if gdal.is_available():
        return _by_gdal(crs, points)
    if crs.upper() in _MERCATORS or re.search(r'(PROJECTION|METHOD)\["(Popular |Mercator)', crs):
        unit = wkt.horizontal_unit(crs) or 1.0
        return [
            (math.degrees(x * unit / _EQUATOR), math.degrees(math.atan(math.sinh(y * unit / _EQUATOR))))
            for x, y in points
        ]
    return None


def _by_gdal(crs: str, points: list[tuple[float, float]]) -> list[tuple[float, float]] | None:
    from slopewash.io import gdal_raster
    from slopewash.io.gdal_writing import parsed_crs
    from slopewash.io.projection import projected

    known = gdal_raster.parsed(crs)
    if known is None or wkt.is_geographic(known[1]):
        return None
    x, y = np.transpose(points)
    found = projected((x, y), parsed_crs(crs), "EPSG:4326")
    if found is None or not np.isfinite(found).all():
        return None
    return [(float(longitude), float(latitude)) for longitude, latitude in zip(*found, strict=True)]
