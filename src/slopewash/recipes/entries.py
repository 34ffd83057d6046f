"""What may stand in a recipe file: each key is declared once, and reading, the JSON Schema and the docs follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.simulation.facts import shortened

Kind = Literal["number", "integer", "boolean", "text", "numbers", "integers", "texts", "table", "tables"]

_WORDS = {
    "number": "a number", "integer": "a whole number", "boolean": "true or false", "text": "text in quotes",
    "numbers": "numbers in brackets", "integers": "whole numbers in brackets", "texts": "texts in brackets",
    "table": "a table", "tables": "tables, each with a heading in double brackets",
}  # fmt: skip
_ITEMS = {"numbers": "number", "integers": "integer", "texts": "text", "tables": "table"}
_JSON_TYPES = {"number": "number", "integer": "integer", "boolean": "boolean", "text": "string", "table": "object"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A key of a table, and what its value may be."""

    name: str
    kinds: tuple[Kind, ...]
    doc: str
    choices: tuple[str, ...] = ()
    """Texts that are allowed; any if empty."""
    count: int | None = None
    """How many numbers there must be in brackets."""
    default: str = ""
    """What holds without it, in words."""
    units: str = ""
    or_nan: bool = False
    """Whether NaN is one of the numbers."""

    def check(self, value: Any) -> Any:
        """Return the value, whole numbers as floats where numbers are asked for, or raise `InvalidParameter`."""
        if self.or_nan and isinstance(value, float) and math.isnan(value):
            return value
        for kind in self.kinds:
            if _fits(kind, value) and (self.count is None or kind not in _ITEMS or len(value) == self.count):
                if kind == "text" and self.choices and value not in self.choices:
                    if not any(other != "text" for other in self.kinds):
                        raise unknown_name(self.name, value, self.choices)
                    continue
                return _converted(kind, value)
        raise InvalidParameter(f"{self.name} is {_shown(value)}; it must be {self.wanted}")

    @property
    def wanted(self) -> str:
        """What it must be, in words."""
        texts = " or ".join(f'"{choice}"' for choice in self.choices)
        words = [texts if kind == "text" and texts else _WORDS[kind] for kind in self.kinds]
        if self.count is not None:
            words = [f"{self.count} {word}" if word.endswith("in brackets") else word for word in words]
        return " or ".join(words)

    def schema(self) -> dict[str, Any]:
        """JSON Schema of its value."""
        options = [self._schema_of(kind) for kind in self.kinds]
        what = f"{self.doc} Units: {self.units}." if self.units else self.doc
        return {"description": what, **(options[0] if len(options) == 1 else {"anyOf": options})}

    def _schema_of(self, kind: Kind) -> dict[str, Any]:
        if kind in _ITEMS:
            size = {} if self.count is None else {"minItems": self.count, "maxItems": self.count}
            chosen = {"enum": list(self.choices)} if self.choices and kind == "texts" else {}
            return {"type": "array", "items": {"type": _JSON_TYPES[_ITEMS[kind]], **chosen}, **size}
        if kind == "text" and self.choices:
            return {"enum": list(self.choices)}
        return {"type": _JSON_TYPES[kind]}


def _fits(kind: str, value: Any) -> bool:
    if kind in _ITEMS:
        return isinstance(value, list | tuple) and all(_fits(_ITEMS[kind], item) for item in value)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"boolean": bool, "text": str, "table": Mapping}[kind])


def _converted(kind: Kind, value: Any) -> Any:
    if kind == "numbers":
        return tuple(map(float, value))
    if kind in ("integers", "texts"):
        return tuple(value)
    return float(value) if kind == "number" else value


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        return "a list of tables"
    return f'"{shortened(value)}"' if isinstance(value, str) else shortened(value)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a recipe file."""

    name: str
    doc: str
    entries: tuple[Entry, ...]

    def names(self) -> list[str]:
        """Keys that it may have."""
        return [entry.name for entry in self.entries]

    def entry(self, name: str) -> Entry:
        """Look a key up, with the nearest name suggested when there is none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise unknown_name("key", name, self.names())

    def schema(self, *, required: Iterable[str] = ()) -> dict[str, Any]:
        """JSON Schema of the table."""
        wanted = list(required)
        return {
            "description": self.doc,
            "type": "object",
            "properties": {entry.name: entry.schema() for entry in self.entries},
            "additionalProperties": False,
            **({"required": wanted} if wanted else {}),
        }
