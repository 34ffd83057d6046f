"""Strata as the equations see them: the erodibility of what is exposed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import IS_WALL, WALL, around
from slopewash.models.state import Domain, Sides
from slopewash.terrain import Strata

Field = NDArray[Any]

THINNEST_COVER = 1 / 16
"""Least depth of loose soil, in cells, that hides the bedrock completely."""
SLIDES = 4
"""Iterations in which the soil that just hides the bedrock slides off a slope of one: fewer make it flicker."""

LEAST_FACE = 1e-6
"""Height of a face, in cells, below which it shows one layer alone."""


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


def exposed_step(b: Field, sides: Sides) -> Field:
    """Height of the rock face that a cell shows to its lowest neighbour."""
    near = around(b, sides, WALL)
    return np.maximum(0, b - np.minimum(np.minimum(near.w, near.e), np.minimum(near.n, near.s)))


def expose(b: Field, rock: Field, top: Field, domain: Domain, per_cover: float, step: Field | None = None) -> Field:
    """Erodibility of what is exposed: of the layers in the bedrock's face, or 1 where loose soil covers it.

    A cell shows a face as high as its `step` down to the lowest neighbour, and every layer counts by its part of that
    face: a hard layer over a soft one is undermined. If the uppermost counted alone, cliffs would stand one cell wide,
    and those askew to the grid would show it as a comb.

    Soil too thin to hide the bedrock counts in part. If any dust counted as soft, one grain on hard rock would expose
    the rock to all of an iteration's erosion.
    """
    layers = beds(domain, top.dtype)
    depth = top - rock
    face = np.maximum(np.zeros_like(b) if step is None else step, b.dtype.type(LEAST_FACE))
    R = np.full_like(b, layers.R[0])
    for begins, upper, own in zip(layers.depths[1:], layers.R[:-1], layers.R[1:], strict=True):
        share = np.maximum(1 + (depth - begins) / face, 0)  # of the face that lies below this boundary
        R = np.where(depth >= begins, own, R + (own - upper) * share)
    covered = np.minimum((b - rock) * top.dtype.type(per_cover), 1)
    return np.where(b < IS_WALL, np.minimum(R * (1 - covered) + covered, 1), b.dtype.type(0))
