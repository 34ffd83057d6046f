"""The colour maps of overlays, as the page wants them."""

from __future__ import annotations

import functools

import numpy as np
from cmcrameri import cm

from slopewash.studio.protocol import Colour

COLOURS = 256
MAPS = {"sequential": "batlow", "diverging": "vik"}
"""Perceptually uniform, and safe for colour-blind readers."""


@functools.cache
def maps() -> dict[str, list[Colour]]:
    """Each map as `COLOURS` steps of red, green and blue, 0 .. 255.

    >>> maps()["sequential"][0]
    (1, 25, 89)
    """
    steps = np.linspace(0.0, 1.0, COLOURS)
    return {
        kind: [tuple(colour) for colour in np.round(255 * getattr(cm, name)(steps)[:, :3]).astype(int).tolist()]
        for kind, name in MAPS.items()
    }
