"""Output: results to stdout, progress and notes to stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.cli.streams import is_utf8
from slopewash.errors import SlopewashError, is_steering, printable
from slopewash.plain import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH_OF_FILES = 140
"""Width of a table in a file or a pipe, where there is no terminal width."""
_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")


def note(text: str) -> None:
    """Print a message that is not the result."""
    print(printable(text), file=sys.stderr, flush=True)


def show(result: object) -> None:
    """Print a result as text; names from files may be in it."""
    print(printable(str(result)))


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
    text = json.dumps(plain(result), indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
    return _UNUSUAL.sub(lambda found: json.dumps(found[0])[1:-1] if is_steering(found[0]) else found[0], text)


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


def add_row(table: Table, *cells: str) -> None:
    """Add a row of plain text: names from files are no markup."""
    from rich.markup import escape

    table.add_row(*(escape(printable(cell)) for cell in cells))
