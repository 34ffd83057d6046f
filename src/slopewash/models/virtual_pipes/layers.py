"""Strata as the equations see them: the erodibility of what is exposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.virtual_pipes.coefficients import IS_WALL
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.terrain import Terrain

Field = NDArray[Any]

THINNEST_COVER = 1 / 16
"""Least depth of loose soil, in cells, that hides the bedrock wholly."""
SLIDES = 4
"""Iterations in which the soil that just hides the bedrock slides off a slope of one: fewer make it flicker."""


@dataclass(frozen=True)
class Layers:
    """Strata in cells."""

    top: Field
    """top of the first layer above the datum, for every cell"""
    depths: Field
    """depth below the top at which each layer begins"""
    R: Field
    """erodibility of each layer"""
    per_cover: Any
    """share of the bedrock that a cell of loose soil hides"""


def cover(model: VirtualPipes) -> float:
    """Depth of loose soil, in cells, that hides the bedrock wholly."""
    return max(THINNEST_COVER, SLIDES * model.time_step * model.thermal_rate if model.slides else 0.0)


def enter_layers(terrain: Terrain, model: VirtualPipes, datum: float, dtype: Any) -> Layers | None:
    """Convert a terrain's strata to cells above the datum."""
    strata = terrain.strata
    if strata is None:
        return None
    assert strata.top is not None  # a terrain's strata always have one
    return Layers(
        top=((strata.top - datum) / terrain.cell_size).astype(dtype),
        depths=(strata.depths / terrain.cell_size).astype(dtype),
        R=np.array([layer.erodibility for layer in strata.layers], dtype),
        per_cover=dtype(1 / cover(model)),
    )


def expose(b: Field, rock: Field, layers: Layers) -> Field:
    """Erodibility of what is exposed: of the bedrock's layer, or 1 where loose soil covers it.

    Soil thinner than the `cover` counts in part. Were any dust as soft as a heap, one grain on hard rock would let an
    iteration's whole work loose on the rock.
    """
    depth = layers.top - rock
    R = np.full_like(b, layers.R[0])
    for begins, own in zip(layers.depths[1:], layers.R[1:], strict=True):
        R = np.where(depth >= begins, own, R)
    covered = np.minimum((b - rock) * layers.per_cover, 1)
    return np.where(b < IS_WALL, np.minimum(R * (1 - covered) + covered, 1), b.dtype.type(0))
