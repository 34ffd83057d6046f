"""The control map of Terrain3D: for every vertex two textures and how they blend, in the bits of a 32-bit number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

BASE, OVERLAY, BLEND = 27, 22, 14
"""First bit of the two texture numbers (5 bits each) and of the blend (8 bits). Angle and scale of the textures (4 and
3 bits below) stay 0, as do the bits for navigation and automatic texturing."""
HOLE = 2
"""Bit that makes a hole in the ground."""
MOST_TEXTURES = 32


def control_map(
    shares: Mapping[str, NDArray[np.float32]], holes: NDArray[np.bool_] | None = None
) -> NDArray[np.float32]:
    """Encode the two strongest paints of each vertex; the bits are stored as they are in float32.

    >>> map = control_map({"grass": np.array([[1.0]], np.float32), "rock": np.array([[0.0]], np.float32)})
    >>> int(map.view(np.uint32)[0, 0]) == 0 << 27 | 1 << 22
    True
    """
    stack = np.stack(list(shares.values()))
    order = np.argsort(-stack, axis=0, kind="stable")
    base = order[0].astype(np.uint32)
    overlay = order[min(1, len(stack) - 1)].astype(np.uint32)
    first, second = (np.take_along_axis(stack, which[None].astype(np.intp), axis=0)[0] for which in (base, overlay))
    share = np.where(base == overlay, 0, second / np.maximum(first + second, np.float32(1e-9)))
    blend = np.rint(255 * share).astype(np.uint32)
    field = base << np.uint32(BASE) | overlay << np.uint32(OVERLAY) | blend << np.uint32(BLEND)
    if holes is not None:
        field |= holes.astype(np.uint32) << np.uint32(HOLE)
    return np.ascontiguousarray(field).view(np.float32)
