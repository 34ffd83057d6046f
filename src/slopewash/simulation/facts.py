"""What a checkpoint states of a simulation besides its arrays, and what each statement may be.

A checkpoint is read as a file of anybody's: whatever its seal says, nothing in it reaches a kernel unchecked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from slopewash.errors import InvalidParameter
from slopewash.models.parameters import MOST_SUBSTEPS
from slopewash.models.state import EDGES, Domain
from slopewash.terrain import Terrain

LARGEST_COUNT = 2**53
"""Steps and the like: all whole numbers below are exact in every format."""

Test = Callable[[Any], bool]


def is_count(value: Any) -> bool:
    """Whether a value is a whole number, zero or more."""
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < LARGEST_COUNT


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above zero."""
    return is_number(value) and value > 0


def is_text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def is_table(value: Any) -> bool:
    """Whether a value has names and values."""
    return isinstance(value, Mapping)


def is_flag(value: Any) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def none_or(holds: Test) -> Test:
    """Whether a value is nothing, or passes a test."""
    return lambda value: value is None or holds(value)


def is_list_of(holds: Test, count: int | None = None) -> Test:
    """Whether a value is a list whose items, as many as that, all pass a test."""
    return lambda value: (
        isinstance(value, list | tuple) and count in (None, len(value)) and all(holds(item) for item in value)
    )


def is_table_of(holds: Test) -> Test:
    """Whether a value is a table whose values all pass a test."""
    return lambda value: isinstance(value, Mapping) and all(map(holds, value.values()))


def is_shape(value: Any) -> bool:
    """Whether a value is rows and columns."""
    return is_list_of(is_count, 2)(value) and min(value) > 0


def _is_since(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and is_count(value[0]) and is_number(value[1])


COUNT, NUMBER, POSITIVE = "a whole number, zero or more", "a finite number", "a positive number"
FLAG, TABLE, TEXT, SHAPE = "true or false", "a table", "text", "rows and columns"
SIMULATION: Mapping[str, tuple[Test, str]] = {
    "slopewash": (is_text, "a version"),
    "run": (lambda value: value is None or is_text(value), "text"),
    "model": (is_table, "a table"),
    "backend": (is_text, "the name of a backend"),
    "substeps": (
        lambda value: value == "auto" or (is_count(value) and 1 <= value <= MOST_SUBSTEPS), '"auto" or a whole number'
    ),
    "step": (is_count, COUNT),
    "settled": (is_count, COUNT),
    "substeps_done": (is_count, COUNT),
    "time": (is_number, NUMBER),
    "since": (_is_since, "a step and a time"),
    "relief": (is_positive, POSITIVE),
    "level": (is_number, NUMBER),
    "conserved": (lambda value: isinstance(value, list | tuple) and all(map(is_text, value)), "a list of names"),
    "domain": (is_table, "a table"),
    "scalars": (is_table, "a table"),
    "marks": (is_table, "a table"),
    "terrain": (is_table, "a table"),
    "history": (is_table, "a table"),
}  # fmt: skip
MODEL: Mapping[str, tuple[Test, str]] = {"name": (is_text, "the name of a model"), "parameters": (is_table, "a table")}
DOMAIN: Mapping[str, tuple[Test, str]] = {
    "shape": (is_shape, SHAPE),
    "cell_size": (is_positive, POSITIVE),
    "datum": (is_number, NUMBER),
    "scale": (is_positive, POSITIVE),
    "seed": (
        lambda value: isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) < 2**64,
        "a whole number",
    ),
    "margins": (is_list_of(is_count, 4), "four whole numbers"),
    "sides": (is_table, "a word for each side"),
}


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse facts of a simulation that are missing or wrong."""
    check(facts, SIMULATION, optional=("run", "substeps_done", "conserved", "marks"))
    check(facts["model"], MODEL, of="model.")
    check(facts["domain"], DOMAIN, of="domain.")


def check(
    facts: Mapping[str, Any], table: Mapping[str, tuple[Test, str]], *, of: str = "", optional: tuple[str, ...] = ()
) -> None:
    """Refuse facts that are not what a table says of them."""
    for name, (holds, words) in table.items():
        if name not in facts:
            if name in optional:
                continue
            raise KeyError(f"{of}{name}")
        if not holds(facts[name]):
            raise InvalidParameter(f"{of}{name} is {shortened(facts[name])}; it must be {words}")


def shortened(value: Any, longest: int = 60) -> str:
    """A value as a message may show it."""
    try:
        words = str(value)
    except (ValueError, RecursionError):  # too many digits, or too deep
        return "too long to show"
    words = words if words.isprintable() else ascii(words)
    return words if len(words) <= longest else f"{words[: longest - 3]}..."


def check_domain(domain: Domain, start: Terrain) -> None:
    """Refuse a domain that is not one of the terrain that the run started with."""
    for name in ("shape", "cell_size"):
        own, needed = getattr(domain, name), getattr(start, name)
        if own != needed:
            raise InvalidParameter(f"domain.{name} is {own}; the terrain at the start has {needed}")
    if domain.origin != (0, 0) or any(domain.margins):
        raise InvalidParameter("the domain is a part of another one")
    unknown = domain.sides.kinds() - set(EDGES)
    if unknown:
        raise InvalidParameter(f"a side is {unknown.pop()!r}; it must be one of {', '.join(EDGES)}")
