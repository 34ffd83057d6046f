"""Layers in metres from a state on tiles: the terrain that a stage leaves."""

from __future__ import annotations

import dataclasses

import numpy as np

from slopewash.models import Model
from slopewash.models.state import State, with_margin
from slopewash.recipes.masking import blended
from slopewash.recipes.running import volumes_between
from slopewash.tiles.grid import inside, widened
from slopewash.tiles.ground import Ground, Survey, cropped
from slopewash.tiles.work import Work

CHANGES = ("difference", "wear", "deposit")
"""Layers of what a run has changed since its start."""


def layers_of(work: Work, ground: Ground) -> tuple[str, ...]:
    """Layers of the terrain that a stage leaves: those it began with, and what the model yields."""
    return tuple(dict.fromkeys([*ground.layers, *_yielded(work, ground)]))


def _yielded(work: Work, ground: Ground) -> list[str]:
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
    number: int,
) -> Survey:
    """Write a tile of the terrain after a stage; changes count from `start`, and the mask is that of `masked`."""
    core = work.grid.window(number)
    wide, sides = with_margin(core, 1, work.domain)  # slopes and velocities look at the neighbours
    domain = work.domain.part(wide, sides, core)
    state = work.read(group, wide, iterations=iterations)
    device = work.model.backend(work.backend)(state, domain) if work.backend == "gpu" else None
    names = [name for name in _yielded(work, before) if name in after.layers]
    derived = model.derive_all(names, state if device is None else device.state, domain)
    near = core if masked is None else widened(core, 1, work.grid.shape)  # of the slopes after blending
    layers = {name: np.array(layer[inside(near, wide)], np.float32) for name, layer in derived.items()}
    if device is not None:
        device.close()
    terrain = before.part(near).replace(**layers)
    added = 0.0, 0.0
    if masked is not None:
        own = inside(core, near)
        run, terrain = cropped(terrain, own), cropped(blended(terrain, masked.part(near)), own)
        added = volumes_between(run, terrain)
    if start is not None and any(name in after.layers for name in CHANGES):
        change = terrain["elevation"] - start.part(core, ["elevation"])["elevation"]
        terrain = terrain.replace(difference=change, wear=np.maximum(-change, 0), deposit=np.maximum(change, 0))
    return dataclasses.replace(after.write(number, terrain), added=added)
