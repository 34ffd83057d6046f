"""Where part of a terrain lies, and what it must know of the whole to be prepared alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slopewash.terrain.sources import WaterSource
from slopewash.terrain.terrain import Terrain


class TerrainPart(Terrain):
    """Part of a terrain; every cell of it may be nodata."""

    needs_ground: ClassVar = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """A part of a terrain within the whole; a terrain by itself is the whole of itself."""

    shape: tuple[int, int]
    """Rows and columns of the whole."""
    low: float
    high: float
    """Lowest and highest ground of the whole, in metres."""
    origin: tuple[int, int] = (0, 0)
    """Row and column of the part's first cell."""
    margins: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Cells in the north, south, west and east that another part answers for."""
    sources: tuple[WaterSource, ...] = ()
    """All water sources of the whole."""
    drawn: tuple[NDArray[Any], ...] = field(default=(), repr=False)
    """Random numbers of these cells, where they come from one sequence over the whole."""
    sea: NDArray[np.bool_] | None = field(default=None, repr=False)
    """Ground of the part that the sea covers, where there is one."""
    is_part: bool = True

    @classmethod
    def of(cls, terrain: Terrain) -> Place:
        """Return the place of a whole terrain."""
        low, high = terrain.range("elevation")
        return cls(shape=terrain.shape, low=low, high=high, sources=terrain.sources, is_part=False)

    def side(self, cell_size: float) -> float:
        """Longer side of the whole in metres."""
        rows, columns = self.shape
        return max(columns * cell_size, rows * cell_size)
