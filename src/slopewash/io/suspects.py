"""Heights that no ground has: numbers that mark cells without data in many programs, where a file does not say so."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidTerrain, NodataWarning, UnusualWarning
from slopewash.remedies import by_file, option

SENTINELS = (
    -999, -9999, -10000, -32767, -32768, -99999, -999999, 9999, 32767, 32768, 55537, 65535, 65504, -65504, 99999,
    999999,
)  # fmt: skip
"""What other programs write where they know nothing: 55537 is -9999 without its sign, 65504 the end of half floats.

Those beyond `HIGHEST` need no list.
"""
HIGHEST = 1e8
"""Metres that no height exceeds, not even counted from the centre of a planet; -3.4e38 and the like do."""
CLIFF = 500.0
"""Least step in metres between such a number and all other ground; in one with heights around it, it is a height."""
SHARE_OF_RELIEF = 0.1
"""The same as a share of the relief of all other ground, so that a lone summit of a coarse grid is one."""

Suspects = dict[float, float]
"""Numbers as they are stored, by the metres that they become."""
PLAIN: Suspects = {float(value): float(value) for value in SENTINELS}
"""Those of heights that are stored as metres."""


@dataclass(frozen=True)
class Look:
    """What was found among the heights of a terrain, or of a part of one; those of parts add up."""

    low: float = math.inf
    """Lowest and highest of the other ground, in metres."""
    high: float = -math.inf
    cells: Mapping[float, int] = field(default_factory=dict)
    """Cells with a number that may mark missing data, by that number in metres; none within the other ground."""
    asked: Mapping[float, int] = field(default_factory=dict)
    """Cells with the number that an option names as nodata, by that number."""
    beside: int = 0
    """Cells of NaN that are left out with them, though nothing names NaN."""

    @classmethod
    def at(cls, heights: NDArray[np.float32], missing: NDArray[np.bool_] | None, suspects: Suspects) -> Look:
        """Look at finite heights in metres, those that are missing left out.

        >>> look = Look.at(np.array([[3.0, 5.0, -9999.0]], np.float32), None, {-9999.0: -9999.0})
        >>> look.low, look.high, look.cells
        (3.0, 5.0, {-9999.0: 1})
        """
        ground: Any = True if missing is None else ~missing
        cells: dict[float, int] = {}
        while True:
            low = float(np.min(heights, where=ground, initial=np.inf))
            high = float(np.max(heights, where=ground, initial=-np.inf))
            found = low if low in suspects else high
            if found not in suspects:
                return cls(low, high, cells)
            here = heights == np.float32(found)
            cells[found] = int(np.count_nonzero(here & ground))
            ground = ground & ~here

    @classmethod
    def over(cls, looks: Iterable[Look]) -> Look:
        """Put those of all parts together."""
        parts = list(looks)
        names = dict.fromkeys(name for look in parts for name in look.cells)
        return cls(
            min((look.low for look in parts), default=math.inf),
            max((look.high for look in parts), default=-math.inf),
            {name: sum(look.cells.get(name, 0) for look in parts) for name in names},
            {number: sum(look.asked.get(number, 0) for look in parts) for look in parts[:1] for number in look.asked},
            sum(look.beside for look in parts),
        )

    def isolated(self) -> dict[float, float]:
        """Numbers far from all other ground, and how far, in metres.

        >>> Look(0.0, 900.0, {-9999.0: 4, 1000.0: 1}).isolated()
        {-9999.0: 9999.0}
        """
        if self.low > self.high:  # nothing else: flat ground has no cliff
            return {}
        least = max(CLIFF, SHARE_OF_RELIEF * (self.high - self.low))
        away = {name: max(self.low - name, name - self.high) for name in self.cells}
        return {name: metres for name, metres in away.items() if metres >= least}

    def question(self, name: str, suspects: Suspects, *, stacklevel: int = 3) -> None:
        """Warn of ground that is most likely none, in the file of that name, and of nodata unlike an option."""
        for number, cells in self.asked.items():
            if cells == 0:
                sentence = f"{name} has no cell of {number:g}, which is given as nodata"
                warnings.warn(UnusualWarning(sentence), stacklevel=stacklevel)
            if self.beside:
                counted = "1 cell of " + name + " is" if self.beside == 1 else f"{self.beside} cells of {name} are"
                sentence = f"{counted} NaN, which nothing declares, and left out like those of {number:g}"
                warnings.warn(UnusualWarning(sentence), stacklevel=stacklevel)
        for metres, step in self.isolated().items():
            stored, cells = suspects[metres], self.cells[metres]
            counted = "1 cell of " + name + " is" if cells == 1 else f"{cells} cells of {name} are"
            beyond = "below" if metres < self.low else "above"
            sentence = (
                f"{counted} {stored:g}, {step:.0f} m {beyond} all other ground: many programs mark cells without data "
                f"so, but here they count as ground; if they are not ground, {_declared(f'{stored:g}')}"
            )
            warnings.warn(NodataWarning(sentence, stored), stacklevel=stacklevel)


def check_possible(
    name: str, heights: NDArray[np.float32], stored: NDArray[Any], missing: NDArray[np.bool_] | None
) -> None:
    """Refuse finite heights beyond those of any planet; `stored` are the numbers of the file, in the same cells."""
    ground: Any = np.isfinite(heights) if missing is None else np.isfinite(heights) & ~missing
    lowest, highest = (float(end(heights, where=ground, initial=0.0)) for end in (np.min, np.max))
    if max(-lowest, highest) <= HIGHEST:
        return
    worst = lowest if -lowest > highest else highest
    here = (heights == np.float32(worst)) & ground
    cells, value = int(np.count_nonzero(here)), str(stored[here][0])
    raise InvalidTerrain(
        f"{name} has {worst:g} m in {cells} cell{'s' if cells > 1 else ''}, which is not a height; if {value} marks "
        f"cells without data, {_declared(value)}"
    )


def _declared(value: str) -> str:
    return by_file(
        ground=f"give {option('nodata', value)}", other="declare them in the file, as gdal_translate -a_nodata does"
    )
