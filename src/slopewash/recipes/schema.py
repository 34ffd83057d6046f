"""JSON Schema of recipe files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

from slopewash.generators import generator_names
from slopewash.models import model_names, presets
from slopewash.recipes import declaration as declared
from slopewash.recipes.definition import DEFAULT_PRESET
from slopewash.recipes.outputs import output_kinds

Schema = dict[str, Any]


def recipe_schema() -> Schema:
    """JSON Schema (draft 7) of a recipe file, made from what the reader checks it against.

    >>> sorted(recipe_schema()["properties"])
    ['backend', 'emitters', 'layers', 'outputs', 'seed', 'source', 'stages', 'strata', 'water_sources']
    """
    schema = declared.top_table().schema(required=("source", "stages"))
    parts = schema["properties"]
    parts["source"] = _described(parts["source"], {"oneOf": [_source(kind) for kind in (None, *generator_names())]})
    parts["layers"] = _layers()
    parts["strata"] = _described(parts["strata"], {"anyOf": [_strata(), {"type": "string"}]})
    for table in (declared.water_source_table(), declared.emitter_table()):
        disc = table.schema(required=("x", "y", "radius", "rate"))
        parts[table.name] = _described(parts[table.name], {"type": "array", "items": disc})
    parts["stages"] = _described(parts["stages"], {"type": "array", "minItems": 1, "items": _stage()})
    kinds = [kind.table.schema(required=("path", "kind")) for kind in output_kinds().values()]
    first = output_kinds()["terrain"].table.schema(required=("path",))
    parts["outputs"] = _described(parts["outputs"], {"type": "array", "items": {"anyOf": [first, *kinds[1:]]}})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "slopewash recipe",
        **schema,
        "definitions": {
            **{name: _parameters(name) for name in model_names()},
            **{f"{name}_levels": _levels(name) for name in model_names()},
        },
    }


def _described(before: Schema, now: Schema) -> Schema:
    return {"description": before["description"], **now}


def _source(kind: str | None) -> Schema:
    table = declared.source_table(kind)
    schema = table.schema(required=("file" if kind is None else "generator",))
    if kind is not None:
        schema["properties"]["generator"] = {"const": kind}
    return schema


def _layers() -> Schema:
    schema = declared.layers_table().schema()
    file = declared.layer_file_table().schema(required=("file",))
    for layer in schema["properties"].values():
        layer["anyOf"] = [file if option["type"] == "object" else option for option in layer["anyOf"]]
    return schema


def _parameters(model: str) -> Schema:
    schema = declared.parameters_table(model).schema()
    given = {**declared.map_table().schema(), "oneOf": [{"required": ["file"]}, {"required": ["layer"]}]}
    for parameter in schema["properties"].values():
        if "anyOf" in parameter:
            parameter["anyOf"] = [given if option.get("type") == "object" else option for option in parameter["anyOf"]]
    return schema


def _strata() -> Schema:
    schema = declared.strata_table().schema(required=("layers",))
    layers = schema["properties"]["layers"]
    layers |= {"minItems": 1, "items": declared.stratum_table().schema(required=("thickness",))}
    return schema


def _stage() -> Schema:
    """A stage, whose parameters are those of the model that it names or that its preset is of."""
    schema = declared.stage_table().schema()
    edges = schema["properties"]["edges"]
    sides = declared.edges_table()
    edges["anyOf"][1] = sides.schema(required=sides.names())
    schema["not"] = {"required": ["preset", "model"]}
    schema["allOf"] = []
    for model in model_names():
        own = [name for name, preset in presets().items() if preset.model.name == model]
        then = {
            "parameters": {"$ref": f"#/definitions/{model}"},
            "low_water": {"$ref": f"#/definitions/{model}"},
            "levels": {"$ref": f"#/definitions/{model}_levels"},
        }
        named: list[Schema] = [
            {"required": ["model"], "properties": {"model": {"const": model}}},
            {"required": ["preset"], "properties": {"preset": {"enum": own}}},
        ]
        if DEFAULT_PRESET in own:
            named.append({"not": {"anyOf": [{"required": ["model"]}, {"required": ["preset"]}]}})
        schema["allOf"].append({"if": {"anyOf": named}, "then": {"properties": then}})
    return schema


def _levels(model: str) -> Schema:
    level = declared.level_table().schema(required=("cells", "steps"))
    level["properties"]["parameters"] = {"$ref": f"#/definitions/{model}"}
    return {"type": "array", "items": level}
