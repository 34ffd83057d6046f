"""Metres per unit of length, by the names that files use and by the codes of EPSG."""

from __future__ import annotations

import re

from slopewash.errors import InvalidParameter

FOOT, US_FOOT = 0.3048, 1200 / 3937
_CLARKE_FOOT, _SEARS_FOOT = 0.3047972654, 12 / 39.370147
_INDIAN_FOOT, _GOLD_COAST_FOOT = 12 / 39.370142, 6378300 / 20926201

HEIGHT_UNITS = {"m": 1.0, "ft": FOOT, "us-ft": US_FOOT}
"""What `height_unit` may be."""

_SPELLINGS = {
    1e-3: ("mm", "millimetre", "millimeter"),
    1e-2: ("cm", "centimetre", "centimeter"),
    1e-1: ("dm", "decimetre", "decimeter"),
    1.0: ("m", "metre", "meter"),
    1e1: ("dam", "decametre", "dekameter"),
    1e2: ("hm", "hectometre", "hectometer"),
    1e3: ("km", "kilometre", "kilometer"),
    0.0254: ("in", "inch", "inches"),
    FOOT: ("ft", "foot", "feet", "international foot", "international feet", "foot international", "ft int"),
    1000 * FOOT: ("kft", "kilofoot", "kilofeet"),
    0.9144: ("yd", "yard", "international yard"),
    1.8288: ("fathom", "fath", "fth", "ftm"),
    66 * FOOT: ("ch", "chain", "international chain"),
    0.66 * FOOT: ("link", "international link"),
    5280 * FOOT: ("mi", "mile", "statute mile"),
    1852.0: ("nmi", "kmi", "nautical mile", "international nautical mile"),
    US_FOOT / 12: ("us in", "us inch", "us survey inch"),
    US_FOOT: (
        "us ft", "usft", "ftus", "ft us", "us foot", "us feet", "usfoot", "foot us", "feet us", "us survey foot",
        "us survey feet", "survey foot", "survey feet", "sft", "u s survey foot", "u s foot", "ussft",
    ),
    1000 * US_FOOT: ("us kft", "kftus", "kft us"),
    3 * US_FOOT: ("us yd", "us yard", "us survey yard"),
    66 * US_FOOT: ("us ch", "us chain", "us survey chain"),
    5280 * US_FOOT: ("us mi", "us mile", "us survey mile"),
    _CLARKE_FOOT: ("clarke foot", "clarkes foot", "clarke's foot"),
    _SEARS_FOOT: ("british foot sears 1922", "sears foot"),
    _INDIAN_FOOT: ("indian foot",),
    _GOLD_COAST_FOOT: ("gold coast foot",),
}  # fmt: skip
_NAMES = {name: metres for metres, names in _SPELLINGS.items() for name in names}

_CODES = {
    1025: 1e-3, 1033: 1e-2, 9001: 1.0, 9002: FOOT, 9003: US_FOOT, 9005: _CLARKE_FOOT, 9014: 1.8288, 9030: 1852.0,
    9031: 1.0000135965, 9033: 66 * US_FOOT, 9034: 0.66 * US_FOOT, 9035: 5280 * US_FOOT, 9036: 1e3,
    9037: 3 * _CLARKE_FOOT, 9038: 66 * _CLARKE_FOOT, 9039: 0.66 * _CLARKE_FOOT, 9040: 3 * _SEARS_FOOT,
    9041: _SEARS_FOOT, 9042: 66 * _SEARS_FOOT, 9043: 0.66 * _SEARS_FOOT, 9070: 0.9144025 / 3, 9080: _INDIAN_FOOT,
    9081: 0.30479841, 9082: 0.3047996, 9083: 0.3047995, 9084: 3 * _INDIAN_FOOT, 9085: 0.91439523, 9086: 0.9143988,
    9087: 0.9143985, 9093: 5280 * FOOT, 9094: _GOLD_COAST_FOOT, 9095: 0.3048007491, 9096: 0.9144, 9097: 66 * FOOT,
    9098: 0.66 * FOOT,
}  # fmt: skip
"""Units of length by their EPSG code."""


def metres_per(unit: str | None) -> float | None:
    """Return the length of a unit in metres, or None for a name that is no known unit of length.

    >>> metres_per("US_survey_foot") == 1200 / 3937, metres_per("Feet"), metres_per("kg")
    (True, 0.3048, None)

    Those of CF may begin with a factor.

    >>> metres_per("0.5 metre")
    0.5
    """
    factor = re.fullmatch(r"\s*(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s+([^\d\s].*)", unit or "")
    if factor is not None:
        whole = metres_per(factor[2])
        return None if whole is None or float(factor[1]) <= 0 else float(factor[1]) * whole
    name = re.sub(r"[\s_\-.,/()]+", " ", (unit or "").strip().lower()).strip()
    return _NAMES.get(name, _NAMES.get(name.removesuffix("s")) if len(name) > 3 else None)


def metres_per_code(code: int | None) -> float | None:
    """Return the length of a unit of EPSG in metres, or None for a code that is no known unit of length.

    >>> metres_per_code(9002), metres_per_code(9102)
    (0.3048, None)
    """
    return None if code is None else _CODES.get(code)


def check_height_unit(unit: str) -> None:
    """Reject a unit of heights that `read` does not take.

    >>> check_height_unit("ft")
    """
    if unit not in HEIGHT_UNITS:
        raise InvalidParameter(f'height_unit is "{unit}"; it must be one of {", ".join(HEIGHT_UNITS)}')
