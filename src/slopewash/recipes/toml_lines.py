"""On which line of a TOML file a key stands: `tomllib` does not keep that, and error messages need it."""

from __future__ import annotations

import re
from bisect import bisect_left

Place = tuple[str | int, ...]
"""Keys from the outermost table inwards; a number counts the tables or items of an array from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*""")
_STRING = re.compile(r'\"""(?:[^\\]|\\.)*?\"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', flags=re.S)
_BARE = re.compile(r"[^,\]}#\n]+")


def key_lines(text: str) -> dict[Place, int]:
    r"""Line of every key and table of a document that `tomllib` has read, counted from 1.

    >>> key_lines('seed = 1\n[[stages]]\nparameters = { rain_rate = 0.1 }')["stages", 0, "parameters", "rain_rate"]
    3
    """
    return _Scanner(text).lines


class _Scanner:
    """Walks once over a document that is known to be valid."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Place, int] = {}
        self.counts: dict[Place, int] = {}
        """Tables so far of each array of tables."""
        table: Place = ()
        while self._skip():
            if text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)

    def _skip(self) -> bool:
        """Go on to what is neither blank nor a comment; False at the end."""
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.at < len(self.text)

    def _note(self, place: Place, at: int) -> None:
        for length in range(1, len(place) + 1):
            self.lines.setdefault(place[:length], bisect_left(self.ends, at) + 1)

    def _header(self) -> Place:
        start, several = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        keys = self._keys()
        self.at += 2 if several else 1
        place: Place = ()
        for number, key in enumerate(keys):
            place = (*place, key)
            if several and number == len(keys) - 1:
                self.counts[place] = self.counts.get(place, 0) + 1
            if place in self.counts:  # a table within the latest of an array of tables
                place = (*place, self.counts[place] - 1)
        self._note(place, start)
        return place

    def _keys(self) -> list[str]:
        keys = []
        while match := _KEY.match(self.text, self.at):
            keys.append(match[1].strip("\"'"))
            self.at = match.end()
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return keys

    def _pair(self, table: Place) -> None:
        start = self.at
        place = (*table, *self._keys())
        self._note(place, start)
        self.at += 1  # the equals sign
        self._skip()
        self._value(place)

    def _value(self, place: Place) -> None:
        opening = self.text[self.at]
        if opening not in "[{":
            match = (_STRING if opening in "\"'" else _BARE).match(self.text, self.at)
            self.at = match.end() if match else self.at + 1
            return
        closing = "]" if opening == "[" else "}"
        self.at += 1
        number = 0
        while self._skip() and self.text[self.at] != closing:
            if self.text[self.at] == ",":
                self.at += 1
            elif opening == "{":
                self._pair(place)
            else:
                self._note((*place, number), self.at)
                self._value((*place, number))
                number += 1
        self.at += 1
