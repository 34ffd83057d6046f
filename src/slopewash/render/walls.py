"""The cut sides of the terrain block: topsoil, then gently dipping beds of earth and stone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.render.colours import linear, mix, smoothstep

Floats = NDArray[np.float32]

BEDS = np.stack([linear(c) for c in ("#6f5f50", "#8f7a63", "#5b4f46", "#9a866c", "#6a5a4c", "#7f5f4a", "#85796a")])
TOPSOIL = linear("#43372c")
BEDS_PER_BLOCK = 60.0
"""Beds over one block diagonal: enough to read as strata, few enough not to shimmer."""
DIP = 0.035
"""Slope of the beds, so that the two visible walls do not line up like wallpaper."""
TOPSOIL_DEPTH = 0.003
"""Of the block's diagonal."""
SEED = 5


def earth(height: Floats, ground: Floats, east: Floats, north: Floats, diagonal: float) -> Floats:
    """Linear-light colour of the cut, in even light, at points given in metres."""
    along = (east + np.float32(0.6) * north) / np.float32(diagonal)
    warp = DIP * along + 0.006 * np.sin(9 * along + 1) + 0.003 * np.sin(23 * along + 2)
    bed = (height / np.float32(diagonal) + warp) * np.float32(BEDS_PER_BLOCK)
    bed = bed + 0.35 * np.sin(bed * 1.7)  # uneven thickness
    below = np.floor(bed)
    random = np.random.Generator(np.random.Philox(SEED))
    order = random.integers(0, len(BEDS), 64)
    index = below.astype(np.int64)
    sharp = smoothstep(0.7, 1.0, (bed - below).astype(np.float32))
    colour = mix(BEDS[order[index % 64]], BEDS[order[(index + 1) % 64]], sharp)
    fine = np.sin(bed * 21 + 3 * np.sin(bed * 5))
    colour = colour * (1 + 0.035 * fine)[..., None].astype(np.float32)
    depth = (ground - height) / np.float32(diagonal * TOPSOIL_DEPTH)
    return mix(colour, TOPSOIL, 1 - smoothstep(0.6, 1.6, depth))
