"""Changes to a recipe file from the command line: `--set stage.key=value`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.recipes import declaration as declared
from slopewash.recipes.toml_lines import Place

WAYS = "write --set seed=3, --set source.size=256, --set stage.strength=0.5 or --set landscape.rain_rate=0.02"
RIVALS = {
    "steps": "strength", "strength": "steps", "extent": "cell_size", "cell_size": "extent", "preset": "model",
    "model": "preset", "generator": "file", "file": "generator",
}  # fmt: skip
"""Keys of which a table has one at most: a new one takes the place of the other."""


def apply_settings(facts: dict[str, Any], settings: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """Change what a file holds, and yield each setting with the place that it changed.

    >>> facts = {"seed": 1, "stages": [{"preset": "landscape"}]}
    >>> list(apply_settings(facts, ["landscape.rain_rate=0.02"]))
    [('landscape.rain_rate=0.02', ('stages', 0, 'parameters', 'rain_rate'))]
    >>> facts["stages"]
    [{'preset': 'landscape', 'parameters': {'rain_rate': 0.02}}]
    """
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not (key and equals and text):
            raise InvalidParameter(f"--set {setting} is not a setting; {WAYS}")
        place = _place(facts, setting, key.replace("-", "_").split("."))
        table: Any = facts
        for part in place[:-1]:
            table = table[part] if isinstance(part, int) else table.setdefault(part, {})
        if not isinstance(table, dict):
            raise InvalidParameter(f"--set {setting}: the file has no table there to change")
        table[place[-1]] = _value(text)
        table.pop(RIVALS.get(str(place[-1])), None)
        yield setting, place


def _place(facts: dict[str, Any], setting: str, keys: list[str]) -> Place:
    """Where a setting goes in the file."""
    first, *rest = keys
    if not rest:
        if first in declared.top_table().names() and first not in ("source", "layers", "stages", "outputs"):
            return (first,)
        raise InvalidParameter(f"--set {setting} names no stage or table; {WAYS}")
    if first in ("source", "layers", "strata"):
        return (first, *rest)
    number = _stage_number(facts.get("stages"), setting, first)
    if rest[0] in declared.stage_table().names():
        return ("stages", number, *rest)
    return ("stages", number, "parameters", *rest)


def _stage_number(stages: Any, setting: str, name: str) -> int:
    """Index of the stage that is called so: by name, preset or model, by number, or "stage" for the only one."""
    tables = stages if isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages) else []
    if name.isdigit() and 1 <= int(name) <= len(tables):
        return int(name) - 1
    if name == "stage" and len(tables) == 1:
        return 0
    names = [(stage.get("name"), stage.get("preset"), stage.get("model")) for stage in tables]
    names = [own if any(own) else (None, "landscape", None) for own in names]
    found = [number for number, own in enumerate(names) if name in own]
    if len(found) > 1 or (name == "stage" and not found):
        raise InvalidParameter(
            f"--set {setting} could mean any of {len(found) or len(tables)} stages; name one by its number, such as "
            f"1.{setting.partition('.')[2]}"
        )
    if not found:
        known = [each for own in names for each in own if each]
        error = unknown_name("stage or table", name, ["source", "layers", "strata", "stage", *known])
        raise type(error)(f"--set {setting}: {error}")
    return found[0]


def _value(text: str) -> Any:
    """Read a value as TOML has it; what is not TOML is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
