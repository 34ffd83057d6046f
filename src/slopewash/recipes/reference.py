"""The reference of recipe files; `python -m slopewash.recipes.reference docs` writes it and the schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from slopewash.drafts import write_beside
from slopewash.generators import describe_generator, generator_names
from slopewash.models import model_names
from slopewash.recipes import declaration as declared
from slopewash.recipes.entries import Entry
from slopewash.recipes.outputs import output_kinds
from slopewash.recipes.schema import recipe_schema

INTRODUCTION = """# Recipe reference

Every key of a recipe file, made from the declarations that the reader checks files against
(`python -m slopewash.recipes.reference docs`). [Recipes](recipes.md) shows how to write one;
[recipe.schema.json](recipe.schema.json) is the same for editors.
"""


def reference() -> str:
    """Markdown with a table for each table of a recipe file."""
    return "\n".join([INTRODUCTION, *_sections()])


def schema_text() -> str:
    """The JSON Schema as it is published."""
    return json.dumps(recipe_schema(), indent=1, ensure_ascii=False) + "\n"


def _sections() -> Iterator[str]:
    yield _section("## The file", "", declared.top_table().entries)
    common = declared.source_table(generator_names()[0]).entries[: 1 + len(declared.GENERATED)]
    yield _section("## `[source]`: a generator", "", common)
    for kind in generator_names():
        own = declared.source_table(kind).entries[len(common) :]
        yield _section(f'### `generator = "{kind}"`', describe_generator(kind)[0], own)
    for title, table in (
        ("## `[source]`: a file", declared.source_table(None)),
        ("## `[layers]`", declared.layers_table()),
        ("### `[layers.NAME]`", declared.layer_file_table()),
        ("## `[strata]`", declared.strata_table()),
        ("### `[[strata.layers]]`", declared.stratum_table()),
        ("## `[[water_sources]]`", declared.water_source_table()),
        ("## `[[emitters]]`", declared.emitter_table()),
        ("## `[[stages]]`", declared.stage_table()),
        ("### `[stages.edges]`", declared.edges_table()),
        ("### `[[stages.levels]]`", declared.level_table()),
    ):
        yield _section(title, table.doc, table.entries)
    table = declared.map_table()
    yield _section("### `[stages.parameters.NAME]`", f"{table.doc} For those that may be a table.", table.entries)
    for model in model_names():
        yield _section(f"### `[stages.parameters]` of `{model}`", "", declared.parameters_table(model).entries)
    yield "## `[[outputs]]`\n"
    for output in output_kinds().values():
        yield _section(f'### `kind = "{output.name}"`', output.doc, output.table.entries)


def _section(title: str, text: str, entries: Iterable[Entry]) -> str:
    lines = [title, "", *([text, ""] if text else [])]
    rows = [f"| `{e.name}` | {_wanted(e)} | {_cell(e.default)} | {_cell(e.units)} | {_cell(e.doc)} |" for e in entries]
    if rows:
        lines += ["| key | value | if not given | units | meaning |", "|---|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _wanted(entry: Entry) -> str:
    return _cell(entry.wanted.replace(" or ", ", ") if len(entry.choices) > 2 else entry.wanted)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(folder: Path) -> None:
    """Write both files into a folder."""
    write_beside(folder / "recipe-reference.md", reference())
    write_beside(folder / "recipe.schema.json", schema_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
