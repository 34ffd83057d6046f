"""What slides, in units of height: a drop above the threshold sends the amplitude."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Domain, State
from slopewash.models.steepest_talus.prepare import FARTHEST, WALL, Heights, whole
from slopewash.terrain import LOOSE, Strata

DIAGONAL = math.sqrt(2)


class Coefficients(NamedTuple):
    """One iteration's numbers."""

    amplitude: int
    printed: bool
    """Diagonal neighbours count as near as straight ones."""
    steepness: float
    """Tangent at which ground stands, where it is the same everywhere."""
    varied: bool
    """Whether it depends on the erodibility R instead: (1 - R) * hard + soft."""
    hard: float
    soft: float

    @property
    def away(self) -> float:
        """Distance of diagonal neighbours."""
        return 1.0 if self.printed else DIAGONAL

    def tangent(self, R: NDArray[np.float32]) -> NDArray[np.float64]:
        """Slope at which ground of erodibility R stands."""
        if not self.varied:
            return np.full(R.shape, self.steepness)
        return (1.0 - R.astype(np.float64)) * self.hard + self.soft


class Standing(NamedTuple):
    """Whole drops that still stand, one row and column where they are the same everywhere."""

    straight: Heights
    diagonal: Heights


def standing(tangent: NDArray[np.float64], domain: Domain, c: Coefficients) -> Standing:
    """Drops that stand at a slope; above the height of nodata nothing ever slides."""
    drop = tangent * domain.scale
    straight, diagonal = (np.minimum(np.floor(d), WALL).astype(np.int32) for d in (drop, drop * c.away))
    return Standing(straight, diagonal)


def standing_ground(state: State, domain: Domain, c: Coefficients) -> Standing:
    """Drops that stand without strata."""
    R, share = state.get("erodibility") if c.varied else None, state.get("talus")
    tangent = np.full((1, 1), c.steepness) if R is None else c.tangent(R)
    return standing(tangent if share is None or (share == 1).all() else tangent * share, domain, c)


class Beds(NamedTuple):
    """Strata in units, from the top, and what stands on each; the last of each table is loose soil's."""

    depths: NDArray[np.int64]
    """depth below the top at which each begins"""
    R: NDArray[np.float32]
    straight: Heights
    diagonal: Heights

    def exposed(self, n: Heights, rock: Heights, top: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of the exposed layer, from the top; `LOOSE`, the last of the tables, where soil covers the rock."""
        layer = np.searchsorted(self.depths, top - rock, side="right") - 1
        return np.where(n > rock, LOOSE, np.maximum(layer, 0))


def beds(domain: Domain, c: Coefficients) -> Beds:
    """Strata of a domain."""
    R = np.array([*(layer.erodibility for layer in domain.strata), 1.0], np.float32)
    depths = whole(Strata(domain.strata).depths * (domain.scale / domain.cell_size), 2 * FARTHEST)
    return Beds(depths, R, *standing(c.tangent(R), domain, c))
