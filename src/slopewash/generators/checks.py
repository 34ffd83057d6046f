"""Validation of generator options: one sentence with the value and what is valid."""

from __future__ import annotations

import math
import operator
from typing import Any

from slopewash.errors import InvalidParameter


def positive(name: str, value: Any, units: str = "") -> float:
    """Return a positive finite float."""
    return number(name, value, "positive and finite", low=0.0, open_low=True, units=units)


def fraction(name: str, value: Any) -> float:
    """Return a float within 0 .. 1."""
    return number(name, value, "within 0 .. 1", low=0.0, high=1.0)


def number(
    name: str,
    value: Any,
    wanted: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    units: str = "",
) -> float:
    """Return a finite float between two bounds; `wanted` completes the error message."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(f"{name} is {value!r}; it must be a number, {wanted}") from None
    above = result > low if open_low else result >= low
    below = result < high if open_high else result <= high
    if not (math.isfinite(result) and above and below):
        raise InvalidParameter(f"{name} is {f'{value} {units}'.rstrip()}; it must be {wanted}")
    return result


def integer(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return a Python int, within bounds if given; floats are rejected, because rounding them would be a guess."""
    try:
        if isinstance(value, bool):
            raise TypeError
        result = operator.index(value)
    except TypeError:
        raise InvalidParameter(f"{name} is {value!r}; it must be a whole number") from None
    if (low is not None and result < low) or (high is not None and result > high):
        raise InvalidParameter(f"{name} is {result}; it must be within {low} .. {high}")
    return result
