"""What the facts of a recipe and of its stages may be, where they come from a checkpoint, a store or a page.

Recipe files have a declaration of their own (`declaration.py`). What a model's parameters may be, the model itself
checks when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slopewash.errors import InvalidParameter
from slopewash.simulation.facts import (
    COUNT,
    FLAG,
    NUMBER,
    TABLE,
    TEXT,
    Test,
    check,
    is_count,
    is_flag,
    is_list_of,
    is_number,
    is_positive,
    is_table,
    is_text,
    none_or,
)

MOST_STAGES = 200
"""Stages of a recipe; each is made, checked and given levels before anything runs."""
MOST_LEVELS = 16 * MOST_STAGES
"""The same with each level of a stage counted as one."""
MOST_LISTED = 1000
"""Water sources, emitters, outputs, or layers of rock."""


def _is_name_or_table(value: Any) -> bool:
    return is_text(value) or is_table(value)


def _is_whole(value: Any) -> bool:
    return is_number(value) and int(value) == value and abs(value) < 2**63


def _is_not_negative(value: Any) -> bool:
    return is_number(value) and value >= 0


TABLES = "a list of tables"
STAGE: Mapping[str, tuple[Test, str]] = {
    "model": (is_text, "the name of a model"),
    "preset": (none_or(is_text), "the name of a preset"),
    "parameters": (is_table, TABLE),
    "steps": (is_count, COUNT),
    "settle": (none_or(is_count), COUNT),
    "dry": (is_flag, FLAG),
    "edges": (_is_name_or_table, "a word, or one for each side"),
    "strength": (none_or(is_positive), "a positive number"),
    "settings": (is_table, TABLE),
    "levels": (is_list_of(is_table), TABLES),
    "detail": (_is_not_negative, "a number, zero or more"),
    "restored": (_is_not_negative, "a number, zero or more"),
    "basins": (lambda value: value in ("kept", "breached", "lakes"), '"kept", "breached" or "lakes"'),
    "low_water": (lambda value: is_table(value) and all(is_text(v) or is_number(v) for v in value.values()), TABLE),
    "gullies": (_is_not_negative, "a number, zero or more"),
    "cells": (none_or(lambda value: is_count(value) and value > 0), "a whole number above zero"),
    "name": (none_or(is_text), TEXT),
}
LEVEL: Mapping[str, tuple[Test, str]] = {
    "cells": (lambda value: is_count(value) and value > 0, "a whole number above zero"),
    "steps": (is_count, COUNT),
    "settle": (is_count, COUNT),
    "parameters": (is_table, TABLE),
}
RECIPE: Mapping[str, tuple[Test, str]] = {
    "source": (is_table, TABLE),
    "layers": (is_table, TABLE),
    "strata": (none_or(is_table), TABLE),
    "water_sources": (is_list_of(is_table), TABLES),
    "emitters": (is_list_of(is_table), TABLES),
    "stages": (is_list_of(is_table), TABLES),
    "seed": (_is_whole, "a whole number"),
    "backend": (is_text, "the name of a backend"),
    "outputs": (is_list_of(is_table), TABLES),
}
STRATA: Mapping[str, tuple[Test, str]] = {
    "layers": (is_list_of(is_table), TABLES), "shares": (is_flag, FLAG), "replace": (is_flag, FLAG),
}  # fmt: skip
OPTIONS = {"options": (is_table, TABLE)}
GENERATED: Mapping[str, tuple[Test, str]] = {
    "generator": (is_text, "the name of a generator"),
    "size": (lambda value: is_count(value) and value > 0, "a whole number above zero"),
    "seed": (_is_whole, "a whole number"),
    "cell_size": (is_positive, "a positive number"),
    "extent": (is_positive, "a positive number"),
    "relief": (is_number, NUMBER),
    **OPTIONS,
}
FILE: Mapping[str, tuple[Test, str]] = {
    "file": (is_text, "a path"), "size": (lambda value: is_count(value) and value > 0, COUNT), **OPTIONS,
}  # fmt: skip
TERRAIN: Mapping[str, tuple[Test, str]] = {
    "terrain": (is_text, TEXT), "code": (is_text, TEXT), "size": (lambda value: is_count(value) and value > 0, COUNT),
}  # fmt: skip


def check_stage(facts: Any, of: str = "") -> None:
    """Refuse facts of a stage that `Stage.as_dict` does not give."""
    if not is_table(facts):
        raise InvalidParameter(f"{of.rstrip('.') or 'a stage'} is not a table")
    check(facts, STAGE, of=of, optional=("name",))
    for level in facts["levels"]:
        check(level, LEVEL, of=f"{of}levels.")


def check_no_files(stage: Mapping[str, Any]) -> None:
    """Refuse maps that are files: those of a run were read when it began."""
    for values in (stage["parameters"], stage["settings"]):
        for name, value in values.items():
            if isinstance(value, Mapping) and "file" in value:
                raise InvalidParameter(f"{name} is a file")


def check_recipe(facts: Any) -> None:
    """Refuse facts of a recipe that `Recipe.as_dict` does not give."""
    if not is_table(facts):
        raise InvalidParameter("a recipe is a table")
    check(facts, RECIPE, optional=("layers", "water_sources", "emitters"))
    check_count(facts["stages"])
    for name in ("water_sources", "emitters", "outputs"):
        check_count(facts.get(name, ()), MOST_LISTED, name)
    if facts["strata"] is not None:
        check(facts["strata"], STRATA, of="strata.")
    source = facts["source"]
    table = GENERATED if "generator" in source else FILE if "file" in source else TERRAIN
    optional = ("cell_size", "extent", "relief", "code", *(["size"] if table is not GENERATED else []))
    check(source, table, of="source.", optional=optional)


def check_count(listed: Sequence[Any], most: int = MOST_STAGES, name: str = "stages") -> None:
    """Refuse more stages, or other things, than anybody means."""
    if len(listed) > most:
        raise InvalidParameter(f"{name} has {len(listed)} entries; the limit is {most}")
