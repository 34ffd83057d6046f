"""Parameters and laws of a model: each is declared once, and validation, listings, flags and sliders follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from slopewash.errors import InvalidParameter, TooManySubsteps
from slopewash.models.maps import Map, Mappable

LARGEST, SMALLEST = 1e12, 1e-12
"""Magnitudes of a value: beyond, products in single precision overflow, or vanish where they must not be 0."""

MOST_SUBSTEPS = 100
"""Sub-steps of a step: presets and sliders need 1 to 5."""

_COUNTLESS = 2**31

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Rule:
    """What a parameter's value must satisfy, and how to describe it."""

    holds: Callable[[float], bool]
    must_be: str


positive = Rule(lambda v: math.isfinite(v) and v > 0, "positive")
not_negative = Rule(lambda v: math.isfinite(v) and v >= 0, "zero or more")
not_negative_or_infinite = Rule(lambda v: v >= 0, "zero or more (inf means no limit)")
finite = Rule(math.isfinite, "a finite number")
fraction = Rule(lambda v: 0 <= v <= 1, "between 0 and 1")
finite_or_none = Rule(lambda v: v < math.inf, "a finite number, or none")
positive_fraction = Rule(lambda v: 0 < v <= 1, "above 0 and at most 1")


@dataclass(frozen=True)
class Parameter:
    """One declared parameter or law: feeds validation, listings, `--set` keys, sliders and recipes."""

    name: str
    default: float | str | bool
    symbol: str
    units: str
    doc: str
    eq: str
    group: str
    rule: Rule | None
    typical: tuple[float, float] | None
    log: bool
    choices: tuple[str, ...]
    none: float | None = None
    """Number that the word "none" and Python's None stand for, if they are allowed."""
    mappable: Mappable | None = None
    """How it is mapped, if it may differ from place to place."""
    is_height: bool = False
    """Whether it is an elevation: what is usual follows from the ground, not from its typical range."""

    def check(self, value: Any) -> Any:
        """Return `value` as this parameter's type, or raise `InvalidParameter`."""
        if isinstance(value, Map):
            if self.mappable is None:
                raise InvalidParameter(f"{self.name} takes no map; it must be the same everywhere")
            return value
        if self.choices:
            if value not in self.choices:
                raise InvalidParameter(f"{self.name} is {value!r}; it must be one of {', '.join(self.choices)}")
            return str(value)
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InvalidParameter(f"{self.name} is {value!r}; it must be true or false")
            return value
        if self.none is not None and (value is None or value == "none"):
            return self.none
        if isinstance(value, bool):
            raise InvalidParameter(f"{self.name} is {value!r}; it must be a number")
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            number = math.inf if value > 0 else -math.inf
        except (TypeError, ValueError):
            or_none = "" if self.none is None else ' or "none"'
            raise InvalidParameter(f"{self.name} is {value!r}; it must be a number{or_none}") from None
        if self.rule is not None and not self.rule.holds(number):
            symbol = f" ({self.symbol})" if self.symbol else ""
            units = f" {self.units}" if self.units else ""
            raise InvalidParameter(f"{self.name}{symbol} is {number}{units}; it must be {self.rule.must_be}")
        vanishes = 0 < abs(number) < SMALLEST and self.rule is not None and not self.rule.holds(0.0)
        if vanishes or LARGEST < abs(number) < math.inf:
            bound = f"at least {SMALLEST:g}" if vanishes else f"at most {LARGEST:g}"
            raise InvalidParameter(f"{self.name} is {number:g}; its magnitude must be {bound}")
        return number

    def parse(self, text: str) -> Any:
        """Read a value as typed on a command line."""
        typed = text.strip()
        return self.check(_WORDS.get(typed.lower(), typed) if isinstance(self.default, bool) else typed)


def parameter(
    default: float,
    *,
    doc: str,
    valid: Rule,
    symbol: str = "",
    units: str = "",
    eq: str = "",
    group: str = "",
    typical: tuple[float, float] | None = None,
    log: bool = False,
    none: float | None = None,
    mappable: str | Mappable | None = None,
    is_height: bool = False,
) -> Any:
    """Declare a number: `valid` is physics and raises, `typical` is a slider's range and never does.

    A value far outside `typical` is questioned. `none` is the number that stands for none, where users may say so;
    `mappable` the layer that multiplies it, where it may differ from place to place; `is_height` marks elevations.
    """
    facts = {"doc": doc, "rule": valid, "symbol": symbol, "units": units, "eq": eq, "group": group, "none": none}
    shares = Mappable(mappable) if isinstance(mappable, str) else mappable
    facts |= {"typical": typical, "log": log, "choices": (), "mappable": shares, "is_height": is_height}
    return field(default=default, metadata=facts)


def law(default: str | bool, *choices: str, doc: str, eq: str = "", group: str = "laws") -> Any:
    """Declare a variant of the physics: one of `choices`, or true or false when there are none."""
    facts = {"doc": doc, "rule": None, "symbol": "", "units": "", "eq": eq, "group": group}
    return field(default=default, metadata=facts | {"typical": None, "log": False, "choices": choices})


@dataclass(frozen=True)
class Limit:
    """A stability limit: `value`, which grows with the time step, must not exceed `bound`."""

    name: str
    value: float
    bound: float

    @property
    def substeps(self) -> int:
        """Equal sub-steps that bring the value within the bound."""
        ratio = self.value / self.bound
        if not ratio < _COUNTLESS:  # infinite or NaN, too
            return _COUNTLESS
        # A hair of slack, so that a value meant to sit exactly on the bound is not split by rounding.
        return max(1, math.ceil(ratio - 1e-9))

    def check(self) -> None:
        """Refuse more than `MOST_SUBSTEPS`."""
        if self.substeps > MOST_SUBSTEPS:
            raise TooManySubsteps(
                f"{self.name} is {self.value:.3g}, above the stability limit {self.bound:.3g}: a step would need "
                f"{self.substeps:.3g} sub-steps, more than {MOST_SUBSTEPS}; make time_step at least "
                f"{self.substeps / MOST_SUBSTEPS:.3g} times smaller"
            )
