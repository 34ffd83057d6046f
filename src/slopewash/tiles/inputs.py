"""Layers and maps that a recipe adds to a ground on tiles; files are read by windows where they can be."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.io.placement import Cover, Raster, Window
from slopewash.io.suspects import Look
from slopewash.models.maps import HIDDEN, Map, check_finite, check_shape, maps_of, resolved
from slopewash.recipes.bedrock import Above
from slopewash.recipes.definition import Stage
from slopewash.recipes.layers import LayerFile, LayerSource
from slopewash.recipes.maps import raster_of
from slopewash.remedies import read_for
from slopewash.tiles.files import TiffWindows, same_cells
from slopewash.tiles.ground import Ground, span_of

Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
SAMPLED = 256
"""Cells along a side of the ground at which is looked beforehand whether a raster covers it."""
Values = float | TiffWindows | Raster | NDArray[Any]


@dataclass(frozen=True)
class Added:
    """What was found of a layer in a tile."""

    range: tuple[float, float]
    """NaN if there is no ground."""
    cover: Cover
    """How much of the ground it covers."""
    above: Above
    look: Look


def check_inputs(ground: Ground, layers: Mapping[str, LayerSource], stages: Sequence[Stage]) -> None:
    """Refuse files that cannot be laid over a ground before that is read; how much they cover is sampled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are read again, and warned of then
        for name, source in layers.items():
            if isinstance(source, LayerFile):
                _check_cover(_values(source, name, ground), ground)
        for stage in stages:
            for name, given in maps_of(stage.model).items():
                if given.layer is None:
                    _check_cover(_map_values(given, name, ground), ground)


def _check_cover(values: Values, ground: Ground) -> None:
    if not isinstance(values, Raster) or values.lattice is None:
        return
    at = (np.unique(np.linspace(0, cells - 1, SAMPLED).round()) + 0.5 for cells in ground.shape)
    outside = values.outside(*values.lattice.at(*at))
    if outside.all() or not ground.has_nodata:
        Cover(outside.size, int(np.count_nonzero(outside))).check(Path(values.path))


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
                ground = _added(ground, layer, _map_values(given, name, ground), run, parameter=name)
                changes[name] = given.at(layer)
        settings = {name: changes.get(name, value) for name, value in stage.settings.items()}
        made.append(dataclasses.replace(stage, model=stage.model.replace(**changes), settings=settings))
    return ground, tuple(made)


def estimated(stage: Stage, ground: Ground) -> Stage:
    """The stage with numbers in place of maps, to count its sub-steps; layers that are still to come count as 1."""
    model, _ = resolved(stage.model, lambda name: ground.ranges.get(name, (1.0, 1.0)))
    return dataclasses.replace(stage, model=model)


def _map_values(given: Map, name: str, ground: Ground) -> Values:
    if isinstance(given.source, np.ndarray):
        check_shape(name, given.source, ground.shape)
        return given.source
    assert given.file is not None
    windowed = same_cells(given.file, name, ground)
    return raster_of(given, name, ground) if windowed is None else windowed


def _values(file: LayerFile, name: str, ground: Ground) -> Values:
    windowed = same_cells(file.path, name, ground) if file.range is None else None
    return file.raster(name, ground) if windowed is None else windowed


def _added(ground: Ground, name: str, values: Values, run: Run, *, parameter: str | None = None) -> Ground:
    """Write a layer, tile by tile; the map of a parameter is one of its own."""
    own = parameter is not None
    layers = tuple(dict.fromkeys([*ground.layers, name]))
    made = dataclasses.replace(ground, layers=layers, own=(*ground.own, name) if own else ground.own)
    ground.store.create(made.field(name), ground.grid)
    calls = [(ground, name, _part(values, window), parameter, number) for number, window in enumerate(ground.grid)]
    added = run(write_layer, calls, f"adding {name}")
    path = Path(values.path) if isinstance(values, TiffWindows | Raster) else None
    if isinstance(values, TiffWindows):
        with read_for(values.wanted):
            Look.over(tile.look for tile in added).question(values.path, values.suspects)
    if path is not None:
        sum((tile.cover for tile in added), Cover()).check(path)
    sum((tile.above for tile in added), Above()).check(path)
    return dataclasses.replace(made, ranges={**ground.ranges, name: span_of(tile.range for tile in added)})


def _part(values: Values, window: Window) -> Values:
    """What a tile needs, which is sent as no more."""
    if isinstance(values, Raster):
        return values.part(window)
    return values[window] if isinstance(values, np.ndarray) else values


def write_layer(ground: Ground, name: str, values: Values, parameter: str | None, number: int) -> Added:
    """Write a tile of a layer, which may be the map of a parameter."""
    window, cover, look = ground.grid.window(number), Cover(), Look()
    part, resampled = ground.part(window, ["elevation"]), False
    if isinstance(values, TiffWindows):
        read, look = values.read(ground, number)
        missing = np.zeros(read.shape, bool) if read.nodata is None else read.nodata
        values, cover = read["elevation"], Cover.of(missing, np.zeros(read.shape, bool), part.nodata)
    elif isinstance(values, Raster):
        resampled = values.resampled
        values, missing, outside = values.cells(window)
        cover = Cover.of(missing, outside, part.nodata)
    origin = window[0].start, window[1].start
    above = Above.of(name, values, part, ground.range_of("elevation"), resampled=resampled, origin=origin)
    layer: dict[str, Any] = {name: values}
    if parameter is None:
        part = part.replace(**layer)
    else:
        check_finite(parameter, np.asarray(values), part.nodata, origin)
        part = part.replace(own_layers=layer)
    ground.store.write(ground.field(name), ground.grid, number, part[name])
    return Added(part.range(name), cover, above, look)
