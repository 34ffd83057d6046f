"""Layers in metres from a state on tiles: the terrain that a stage leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from slopewash.models import Model
from slopewash.models.state import State, Window, with_margin
from slopewash.recipes.masking import blended
from slopewash.recipes.running import volumes_between
from slopewash.terrain import Terrain
from slopewash.terrain.gullies import carved
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import inside, widened
from slopewash.tiles.ground import Ground, Survey, cropped
from slopewash.tiles.memory import release
from slopewash.tiles.work import Work

CHANGES = ("difference", "wear", "deposit")
"""Layers of what a run has changed since its start."""


def layers_of(work: Work, ground: Ground) -> tuple[str, ...]:
    """Layers of the terrain that a stage leaves: those it began with, and what the model yields."""
    return tuple(dict.fromkeys([*ground.layers, *yielded(work, ground)]))


def yielded(work: Work, ground: Ground) -> list[str]:
    """What the model yields; rain that was not given, and falls everywhere, is no layer of the result either."""
    names = {cells.name for cells in work.cells}
    stored = names | ({"elevation"} if "elevation_change" in names else set())
    stored |= {"bedrock"} if "bedrock_change" in names else set()
    held = State(dict.fromkeys(stored, np.zeros(0)))
    uneven = "rainfall" in ground.layers or ground.has_nodata
    return [name for name in work.model.yields(held) if name != "rainfall" or uneven]


def result_tile(
    work: Work,
    before: Ground,
    after: Ground,
    group: str,
    iterations: int,
    model: Model,
    start: Ground | None,
    masked: Ground | None,
    gullied: Field | None,
    number: int,
) -> Survey:
    """Write a tile of the terrain after a stage.

    Changes count from `start`, the mask is that of `masked`, and `gullied` is the ground with gullies.
    """
    release()  # the rounds are over
    core = work.grid.window(number)
    reshaped = masked is not None or gullied is not None
    near = widened(core, 1, work.grid.shape) if reshaped else core  # of the slopes after blending
    names = [name for name in yielded(work, before) if reshaped or name in after.layers]
    terrain = terrain_after(work, before, group, iterations, model, names, core, near)
    added = 0.0, 0.0
    if reshaped:
        own, run = inside(core, near), terrain
        if gullied is not None:
            terrain = carved(terrain, work.store.read(gullied, work.grid, near))
        if masked is not None:
            terrain = blended(terrain, masked.part(near))
        run, terrain = cropped(run, own), cropped(terrain, own)
        added = volumes_between(run, terrain)
    if start is not None and any(name in after.layers for name in CHANGES):
        change = terrain["elevation"] - start.part(core, ["elevation"])["elevation"]
        terrain = terrain.replace(difference=change, wear=np.maximum(-change, 0), deposit=np.maximum(change, 0))
    return dataclasses.replace(after.write(number, terrain), added=added)


def terrain_after(
    work: Work,
    before: Ground,
    group: str,
    iterations: int,
    model: Model,
    names: Sequence[str],
    core: Window,
    near: Window,
) -> Terrain:
    """The terrain that a stage leaves in a window `near` a tile's core, with those of the layers that it yields."""
    wide, sides = with_margin(core, 1, work.domain)  # slopes and velocities look at the neighbours
    domain = work.domain.part(wide, sides, core)
    state = work.read(group, wide, iterations=iterations)
    device = work.model.backend(work.backend)(state, domain) if work.backend == "gpu" else None
    derived = model.derive_all(names, state if device is None else device.state, domain)
    layers = {name: np.array(layer[inside(near, wide)], np.float32) for name, layer in derived.items()}
    if device is not None:
        device.close()
    return before.part(near).replace(**layers)
