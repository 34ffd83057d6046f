"""Tables made from what the scripts of examples/papers measured and wrote to papers/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from declared import table  # type: ignore[import-not-found]  # a neighbour: conf.py puts this folder on the path
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "papers" / "results"


class Measured(SphinxDirective):
    """A table of a source, both named by the arguments, and where and when it was measured."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        source, name = self.arguments
        file = RESULTS / f"{source}.json"
        self.env.note_dependency(str(file))
        record = json.loads(file.read_text(encoding="utf-8"))
        found = record["tables"][name]
        lines = [*table(found["columns"], found["rows"]), measured_on(found["measured"])]
        return self.parse_text_to_nodes("\n".join(lines))


def measured_on(where: dict[str, Any]) -> str:
    """Machine, versions, commit and date in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in where["versions"].items())
    machine = f"{where['machine']}, load {where['load']:g} before"
    return f"*{where['date']}, {machine}, {versions}, commit {where['commit']}*"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True}
