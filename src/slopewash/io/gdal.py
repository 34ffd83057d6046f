"""Whether GDAL may be used, which comes with rasterio and the gis extra; it is loaded when first needed, not before."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from slopewash.errors import InvalidFile

EXTRA = 'pip install "slopewash[gis]"'

_forbidden: ContextVar[bool] = ContextVar("gdal_forbidden", default=False)

ENVIRONMENT = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "GDAL_PAM_ENABLED": "NO"}
"""A file is what is in it: no side files are looked for, nor written."""


@contextmanager
def without_gdal() -> Iterator[None]:
    """Read and write without GDAL inside this block, even where it is installed.

    For processes that open files of strangers: GDAL is a large decoder of many formats.

    >>> with without_gdal():
    ...     is_available()
    False
    """
    token = _forbidden.set(True)
    try:
        yield
    finally:
        _forbidden.reset(token)


def is_installed() -> bool:
    """Whether the gis extra is installed."""
    try:
        return importlib.util.find_spec("rasterio") is not None
    except ValueError:  # a module that is blocked, as tests do
        return False


def is_available() -> bool:
    """Whether GDAL is installed and allowed here."""
    return not _forbidden.get() and is_installed()


def rasterio_for(reason: str) -> Any:
    """Return rasterio, or raise with the reason why it is needed.

    >>> with without_gdal():
    ...     rasterio_for("dem.tif has a CRS without an EPSG code")
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: dem.tif has a CRS without an EPSG code, which needs GDAL; it is switched off here
    """
    if _forbidden.get():
        raise InvalidFile(f"{reason}, which needs GDAL; it is switched off here")
    try:
        import rasterio
    except ImportError:
        raise InvalidFile(f"{reason}, which needs the gis extra: {EXTRA}") from None
    return rasterio


def failures() -> tuple[type[Exception], ...]:
    """What GDAL and PROJ raise; errors that rasterio passes on as they are have no other base."""
    from rasterio._err import CPLE_BaseError
    from rasterio.errors import RasterioError

    return RasterioError, CPLE_BaseError
