"""Fits of y = c x^p, as the laws of landscapes are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS_PER_DECADE = 10
FEWEST_IN_A_BIN = 8
"""Cells that a bin needs to count: fewer are one place, not an average."""
FEWEST_BINS = 4


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """A straight line through logarithms: exponent, coefficient, how well it fits, and the means it goes through."""

    exponent: float
    coefficient: float
    r_squared: float
    x: tuple[float, ...]
    y: tuple[float, ...]

    def at(self, x: float) -> float:
        """Value of the law."""
        return self.coefficient * x**self.exponent


NO_LAW = PowerLaw(exponent=math.nan, coefficient=math.nan, r_squared=math.nan, x=(), y=())
"""Where there are too few points for one."""


def fit_binned(x: Floats, y: Floats) -> PowerLaw:
    """Fit a power law through the means of y in bins of x, ten to a decade.

    Bins count alike: otherwise the many small catchments would outvote the large ones. Means are arithmetic, so that
    level reaches count as such.

    >>> x = np.geomspace(1, 1000, 5000)
    >>> law = fit_binned(x, 3 * x**0.6)
    >>> round(law.exponent, 3), round(law.coefficient, 2), round(law.r_squared, 3)
    (0.6, 3.0, 1.0)
    """
    kept = (x > 0) & np.isfinite(y)
    x, y = x[kept], y[kept]
    if not x.size:
        return NO_LAW
    number = np.floor(np.log10(x) * BINS_PER_DECADE).astype(np.int64)
    number -= number.min()
    count = np.bincount(number)
    bins = count >= FEWEST_IN_A_BIN
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = np.exp(np.bincount(number, np.log(x)) / count)[bins]
        mean = (np.bincount(number, y) / count)[bins]
    return fit(middle[mean > 0], mean[mean > 0])


def fit(x: Floats, y: Floats) -> PowerLaw:
    """Fit a power law through points.

    >>> fit(np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 4.0, 16.0, 64.0])).exponent
    2.0
    """
    if x.size < FEWEST_BINS or np.ptp(np.log(x)) == 0:
        return NO_LAW
    logarithms = np.log(x), np.log(y)
    exponent, offset, r_squared = line(*logarithms)
    return PowerLaw(
        exponent=exponent,
        coefficient=math.exp(offset),
        r_squared=r_squared,
        x=tuple(x.tolist()),
        y=tuple(y.tolist()),
    )


def line(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Slope, intercept and coefficient of determination of the line with the least squares.

    >>> line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    (2.0, 1.0, 1.0)
    """
    across, up = x - x.mean(), y - y.mean()
    slope = float(across @ up / (across @ across))
    varied = float(up @ up)
    left = up - slope * across
    return slope, float(y.mean() - slope * x.mean()), 1.0 - float(left @ left) / varied if varied > 0 else 1.0
