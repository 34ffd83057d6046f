"""Layers and maps that a recipe adds to a ground on tiles; files are read by windows where they can be."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile
from slopewash.models.maps import HIDDEN, Map, maps_of, resolved
from slopewash.recipes.definition import Stage
from slopewash.recipes.layers import LayerFile, LayerSource
from slopewash.terrain import Terrain
from slopewash.tiles.files import ByWindows, same_cells
from slopewash.tiles.ground import Ground, span_of

Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
Values = float | ByWindows | NDArray[Any]


def with_layers(ground: Ground, layers: Mapping[str, LayerSource], run: Run) -> Ground:
    """Return the ground with the layers of a recipe on it."""
    for name, source in layers.items():
        values: Values = source if isinstance(source, float) else _values(source, name, ground)
        ground = _added(ground, name, values, run)
    return ground


def with_maps(ground: Ground, stages: Sequence[Stage], run: Run) -> tuple[Ground, tuple[Stage, ...]]:
    """Return the ground with the maps of all stages as layers of their own, and the stages that refer to those."""
    made = []
    for number, stage in enumerate(stages, 1):
        changes: dict[str, Map] = {}
        for name, given in maps_of(stage.model).items():
            if given.layer is None:
                layer = f"{HIDDEN}{name} of stage {number}"
                ground = _added(ground, layer, _map_values(given, name, ground), run, own=True)
                changes[name] = given.at(layer)
        settings = {name: changes.get(name, value) for name, value in stage.settings.items()}
        made.append(dataclasses.replace(stage, model=stage.model.replace(**changes), settings=settings))
    return ground, tuple(made)


def estimated(stage: Stage, ground: Ground) -> Stage:
    """The stage with numbers in place of maps, to count its sub-steps; layers that are still to come count as 1."""
    model, _ = resolved(stage.model, lambda name: ground.ranges.get(name, (1.0, 1.0)))
    return dataclasses.replace(stage, model=model)


def _map_values(given: Map, name: str, ground: Ground) -> Values:
    if given.file is not None and given.low is None:
        return _values(LayerFile(path=given.file), name, ground)
    windowed = None if given.file is None else same_cells(given.file, ground.shape)
    return given.values(name, _stand_in(ground)) if windowed is None else windowed


def _values(file: LayerFile, name: str, ground: Ground) -> Values:
    windowed = same_cells(file.path, ground.shape) if file.range is None else None
    return file.values(name, _stand_in(ground)) if windowed is None else windowed


def _stand_in(ground: Ground) -> Terrain:
    """A terrain of the same cells, for files that must be read as a whole."""
    return Terrain(np.broadcast_to(np.float32(0), ground.shape), cell_size=ground.cell_size)


def _added(ground: Ground, name: str, values: Values, run: Run, *, own: bool = False) -> Ground:
    """Write a layer, tile by tile."""
    layers = tuple(dict.fromkeys([*ground.layers, name]))
    made = dataclasses.replace(ground, layers=layers, own=(*ground.own, name) if own else ground.own)
    ground.store.create(made.field(name), ground.grid)
    calls = []
    for number, window in enumerate(ground.grid):
        part = np.array(values[window]) if isinstance(values, np.ndarray) else values
        calls.append((ground, name, part, own, number))
    span = span_of(run(write_layer, calls, f"adding {name}"))
    return dataclasses.replace(made, ranges={**ground.ranges, name: span})


def write_layer(ground: Ground, name: str, values: Values, own: bool, number: int) -> tuple[float, float]:
    """Write a tile of a layer; returns its range, NaN if there is no ground."""
    if isinstance(values, ByWindows):
        read = values.read(ground, number)
        if read.nodata is not None:
            raise InvalidFile(f"{Path(values.path)} has no data in {int(read.nodata.sum())} cells; fill them first")
        values = read["elevation"]
    part = ground.part(ground.grid.window(number), ["elevation"])
    layer: dict[str, Any] = {name: values}
    part = part.replace(own_layers=layer) if own else part.replace(**layer)
    ground.store.write(ground.field(name), ground.grid, number, part[name])
    return part.range(name)
