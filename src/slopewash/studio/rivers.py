"""Rivers and lakes to look at, for runs that are complete: the water of a run that has settled is nearly gone."""

from __future__ import annotations

import numpy as np

import slopewash as sw
from slopewash.studio.frames import assemble, field_block

MOST_CELLS = 2048


def rivers_frame(terrain: sw.Terrain) -> bytes:
    """A frame of elevation and of water as pictures show it, in the place of the simulation's own."""
    watered = sw.add_water(terrain)
    depth = np.maximum(watered["river"], watered["lake"])
    rows, columns = terrain.shape
    header = {
        "frame": 0, "step": 0, "time": 0.0, "run": 0, "rows": rows, "columns": columns,
        "cell_size": terrain.cell_size,
        "start_low": float(terrain["elevation"].min()), "start_high": float(terrain["elevation"].max()),
    }  # fmt: skip
    blocks = [field_block("elevation", terrain["elevation"], MOST_CELLS, unit="m")]
    return assemble(header, [*blocks, field_block("water", depth, MOST_CELLS, unit="m")])
