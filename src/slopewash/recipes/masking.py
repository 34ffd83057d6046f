"""A mask keeps parts of a terrain as they were: each stage's result is blended with what it started from."""

from __future__ import annotations

from typing import Any

import numpy as np

from slopewash.analysis.relief import slope
from slopewash.terrain import Terrain

MASK = "mask"


def blended(terrain: Terrain, start: Terrain) -> Terrain:
    """Return the start where its layer `mask` is 0, the terrain where it is 1, and something between elsewhere.

    >>> start = Terrain([[10.0, 10.0, 10.0]], mask=[[0.0, 0.5, 1.0]])
    >>> blended(start.replace(elevation=[[4.0, 4.0, 4.0]]), start)["elevation"].tolist()
    [[10.0, 7.0, 4.0]]
    """
    mask = start[MASK].astype(np.float64)

    def mixed(name: str) -> Any:
        before = start[name].astype(np.float64) if name in start else 0.0
        return (before + mask * (terrain[name] - before)).astype(np.float32)

    ground = mixed("elevation")
    layers = {"elevation": ground} | {name: mixed(name) for name in ("water", "suspended") if name in terrain}
    if "bedrock" in terrain:
        layers["bedrock"] = mixed("bedrock") if "bedrock" in start else np.minimum(terrain["bedrock"], ground)
    change = ground - start["elevation"]
    changes = {"difference": change, "wear": np.maximum(-change, 0), "deposit": np.maximum(change, 0)}
    layers |= {name: values for name, values in changes.items() if name in terrain}
    if "slope" in terrain:
        layers["slope"] = slope(ground, terrain.cell_size, nodata=terrain.nodata)
    # Unmasked cells are those of the run to the bit, in whatever precision its model works out what has changed.
    return terrain.replace(**{name: np.where(mask == 1, terrain[name], values) for name, values in layers.items()})
