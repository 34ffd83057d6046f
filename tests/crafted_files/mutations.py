"""Facts of a good file, each wrong in one place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

WRONG: dict[str, Any] = {
    "null": None, "outside": "../home/canary", "negative": -5, "huge": 2**70, "list": [], "table": {}, "flag": True,
}  # fmt: skip


def places(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value, however deep."""
    if path:
        yield path
    items = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    for name, value in items:
        yield from places(value, (*path, name))


def changed(facts: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return facts with another value in one place."""
    made = copy.deepcopy(facts)
    at = made
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return made


def without(facts: Any, path: tuple[Any, ...]) -> Any:
    """Return facts without one value."""
    made = copy.deepcopy(facts)
    at = made
    for part in path[:-1]:
        at = at[part]
    del at[path[-1]]
    return made


def mutations(facts: Any) -> Iterator[tuple[str, Any]]:
    """Facts with each value missing, and with each value replaced by each wrong one."""
    for path in places(facts):
        name = ".".join(map(str, path))
        yield f"{name} missing", without(facts, path)
        for kind, value in WRONG.items():
            yield f"{name} {kind}", changed(facts, path, value)
