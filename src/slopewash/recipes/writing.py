"""From a `Recipe` to a recipe file that says no more than it must: what a preset brings is left out."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slopewash.drafts import staged
from slopewash.errors import InvalidParameter
from slopewash.models.base import Model
from slopewash.models.maps import HIDDEN, Map
from slopewash.models.state import Sides
from slopewash.recipes.declaration import NO_STRATA
from slopewash.recipes.definition import OF_LEVELS, Beds, Recipe, Stage, preset_beds
from slopewash.recipes.layers import LayerSource
from slopewash.recipes.sources import FromFile, Generated
from slopewash.terrain import Stratum

Facts = dict[str, Any]


def write_recipe(recipe: Recipe, path: str | Path) -> Path:
    """Write a recipe atomically; the files that it reads are named relative to its folder."""
    path = Path(path)
    if path.suffix.lower() != ".toml":
        raise InvalidParameter(f"{path} must end in .toml")
    text = recipe_text(recipe, path.absolute().parent)
    with staged(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def recipe_text(recipe: Recipe, folder: Path | None) -> str:
    """TOML of a recipe for a file in that folder, or with paths as they are; a recipe always gives the same text."""
    import tomlkit

    facts = recipe_facts(recipe, folder)
    for stage in facts["stages"]:
        for level in stage.get("levels", ()):
            level["parameters"] = _inline(level["parameters"])
        if isinstance(stage.get("edges"), dict):
            stage["edges"] = _inline(stage["edges"])
        values = stage.get("parameters", {})
        for name in [name for name, value in values.items() if isinstance(value, dict)]:
            values[name] = _inline(values[name])
    layers = facts.get("layers", {})
    facts["layers"] = {name: _inline(layer) if isinstance(layer, dict) else layer for name, layer in layers.items()}
    if not layers:
        del facts["layers"]
    return tomlkit.dumps(facts)


def _inline(values: Mapping[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.inline_table()
    table.update(values)
    return table


def recipe_facts(recipe: Recipe, folder: Path | None) -> Facts:
    """Keys and tables of the file."""
    facts: Facts = {"seed": recipe.seed}
    if recipe.backend != "auto":
        facts["backend"] = recipe.backend
    beds = _strata(recipe.strata, recipe.stage)
    if isinstance(beds, str):
        facts["strata"] = beds  # a key of the top, which must stand before the first table
    facts["source"] = _source(recipe, folder)
    if recipe.layers:
        facts["layers"] = {name: _layer(layer, folder) for name, layer in recipe.layers.items()}
    if isinstance(beds, dict):
        facts["strata"] = beds
    for name in ("water_sources", "emitters"):
        if getattr(recipe, name):
            facts[name] = [dataclasses.asdict(disc) for disc in getattr(recipe, name)]
    facts["stages"] = [_stage(stage, folder) for stage in recipe.stages]
    if recipe.outputs:
        facts["outputs"] = [
            {name: list(v) if isinstance(v, tuple) else v for name, v in output.as_dict().items()}
            for output in recipe.outputs
        ]
    return facts


def relative(path: Path, folder: Path | None) -> str:
    """Name of a file as seen from a folder, with slashes; absolute where it lies on another drive."""
    if folder is None:
        return path.as_posix()
    try:
        return Path(os.path.relpath(path.absolute(), folder)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def _source(recipe: Recipe, folder: Path | None) -> Facts:
    source = recipe.source
    if isinstance(source, Generated):
        facts = source.as_dict()
        if facts["seed"] == recipe.seed:
            del facts["seed"]
        own = facts.pop("options")
        return {**facts, **own}
    if isinstance(source, FromFile):
        options = {k: list(v) if isinstance(v, tuple) else v for k, v in source.options.items() if v is not None}
        size = {} if source.size is None else {"size": source.size}
        return {"file": relative(source.path, folder), **size, **options}
    raise InvalidParameter(
        f"the recipe starts from {source.name}, a terrain in memory; write it with sw.write, and start from that file"
    )


def _layer(layer: LayerSource, folder: Path | None) -> float | str | Facts:
    if isinstance(layer, float):
        return layer
    file = relative(layer.path, folder)
    return file if layer.range is None else {"file": file, "range": list(layer.range)}


def _strata(beds: Beds | None, first: Stage) -> Facts | str | None:
    """The strata; None where the preset suggests the same."""
    usual = preset_beds(first.preset)
    if beds is None:
        return None if usual is None else NO_STRATA
    if usual is not None and _beds_facts(beds) == _beds_facts(usual):
        return None
    return _beds_facts(beds)


def _beds_facts(beds: Beds) -> Facts:
    strata = beds.strata
    facts: Facts = {}
    for name, usual in (("dip", 0.0), ("direction", 0.0), ("follow", False)):
        if getattr(strata, name) != usual:
            facts[name] = getattr(strata, name)
    if beds.shares:
        facts["shares"] = True
    if not beds.replace:
        facts["replace"] = False
    usual_values = {f.name: f.default for f in dataclasses.fields(Stratum)}
    facts["layers"] = [
        {name: value for name, value in dataclasses.asdict(layer).items() if value != usual_values[name]}
        for layer in strata.layers
    ]
    return facts


def _stage(stage: Stage, folder: Path | None) -> Facts:
    kind = {"name": stage.name} if stage.name is not None else {}
    kind |= {"model": stage.model.name} if stage.preset is None else {"preset": stage.preset}
    changed = dict(stage.settings)
    if stage.preset is None:
        usual = Stage.of(type(stage.model)(), **_length(stage))
        changed |= stage.model.changed()
    else:
        usual = Stage.of(stage.preset, **_length(stage))
        before = usual.model.values()
        changed |= {name: value for name, value in stage.model.values().items() if value != before[name]}
    facts: Facts = dict(kind)
    if stage.strength is not None:
        facts["strength"] = stage.strength
    elif stage.steps != Stage.of(usual.preset or usual.model).steps or usual.levels:
        facts["steps"] = stage.steps
    if stage.settle != usual.settle:
        facts["settle"] = False if stage.settle is None else stage.settle
    for name in ("dry", "gullies", *(OF_LEVELS if stage.levels else ())):
        if getattr(stage, name) != getattr(usual, name):
            facts[name] = getattr(stage, name)
    if stage.edges != usual.edges:
        facts["edges"] = dict(stage.edges.items()) if isinstance(stage.edges, Sides) else stage.edges
    if changed:
        facts["parameters"] = {
            name: _map(name, value, folder) if isinstance(value, Map) else value
            for name, value in _values(stage.model, changed).items()
        }
    if stage.low_water != usual.low_water:
        facts["low_water"] = _values(stage.model, stage.low_water)
    if stage.levels != usual.levels:
        facts["levels"] = [
            {**dataclasses.asdict(level), "parameters": _values(stage.model, level.parameters)}
            for level in stage.levels
        ]
    return facts


def _map(name: str, given: Map, folder: Path | None) -> Facts:
    facts = given.as_dict()
    if given.file is not None:
        return facts | {"file": relative(given.file, folder)}
    if facts["layer"].startswith(HIDDEN):
        raise InvalidParameter(
            f"the map of {name} is an array in memory; write it with sw.write(sw.Terrain(array), path), and name that "
            "file"
        )
    return facts


def _length(stage: Stage) -> Facts:
    return {"steps": stage.steps} if stage.strength is None else {"strength": stage.strength}


def _values(model: Model, values: Mapping[str, Any]) -> Facts:
    """Parameters as users write them: "none" where a number stands for it."""
    declared = {name: model.parameter(name) for name in values}
    checked = {name: declared[name].check(value) for name, value in values.items()}
    return {
        name: "none" if declared[name].none is not None and value == declared[name].none else value
        for name, value in checked.items()
    }
