"""Texts of CRSs that would make PROJ or GDAL read files: none may, for a CRS is part of a file that may be anyone's.

A CRS may name grids of datum shifts by a path, or be the path of a file itself; PROJ and GDAL open what it names, and a
pipe never answers. Grids by their plain names, which PROJ looks for among its own, are no harm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST = 1 << 16
"""Characters: more than any CRS has."""
_CODE = re.compile(r"[A-Za-z][\w.-]*:[\w.:+,-]*|(?:WGS|NAD)\d\d|https?://(www\.)?opengis\.net/def/crs/[\w./-]+")
_PLAIN = re.compile(r"[\w.,@-]*")
"""Names without a folder, separated by commas; `@` marks those that may be missing."""
_OF_PROJ = re.compile(r"\b(\w*grids?|init|file|model|catalog)\s*=\s*([^\s\]]*)", re.IGNORECASE)
_OF_TEXT = re.compile(r"PROJ4_GRIDS|PARAMETERFILE", re.IGNORECASE)
_NAMED = re.compile(r'(?:"PROJ4_GRIDS"|PARAMETERFILE\s*[\[(]\s*"[^"]*")\s*,\s*"([^"]*)"', re.IGNORECASE)


def names_files(text: str) -> bool:
    """Whether a text may make a library read a file that is none of its own.

    >>> [names_files(text) for text in ("EPSG:32611", "+proj=merc +nadgrids=@null", "+proj=merc +nadgrids=/dev/tty")]
    [False, False, True]
    """
    text = text.strip().replace("“", '"').replace("”", '"')
    if len(text) > LONGEST or "\0" in text:
        return True
    if text.startswith("{"):
        try:
            return any(not _PLAIN.fullmatch(name) for name in _of_json(json.loads(text)))
        except (ValueError, RecursionError):
            return True
    if not ("[" in text or "(" in text or "=" in text):
        return _CODE.fullmatch(text) is None
    named = [match[1] for match in _NAMED.finditer(text)]
    if len(named) < len(_OF_TEXT.findall(text)):  # written in a way that is not known here
        return True
    named += [_code_of(match[2].partition('"')[0] or match[2]) for match in _OF_PROJ.finditer(text)]
    return any(name is not None and not _PLAIN.fullmatch(name) for name in named)


def _code_of(name: str) -> str:
    """Without the code after a colon, as in `+init=epsg:4326`."""
    return re.sub(r"^(\w+):(\w+)$", r"\1\2", name)


def _of_json(value: Any, key: str = "") -> Iterator[str]:
    """Names of files in PROJJSON, where a parameter has a text for a value, or in a table of PROJ's parameters."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _of_json(each, str(name))
    elif isinstance(value, list):
        for each in value:
            yield from _of_json(each, key)
    elif isinstance(value, str) and (key == "value" or _OF_PROJ.match(f"{key}=")):
        yield _code_of(value)
