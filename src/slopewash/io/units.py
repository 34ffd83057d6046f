"""Metres per unit of length, by the names that files use."""

from __future__ import annotations

from slopewash.errors import InvalidParameter

FOOT, US_FOOT = 0.3048, 1200 / 3937

HEIGHT_UNITS = {"m": 1.0, "ft": FOOT, "us-ft": US_FOOT}
"""What `height_unit` may be."""

_NAMES = {
    **dict.fromkeys(("m", "metre", "meter", "metres", "meters"), 1.0),
    **dict.fromkeys(("ft", "foot", "feet", "international foot", "international feet"), FOOT),
    **dict.fromkeys(
        ("us-ft", "ftus", "us-foot", "us survey foot", "us survey feet", "foot_us", "survey foot", "sft"), US_FOOT
    ),
    **dict.fromkeys(("km", "kilometre", "kilometer"), 1000.0),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), 0.01),
    **dict.fromkeys(("dm", "decimetre", "decimeter"), 0.1),
}


def metres_per(unit: str | None) -> float | None:
    """Return the length of a unit in metres, or None for a name that is no unit of length.

    >>> metres_per("US survey foot") == 1200 / 3937, metres_per("Feet"), metres_per("kg")
    (True, 0.3048, None)
    """
    return _NAMES.get((unit or "").strip().lower())


def check_height_unit(unit: str) -> None:
    """Reject a unit of heights that `read` does not take.

    >>> check_height_unit("ft")
    """
    if unit not in HEIGHT_UNITS:
        raise InvalidParameter(f'height_unit is "{unit}"; it must be one of {", ".join(HEIGHT_UNITS)}')
