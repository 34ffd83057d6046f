"""Tables made from the declarations: the parameters, layers and presets of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import slopewash as sw
from slopewash.cli.models import layer_facts, parameter_facts, preset_facts


class Declared(SphinxDirective):
    """A table of what the model named by the argument declares."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(self.lines(self.arguments[0])))

    def lines(self, name: str) -> Iterable[str]:
        raise NotImplementedError


class Parameters(Declared):
    """Parameters and laws, a table for each group."""

    def lines(self, name: str) -> Iterable[str]:
        facts = parameter_facts(sw.find_model(name)())
        for group in dict.fromkeys(p["group"] for p in facts):
            yield f"**{group[:1].upper()}{group[1:]}**\n"
            rows = [
                (
                    f"`{p['name']}`",
                    p["symbol"],
                    _code(p["default"]),
                    p["units"],
                    _range(p),
                    p["equation"],
                    p["doc"],
                )
                for p in facts
                if p["group"] == group
            ]
            yield from table(("parameter", "symbol", "default", "units", "values", "equation", "meaning"), rows)


class Layers(Declared):
    """Layers that a run yields."""

    def lines(self, name: str) -> Iterable[str]:
        rows = [
            (f"`{f['name']}`", f["symbol"], f["units"], "yes" if f["can_be_painted"] else "", f["doc"])
            for f in layer_facts(sw.find_model(name)())
        ]
        yield from table(("layer", "symbol", "units", "can be painted", "meaning"), rows)


class Presets(Declared):
    """Presets of the model."""

    def lines(self, name: str) -> Iterable[str]:
        facts = [preset_facts(p) for p in sw.presets().values() if p.model.name == name]
        rows = [(f"`{p['name']}`", p["doc"], p["generator"], p["edges"], p["steps"]) for p in facts]
        yield from table(("preset", "what it is", "begins with", "edges", "steps"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterable[str]:
    """Write the lines of a table, without the columns in which nothing stands."""
    rows = [[str(cell) for cell in row] for row in rows]
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    yield "| " + " | ".join(head[at] for at in used) + " |"
    yield "|" + "---|" * len(used)
    for row in rows:
        yield "| " + " | ".join(row[at].replace("|", "\\|") for at in used) + " |"
    yield ""


def _code(value: Any) -> str:
    return f"`{value:g}`" if isinstance(value, float) else f"`{str(value).lower()}`"


def _range(p: dict[str, Any]) -> str:
    if p["choices"]:
        return ", ".join(f"`{choice}`" for choice in p["choices"])
    if isinstance(p["default"], bool):
        return "`true`, `false`"
    words = p["valid"] or "any number"
    words += "; or a map" if p["map"] else ""
    return words + (f"; typically {p['typical'][0]:g} to {p['typical'][1]:g}" if p["typical"] else "")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("parameters", Parameters)
    app.add_directive("layers", Layers)
    app.add_directive("presets", Presets)
    return {"parallel_read_safe": True}
