"""Paint layers as weights that fill every pixel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.quantities import Quantities
from slopewash.exports.rules import RULES

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

WHOLE = 255
BAND = 256
"""Rows converted at a time, which limits memory."""


def weights_of(quantities: Quantities) -> Mapping[str, Floats]:
    """Share of each paint, from bottom to top; together they are 1. What the terrain knows nothing of is left out.

    >>> shares = weights_of({"slope": np.array([[0.0, 36.0, 60.0]], np.float32)})
    >>> list(shares), shares["rock"].tolist()
    (['ground', 'rock'], [[0.0, 0.5, 1.0]])
    """
    strengths = {rule.name: rule.strength(quantities) for rule in RULES[1:]}
    present = {name: strength for name, strength in strengths.items() if strength is not None and strength.any()}
    shares: dict[str, Floats] = {}
    open_share = np.ones_like(next(iter(quantities.values())))
    for name, strength in reversed(present.items()):
        shares[name] = strength * open_share
        open_share = open_share * (1 - strength)
    shares[RULES[0].name] = open_share
    return dict(reversed(shares.items()))


def as_bytes(shares: Mapping[str, Floats]) -> Mapping[str, Bytes]:
    """Round shares so that they sum to 255 in every pixel, by largest remainder.

    >>> third = np.full((1, 1), 1 / 3, np.float32)
    >>> [int(layer[0, 0]) for layer in as_bytes({"a": third, "b": third, "c": third}).values()]
    [85, 85, 85]
    """
    names = list(shares)
    shape = shares[names[0]].shape
    rounded = np.empty((len(names), *shape), np.uint8)
    for top in range(0, shape[0], BAND):
        band = slice(top, top + BAND)
        exact = np.stack([shares[name][band] for name in names]).astype(np.float64)
        exact *= WHOLE / exact.sum(axis=0)
        lower = np.floor(exact)
        missing = WHOLE - lower.sum(axis=0)
        order = np.argsort(lower - exact, axis=0, kind="stable")  # the largest remainder first
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(names))[:, None, None], axis=0)
        rounded[:, band] = lower + (rank < missing)
    return dict(zip(names, rounded, strict=True))


def between_vertices(shares: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """Mean of the four vertices around each cell."""
    return {
        name: (0.25 * (v[1:, 1:] + v[1:, :-1] + v[:-1, 1:] + v[:-1, :-1])).astype(np.float32)
        for name, v in shares.items()
    }
