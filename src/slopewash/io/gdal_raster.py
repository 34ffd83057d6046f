"""GeoTIFFs through GDAL: samples of several bands, of masks and of rare compressions, and a CRS without a code.

The driver is always named: GDAL would open whatever it recognises under any suffix, and a VRT reads other files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.crs_texts import names_files
from slopewash.errors import InvalidFile
from slopewash.io import wkt
from slopewash.io.crs import Crs, described
from slopewash.io.decoding import decoding
from slopewash.io.gdal import ENVIRONMENT, rasterio_for
from slopewash.io.meaning import Band, Samples
from slopewash.io.tiff_meaning import TiffRaster
from slopewash.patience import in_parts

BAND_CELLS, BLOCK = 1 << 22, 512
"""Cells of a band of rows that is decoded at a time, and rows of a block that should not be decoded twice: signals
arrive between two bands."""
CELL_SIZE_TAG, STEP_TAG = "slopewash_cell_size", "slopewash_step"
"""Where the cell size stands that the transform may not give, or not to the last digit, and the step it belongs to."""
NOWHERE = ('LOCAL_CS["unnamed"', 'LOCAL_CS["unknown"', 'ENGCRS["unnamed"', 'ENGCRS["unknown"')
"""What GDAL makes of a file that names no CRS."""


@contextmanager
def opened(raster: TiffRaster, reason: str) -> Iterator[Any]:
    """Open a file whose meaning is known; `reason` is why nothing less than GDAL will do."""
    path = raster.meaning.path
    with _opened(path, reason) as source:
        if (source.height, source.width) != raster.meaning.shape:
            raise InvalidFile(f"{path} is not a readable TIFF file: its tags give two sizes")
        yield source


def samples(source: Any, raster: TiffRaster, band: Band, window: Any = None) -> Samples:
    """Decode a band, or a window of it, as it is stored."""
    if window is not None:
        return _decoded(source, raster, band, window)
    rows, columns = raster.meaning.shape
    height = max(BLOCK, BAND_CELLS // columns // BLOCK * BLOCK)
    stored = np.empty((rows, columns), raster.dtype)
    outside = None
    for top in in_parts(range(0, rows, height), f"reading {raster.meaning.path.name}"):
        part = slice(top, min(top + height, rows))
        stored[part], beyond = _decoded(source, raster, band, ((part.start, part.stop), (0, columns)))
        if beyond is not None:
            outside = np.zeros((rows, columns), np.bool_) if outside is None else outside
            outside[part] = beyond
    return stored, outside


def _decoded(source: Any, raster: TiffRaster, band: Band, window: Any) -> Samples:
    stored = source.read(band.number, window=window).astype(raster.dtype, copy=False)
    outside = source.read_masks(band.number, window=window) == 0 if raster.has_mask else None
    if raster.alpha is not None:
        clear = source.read(raster.alpha, window=window) == 0
        outside = clear if outside is None else outside | clear
    return stored, None if outside is None else np.asarray(outside, np.bool_)


def crs_of(path: Path) -> Crs:
    """CRS of a file."""
    with _opened(path, f"{path} has a CRS without an EPSG code") as source:
        crs = source.crs
        text = crs_text(crs)
        return Crs() if text is None else described(text, well_known_text(crs))


def well_known_text(crs: Any) -> str:
    """Well-known text with the units of all axes."""
    return str(crs.to_wkt(version="WKT2_2019"))


def parsed(text: str) -> tuple[str, str] | None:
    """CRS of a code or text as a terrain has it, and in full; None for one that is not known.

    >>> parsed("epsg:32611")[0], parsed("EPSG:99999")
    ('EPSG:32611', None)
    """
    rasterio = rasterio_for("a CRS")
    if names_files(text):
        return None
    with rasterio.Env(**ENVIRONMENT):
        try:
            crs = rasterio.crs.CRS.from_user_input(text)
        except (rasterio.errors.CRSError, ValueError):
            return None
        known = crs_text(crs)
        return None if known is None else (known, well_known_text(crs))


def crs_text(crs: Any) -> str | None:
    """Return "EPSG:n" where that is the whole CRS, else its well-known text, in which nothing is lost."""
    if not crs:
        return None
    text = _well_known_text(crs)
    if text.startswith(NOWHERE):
        return None
    code = crs.to_epsg()
    if code is not None and not wkt.is_compound(text) and type(crs).from_epsg(code) == crs:
        return f"EPSG:{code}"
    return text


def _well_known_text(crs: Any) -> str:
    """Version 1 where it holds the whole CRS, else version 2: GDAL 3.10 writes compound CRSs in full from 1 only."""
    rasterio = rasterio_for("a CRS")
    try:
        text = str(crs.to_wkt())
        if text and type(crs).from_wkt(text) == crs:
            return text
    except rasterio.errors.CRSError:
        pass
    return str(crs.to_wkt(version="WKT2_2019"))


@contextmanager
def _opened(path: Path, reason: str) -> Iterator[Any]:
    rasterio = rasterio_for(reason)
    whole = path.resolve()  # so that nothing in a name is taken for the address of another file system
    with (
        decoding(path, "TIFF"),
        rasterio.Env(**ENVIRONMENT, GTIFF_REPORT_COMPD_CS="YES"),  # heights too, in files after GeoTIFF 1.0
        rasterio.open(whole, driver="GTiff", sharing=False) as source,
    ):
        yield source
