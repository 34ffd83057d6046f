"""What gravity does without water: soil creeps, and ground steeper than its talus slides. Not in [Chiba98]."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import WALL, gradient
from slopewash.models.state import Sides
from slopewash.models.velocity_field.bands import Fields, in_bands
from slopewash.models.velocity_field.surface import Field

CLOSED = Sides.of("closed")

FLAT = 1e-300
"""Slopes below this count as this: it keeps flat ground from dividing by zero."""


class Hillslope(NamedTuple):
    """How soil moves downhill in one iteration."""

    creep: float
    """share of the drop to each neighbour"""
    slide: float
    """the same, of the part of the slope beyond the talus"""
    talus: float
    """steepest slope that stands"""


class Slid(NamedTuple):
    """What each cell gained, what was exported, and all that moved."""

    gain: Field
    exported: float
    moved: float


def slide(
    T: Field,
    nodata: NDArray[np.bool_] | None,
    R: float | Field,
    law: Hillslope,
    *,
    talus: float | Field = 1.0,
    sliding: float | Field = 1.0,
) -> Slid:
    """Move soil across the faces between cells, scaled by the erodibility R of the higher one.

    `talus` and `sliding` multiply the talus and the rate of slides there.

    Edges are base level: they may sink but not rise, and what slides onto them is exported.
    """
    ground = np.ones(T.shape, np.bool_) if nodata is None else ~nodata
    shares = {"R": R, "talus": talus, "sliding": sliding}
    fields = {name: np.broadcast_to(np.asarray(share, np.float64), T.shape) for name, share in shares.items()}

    def moves(some: Fields) -> tuple[Field, ...]:
        T, ground, shares = some["T"], some["ground"], [some[name] for name in ("R", "talus", "sliding")]
        gx, gy = gradient(np.where(ground, T, WALL), CLOSED)
        south = _flux(T, gx, shares, ground, 0, law)
        east = _flux(T, gy, shares, ground, 1, law)
        gain = _gathered(south, 0) + _gathered(east, 1)
        return gain, np.pad(np.abs(south), ((0, 1), (0, 0))), np.abs(east)  # rows as many as of the others

    gain, south, east = in_bands(moves, {"T": T, "ground": ground, **fields}, reach=1)
    leaves = np.zeros(T.shape)
    for side in (np.s_[0, :], np.s_[-1, :], np.s_[:, 0], np.s_[:, -1]):
        leaves[side] = np.maximum(gain[side], 0)
    moved = float(south[:-1].sum()) + float(east.sum())
    return Slid(gain - leaves, float(leaves.sum()), moved)


def _flux(T: Field, along: Field, shares: list[Field], ground: NDArray[np.bool_], axis: int, law: Hillslope) -> Field:
    """Flux to the next cell along an axis; `along` is the gradient across that axis.

    The talus is compared with the true gradient at the face, not with the drop across it, so that piles are round.
    """
    T_0, T_1 = _pairs(T, axis)
    drop = T_0 - T_1
    along_0, along_1 = _pairs(along, axis)
    across = 0.5 * (along_0 + along_1)
    g = np.sqrt(drop * drop + across * across)
    R, talus, sliding = (np.where(drop > 0, *_pairs(share, axis)) for share in shares)  # of the higher cell
    beyond = np.maximum(0, 1 - law.talus * talus / np.maximum(g, FLAT))
    rate = R * (law.creep + law.slide * sliding * beyond)
    ground_0, ground_1 = _pairs(ground, axis)
    return np.where(ground_0 & ground_1, rate * drop, 0.0)


def _pairs(a: NDArray[Any], axis: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Each cell but the last along an axis, and the one after it."""
    return (a[:-1], a[1:]) if axis == 0 else (a[:, :-1], a[:, 1:])


def _gathered(flux: Field, axis: int) -> Field:
    """What comes in through the face before each cell, less what goes out through the one after."""
    incoming, outgoing = ((1, 0), (0, 1))
    ring = [(0, 0), (0, 0)]
    ring[axis] = incoming
    come = np.pad(flux, ring)
    ring[axis] = outgoing
    return come - np.pad(flux, ring)
