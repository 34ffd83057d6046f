"""`slopewash recipes`: the library of landscapes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import add_row, console, make_table, print_json, show
from slopewash.cli.options import Flag, Json
from slopewash.cli.outputs import make_folder
from slopewash.errors import InvalidFile, InvalidParameter

if TYPE_CHECKING:
    from slopewash import Look

EXAMPLES = """Examples:
  slopewash recipes                        every landscape of the library
  slopewash recipes mesas                  what one is made of
  slopewash demo --recipe mesas            make it, with pictures
  slopewash recipes mesas -o my.toml       write it to a file, and change it:
  slopewash run my.toml                    then run that
  slopewash demo --recipe mesas --seed 2   another one of its kind"""


def command(
    name: Annotated[str | None, Parameter(name="NAME")] = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    force: Flag = False,
    schema: Flag = False,
    json: Json = False,
) -> None:
    """List the landscapes of the library, show what one is made of, or write it to a recipe file.

    Parameters
    ----------
    name
        A landscape. By default all are listed.
    out
        FILE.toml to write the recipe to, for you to change and `slopewash run` to run.
    schema
        Print the JSON Schema of recipe files, for editors that complete and check them.
    force
        Overwrite a file of that name, which is refused without.
    """
    import slopewash as sw

    if schema:
        print_json(sw.recipe_schema())
        return
    looks = sw.looks()
    if out is not None:
        if name is None:
            raise InvalidParameter(f"--out {out} needs the NAME of a landscape")
        look = looks[name]
        if out.exists() and not force:
            raise InvalidFile(f"{out} exists, perhaps with changes of yours; name another file, or add --force")
        make_folder(out.parent)
        look.recipe().replace(outputs=look.outputs).write(out)
        print_json({"recipe": name, "output": str(out)}) if json else show(out)
    elif name is not None:
        facts = look_facts(looks[name])
        print_json(facts) if json else print_look(facts)
    elif json:
        print_json({"recipes": [look_facts(look) for look in looks.values()]})
    else:
        table = make_table("recipe", "what it is")
        for look in looks.values():
            add_row(table, look.name, look.doc)
        console().print(table)
        show("slopewash demo --recipe NAME makes one; slopewash recipes NAME shows what it is made of.")
        show(
            "slopewash recipes NAME -o my.toml writes it to a file that you can change, and slopewash run my.toml runs."
        )


def look_facts(look: Look) -> dict[str, Any]:
    """Facts about a landscape, for JSON."""
    start = look.start
    return {
        "name": look.name,
        "doc": look.doc,
        "start": {"generator": start.kind, "seed": start.seed, "relief": start.relief, **start.options},
        "preset": look.preset,
        "strength": look.strength,
        "parameters": dict(look.settings),
        "factors": dict(look.scaled),
        "sea_level": look.sea,
        "sea_level_at_the_end": look.drowned,
        "basins": look.basins,
        "stage": dict(look.stage),
        "strata": None if look.strata is None else len(look.strata.layers),
        "picture": dict(look.picture),
    }


def print_look(facts: dict[str, Any]) -> None:
    """Print what a landscape is made of, line by line."""
    show(f"{facts['name']}: {facts['doc']}")
    words = {
        "strength": "{:g} of the preset's steps",
        "sea_level": "at {:g} of the relief",
        "sea_level_at_the_end": "at {:g} of the relief",
        "strata": "{} layers",
    }
    table = make_table("part", "value")
    for part, value in facts.items():
        if part in ("name", "doc") or value in (None, {}):
            continue
        listed = ", ".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else str(value)
        add_row(table, part.replace("_", " "), words[part].format(value) if part in words else listed)
    console().print(table)
