"""TIFF files by whoever reads and writes them in full: tifffile where it can, else GDAL.

tifffile needs no extra and takes files of strangers; GDAL knows every CRS, unit, compression and band.
"""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import GeoreferenceWarning, InvalidFile
from slopewash.io import gdal, tiff
from slopewash.io.decoding import decoding
from slopewash.io.gdal_raster import band_layers, no_elevation
from slopewash.io.geotiff import GDAL_METADATA, KEY_DIRECTORY
from slopewash.io.geotiff import _keys as _codes
from slopewash.io.info import FileInfo
from slopewash.io.notes import Notes
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.orientation import as_stored, row_0_in_the_north
from slopewash.io.tiff_directories import subfile_types
from slopewash.io.units import metres_per
from slopewash.terrain import Terrain

_MODEL_TYPE, _GEOGRAPHIC_CODE, _PROJECTED_CODE, _PROJECTION, _LINEAR_UNIT = 1024, 2048, 3072, 3074, 3076
_VERTICAL_CODE, _VERTICAL_UNIT = 4096, 4099
_SUBFILE, _COMPRESSION = 254, 259
_IS_MASK = 4
_OWN = 32767
"""Code of what has none and is defined by the file."""
_VERTICAL_UNITS = {9001: "m", 9002: "ft", 9003: "us-ft"}
_WITHOUT_EXTRA = {1, 5, 8, 32773, 32946, 34925}
"""Compressions that need no package of ours beyond tifffile and Pillow: none, LZW, deflate, PackBits, LZMA."""
_METRIC_CODES = (range(32601, 32661), range(32701, 32761), range(25828, 25839), range(26901, 26924))
"""Codes of UTM zones, which are in metres whether the file repeats that or not."""
_DEGREES = 10_000
"""A step this many times smaller than the cell in metres is in degrees (111 km), not in feet or kilometres."""


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the tags of the first image, and the names of its bands."""
    info = tiff.probe(path, options)
    if info.channels > 1:
        with decoding(path, "TIFF"):
            named = band_layers(_descriptions(_tags(path), info.channels))
        if "elevation" in named:
            info = dataclasses.replace(info, layers=tuple(named))
    return info


def read(path: Path, info: FileInfo, options: ReadOptions) -> Terrain:
    """Read heights with georeference, nodata cells, units and the layers of named bands."""
    tags = _tags(path)
    with decoding(path, "TIFF"):  # tags may be of any type
        reason = _beyond_tifffile(path, info, options, tags)
        needs_gdal = reason is not None and (gdal.is_available() or _must(info, options, tags))
    if reason is not None and needs_gdal:
        from slopewash.io import gdal_raster

        terrain = gdal_raster.read(path, info, options, reason)
    else:
        if reason is not None:
            how = "GDAL is switched off here" if gdal.is_installed() else f"to keep it: {gdal.EXTRA}"
            warnings.warn(f"{reason}, which is left out; {how}", GeoreferenceWarning, stacklevel=4)
        terrain = _to_metres(tiff.read(path, info, options), options, tags)
    return row_0_in_the_north(terrain)


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write one layer as float32 with its georeference, NaN in nodata cells."""
    stored = as_stored(terrain)
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
    a, _, _, d, _, _ = terrain.transform
    step = math.hypot(a, d)
    in_degrees = step * _DEGREES < terrain.cell_size
    return not in_degrees and abs(step - terrain.cell_size) > 1e-3 * terrain.cell_size


def _beyond_tifffile(path: Path, info: FileInfo, options: ReadOptions, tags: dict[int, Any]) -> str | None:
    """Why a file needs GDAL, or None."""
    if options.band is not None or (info.channels > 1 and "elevation" in info.layers):
        return f"{path} has {info.channels} bands"
    if info.channels > 1:
        raise InvalidFile(no_elevation(path, _descriptions(tags, info.channels)))
    compression = tags.get(_COMPRESSION, 1)
    if int(compression) not in _WITHOUT_EXTRA:
        return f"{path} has compression {compression!r}"
    if tags[_SUBFILE]:
        return f"{path} has a mask"
    xml, keys = str(tags.get(GDAL_METADATA) or ""), _codes(tags.get(KEY_DIRECTORY))
    if re.search(r'role="(scale|offset)"', xml):
        return f"{path} has scaled samples"
    if '"slopewash:crs"' in xml:
        return None
    if _OWN in (keys.get(_PROJECTED_CODE), keys.get(_GEOGRAPHIC_CODE)) or (
        keys.get(_MODEL_TYPE) == 1 and _PROJECTED_CODE not in keys
    ):
        return f"{path} has a CRS without an EPSG code"
    if keys.get(_VERTICAL_CODE):
        return f"{path} has a CRS with heights"
    code = keys.get(_PROJECTED_CODE)
    if code and _LINEAR_UNIT not in keys and '"slopewash:' not in xml and not any(code in r for r in _METRIC_CODES):
        return f"{path} does not give the unit of EPSG:{code}" if gdal.is_available() else None
    return None


def _must(info: FileInfo, options: ReadOptions, tags: dict[int, Any]) -> bool:
    """Whether reading without GDAL would give wrong heights, not only lose the CRS."""
    keys = _codes(tags.get(KEY_DIRECTORY))
    scaled = re.search(r'role="(scale|offset)"', str(tags.get(GDAL_METADATA) or ""))
    unknown_heights = keys.get(_VERTICAL_CODE) and options.height_unit is None and _VERTICAL_UNIT not in keys
    foreign = int(tags.get(_COMPRESSION, 1)) not in _WITHOUT_EXTRA
    several = info.channels > 1 or options.band is not None
    return bool(several or scaled or unknown_heights or foreign or tags[_SUBFILE])


def _to_metres(terrain: Terrain, options: ReadOptions, tags: dict[int, Any]) -> Terrain:
    """Convert heights whose unit the tags give; `height_unit` is applied to any format, elsewhere."""
    if options.height_unit is not None or options.height_range is not None:
        return terrain
    found = re.search(r'role="unittype">([^<]*)</Item>', str(tags.get(GDAL_METADATA) or ""))
    unit = found[1] if found else _VERTICAL_UNITS.get(_codes(tags.get(KEY_DIRECTORY)).get(_VERTICAL_UNIT, 0))
    factor = metres_per(unit)
    if factor in (None, 1.0):
        return terrain
    return terrain.replace(elevation=(terrain["elevation"].astype(np.float64) * factor).astype(np.float32))


def _tags(path: Path) -> dict[int, Any]:
    """What decides who reads a file, by tag, and whether a mask follows the image."""
    with tiff._first_page(path) as page:
        codes = (_COMPRESSION, GDAL_METADATA, KEY_DIRECTORY)
        found: dict[int, Any] = {code: page.tags.valueof(code) for code in codes if code in page.tags}
        found[_SUBFILE] = any(kind & _IS_MASK for kind in subfile_types(path))
    return found


def _descriptions(tags: dict[int, Any], bands: int) -> list[str | None]:
    found = re.findall(r'<Item [^>]*sample="(\d+)"[^>]*role="description">([^<]*)<', str(tags.get(GDAL_METADATA) or ""))
    names = {int(sample): text for sample, text in found}
    return [names.get(band) for band in range(bands)]
