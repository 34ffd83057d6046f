"""Whether a terrain shows the grid it was made on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slopewash.analysis.relief import as_heights
from slopewash.errors import InvalidTerrain
from slopewash.terrain import Terrain

WAVELENGTHS = (2.0, 16.0)
"""Shortest and longest wavelength looked at, in cells: gullies and combs, not whole mountains."""
WITHIN = 10.0
"""Degrees from a direction that count as it."""


def axis_preference(elevation: ArrayLike | Terrain) -> float:
    """Return the spectral power of the relief near the grid's axes over that near its diagonals.

    Only wavelengths of 2 to 16 cells count, and directions within 10 degrees. Relief without a preferred direction has
    1, stripes along rows or columns have more, diagonal ones less. At 256 cells a side noise scatters by 0.1 and eroded
    mountains by 0.2: take the mean of several.

    >>> y, x = np.mgrid[:64, :64]
    >>> axis_preference(np.cos(x)) > 100
    True
    >>> axis_preference(np.cos(x + y)) < 0.01
    True
    """
    heights = as_heights(elevation)
    shortest, longest = WAVELENGTHS
    if min(heights.shape) < 2 * longest:
        raise InvalidTerrain(f"elevation has shape {heights.shape}; it needs {2 * longest:.0f} cells a side or more")
    if missing := int(np.isnan(heights).sum()):
        raise InvalidTerrain(
            f"{missing} {'cell has' if missing == 1 else 'cells have'} no height; pass ground without gaps"
        )
    # A terrain's edges do not join: without a window that fades towards them, the jump would look like stripes.
    window = np.outer(*(np.hanning(length + 2)[1:-1] for length in heights.shape))
    power = np.abs(np.fft.fft2((heights - heights.mean()) * window)) ** 2
    down, right = np.meshgrid(*(np.fft.fftfreq(length) for length in heights.shape), indexing="ij")
    frequency = np.hypot(down, right)
    heard = (frequency >= 1 / longest) & (frequency <= 1 / shortest)
    from_axis = np.degrees(np.arctan2(np.minimum(np.abs(down), np.abs(right)), np.maximum(np.abs(down), np.abs(right))))
    axes, diagonals = power[heard & (from_axis <= WITHIN)], power[heard & (from_axis >= 45 - WITHIN)]
    if not diagonals.any():
        return 1.0 if not axes.any() else np.inf
    return float(axes.mean() / diagonals.mean())
