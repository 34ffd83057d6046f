"""Ghost cells: the values beyond the ends of a row."""

from __future__ import annotations

from typing import Any

from slopewash.backends.compiled import stage_kernel


@stage_kernel
def close_ends(a: Any, periodic: bool, beyond: Any) -> None:
    """Fill the ghost cells at both ends of a row."""
    if periodic:
        a[0] = a[a.size - 2]
        a[a.size - 1] = a[1]
    else:
        a[0] = beyond
        a[a.size - 1] = beyond
