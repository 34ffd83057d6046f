"""A CRS by the keys of ArcInfo, which `.prj` files had before well-known text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slopewash.io.crs import Crs
from slopewash.io.units import metres_per

_DATUMS = {"NAD27": "NAD27", "NAD1927": "NAD27", "NAD83": "NAD83", "NAD1983": "NAD83", "WGS84": "WGS84",
           "WGS1984": "WGS84"}  # fmt: skip
_IN_DEGREES = {"NAD27": 4267, "NAD83": 4269, "WGS84": 4326}
_ZONES = {"NAD27": range(26701, 26723), "NAD83": range(26901, 26924), "WGS84": range(32601, 32661)}
"""Codes of the northern zones of UTM, from the first."""
_SOUTH = 10_000_000.0
"""What is added to northings in the south, where WGS 84 has codes 100 higher."""


def keys_of(text: str) -> dict[str, str] | None:
    r"""Keys in small letters and values in capitals, or None for another kind of text.

    >>> keys_of("Projection    UTM\nZone          11\nParameters\n")
    {'projection': 'UTM', 'zone': '11', 'parameters': ''}
    """
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    if not lines or lines[0][0].lower() != "projection" or len(lines[0]) != 2:
        return None
    return {key.lower(): " ".join(rest).strip().upper() for key, *rest in lines}


def described(keys: Mapping[str, str]) -> Crs | None:
    """The CRS, without a code where none is known for it; None where its unit is not known either.

    >>> described({"projection": "UTM", "zone": "11", "datum": "NAD83", "units": "METERS"}).text
    'EPSG:26911'
    """
    datum = _DATUMS.get(re.sub(r"[^A-Z0-9]", "", keys.get("datum", "")))
    height_unit = keys.get("zunits", "NO")
    has_heights = height_unit not in ("NO", "")
    metres = metres_per(height_unit) if has_heights else None
    if keys["projection"] == "GEOGRAPHIC" and keys.get("units") == "DD":
        text = None if datum is None else f"EPSG:{_IN_DEGREES[datum]}"
        return Crs(text=text, geographic=True, has_heights=has_heights, height_unit=metres)
    if metres_per(keys.get("units")) != 1.0:
        return None
    code = _utm(keys, datum) if keys["projection"] == "UTM" and datum is not None else None
    text = None if code is None else f"EPSG:{code}"
    return Crs(text=text, unit=1.0, has_heights=has_heights, height_unit=metres)


def _utm(keys: Mapping[str, str], datum: str) -> int | None:
    zone = keys.get("zone", "")
    try:
        shift = float(keys.get("xshift", 0)), float(keys.get("yshift", 0))
    except ValueError:
        return None
    if not re.fullmatch(r"\d{1,2}", zone) or not 1 <= int(zone) <= len(_ZONES[datum]):
        return None
    code = _ZONES[datum][int(zone) - 1]
    if shift == (0, _SOUTH) and datum == "WGS84":
        return code + 100
    return code if shift == (0, 0) else None
