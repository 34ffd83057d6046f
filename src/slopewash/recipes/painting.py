"""What is painted on one level, for the finer ones: rain, hardness and the like, which levels do not hand on.

A level takes ground and water from the one before, and everything else from the start of its stage. An edit of the rest
is kept as the change it made, and made again on every finer grid.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from slopewash.models import Model
from slopewash.recipes.levels import CARRIED, Heights, fitted
from slopewash.simulation import Simulation
from slopewash.terrain import Terrain

Painted = Mapping[str, Heights]
"""Change of each layer, on any grid of the same ground."""


def paintable(model: Model) -> list[str]:
    """Layers that brushes change and that levels do not hand on."""
    return [name for name in model.editable() if name not in CARRIED]


def painted(simulation: Simulation, before: Painted) -> Painted:
    """What was painted up to the end of a level, given what had been before it."""
    if not simulation.edited:  # not `can_undo`: a keyframe is without its history
        return before
    names = paintable(simulation.model)
    with Simulation(
        simulation.start, simulation.model, backend=simulation.backend, edges=simulation.edges, seed=simulation.seed
    ) as unchanged:
        at_first = unchanged.layers(*names)
    now = simulation.layers(*names)
    changes = {name: now[name].astype(np.float64) - at_first[name] for name in names}
    changes = {name: change for name, change in changes.items() if change.any()}
    if not changes:
        return before
    made = on_grid(before, simulation.start)
    return {**made, **{name: made.get(name, 0.0) + change for name, change in changes.items()}}


def on_grid(changes: Painted, terrain: Terrain) -> dict[str, Heights]:
    """The changes on the grid of a terrain."""
    longest = max(terrain.shape)
    return {
        name: change.astype(np.float64) if change.shape == terrain.shape else
        fitted(Terrain(change, cell_size=1.0).resampled(longest)["elevation"], terrain.shape)
        for name, change in changes.items()
    }  # fmt: skip


def repainted(simulation: Simulation, terrain: Terrain, changes: Painted) -> Terrain:
    """The terrain of a level with the changes, given its simulation without them."""
    model = simulation.model
    changes = {name: change for name, change in changes.items() if name in paintable(model)}
    now = simulation.layers(*changes)
    layers = {}
    for name, change in on_grid(changes, terrain).items():
        low, high = model.layer(name).painted
        layers[name] = np.clip(now[name] + change, low, high)
    return terrain.replace(**layers)
