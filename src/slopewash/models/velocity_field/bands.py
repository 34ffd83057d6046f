"""Whole-grid NumPy band by band: signals are answered in between, and what is at work stays in the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point

CELLS_AT_ONCE = 1 << 17
"""Cells of a band: less than 0.1 s of the longest formula."""

Fields = Mapping[str, NDArray[Any]]


def in_bands(
    formula: Callable[[Fields], tuple[NDArray[Any], ...]], fields: Fields, *, reach: int
) -> list[NDArray[Any]]:
    """Return what a formula makes of fields of a grid, the same bits as from all rows at once.

    No cell may depend on rows more than `reach` away. A band is given so many rows more on either side, and what the
    formula makes of those is dropped: it takes them for the edges of the grid.
    """
    rows, columns = next(iter(fields.values())).shape[-2:]
    height = max(1, CELLS_AT_ONCE // columns)
    results: list[NDArray[Any]] = []
    for first in range(0, rows, height):
        safe_point()
        last = min(first + height, rows)
        low, high = max(first - reach, 0), min(last + reach, rows)
        made = formula({name: a[..., low:high, :] for name, a in fields.items()})
        if last - first == rows:
            return list(made)
        results = results or [np.empty((*a.shape[:-2], rows, a.shape[-1]), a.dtype) for a in made]
        for whole, part in zip(results, made, strict=True):
            whole[..., first:last, :] = part[..., first - low : last - low, :]
    return results
