"""Options of reading a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from slopewash.errors import InvalidParameter
from slopewash.io.limits import MAXIMUM_PIXELS
from slopewash.io.units import check_height_unit
from slopewash.remedies import option

HeightRange = tuple[float, float]
Kind = Literal["height", "value"]
"""Whether a file is read for heights, which have a unit of length, or for numbers that are taken as they are."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options of `read`, validated once."""

    cell_size: float | None = None
    height_range: HeightRange | None = None
    allow_8bit: bool = False
    shape: tuple[int, int] | None = None
    max_pixels: int = MAXIMUM_PIXELS
    band: int | None = None
    height_unit: str | None = None
    reproject: str | None = None
    nodata: float | None = None

    kind: ClassVar[Kind] = "height"

    def __post_init__(self) -> None:
        if self.cell_size is not None and not (math.isfinite(self.cell_size) and self.cell_size > 0):
            raise InvalidParameter(f"cell_size is {self.cell_size} m; it must be positive and finite")
        if self.height_range is not None:
            check_height_range(self.height_range)
        if self.shape is not None and not (len(self.shape) == 2 and min(self.shape) > 0):
            raise InvalidParameter(f"shape is {self.shape}; it must be two positive numbers, rows and columns")
        if self.max_pixels < 1:
            raise InvalidParameter(f"max_pixels is {self.max_pixels}; it must be positive")
        if self.band is not None and self.band < 1:
            raise InvalidParameter(f"band is {self.band}; bands are counted from 1")
        if self.height_unit is not None:
            check_height_unit(self.height_unit)
        if self.height_unit is not None and self.height_range is not None:
            raise InvalidParameter(
                f"height_range is {self.height_range}, which is in metres; leave out {option('height_unit')}"
            )
        if self.nodata is not None and not isinstance(self.nodata, int | float):
            raise InvalidParameter(f"nodata is {self.nodata!r}; it must be a number")


class ValueOptions(ReadOptions):
    """Options of reading what is no height, and so has no unit of heights.

    >>> ValueOptions(allow_8bit=True).kind
    'value'
    """

    kind = "value"


def check_height_range(height_range: HeightRange, name: str = "height_range") -> None:
    """Reject anything but two finite numbers, the lower first.

    >>> check_height_range((0.0, 2000.0))
    """
    if not (len(height_range) == 2 and all(map(math.isfinite, height_range)) and height_range[0] < height_range[1]):
        raise InvalidParameter(f"{name} is {height_range}; it must be two finite numbers, the lower first")
