"""Heights of a file in the unit of its CRS, where that has heights of its own: every writer converts them here."""

from __future__ import annotations

import functools
import re

import numpy as np

from slopewash.io import gdal, wkt
from slopewash.io.geotiff import is_metric_code
from slopewash.io.units import metres_per
from slopewash.terrain import Layer
from slopewash.terrain.fields import layer_spec


def as_in_crs(values: Layer, name: str, crs: str | None) -> tuple[Layer, str]:
    """Values of a layer as a file with that CRS holds them, and their unit; only heights have that of the CRS.

    >>> feet = 'COMPD_CS["x",PROJCS["p",UNIT["metre",1]],VERT_CS["v",UNIT["foot",0.3048]]]'
    >>> as_in_crs(np.float32([0.3048]), "elevation", feet), as_in_crs(np.float32([0.3048]), "water", feet)[1]
    ((array([1.], dtype=float32), 'ft'), 'm')
    """
    spec = layer_spec(name)
    factor = _unit_of_heights(crs) if spec.height and crs is not None else None
    if factor is None or factor == 1.0:
        return values, spec.units
    unit = {metres_per("ft"): "ft", metres_per("us-ft"): "us-ft"}.get(factor, "")
    return (values.astype(np.float64) / factor).astype(np.float32), unit


@functools.lru_cache(maxsize=8)
def _of_code(code: str) -> float | None:
    from slopewash.io import gdal_raster

    whole = gdal_raster.parsed(code)
    return None if whole is None else wkt.vertical_unit(whole[1])


def _unit_of_heights(crs: str) -> float | None:
    """Metres per unit of height of a CRS; a writer that has no GDAL writes no heights of one that is a code."""
    code = re.fullmatch(r"[A-Za-z]+:(\d+)(\+\d+)?", crs)
    if code is None or not gdal.is_available() or (code[2] is None and is_metric_code(int(code[1]))):
        return wkt.vertical_unit(crs)
    return _of_code(crs)
