"""Ways out of closed basins, so that a start full of them drains."""

from __future__ import annotations

import numpy as np

from slopewash.analysis import flood
from slopewash.analysis.drainage import Drainage
from slopewash.terrain import Layer, Terrain


def breach_depressions(terrain: Terrain, *, filled: float = 0.15, fall: float = 0.02, bank_slope: float = 0.4) -> Layer:
    """Return the elevation with a way out of every depression, in metres.

    Each is filled by a share of its depth. From what is left of it, a valley is carved through the lowest pass, which
    falls all the way to an edge or to nodata, with banks that do not slide shut again. Nothing
    is lowered by more than the deepest cut.

    Parameters
    ----------
    terrain
        The ground.
    filled
        Share of a depression's depth that is filled instead of carved.
    fall, bank_slope
        Slopes along the valley's floor and up its sides.

    >>> bowl = Terrain([[3, 3, 3, 3], [3, 1, 2, 3], [3, 3, 2, 3], [3, 3, 2.5, 3]])
    >>> breach_depressions(bowl, filled=0.5, fall=0.0)[3, 2].item()
    1.75
    """
    ground = terrain["elevation"].astype(np.float64)
    raised = ground + filled * (Drainage(terrain).filled - ground)
    drainage = Drainage(terrain.replace(elevation=raised))
    before, cell = drainage.ground, terrain.cell_size
    carved = before.copy()
    flood.carve(drainage.order, drainage.outlet, drainage.parent, drainage.level, fall * cell, carved)
    flood.widen(drainage.missing.ravel(), drainage.steps, bank_slope * cell, before, carved)
    return drainage.layer(carved)
