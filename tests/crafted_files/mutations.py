"""Facts of a good file, each wrong in one place, and which of them may be so."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.products import SLICE, in_slice

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
        held = _held(facts, path)
        for kind, value in WRONG.items():
            if (type(value), value) != (type(held), held):
                yield f"{name} {kind}", changed(facts, path, value)


def _held(facts: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        facts = facts[part]
    return facts


SAME: Mapping[str, str] = {
    r"(.*\.)?parameters table|.*\.parameters\.\w+ missing": "what is left out has its default, which it had",
    r"(recipe\.)*(layers|water_sources|emitters) missing": "as if there were none, and there are none",
    r"(recipe\.)*stages\.\d\.(name (missing|outside)|preset outside)": "only shown",
    r"run (missing|null|outside)|slopewash outside": "names of the run and of the version",
    r"(recipe\.)*source\.generator outside": "the source is made already",
}
"""Places and kinds of mutations that change no result, by why not."""
RECIPE: Mapping[str, str] = {
    r"(.*\.)?seed negative": "any whole number is a seed",
    r"(recipe\.)*stages\.\d (missing|null)": "a shorter run",
    r"(recipe\.)*stages\.\d\.(settle null|dry flag|detail huge|restored huge)": "another stage",
    r".*\.parameters\.\w+ (null|negative)": "another value that the parameter may have",
    r".*\.parameters\.deposit_below_surface flag": "the other of two",
    r"(start|ground|terrain)\.crs outside": "another CRS, which may be any text",
}
"""Those that make it another good file: nothing else in the file contradicts them."""


def check_accepted(accepted: Iterable[str], *allowed: Mapping[str, str]) -> list[str]:
    """Refuse mutations that were accepted and are not listed.

    Returns those that change no result, as many as have their turn with this commit.
    """
    names = list(accepted)
    listed = [pattern for table in allowed for pattern in table]
    strange = [name for name in names if not any(re.fullmatch(pattern, name) for pattern in listed)]
    assert not strange, f"accepted: {strange}"
    harmless = [name for name in names if any(re.fullmatch(pattern, name) for pattern in SAME)]
    assert harmless
    return [name for name in harmless if name == harmless[0] or in_slice(name, SLICE)]
