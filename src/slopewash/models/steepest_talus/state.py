"""Heights as whole numbers, and the door through which a terrain comes in and goes out.

The unit is a power of two of a cell, chosen so that the terrain's relief spans between 2²³ and 2²⁴ units: as fine as
float32 is at the highest ground, with the datum at the lowest. An overshooting pile may rise fifteen times as high
before it would meet the walls at 2²⁸ - 1, and eight times a height still fits int32, which the kernels make use of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.models.steepest_talus.model import SteepestTalus
from slopewash.terrain import LOOSE, Strata, Terrain, erodibility_from_elevation

Heights = NDArray[np.int32]
Depths = NDArray[np.int64]

RELIEF_BITS = 24
"""The relief is below two to this power of units."""
WALL = 2**28 - 1
"""Height of cells that hold no ground, and of what lies beyond closed edges."""
HIGHEST, LOWEST = 2**27, -(2**26)
"""Ground that edits may make: eight times the drop between both still fits int32."""
FARTHEST = 2**50
"""Top of strata above or below the datum. Depths go twice as far, so that no ground reaches what was cut short."""
DIAGONAL = math.sqrt(2)


@dataclass
class State:
    """One run's fields, `[row, column]`, in units above the datum."""

    n: Heights
    """ground"""
    n0: Heights
    """ground at the start"""
    scale: float
    """units per cell"""
    wall: NDArray[np.bool_] | None
    """where there is no ground"""
    R: NDArray[np.float32] | None
    """erodibility, where the talus depends on it and there are no strata"""
    rock: Heights | None = None
    """with strata: the bedrock's surface, the lowest the ground ever was"""
    transfers: int = 0
    """amplitudes moved so far, each times the amplitude in units"""


@dataclass(frozen=True)
class Layers:
    """Strata in units, and what stands on each; the last of each table is loose soil's."""

    top: Depths
    """top of the first layer, for every cell"""
    depths: Depths
    """depth below the top at which each layer begins"""
    R: NDArray[np.float32]
    straight: Heights
    diagonal: Heights

    def exposed(self, n: Heights, rock: Heights) -> NDArray[np.int64]:
        """Number of the exposed layer, from the top; `LOOSE`, the last of the tables, where soil covers the rock."""
        layer = np.searchsorted(self.depths, self.top - rock, side="right") - 1
        return np.where(n > rock, LOOSE, np.maximum(layer, 0))


@dataclass(frozen=True)
class Talus:
    """What slides, in units: a drop above the threshold sends the amplitude."""

    straight: Heights
    """Threshold between straight neighbours: one row and column where it is the same everywhere."""
    diagonal: Heights
    """Threshold between diagonal neighbours."""
    amplitude: int
    printed: bool
    """Diagonal neighbours count as near as straight ones."""
    layers: Layers | None = None
    """With strata the thresholds are those of the exposed layers."""


def enter(terrain: Terrain) -> State:
    """Convert a terrain in metres to whole units above its own lowest ground."""
    low, high = terrain.range("elevation")
    scale = units_per_cell((high - low) / terrain.cell_size)

    def units(name: str) -> Heights:
        n = np.rint((terrain[name].astype(np.float64) - low) * (scale / terrain.cell_size))
        if terrain.nodata is not None:
            n[terrain.nodata] = WALL
        return np.clip(n, -WALL, WALL).astype(np.int32)

    n = units("elevation")
    rock = None
    if terrain.strata is not None:
        rock = np.minimum(units("bedrock"), n) if "bedrock" in terrain else n.copy()
    return State(n=n, n0=n.copy(), scale=scale, wall=terrain.nodata, R=None, rock=rock)


def units_per_cell(relief: float) -> float:
    """Power of two that spreads a relief in cells over `RELIEF_BITS`; at most 2²⁴, for flat ground needs no more.

    >>> units_per_cell(100.0) == 2**17, units_per_cell(0.0) == 2**24
    (True, True)
    """
    exponent = math.frexp(relief)[1]  # relief < 2**exponent
    return math.ldexp(1.0, RELIEF_BITS - max(exponent, 0))


def talus(state: State, model: SteepestTalus, terrain: Terrain, seed: int) -> Talus:
    """Thresholds and amplitude in the state's units."""
    tangent: NDArray[np.float64] = np.full((1, 1), model.smallest_talus)
    printed = model.diagonals == "printed"
    away = 1.0 if printed else DIAGONAL
    layers = None
    if terrain.strata is not None:
        layers = _layers(terrain, terrain.strata, state.scale, model, away)
    elif model.talus_law != "uniform":
        if state.R is None:
            state.R = erodibility(terrain, seed)
        tangent = _tangent(state.R, model)
    amplitude = math.floor(model.amplitude * model.smallest_talus * state.scale)
    if amplitude < 1:
        raise InvalidParameter(
            f"amplitude (a) is {model.amplitude:g} of a talus of {model.smallest_talus:.3g}; on a relief of "
            f"{terrain.relief:g} m and cells of {terrain.cell_size:g} m it must be at least "
            f"{1 / (model.smallest_talus * state.scale):.2g}"
        )
    return Talus(
        straight=_threshold(tangent * state.scale),
        diagonal=_threshold(tangent * state.scale * away),
        # No ground ever drops by a wall's height: an amplitude above it is never sent.
        amplitude=min(amplitude, WALL),
        printed=printed,
        layers=layers,
    )


def _tangent(R: NDArray[np.float32], model: SteepestTalus) -> NDArray[np.float64]:
    if model.talus_law == "uniform":
        return np.full(R.shape, model.smallest_talus)
    return (1.0 - R.astype(np.float64)) * model.talus_slope_range + model.talus_slope_bias


def _layers(terrain: Terrain, strata: Strata, scale: float, model: SteepestTalus, away: float) -> Layers:
    assert strata.top is not None  # a terrain's strata always have one
    R = np.array([*(layer.erodibility for layer in strata.layers), 1.0], np.float32)
    per_metre = scale / terrain.cell_size
    return Layers(
        top=_whole((strata.top - terrain.range("elevation")[0]) * per_metre, FARTHEST),
        depths=_whole(strata.depths * per_metre, 2 * FARTHEST),
        R=R,
        straight=_threshold(_tangent(R, model) * scale),
        diagonal=_threshold(_tangent(R, model) * scale * away),
    )


def _whole(lengths: NDArray[np.float64], most: int) -> Depths:
    return np.rint(np.clip(lengths, -most, most)).astype(np.int64)


def _threshold(drop: NDArray[np.float64]) -> Heights:
    """Whole drops that still stand: one more is above `drop`. Above a wall's height nothing ever slides."""
    return np.minimum(np.floor(drop), WALL).astype(np.int32)


def erodibility(terrain: Terrain, seed: int) -> NDArray[np.float32]:
    """The terrain's own erodibility, or one guessed from its heights."""
    return terrain["erodibility"] if "erodibility" in terrain else erodibility_from_elevation(terrain, seed=seed)
