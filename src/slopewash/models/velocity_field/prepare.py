"""From a terrain in metres to a state in cells above its own lowest ground, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.state import Domain, Sides, State
from slopewash.models.velocity_field.fields import SHARES
from slopewash.models.velocity_field.surface import Field
from slopewash.terrain import Terrain


def prepare(terrain: Terrain, *, sides: Sides, seed: int) -> tuple[Domain, State]:
    """Work out what is global, and convert every layer."""
    strata, nodata = terrain.strata, terrain.nodata
    domain = Domain(
        shape=terrain.shape, cell_size=terrain.cell_size, datum=terrain.range("elevation")[0], seed=seed, sides=sides,
        strata=() if strata is None else strata.layers,
    )  # fmt: skip

    def cells(name: str, datum: float = 0.0) -> Field:
        if name not in terrain:
            return np.zeros(terrain.shape)
        return (terrain[name].astype(np.float64) - datum) / terrain.cell_size

    def share(name: str) -> Field:
        return terrain[name].astype(np.float64) if name in terrain else np.ones(terrain.shape)

    arrays: dict[str, NDArray[Any]] = {
        "elevation": cells("elevation", domain.datum), "suspended": cells("suspended"), "rainfall": share("rainfall"),
    }  # fmt: skip
    if nodata is not None:
        for array in arrays.values():
            array[nodata] = 0
        arrays["nodata"] = np.array(nodata)
    T = arrays["elevation"]
    for name in ("flow", "velocity_east", "velocity_south", "collision_energy"):
        arrays[name] = np.zeros(T.shape)
    arrays["start"] = T.copy()
    arrays |= {name: share(name) for name in SHARES if name in terrain}
    if strata is None:
        arrays["erodibility"] = share("erodibility")
    else:
        assert strata.top is not None  # a terrain's strata always have one
        arrays["bedrock"] = np.minimum(cells("bedrock", domain.datum), T) if "bedrock" in terrain else T.copy()
        arrays["strata_top"] = np.array(strata.top)
    scalars: dict[str, float | int] = {
        "water_rain": 0.0, "water_evaporated": 0.0, "water_exported": 0.0,
        "solids_start": float(T.sum()) + float(arrays["suspended"].sum()),
        "solids_exported": 0.0, "solids_moved": 0.0, "solids_edited": 0.0, "particle_steps": 0,
    }  # fmt: skip
    return domain, State(arrays, scalars)
