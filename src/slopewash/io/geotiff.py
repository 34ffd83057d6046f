"""Georeference from and to GeoTIFF tags (OGC 19-008r4)."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slopewash.io.cells import metres_per_cell
from slopewash.terrain import Terrain

PIXEL_SCALE, TIEPOINT, TRANSFORMATION = 33550, 33922, 34264
KEY_DIRECTORY, GDAL_METADATA, GDAL_NODATA = 34735, 42112, 42113

_MODEL_TYPE, _RASTER_TYPE, _GEOGRAPHIC_CODE, _PROJECTED_CODE, _LINEAR_UNIT = 1024, 1025, 2048, 3072, 3076
_PROJECTED, _GEOGRAPHIC = 1, 2
_PIXEL_IS_AREA, _PIXEL_IS_POINT = 1, 2
_METRES_PER_UNIT = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937}
"""Metre, foot and US survey foot, by EPSG code."""

_UNITS_PER_DEGREE = 10_000
"""A step this many times smaller than the cell in metres is in degrees (111 km), not in feet, metres or kilometres."""

Transform = tuple[float, float, float, float, float, float]
ExtraTag = tuple[int, str, int, Any, bool]


@dataclass(frozen=True, kw_only=True)
class Georeference:
    """What the tags contain; `obstacle` is the reason why they give no cell size in metres."""

    present: bool
    crs: str | None = None
    transform: Transform | None = None
    cell_size: float | None = None
    obstacle: str | None = None


def read_georeference(value_of: Callable[[int], Any]) -> Georeference:
    """Read a georeference from tags by code; `value_of` returns None for a tag that is not there.

    >>> tags = {PIXEL_SCALE: (30.0, 30.0, 0.0), TIEPOINT: (0.0, 0.0, 0.0, 500.0, 900.0, 0.0)}
    >>> place = read_georeference(tags.get)
    >>> place.cell_size, place.transform
    (30.0, (30.0, 0.0, 500.0, 0.0, -30.0, 900.0))
    """
    keys = _keys(value_of(KEY_DIRECTORY))
    notes = _notes(value_of(GDAL_METADATA))
    transform = _transform(value_of, keys)
    sizes = _pixel_sizes(transform, value_of(PIXEL_SCALE))
    if _MODEL_TYPE in keys:
        geographic = keys[_MODEL_TYPE] == _GEOGRAPHIC
    else:
        geographic = _GEOGRAPHIC_CODE in keys and _PROJECTED_CODE not in keys
    code = keys.get(_GEOGRAPHIC_CODE if geographic else _PROJECTED_CODE, 0)
    crs = f"EPSG:{code}" if 1024 <= code < 32767 else notes.get("crs")
    cell_size, obstacle = None, None
    if "cell_size" in notes:
        cell_size = float(notes["cell_size"])
    elif sizes is not None:
        cell_size, obstacle = _cell_size(sizes, geographic, keys.get(_LINEAR_UNIT, 9001))
    return Georeference(
        present=bool(keys) or sizes is not None,
        crs=crs,
        transform=None if notes.get("position") == "none" else transform,
        cell_size=cell_size,
        obstacle=obstacle,
    )


def georeference_tags(terrain: Terrain) -> list[ExtraTag]:
    """Tags of a terrain; one without a transform gets its true size, at the origin, without a CRS.

    >>> [tag[0] for tag in georeference_tags(Terrain([[1.0]], cell_size=5.0))] == [
    ...     PIXEL_SCALE, TIEPOINT, KEY_DIRECTORY, GDAL_METADATA]
    True
    """
    notes = {"cell_size": repr(terrain.cell_size)}
    keys = {_RASTER_TYPE: _PIXEL_IS_AREA}
    if terrain.transform is None:
        size = terrain.cell_size
        place = (size, 0.0, 0.0, 0.0, -size, terrain.height)
        notes["position"] = "none"
    else:
        a, b, c, d, e, f = terrain.transform
        place = (a, b, c, d, e, f)
    code = re.fullmatch(r"EPSG:(\d{4,5})", terrain.crs or "")
    if code and terrain.transform is not None and 1024 <= int(code[1]) < 32767:
        in_degrees = math.hypot(place[1], place[4]) * _UNITS_PER_DEGREE < terrain.cell_size
        keys[_MODEL_TYPE] = _GEOGRAPHIC if in_degrees else _PROJECTED
        keys[_GEOGRAPHIC_CODE if in_degrees else _PROJECTED_CODE] = int(code[1])
    elif terrain.crs is not None:
        notes["crs"] = terrain.crs
    directory = [1, 1, 0, len(keys)]
    for key in sorted(keys):
        directory += [key, 0, 1, keys[key]]
    return [
        *_place_tags(place),
        (KEY_DIRECTORY, "H", len(directory), tuple(directory), True),
        (GDAL_METADATA, "s", 0, _as_xml(notes), True),
    ]


def _place_tags(place: Transform) -> list[ExtraTag]:
    a, b, c, d, e, f = place
    if b == d == 0 and a > 0 > e:
        return [
            (PIXEL_SCALE, "d", 3, (a, -e, 0.0), True),
            (TIEPOINT, "d", 6, (0.0, 0.0, 0.0, c, f, 0.0), True),
        ]
    matrix = (a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return [(TRANSFORMATION, "d", 16, matrix, True)]


def _transform(value_of: Callable[[int], Any], keys: dict[int, int]) -> Transform | None:
    matrix, scale, tiepoint = value_of(TRANSFORMATION), value_of(PIXEL_SCALE), value_of(TIEPOINT)
    if matrix is not None:
        a, b, _, c, d, e, _, f = map(float, matrix[:8])
    elif scale is not None and tiepoint is not None:
        (a, height), (column, row, _, x, y) = map(float, scale[:2]), map(float, tiepoint[:5])
        b, c, d, e, f = 0.0, x - column * a, 0.0, -height, y + row * height
    else:
        return None
    if keys.get(_RASTER_TYPE) == _PIXEL_IS_POINT:  # coordinates are those of cell centres
        c, f = c - (a + b) / 2, f - (d + e) / 2
    return a, b, c, d, e, f


def _pixel_sizes(transform: Transform | None, scale: Any) -> tuple[float, float] | None:
    if transform is not None:
        a, b, _, d, e, _ = transform
        sizes = math.hypot(a, d), math.hypot(b, e)
    elif scale is not None:
        sizes = abs(float(scale[0])), abs(float(scale[1]))
    else:
        return None
    return sizes if min(sizes) > 0 else None


def _cell_size(sizes: tuple[float, float], geographic: bool, unit: int) -> tuple[float | None, str | None]:
    if unit not in _METRES_PER_UNIT and not geographic:
        return None, f"has cells in units of EPSG:{unit}, not metres"
    return metres_per_cell(sizes, geographic=geographic, unit=_METRES_PER_UNIT.get(unit, 1.0))


def _keys(directory: Any) -> dict[int, int]:
    """Return the keys whose value is a number stored in the directory itself, as all codes are."""
    numbers = [int(number) for number in directory or ()]
    entries = zip(*(numbers[first::4] for first in range(4)), strict=False)
    return {key: value for key, location, _, value in list(entries)[1:] if location == 0}


def _notes(xml: Any) -> dict[str, str]:
    found = re.findall(r'<Item name="slopewash:(\w+)">([^<]*)</Item>', str(xml or ""))
    return {name: html.unescape(text) for name, text in found}


def _as_xml(notes: dict[str, str]) -> str:
    items = "".join(f'  <Item name="slopewash:{name}">{html.escape(text)}</Item>\n' for name, text in notes.items())
    text = f"<GDALMetadata>\n{items}</GDALMetadata>\n"
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
