"""Style of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def make_table(*columns: str) -> Table:
    """Start a table with these headings; the first column is never wrapped, so that names can be copied."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(Text(column), no_wrap=i == 0, overflow="fold")
    return table
