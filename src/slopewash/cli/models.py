"""`slopewash models`: models, presets and their parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import add_row, console, make_table, print_json, show
from slopewash.cli.options import Json
from slopewash.errors import unknown_name

if TYPE_CHECKING:
    from rich.table import Table

    from slopewash.models import Model, Preset
    from slopewash.models.catalogue import Level
    from slopewash.models.parameters import Parameter as Declared

EXAMPLES = """Examples:
  slopewash models                      every model and every preset
  slopewash models virtual_pipes        its parameters and layers
  slopewash models landscape            the same with this preset's values
  slopewash models landscape --json     as JSON"""


def command(name: Annotated[str | None, Parameter(name="NAME")] = None, /, *, json: Json = False) -> None:
    """List models and presets, or the parameters and layers of one.

    Parameters
    ----------
    name
        A model or a preset. By default all are listed.
    """
    import slopewash as sw

    presets = sw.presets()
    if name is None:
        classes = [sw.find_model(each) for each in sw.model_names()]
        if json:
            print_json(
                {"models": [model_facts(c()) for c in classes], "presets": [*map(preset_facts, presets.values())]}
            )
        else:
            print_overview(classes, [*presets.values()])
    elif name in presets:
        preset = presets[name]
        facts = preset_facts(preset) | {"parameters": parameter_facts(preset.model)}
        print_json(facts) if json else print_preset(preset)
    elif name in sw.model_names():
        model = sw.find_model(name)()
        print_json(model_facts(model)) if json else print_model(model)
    else:
        raise unknown_name("model or preset", name, [*sw.model_names(), *presets])


def model_facts(model: Model) -> dict[str, Any]:
    """Facts about a model, for JSON."""
    return {
        "name": model.name,
        "summary": model.summary,
        "paper": model.paper,
        "backends": model.backends,
        "edges": model.edges(),
        "parameters": parameter_facts(model),
        "layers": layer_facts(model),
    }


def layer_facts(model: Model) -> list[dict[str, Any]]:
    """Every layer that a run may yield, as declared."""
    return [
        {
            "name": f.name,
            "symbol": f.symbol,
            "units": f.units,
            "role": f.role,
            "can_be_painted": f.editable,
            "doc": f.doc,
        }
        for f in model.layers().values()
    ]  # fmt: skip


def preset_facts(preset: Preset) -> dict[str, Any]:
    """Facts about a preset, for JSON."""
    return {
        "name": preset.name,
        "doc": preset.doc,
        "model": preset.model.name,
        "edges": preset.edges,
        "steps": preset.steps,
        "settle": preset.settle,
        "generator": preset.generator,
        "start": dict(preset.start),
        "levels": [dataclasses.asdict(level) for level in preset.levels],
        "strata": None if preset.strata is None else list(preset.strata.layers),
        "changed": preset.model.changed(),
    }


def parameter_facts(model: Model) -> list[dict[str, Any]]:
    """Every parameter with its declaration and its value in `model`."""
    return [
        {
            "name": p.name,
            "value": getattr(model, p.name),
            "default": p.default,
            "symbol": p.symbol,
            "units": p.units,
            "valid": p.rule.must_be if p.rule else None,
            "typical": p.typical,
            "choices": p.choices,
            "map": None if p.mappable is None else p.mappable.layer,
            "equation": p.eq,
            "group": p.group,
            "doc": p.doc,
        }
        for p in model.parameters()
    ]


def print_overview(classes: list[type[Model]], presets: list[Preset]) -> None:
    """Two tables: models and presets."""
    models = make_table("model", "what it does", "paper")
    for c in classes:
        add_row(models, c.name, c.summary, c.paper)
    named = make_table("preset", "model", "edges", "steps", "starts from", "what it is")
    for p in presets:
        add_row(named, p.name, p.model.name, p.edges, str(p.steps), p.generator, p.doc)
    out = console()
    out.print(models)
    out.print(named)
    show("slopewash models NAME lists the parameters of one.")


def print_model(model: Model) -> None:
    """Print a model's description and parameters."""
    show(f"{model.name}: {model.summary}\n{model.paper}. Backends: {', '.join(model.backends)}.")
    out = console()
    out.print(parameter_table(model))
    out.print(layer_table(model))


def layer_table(model: Model) -> Table:
    """Layers with symbol, units and meaning."""
    table = make_table("layer", "symbol", "units", "can be painted", "meaning")
    for layer in layer_facts(model):
        painted = "yes" if layer["can_be_painted"] else ""
        add_row(table, layer["name"], layer["symbol"], layer["units"], painted, layer["doc"])
    return table


def print_preset(preset: Preset) -> None:
    """Print a preset's description and parameter values."""
    from slopewash.recipes.levels import COARSEST

    settle = f", then {preset.settle} to settle" if preset.settle else ""
    show(f"{preset.name}: {preset.doc}")
    start = preset.generator + (f" over {len(preset.strata.layers)} strata" if preset.strata else "")
    show(f"Model {preset.model.name}, edges {preset.edges}, {preset.steps} steps{settle}, from {start}.")
    out = console()
    out.print(parameter_table(preset.model, preset.levels))
    show("Values marked * differ from the model's defaults.")
    if preset.levels:
        out.print(level_table(preset.levels))
        show(
            f"The levels of a run have its own size, halved while at least {COARSEST} cells are left; between two "
            "columns, values are interpolated. Steps also depend on the relief and on --strength. "
            "--set holds on every level."
        )


def level_table(levels: Sequence[Level]) -> Table:
    """Values of the levels, a column for each from coarse to fine."""
    table = make_table("cells", *(str(level.cells) for level in levels))
    add_row(table, "steps", *(str(level.steps) for level in levels))
    add_row(table, "settling steps", *(str(level.settle) for level in levels))
    for name in levels[0].parameters:
        add_row(table, name, *(_value(level.parameters[name]) for level in levels))
    return table


def parameter_table(model: Model, levels: Sequence[Level] = ()) -> Table:
    """Parameters with symbol, value, range and meaning."""
    table = make_table("--set", "symbol", "value", "units", "range", "equation", "meaning")
    group = ""
    for p in model.parameters():
        if p.group != group:
            group = p.group
            table.add_section()
        value = getattr(model, p.name)
        by_level = [level.parameters[p.name] for level in levels if p.name in level.parameters]
        shown = "by level, below" if by_level else "none" if value == p.none else _value(value)
        if any(each != p.default for each in by_level or [value]):
            shown += " *"
        add_row(table, p.name, p.symbol, shown, p.units, _range(p), p.eq, p.doc)
    return table


def _value(value: float | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else f"{value:g}"


def _range(p: Declared) -> str:
    if p.choices:
        return " | ".join(p.choices)
    if isinstance(p.default, bool):
        return "true | false"
    words = p.rule.must_be if p.rule else "any number"
    words += ", or a map" if p.mappable is not None else ""
    return words + (f"; typically {p.typical[0]:g} to {p.typical[1]:g}" if p.typical else "")
