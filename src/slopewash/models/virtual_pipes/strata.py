"""Strata as the equations see them: the erodibility of what is exposed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import IS_WALL
from slopewash.models.state import Domain
from slopewash.terrain import Strata

Field = NDArray[Any]

THINNEST_COVER = 1 / 16
"""Least depth of loose soil, in cells, that hides the bedrock completely."""
SLIDES = 4
"""Iterations in which the soil that just hides the bedrock slides off a slope of one: fewer make it flicker."""


class Beds(NamedTuple):
    """Strata in cells, from the top."""

    depths: Field
    """depth below the top at which each begins"""
    R: Field
    """erodibility of each"""


def beds(domain: Domain, dtype: Any = np.float32) -> Beds:
    """Strata of a domain; without any, one that is never used."""
    if not domain.strata:
        return Beds(np.zeros(1, dtype), np.zeros(1, dtype))
    return Beds(
        depths=(Strata(domain.strata).depths / domain.cell_size).astype(dtype),
        R=np.array([layer.erodibility for layer in domain.strata], dtype),
    )


def expose(b: Field, rock: Field, top: Field, domain: Domain, per_cover: float) -> Field:
    """Erodibility of what is exposed: of the bedrock's layer, or 1 where loose soil covers it.

    Soil too thin to hide the bedrock counts in part. If any dust counted as soft, one grain on hard rock would expose
    the rock to all of an iteration's erosion.
    """
    layers = beds(domain, top.dtype)
    depth = top - rock
    R = np.full_like(b, layers.R[0])
    for begins, own in zip(layers.depths[1:], layers.R[1:], strict=True):
        R = np.where(depth >= begins, own, R)
    covered = np.minimum((b - rock) * top.dtype.type(per_cover), 1)
    return np.where(b < IS_WALL, np.minimum(R * (1 - covered) + covered, 1), b.dtype.type(0))
