"""Side of the ground in metres, which stays the same whatever the number of cells."""

from __future__ import annotations

import math
from typing import Any

from slopewash.errors import InvalidParameter
from slopewash.generators import checks

EXTENT = 5120.0
"""Longer side of a generated terrain in metres, if none is given: 512 cells of 10 m."""


def cell_size_for(cells: int, *, cell_size: Any = None, extent: Any = None) -> float:
    """Side of a cell in metres, with so many along the longer side of the ground.

    >>> cell_size_for(1024), cell_size_for(1024, extent=2048.0), cell_size_for(1024, cell_size=10.0)
    (5.0, 2.0, 10.0)
    """
    if cell_size is None:
        return (EXTENT if extent is None else checks.positive("extent", extent, "m")) / cells
    cell_size = checks.positive("cell_size", cell_size, "m")
    if extent is None:
        return cell_size
    extent = checks.positive("extent", extent, "m")
    if not math.isclose(extent, cells * cell_size, rel_tol=1e-9):
        raise InvalidParameter(
            f"extent is {extent:g} m, but {cells} cells with a cell_size of {cell_size:g} m are "
            f"{cells * cell_size:g} m; give one of the two"
        )
    return cell_size
