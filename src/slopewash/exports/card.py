"""The import card: every number that has to be typed into the other program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slopewash.exports.files import write_bytes
from slopewash.plain import plain

TEXT, JSON = "import_card.txt", "import_card.json"
WIDEST = 32
"""Letters of a value up to which remarks stand in one column."""


@dataclass(frozen=True)
class Entry:
    """One thing to type in: its key in JSON, what the program calls it, the value, and a remark."""

    key: str
    label: str
    value: Any
    remark: str = ""


@dataclass(frozen=True)
class Card:
    """What to type into a program to import an export.

    >>> print(Card("unity", "Unity", (Entry("height", "Terrain height", 812.5, "metres"),)))
    Unity: import card
      Terrain height  812.5   metres
    """

    target: str
    program: str
    entries: tuple[Entry, ...]
    steps: tuple[str, ...] = ()
    """What to do, in order."""
    files: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, key: str) -> Any:
        """Return the value of an entry."""
        for entry in self.entries:
            if entry.key == key:
                return entry.value
        raise KeyError(key)

    def __str__(self) -> str:
        rows = [(entry.label, _words(entry.value), entry.remark) for entry in self.entries]
        label, value = (max((len(row[k]) for row in rows if len(row[k]) <= WIDEST), default=0) for k in (0, 1))
        lines = [f"{self.program}: import card"]
        lines += [f"  {row[0]:<{label}}  {row[1]:<{value}}   {row[2]}".rstrip() for row in rows]
        lines += [f"{number}. {step}" for number, step in enumerate(self.steps, 1)]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain data: values by key, and how they are called and explained."""
        result: dict[str, Any] = plain(
            {
                "target": self.target,
                "program": self.program,
                "values": {entry.key: entry.value for entry in self.entries},
                "labels": {entry.key: entry.label for entry in self.entries},
                "remarks": {entry.key: entry.remark for entry in self.entries if entry.remark},
                "steps": self.steps,
                "files": self.files,
            }
        )
        return result

    def write(self, folder: Path) -> list[Path]:
        """Write the card as text and as JSON."""
        document = json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"
        return [
            write_bytes(f"{self}\n".encode(), folder / TEXT),
            write_bytes(document.encode(), folder / JSON),
        ]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, str):
        return value
    return ", ".join(_words(part) for part in value) if isinstance(value, Sequence) else str(value)
