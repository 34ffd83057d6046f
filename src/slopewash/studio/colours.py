"""The colour maps of overlays, as the page wants them."""

from __future__ import annotations

import functools

import numpy as np
from cmcrameri import cm

import slopewash as sw
from slopewash.studio.protocol import Colour

COLOURS = 256


@functools.cache
def maps() -> dict[str, list[Colour]]:
    """Each colour map that a layer is declared with, as `COLOURS` steps of red, green and blue, 0 .. 255.

    >>> maps()["batlow"][0]
    (1, 25, 89)
    """
    names = {layer.colour_map for model in sw.model_names() for layer in sw.find_model(model).layers().values()}
    return {name: _steps(name) for name in sorted(names)}


def _steps(name: str) -> list[Colour]:
    # oleron has the sea in its lower half; the ground of a terrain takes the upper.
    steps = np.linspace(0.5 if name == "oleron" else 0.0, 1.0, COLOURS)
    return [tuple(colour) for colour in np.round(255 * getattr(cm, name)(steps)[:, :3]).astype(int).tolist()]
