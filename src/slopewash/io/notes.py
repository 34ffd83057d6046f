"""What made a file (version, preset, seed, step), kept in it as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slopewash.plain import plain

MADE_BY = "slopewash:made_by"
"""Name of the text in formats that have named ones."""
LONGEST = 1 << 16

Notes = Mapping[str, Any]


def notes_text(notes: Notes) -> str:
    """Return the notes as plain ASCII, the same for the same notes.

    >>> notes_text({"preset": "landscape", "seed": 7})
    '{"preset": "landscape", "seed": 7}'
    """
    return json.dumps(plain(notes), allow_nan=False)


def notes_from(text: str | None) -> dict[str, Any] | None:
    """Notes of a file; None if it has none that can be read.

    >>> notes_from('{"slopewash": "0.1.0", "seed": 7}'), notes_from("drawn by hand")
    ({'slopewash': '0.1.0', 'seed': 7}, None)
    """
    if not text or len(text) > LONGEST:
        return None
    try:
        notes = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return notes if isinstance(notes, dict) and "slopewash" in notes else None
