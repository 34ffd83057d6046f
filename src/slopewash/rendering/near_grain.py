"""Stones, tufts and trees close to the camera, and ripples on water, which the cells of a terrain cannot hold.

The pattern fills space, so that it is drawn out neither on steep slopes nor on those seen from the side; `paint_near`
of kernels.py draws it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SMOOTH, COARSE = 0.05, 0.34
"""Contrast on smooth ground, and more per cell of height of boulders and trees."""
SCALES = ((7.0, 120.0), (1.9, 900.0))
"""Cells of the pattern per cell of the drape, and cells of the drape over which it fades."""
RIPPLES = ((16.0, 30.0), (5.0, 110.0), (1.3, 400.0), (0.11, 3000.0))
"""Likewise on water: from ripples to the patches of a wind."""
RIPPLE_CONTRAST = 0.09
BRIGHTEST = 1.8
"""Deviations: gaps between trees may be dark, but no stone shines."""
SIDE = 64
"""Cells of the pattern along a side, a power of two; it repeats."""
SEED = 31


def grain_contrast(coarseness: Floats) -> Floats:
    """Contrast of the pattern on ground with boulders and trees of that height, in cells of the drape."""
    contrast: Floats = np.float32(SMOOTH) + np.float32(COARSE) * np.minimum(coarseness, 1)
    return contrast


@cache
def pattern() -> Floats:
    """Noise of mean 0 and deviation 1, a few cells across, one line of a cube after the other."""
    random = np.random.Generator(np.random.Philox(SEED))
    noise = random.standard_normal((SIDE, SIDE, SIDE), dtype=np.float32)
    for axis in range(3):
        noise = 0.5 * noise + 0.25 * (np.roll(noise, 1, axis) + np.roll(noise, -1, axis))
    cube: Floats = (noise / noise.std()).astype(np.float32).ravel()
    return cube
