"""TIFF files by whoever decodes and writes them in full: tifffile where it can, else GDAL.

tifffile needs no extra and takes files of strangers; GDAL knows every CRS, compression and band.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path

import numpy as np

from slopewash.errors import GeoreferenceWarning
from slopewash.io import gdal, tiff
from slopewash.io.decoding import decoding
from slopewash.io.geotiff import in_degrees, step_of
from slopewash.io.ground_scale import question_step
from slopewash.io.info import FileInfo
from slopewash.io.notes import Notes
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.orientation import as_stored
from slopewash.io.tiff_meaning import TiffRaster, descriptions, resolve
from slopewash.io.tiff_pixels import read_pixels
from slopewash.terrain import Terrain


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the tags of the first image, and the names of its bands."""
    info = tiff.probe(path, options)
    if info.channels > 1:
        with decoding(path, "TIFF"):
            named = tuple(dict.fromkeys(name for name in descriptions(path, info.channels) if name))
        if "elevation" in named:
            info = dataclasses.replace(info, layers=named)
    return info


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read heights with georeference, nodata cells, units and the layers of named bands."""
    raster = resolve(path, info, options)
    if raster.needs_gdal is not None:
        return _read_by_gdal(raster, raster.needs_gdal)
    with tiff.first_page(path) as page:
        stored = read_pixels(path, page).astype(np.dtype(raster.dtype), copy=False)
    return raster.meaning.terrain(lambda band: (stored, None))


def _read_by_gdal(raster: TiffRaster, reason: str) -> Terrain:
    from slopewash.io import gdal_raster

    with gdal_raster.opened(raster, reason) as source:
        return raster.meaning.terrain(lambda band: gdal_raster.samples(source, raster, band))


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write one layer as float32 with its georeference, NaN in nodata cells."""
    stored = as_stored(terrain)
    question_step(path, stored, keeps_size=True)
    if _needs_gdal(stored):
        from slopewash.io import gdal_writing

        if gdal_writing.knows_crs(stored.crs):
            gdal_writing.write_layer(stored, path, layer, notes)
            return
        _warn_of_hidden_crs(path)
    tiff.write(stored, path, layer, height_range, notes)


def _warn_of_hidden_crs(path: Path) -> None:
    how = "no program would know it"
    if not gdal.is_available():
        how = "GDAL is switched off here" if gdal.is_installed() else f"to write it for them: {gdal.EXTRA}"
    warnings.warn(
        f"{path} does not show its CRS to other programs, for want of an EPSG code in metres; {how}",
        GeoreferenceWarning,
        stacklevel=5,
    )


def _needs_gdal(terrain: Terrain) -> bool:
    """Whether GeoTIFF keys that we write cannot express where a terrain lies and that its heights are in metres."""
    if terrain.crs is None or terrain.transform is None:
        return False
    if not re.fullmatch(r"EPSG:(\d{4}|[12]\d{4}|3[01]\d{3}|32[0-6]\d{2}|327[0-5]\d)", terrain.crs):
        return True
    if in_degrees(terrain.transform, terrain.cell_size):
        return False
    return abs(step_of(terrain.transform) - terrain.cell_size) > 1e-3 * terrain.cell_size
