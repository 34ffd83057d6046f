"""Bedrock that a recipe lays below the ground of its source: above it, it is of another unit or another place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slopewash.errors import InvalidTerrain
from slopewash.terrain import Terrain

BEDROCK = "bedrock"
ROUNDING = 2.0**-14
"""Share of the highest number among the elevations by which bedrock may lie above the ground: four steps of 16 bits."""
RESAMPLED = 0.1
"""The same for bedrock of other cells, as a share of the relief: what lies between two of them may be cut off."""


@dataclass(frozen=True)
class Above:
    """Where a layer of bedrock lies above the ground; those of the parts of a terrain add up."""

    cells: int = 0
    metres: float = 0.0
    row: int = 0
    column: int = 0
    """Of the cell where it is highest above the ground; of several the first."""

    @classmethod
    def of(
        cls,
        name: str,
        values: Any,
        part: Terrain,
        span: tuple[float, float],
        *,
        resampled: bool = False,
        origin: tuple[int, int] = (0, 0),
    ) -> Above:
        """Look at a layer in a part of a terrain.

        Parameters
        ----------
        name, values
            The layer; any but bedrock is nowhere above the ground.
        part, origin
            The part, and its first row and column.
        span
            Lowest and highest elevation of the whole.
        resampled
            Whether the layer comes from other cells.

        >>> hill = Terrain([[0.0, 900.0]])
        >>> Above.of("bedrock", np.array([[40.0, 890.0]]), hill, (0.0, 900.0))
        Above(cells=1, metres=40.0, row=0, column=0)
        """
        if name != BEDROCK:
            return cls()
        above = np.asarray(values, np.float64) - part["elevation"]
        if part.nodata is not None:
            above[part.nodata] = 0.0
        low, high = span
        allowed = max(ROUNDING * max(abs(low), abs(high)), RESAMPLED * (high - low) if resampled else 0.0)
        cells = int(np.count_nonzero(above > allowed))
        if not cells:
            return cls()
        row, column = (int(at) for at in np.unravel_index(above.argmax(), above.shape))
        return cls(cells, float(above[row, column]), row + origin[0], column + origin[1])

    def __add__(self, other: Above) -> Above:
        first = min(self, other, key=lambda part: (-part.metres, part.row, part.column))
        return Above(self.cells + other.cells, first.metres, first.row, first.column)

    def check(self, path: Path | None) -> None:
        """Refuse bedrock above the ground, of a file or of a number.

        >>> Above(2, 850.0, 3, 4).check(Path("rock.tif"))
        Traceback (most recent call last):
        slopewash.errors.InvalidTerrain: rock.tif: layer bedrock lies above the ground in 2 cells, most at row 3, ...
        """
        if self.cells:
            counted = f"{self.cells} cell{'s'[: self.cells > 1]}"
            raise InvalidTerrain(
                f"{'' if path is None else f'{path}: '}layer {BEDROCK} lies above the ground in {counted}, most at row "
                f"{self.row}, column {self.column}, by {self.metres:g} m; give the elevation of its top, in the unit "
                "that its file names and counted from the same zero as the ground"
            )
