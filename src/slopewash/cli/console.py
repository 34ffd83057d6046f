"""Where words go: results to stdout, progress and notes to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_OF_FILES = 140
"""Columns of a table that goes to a file or a pipe, where no terminal says how wide it is."""


def note(text: str) -> None:
    """Tell the user something that is not the result."""
    print(text, file=sys.stderr, flush=True)


def print_json(result: Any) -> None:
    """Print a result for programs."""
    print(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Reduce a result to what JSON has: infinities become text, NaN becomes null.

    >>> plain({"limit": math.inf, "size": (3, 4), "mean": math.nan})
    {'limit': 'inf', 'size': [3, 4], 'mean': None}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist())
    return str(value)


def console() -> Console:
    """Rich console for tables on stdout."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_FILES, highlight=False)
