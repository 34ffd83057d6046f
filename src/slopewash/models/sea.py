"""The sea beyond open edges, as every model sees it: its level, and the ground it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import around
from slopewash.models.state import Sides
from slopewash.terrain import Terrain

Field = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Sea:
    """A sea: its level in metres, the sides it comes in at, and whether it passes where two cells touch at a corner.

    >>> sea = Sea(level=3.0, sides=Sides.of("open"), diagonally=False)
    >>> coast = Terrain([[4.0, 2.0, 1.0]], water=[[0.0, 2.0, 0.0]])
    >>> sea.levelled(coast)["water"].tolist(), sea.gone(coast)["water"].tolist()
    ([[0.0, 1.0, 2.0]], [[0.0, 0.0, 0.0]])
    """

    level: float
    sides: Sides
    diagonally: bool

    def low(self, terrain: Terrain) -> Mask:
        """Ground that it covers where it reaches it."""
        below: Mask = terrain["elevation"] < self.level
        return below if terrain.nodata is None else below & ~terrain.nodata

    def levelled(self, terrain: Terrain, reached: Mask | None = None) -> Terrain:
        """Let it stand at its level wherever it reaches, which is given for part of a terrain."""
        z = terrain["elevation"].astype(np.float64)
        return self._with_depth(terrain, self.level - z, reached)

    def gone(self, terrain: Terrain, reached: Mask | None = None) -> Terrain:
        """Leave its floor dry."""
        return self._with_depth(terrain, np.zeros(terrain.shape), reached)

    def _with_depth(self, terrain: Terrain, depth: Field, reached: Mask | None) -> Terrain:
        low = self.low(terrain)
        sea = reached_by(low, self.sides, diagonally=self.diagonally) if reached is None else reached
        before = terrain["water"] if "water" in terrain else np.zeros(terrain.shape, np.float32)
        return terrain.replace(water=np.where(sea, depth.astype(np.float32), before))


def covered(b: Field, level: float, sides: Sides, *, diagonally: bool) -> Mask:
    """Ground below sea level that the sea reaches from an open edge."""
    return reached_by(b < level, sides, diagonally=diagonally)


def reached_by(low: Mask, sides: Sides, *, diagonally: bool) -> Mask:
    """Low ground that the sea reaches from an open edge."""
    sea = low & border_mask(low.shape, sides)
    while True:
        before = np.count_nonzero(sea)
        sea = _along_rows(sea, low)
        sea = _along_rows(sea.T, low.T).T
        # Along whole rows and columns at once; over diagonals and periodic sides, cell by cell.
        near = around(sea, sides, False)
        sea = sea | (low & np.logical_or.reduce(near if diagonally else near[:4]))
        if np.count_nonzero(sea) == before:
            return sea


def _along_rows(sea: Mask, low: Mask) -> Mask:
    """Spread the sea over every unbroken run of low ground in a row that it touches."""
    breaks = ~low
    breaks[:, 0] = True
    run = np.cumsum(breaks.ravel())
    reached = np.zeros(run[-1] + 1, bool)
    reached[run[sea.ravel()]] = True
    return reached[run].reshape(low.shape) & low


def border_mask(shape: tuple[int, ...], sides: Sides) -> Mask:
    """Cells along open sides."""
    mask = np.zeros(shape, bool)
    edges: dict[str, Any] = {"north": np.s_[0], "south": np.s_[-1], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    for name, side in sides.items():
        if side == "open":
            mask[edges[name]] = True
    return mask
