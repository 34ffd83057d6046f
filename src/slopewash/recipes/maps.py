"""Maps of parameters in recipes: files are read once, and kept as layers for the stages and levels to come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.io.grids import Placed
from slopewash.io.placement import Raster
from slopewash.models.maps import HIDDEN, Range, check_apart, ends_of, map_layers, maps_of, no_such_layer, placed
from slopewash.models.maps import Map as Map
from slopewash.recipes.layers import SHARE, LayerFile
from slopewash.terrain import Layer, Terrain

if TYPE_CHECKING:
    from slopewash.recipes.definition import Recipe, Stage


def read_map(path: Path, name: str, shares: bool, terrain: Terrain) -> Layer:
    """Read the map of a parameter for the cells of a terrain; with `shares`, integers go from 0 to 1."""
    return LayerFile(path=path).values(name, terrain, integers=SHARE if shares else None)


def raster_of(given: Map, name: str, terrain: Placed) -> Raster:
    """Read the map of a parameter that is a file, to be laid on a terrain part by part."""
    assert given.file is not None
    return LayerFile(path=given.file).raster(name, terrain, integers=SHARE if given.low is not None else None)


Map.reader = staticmethod(read_map)


def facts_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of parameters as JSON and TOML can hold them."""
    return {name: value.as_dict() if isinstance(value, Map) else value for name, value in values.items()}


def values_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Values that `facts_of` described."""
    return {name: Map.from_dict(fact) if isinstance(fact, Mapping) else fact for name, fact in facts.items()}


def place_maps(stages: tuple[Stage, ...], terrain: Terrain) -> tuple[tuple[Stage, ...], Terrain]:
    """Bring the maps of all stages to the terrain as layers of their own."""
    made = []
    for number, stage in enumerate(stages, 1):
        if maps_of(stage.model):
            model, terrain = placed(stage.model, terrain, f" of stage {number}")
            settings = {name: getattr(model, name) for name in stage.settings}
            stage = dataclasses.replace(stage, model=model, settings=settings)
        made.append(stage)
    return tuple(made), terrain


def check_maps(stages: Sequence[Stage], layers: Iterable[str], ranges: Callable[[str], Range] | None = None) -> None:
    """Refuse maps of all stages before the first begins, as far as it is known what they will hold.

    Parameters
    ----------
    stages
        Maps of them that are still files or arrays are passed over.
    layers, ranges
        Of the terrain that the first starts from; without ranges, only names are checked.
    """
    there, changed = dict.fromkeys(layers), set[str]()
    for number, stage in enumerate(stages, 1):
        check_apart(stage.model)
        for name, given in maps_of(stage.model).items():
            if given.layer is None:
                continue
            if given.layer not in there:
                raise no_such_layer(name, given.layer, there, f" in stage {number}" if len(stages) > 1 else "")
            if ranges is not None and given.layer not in changed:
                ends_of(stage.model, name, given, ranges(given.layer))
        left, gone = dict.fromkeys(stage.model.layers()), map_layers(stage.model)
        there = {layer: None for layer in there | left if layer not in gone}
        changed |= set(left)


def check_layer_names(recipe: Recipe) -> None:
    """Refuse maps that are layers which neither the source, nor the recipe, nor a stage before has; nothing is read."""
    wanted = any(given.layer is not None for stage in recipe.stages for given in maps_of(stage.model).values())
    check_maps(recipe.stages, (*recipe.source.layers, *recipe.layers) if wanted else ())


def carry_maps(terrain: Terrain, start: Terrain) -> Terrain:
    """Return the terrain with the maps that the start of its recipe has; a coarser level leaves them there."""
    if terrain.shape != start.shape:
        return terrain
    maps = {name: start[name] for name in start if name.startswith(HIDDEN) and name not in terrain}
    return terrain.replace(own_layers=maps) if maps else terrain


def map_files(stages: tuple[Stage, ...]) -> list[Path]:
    """Files that the maps of some stages are read from."""
    found = [given.file for stage in stages for given in maps_of(stage.model).values()]
    return list(dict.fromkeys(file for file in found if file is not None))
