"""Stones, tufts and trees close to the camera, and ripples on water, which the cells of a terrain cannot hold.

The pattern fills space, so that it is drawn out neither on steep slopes nor on those seen from the side.
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


def near_grain(reached: Floats, point: tuple[Floats, Floats, Floats], contrast: Floats, wet: Floats) -> Floats:
    """Brightness of points at that distance, of which a share is water; all lengths in cells of the drape."""
    total = np.minimum(_layered(SCALES, reached, point), np.float32(BRIGHTEST)) * contrast
    water = np.flatnonzero(wet > 0)
    if water.size:
        y, x = (axis[water] for axis in point[:2])
        rippled = _layered(RIPPLES, reached[water], (y, x, np.zeros_like(x)))
        total[water] += (np.float32(RIPPLE_CONTRAST) * rippled - total[water]) * wet[water]
    brightness: Floats = np.exp(total)
    return brightness


def _layered(scales: tuple[tuple[float, float], ...], reached: Floats, point: tuple[Floats, Floats, Floats]) -> Floats:
    """Sum of the pattern at every scale, each fading with distance."""
    total = np.zeros_like(reached)
    for fine, reach in scales:
        near = np.flatnonzero(reached < np.float32(3 * reach))
        fading = np.exp(-reached[near] / np.float32(reach))
        total[near] += fading * _sample(tuple(axis[near] * np.float32(fine) for axis in point))
    return total


def _sample(point: tuple[Floats, ...]) -> Floats:
    """Trilinear samples of the repeating pattern."""
    whole = [np.floor(axis) for axis in point]
    share = [axis - low for axis, low in zip(point, whole, strict=True)]
    first = [low.astype(np.int32) & (SIDE - 1) for low in whole]
    planes = []
    for up in (0, 1):
        k = (first[2] + up) & (SIDE - 1)
        lines = []
        for down in (0, 1):
            line = (k * SIDE + ((first[0] + down) & (SIDE - 1))) * SIDE
            left, right = (_pattern()[line + ((first[1] + side) & (SIDE - 1))] for side in (0, 1))
            lines.append(left + (right - left) * share[1])
        planes.append(lines[0] + (lines[1] - lines[0]) * share[0])
    sampled: Floats = planes[0] + (planes[1] - planes[0]) * share[2]
    return sampled


@cache
def _pattern() -> Floats:
    """Noise of mean 0 and deviation 1, a few cells across, one line of a cube after the other."""
    random = np.random.Generator(np.random.Philox(SEED))
    noise = random.standard_normal((SIDE, SIDE, SIDE), dtype=np.float32)
    for axis in range(3):
        noise = 0.5 * noise + 0.25 * (np.roll(noise, 1, axis) + np.roll(noise, -1, axis))
    pattern: Floats = (noise / noise.std()).astype(np.float32).ravel()
    return pattern
