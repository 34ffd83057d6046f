"""Georeference from and to GeoTIFF tags (OGC 19-008r4)."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slopewash.io.units import metres_per_code
from slopewash.terrain import Terrain

PIXEL_SCALE, TIEPOINT, TRANSFORMATION = 33550, 33922, 34264
KEY_DIRECTORY, GDAL_METADATA, GDAL_NODATA = 34735, 42112, 42113

GEO_DOUBLES, CAMERA_MODEL = 34736, 50844

_MODEL_TYPE, _RASTER_TYPE, _GEOGRAPHIC_CODE, _PROJECTED_CODE, _PROJECTION = 1024, 1025, 2048, 3072, 3074
_LINEAR_UNIT, _LINEAR_UNIT_SIZE, _VERTICAL_CODE, _VERTICAL_UNIT = 3076, 3077, 4096, 4099
_PROJECTED, _GEOGRAPHIC, _GEOCENTRIC = 1, 2, 3
_PIXEL_IS_AREA, _PIXEL_IS_POINT = 1, 2
_OWN = 32767
"""Code of what has none and is defined by the file."""
_METRIC_CODES = (range(32601, 32661), range(32701, 32761), range(25828, 25839), range(26901, 26924))
"""Codes of UTM zones, which are in metres whether the file repeats that or not."""
_DEPTHS = frozenset({
    5336, 5612, 5614, 5706, 5715, 5734, 5739, 5789, 5831, *range(5861, 5868), 5873, *range(6357, 6360), 7976, 8051,
    8053, 8358, 8378, 8897, 9287, 9288, 9672, 10150, 10151, 10349, 10364, *range(10370, 10380), *range(10547, 10553),
    10649, 10650, 10678,
})  # fmt: skip
"""Codes of vertical CRSs that count downwards."""

_SAME_STEP = 1e-6
_UNITS_PER_DEGREE = 10_000
"""A step this many times smaller than the cell in metres is in degrees (111 km), not in feet, metres or kilometres."""

Transform = tuple[float, float, float, float, float, float]
ExtraTag = tuple[int, str, int, Any, bool]


@dataclass(frozen=True, kw_only=True)
class Georeference:
    """What the tags contain of place and units, each None where they do not give it."""

    present: bool
    crs: str | None = None
    code: int = 0
    """EPSG code of the CRS, if a key gives it."""
    beyond_keys: str | None = None
    """Why there is a CRS that only a library of them knows."""
    transform: Transform | None = None
    sizes: tuple[float, float] | None = None
    """Width and height of a cell in units of the CRS."""
    geographic: bool = False
    unit: float | None = None
    """Metres per unit of the CRS."""
    unit_problem: str | None = None
    """Why there is no such unit."""
    lacks_unit: bool = False
    """Whether the unit follows from the CRS alone."""
    noted: float | None = None
    """Side of a cell in metres that slopewash recorded."""
    noted_for_step: bool = False
    """Whether it was recorded for cells of this very step."""
    off_grid: str | None = None
    """Why the cells are no grid on the map."""
    unclear: str | None = None
    """Why programs put the cells in different places."""
    has_heights: bool = False
    height_unit: float | None = None
    """Whether heights have a unit of their own, and the metres of it."""
    counts_downwards: bool = False
    """Whether they are depths, as far as a code shows."""

    @property
    def has_crs(self) -> bool:
        """Whether there is a CRS, known or not."""
        return self.crs is not None or self.beyond_keys is not None


def read_georeference(value_of: Callable[[int], Any]) -> Georeference:
    """Read a georeference from tags by code; `value_of` returns None for a tag that is not there.

    >>> tags = {PIXEL_SCALE: (30.0, 30.0, 0.0), TIEPOINT: (0.0, 0.0, 0.0, 500.0, 900.0, 0.0)}
    >>> place = read_georeference(tags.get)
    >>> place.sizes, place.transform
    ((30.0, 30.0), (30.0, 0.0, 500.0, 0.0, -30.0, 900.0))
    """
    keys, notes = _keys(value_of(KEY_DIRECTORY)), _notes(value_of(GDAL_METADATA))
    transform = _transform(value_of, keys)
    if _MODEL_TYPE in keys:
        geographic = keys[_MODEL_TYPE] == _GEOGRAPHIC
    else:
        geographic = _GEOGRAPHIC_CODE in keys and _PROJECTED_CODE not in keys
    code = keys.get(_GEOGRAPHIC_CODE if geographic else _PROJECTED_CODE, 0)
    unit, problem = _unit(keys, value_of, code, has_crs=bool(code) or keys.get(_MODEL_TYPE) == _PROJECTED)
    sizes = _pixel_sizes(transform, value_of(PIXEL_SCALE))
    off_grid, beyond = _off_grid(value_of, keys, transform), _beyond_keys(keys)
    is_nowhere = notes.get("position") == "none" and not code and _MODEL_TYPE not in keys and _is_corner(transform)
    return Georeference(
        present=bool(keys) or sizes is not None or off_grid is not None,
        crs=f"EPSG:{code}" if 1024 <= code < _OWN else notes.get("crs") if beyond is None else None,
        code=code if 1024 <= code < _OWN else 0,
        beyond_keys=beyond,
        transform=None if is_nowhere else transform,
        sizes=sizes,
        geographic=geographic,
        unit=unit,
        unit_problem=problem,
        lacks_unit=unit is None and _LINEAR_UNIT not in keys,
        noted=_noted_size(notes, sizes),
        noted_for_step="step" in notes,
        off_grid=off_grid,
        unclear=_unclear(value_of, keys, transform),
        has_heights=_VERTICAL_CODE in keys or _VERTICAL_UNIT in keys,
        height_unit=metres_per_code(keys.get(_VERTICAL_UNIT)),
        counts_downwards=keys.get(_VERTICAL_CODE) in _DEPTHS,
    )


def _unit(
    keys: dict[int, int], value_of: Callable[[int], Any], code: int, *, has_crs: bool
) -> tuple[float | None, str | None]:
    """Metres per unit of the CRS, or why that is not known; cells without a CRS are in metres."""
    stated = keys.get(_LINEAR_UNIT)
    if stated == _OWN and (size := _double(value_of, _LINEAR_UNIT_SIZE)) is not None and size > 0:
        return size, None
    if stated is not None:
        unit = metres_per_code(stated)
        return unit, None if unit else f"has cells in units of EPSG:{stated}, not metres"
    if not has_crs or is_metric_code(code):
        return 1.0, None
    return None, f"does not give the unit of {f'EPSG:{code}' if 0 < code < _OWN else 'its CRS'}"


def is_metric_code(code: int) -> bool:
    """Whether EPSG is known to measure in metres along the ground, and no heights, by that code.

    >>> is_metric_code(32611), is_metric_code(2227)
    (True, False)
    """
    return any(code in metric for metric in _METRIC_CODES)


def _beyond_keys(keys: dict[int, int]) -> str | None:
    projected = keys.get(_MODEL_TYPE) == _PROJECTED
    if _OWN in (keys.get(_PROJECTED_CODE), keys.get(_GEOGRAPHIC_CODE)) or (projected and _PROJECTED_CODE not in keys):
        return "has a CRS without an EPSG code"
    return "has a CRS with heights" if keys.get(_VERTICAL_CODE) else None


def _is_corner(transform: Transform | None) -> bool:
    """Whether it is one that we write of a terrain without a place: its south-west corner is at the origin."""
    return transform is not None and (transform[1], transform[2], transform[3]) == (0.0, 0.0, 0.0)


def _noted_size(notes: Mapping[str, str], sizes: tuple[float, float] | None) -> float | None:
    """Side of a cell that we recorded, unless another program has given the cells another step since."""
    if "cell_size" not in notes:
        return None
    if sizes is not None and "step" in notes and abs(float(notes["step"]) - sizes[0]) > _SAME_STEP * sizes[0]:
        return None
    return float(notes["cell_size"])


def _unclear(value_of: Callable[[int], Any], keys: dict[int, int], transform: Transform | None) -> str | None:
    scale, tiepoint = value_of(PIXEL_SCALE), value_of(TIEPOINT)
    if transform is not None and value_of(TRANSFORMATION) is not None and None not in (scale, tiepoint):
        other = _transform({PIXEL_SCALE: scale, TIEPOINT: tiepoint}.get, keys)
        if other is not None and not all(
            math.isclose(*pair, rel_tol=1e-9) for pair in zip(transform, other, strict=True)
        ):
            return "has two places, one by a matrix and one by a scale"
    if scale is not None and value_of(TRANSFORMATION) is None and float(scale[1]) < 0:
        return "has cells of negative height, which some programs take for south-up and others do not"
    if transform is not None:
        a, b, _, d, e, _ = transform
        return "has cells without area" if a * e == b * d else None
    return "has cells without area" if scale is not None and 0 in map(float, scale[:2]) else None


def _off_grid(value_of: Callable[[int], Any], keys: dict[int, int], transform: Transform | None) -> str | None:
    if keys.get(_MODEL_TYPE) == _GEOCENTRIC:
        return "is in coordinates from the middle of the earth"
    if transform is not None:
        return None
    if value_of(TIEPOINT) is not None:
        return "is placed by control points (GCPs)"
    return "is placed by the model of a camera (RPCs)" if value_of(CAMERA_MODEL) is not None else None


def georeference_tags(terrain: Terrain) -> list[ExtraTag]:
    """Tags of a terrain; one without a transform gets its true size, at the origin, without a CRS.

    >>> [tag[0] for tag in georeference_tags(Terrain([[1.0]], cell_size=5.0))] == [
    ...     PIXEL_SCALE, TIEPOINT, KEY_DIRECTORY, GDAL_METADATA]
    True
    """
    notes = {"cell_size": repr(terrain.cell_size)}
    if terrain.transform is not None:
        notes["step"] = repr(step_of(terrain.transform))
    keys = {_RASTER_TYPE: _PIXEL_IS_AREA}
    if terrain.transform is None:
        size = terrain.cell_size
        place = (size, 0.0, 0.0, 0.0, -size, terrain.height)
        notes["position"] = "none"
    else:
        a, b, c, d, e, f = terrain.transform
        place = (a, b, c, d, e, f)
    code = re.fullmatch(r"EPSG:(\d{4,5})", terrain.crs or "")
    if code and terrain.transform is not None and 1024 <= int(code[1]) < _OWN:
        degrees = in_degrees(terrain.transform, terrain.cell_size)
        keys[_MODEL_TYPE] = _GEOGRAPHIC if degrees else _PROJECTED
        keys[_GEOGRAPHIC_CODE if degrees else _PROJECTED_CODE] = int(code[1])
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


def step_of(transform: tuple[float, ...]) -> float:
    """Side of a cell along the rows in units of the CRS."""
    return math.hypot(transform[0], transform[3])


def in_degrees(transform: tuple[float, ...], cell_size: float) -> bool:
    """Whether cells of that size in metres have a step in degrees.

    >>> in_degrees((1 / 3600, 0, 7, 0, -1 / 3600, 46), 30.0), in_degrees((98.4, 0, 0, 0, -98.4, 0), 30.0)
    (True, False)
    """
    return step_of(transform) * _UNITS_PER_DEGREE < cell_size


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


def _keys(directory: Any) -> dict[int, int]:
    """Return the keys whose value is a number stored in the directory itself, as all codes are."""
    return {key: value for key, location, _, value in _entries(directory) if location == 0}


def _entries(directory: Any) -> list[tuple[int, ...]]:
    numbers = [int(number) for number in directory or ()]
    return list(zip(*(numbers[first::4] for first in range(4)), strict=False))[1:]


def _double(value_of: Callable[[int], Any], wanted: int) -> float | None:
    """Value of a key that is stored among the floating-point numbers."""
    doubles = value_of(GEO_DOUBLES)
    doubles = doubles if isinstance(doubles, tuple) else (doubles,)
    for key, location, _, index in _entries(value_of(KEY_DIRECTORY)):
        if (key, location) == (wanted, GEO_DOUBLES) and index < len(doubles):
            return float(doubles[index])
    return None


def _notes(xml: Any) -> dict[str, str]:
    """What slopewash recorded, through tifffile ("slopewash:cell_size") or through GDAL ("slopewash_cell_size")."""
    found = re.findall(r'<Item name="slopewash[:_](\w+)">([^<]*)</Item>', str(xml or ""))
    return {name: html.unescape(text) for name, text in found}


def _as_xml(notes: dict[str, str]) -> str:
    items = "".join(f'  <Item name="slopewash:{name}">{html.escape(text)}</Item>\n' for name, text in notes.items())
    text = f"<GDALMetadata>\n{items}</GDALMetadata>\n"
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
