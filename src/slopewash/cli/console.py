"""Output: results to stdout, progress and notes to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.cli.streams import is_utf8
from slopewash.errors import SlopewashError
from slopewash.plain import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH_OF_FILES = 140
"""Width of a table in a file or a pipe, where there is no terminal width."""


def note(text: str) -> None:
    """Print a message that is not the result."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def interrupts_report(written: Sequence[Path], *, remedy: str = "") -> Iterator[None]:
    """Let the message of an interrupt list the files already written, and how to get the rest.

    What failed while it was held back is noted.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt.__context__, SlopewashError | OSError):
            note(f"note: {interrupt.__context__}")
        words = [f"written: {', '.join(map(str, written))}"] if written else []
        raise type(interrupt)("; ".join([*words, remedy] if remedy else words)) from None


def as_json(result: Any) -> str:
    """Return a result as JSON, in plain ASCII where the output cannot take more."""
    ascii_only = not is_utf8(getattr(sys.stdout, "encoding", "utf-8"))
    return json.dumps(plain(result), indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)


def print_json(result: Any) -> None:
    """Print a result as JSON."""
    print(as_json(result))


def console() -> Console:
    """Rich console for tables on stdout."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_FILES, highlight=False)


def make_table(*columns: str) -> Table:
    """Start a table with these headings; the first column is never wrapped, so that names can be copied."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(Text(column), no_wrap=i == 0, overflow="fold")
    return table
