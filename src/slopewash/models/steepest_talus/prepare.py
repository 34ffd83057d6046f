"""From a terrain in metres to heights in whole numbers.

The unit is a power of two of a cell, chosen so that the terrain's relief spans between 2²³ and 2²⁴ units: as fine as
float32 is at the highest ground, with the datum at the lowest. An overshooting pile may rise fifteen times as high
before it reaches the height of nodata, 2²⁸ - 1, and eight times a height still fits int32, as the kernels need.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.models.state import Domain, Sides, State
from slopewash.terrain import Place, Terrain, erodibility_from_elevation

Heights = NDArray[np.int32]

RELIEF_BITS = 24
"""The relief is below two to this power of units."""
WALL = 2**28 - 1
"""Height of nodata, and of what lies beyond the edges."""
HIGHEST, LOWEST = 2**27, -(2**26)
"""Range of heights after edits: eight times the drop between both still fits int32."""
FARTHEST = 2**50
"""Farthest top of strata from the datum. Depths may be twice that, so that no ground reaches a clipped depth."""

TALUS_OF_STRATA = "steepest_talus takes the talus from this terrain's strata; leave out the strata or the talus map"


def prepare(
    terrain: Terrain, *, sides: Sides, seed: int, guess_erodibility: bool, place: Place | None = None
) -> tuple[Domain, State]:
    """Convert a terrain in metres to whole units above its own lowest ground."""
    place = place or Place.of(terrain)
    low, high = place.low, place.high
    scale = units_per_cell((high - low) / terrain.cell_size)
    strata = terrain.strata
    domain = Domain(
        shape=terrain.shape, origin=place.origin, cell_size=terrain.cell_size, datum=low, scale=scale, seed=seed,
        sides=sides, strata=() if strata is None else strata.layers, margins=place.margins,
    )  # fmt: skip
    per_metre = scale / terrain.cell_size

    def units(name: str) -> Heights:
        n = np.rint((terrain[name].astype(np.float64) - low) * per_metre)
        if terrain.nodata is not None:
            n[terrain.nodata] = WALL
        return np.clip(n, -WALL, WALL).astype(np.int32)

    n = units("elevation")
    arrays: dict[str, NDArray[Any]] = {"elevation": n, "start": n.copy(), "start_elevation": terrain["elevation"]}
    if terrain.nodata is not None:
        arrays["nodata"] = np.array(terrain.nodata)
    if strata is not None:
        assert strata.top is not None  # a terrain's strata always have one
        arrays["bedrock"] = np.minimum(units("bedrock"), n) if "bedrock" in terrain else n.copy()
        arrays["strata_top"] = whole((strata.top - low) * per_metre, FARTHEST)
    elif "erodibility" in terrain:
        arrays["erodibility"] = terrain["erodibility"]
    elif guess_erodibility:
        arrays["erodibility"] = erodibility_from_elevation(terrain, seed=seed, place=place)
    if "talus" in terrain:
        if strata is not None:
            raise InvalidParameter(TALUS_OF_STRATA)
        arrays["talus"] = terrain["talus"]
    own = domain.own
    ground = n[own] if terrain.nodata is None else n[own][~terrain.nodata[own]]
    return domain, State(
        arrays, {"solids_start": int(ground.sum(dtype=np.int64)), "solids_edited": 0, "solids_moved": 0}
    )


def guessed_erodibility(state: State, domain: Domain) -> NDArray[np.float32]:
    """Erodibility where the terrain had none, guessed from the heights it started with.

    The guess depends on the relief of the whole terrain: on part of it, it would be another one.
    """
    if "halo" in domain.sides.kinds():
        raise InvalidParameter(
            "erodibility cannot be guessed on part of a terrain; give the terrain an erodibility layer, or prepare it "
            "as a whole with talus_law=hard_stands_steeper"
        )
    start = Terrain(state["start_elevation"], cell_size=domain.cell_size, nodata=state.get("nodata"))
    return erodibility_from_elevation(start, seed=domain.seed)


def units_per_cell(relief: float) -> float:
    """Power of two that spreads a relief in cells over `RELIEF_BITS`; at most 2²⁴, as flat ground needs no more.

    >>> units_per_cell(100.0) == 2**17, units_per_cell(0.0) == 2**24
    (True, True)
    """
    exponent = math.frexp(relief)[1]  # relief < 2**exponent
    return math.ldexp(1.0, RELIEF_BITS - max(exponent, 0))


def whole(lengths: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Round to whole units, none beyond `most`."""
    return np.rint(np.clip(lengths, -most, most)).astype(np.int64)
