"""Tables made from the declarations: the parameters, layers and presets of a model."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import slopewash as sw
from slopewash.cli.models import layer_facts, preset_facts
from slopewash.models.parameters import Parameter

PICTURES = Path(__file__).parent.parent / "pictures" / "parameters"


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
        declared = sw.find_model(name)().parameters()
        for group in dict.fromkeys(p.group for p in declared):
            yield f"**{group[:1].upper()}{group[1:]}**\n"
            rows = [
                (f"`{p.name}` {p.symbol}", f"{_default(p)} {p.units}", _range(p), _meaning(p))
                for p in declared
                if p.group == group
            ]
            yield from table(("parameter", "default", "values", "meaning"), rows)
            yield from strips(name, [p.name for p in declared if p.group == group])


class Deviations(Declared):
    """What the model's docstring says of its source: the list after the line that begins with "Deviations"."""

    def lines(self, name: str) -> Iterable[str]:
        text = inspect.getdoc(sw.find_model(name)) or ""
        begins = text.index("\n- ", text.index("\nDeviations"))
        return text[begins : text.index("\n\n", begins + 1)].splitlines()


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


def strips(model: str, names: Iterable[str]) -> Iterable[str]:
    """Show what each parameter does, where `examples/parameters.py` has drawn it."""
    drawn = [name for name in names if (PICTURES / model / f"{name}.jpg").exists()]
    if not drawn:
        return
    notes = json.loads((PICTURES / model / "notes.json").read_text(encoding="utf-8"))
    yield "::::{grid} 1 1 2 2\n:gutter: 3\n"
    for name in drawn:
        picture = f"![{name}](/pictures/parameters/{model}/{name}.jpg)"
        yield f":::{{grid-item}}\n`{name}`\n\n{picture}\n\n{notes.get(name, '')}\n:::\n"
    yield "::::\n"


class Gallery(SphinxDirective):
    """Every look before and after, with its time and its command, as `examples/site_gallery.py` made them."""

    def run(self) -> list[nodes.Node]:
        made = PICTURES.parent / "gallery"
        times = json.loads((made / "times.json").read_text(encoding="utf-8"))["seconds"]
        cards = [
            f"""## `{name}`

{look.doc}

:::{{div}} compare
![{name} before erosion](/pictures/gallery/{name}-before.jpg)
![{name} after erosion](/pictures/gallery/{name}-after.jpg)
:::

`slopewash demo --recipe {name}` ({times[name]:g} s)
"""
            for name, look in sw.looks().items()
        ]
        return self.parse_text_to_nodes("\n".join(cards), allow_section_headings=True)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterable[str]:
    """Write the lines of a table, without the columns in which nothing stands."""
    rows = [[str(cell) for cell in row] for row in rows]
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    yield "| " + " | ".join(head[at] for at in used) + " |"
    yield "|" + "---|" * len(used)
    for row in rows:
        yield "| " + " | ".join(row[at].replace("|", "\\|") for at in used) + " |"
    yield ""


def _default(p: Parameter) -> str:
    if p.default == p.none:
        return "none"
    return f"`{str(p.default).lower()}`" if isinstance(p.default, str | bool) else f"`{p.default:g}`"


def _meaning(p: Parameter) -> str:
    return p.doc + (f" Eq. {p.eq}." if p.eq[:1].isdigit() else f" ({p.eq})" if p.eq else "")


def _range(p: Parameter) -> str:
    if p.choices:
        return ", ".join(f"`{choice}`" for choice in p.choices)
    if isinstance(p.default, bool):
        return "`true`, `false`"
    words = p.rule.must_be if p.rule else "any number"
    words += "; or a map" if p.mappable else ""
    return words + (f"; typically {p.typical[0]:g} to {p.typical[1]:g}" if p.typical else "")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("parameters", Parameters)
    app.add_directive("deviations", Deviations)
    app.add_directive("gallery", Gallery)
    app.add_directive("layers", Layers)
    app.add_directive("presets", Presets)
    return {"parallel_read_safe": True}
