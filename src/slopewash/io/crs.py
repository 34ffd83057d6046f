"""What the text of a CRS means: whether it is in degrees, its units of length, and which way its heights count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from slopewash.errors import InvalidFile
from slopewash.io import gdal, wkt
from slopewash.io.geotiff import is_metric_code

_CODE = re.compile(r"(EPSG|ESRI|OGC|IAU_2015):[A-Z0-9]+(\+[0-9]+)?", re.IGNORECASE)
_SHOWN = 60


class UnknownCrs(InvalidFile):
    """A CRS that cannot be understood."""


@dataclass(frozen=True, kw_only=True)
class Crs:
    """A CRS, and the metres of its units where they are known."""

    text: str | None = None
    geographic: bool = False
    unit: float | None = None
    has_heights: bool = False
    height_unit: float | None = None
    downwards: bool = False
    """Whether its heights are depths."""


def known(path: Path, text: str) -> Crs:
    """What a CRS in a file means; GDAL knows all, without it the units must follow from the text.

    >>> known(Path("dem.prj"), "epsg:32611")
    Crs(text='EPSG:32611', geographic=False, unit=1.0, has_heights=False, height_unit=None, downwards=False)
    """
    is_code = _CODE.fullmatch(text) is not None
    if not (is_code or text.startswith("{") or wkt.parse(text) is not None):
        raise unknown(path, text)
    if not gdal.is_available():
        authority, _, code = text.upper().partition(":")
        if authority == "EPSG" and code.isdigit() and is_metric_code(int(code)):
            return Crs(text=text.upper(), unit=1.0)
        if not is_code and not text.startswith("{"):
            return described(text, text)
    gdal.rasterio_for(f"{path} has the CRS {short(text)}")
    from slopewash.io import gdal_raster

    whole = gdal_raster.parsed(text)
    if whole is None:
        raise unknown(path, text)
    return described(*whole)


def described(text: str, whole: str) -> Crs:
    """What the well-known text `whole` says, of a CRS that is called by the shorter `text`."""
    height_unit = wkt.vertical_unit(whole)
    return Crs(
        text=text, geographic=wkt.is_geographic(whole), unit=wkt.horizontal_unit(whole),
        has_heights=wkt.is_compound(whole) or height_unit is not None, height_unit=height_unit,
        downwards=wkt.counts_downwards(whole),
    )  # fmt: skip


def short(text: str) -> str:
    """The beginning of a long text, for messages.

    >>> short("EPSG:32611")
    'EPSG:32611'
    """
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def unknown(path: Path, text: str) -> UnknownCrs:
    """Error for a CRS that cannot be understood."""
    return UnknownCrs(
        f"{path} has the unknown CRS {short(' '.join(text.split()))}; give it in the file as a code such as "
        "EPSG:32611, or as well-known text"
    )
