"""The colour maps of overlays, as the page wants them."""

from __future__ import annotations

import functools

import numpy as np
from cmcrameri import cm

COLOURS = 256
MAPS = {"sequential": "batlow", "diverging": "vik"}
"""Perceptually even, and told apart by those who see few colours."""


@functools.cache
def maps() -> dict[str, list[list[int]]]:
    """Each map as `COLOURS` steps of red, green and blue, 0 .. 255.

    >>> maps()["sequential"][0]
    [1, 25, 89]
    """
    steps = np.linspace(0.0, 1.0, COLOURS)
    return {kind: np.round(255 * getattr(cm, name)(steps)[:, :3]).astype(int).tolist() for kind, name in MAPS.items()}
