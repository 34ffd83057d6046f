"""The API reference: a page for each package, written before the build from the public names and their homes."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import slopewash as sw

FOLDER = Path(__file__).parent.parent / "api"
TITLES = {
    "recipes": "Recipes and one-line calls",
    "simulation": "Simulations and checkpoints",
    "models": "Models and presets",
    "terrain": "Terrain",
    "generators": "Generators",
    "io": "Files",
    "rendering": "Pictures",
    "films": "Films",
    "exports": "Exports",
    "analysis": "Analysis",
    "reports": "Reports",
    "observers": "Observers",
    "tiles": "Tiles",
    "backends": "Backends",
    "studio": "Studio",
    "errors": "Errors and warnings",
}


def homes() -> dict[str, list[str]]:
    """Public names by the package they come from."""
    found: dict[str, list[str]] = {package: [] for package in TITLES}
    for module, names in sw._HOMES.items():
        package = module.split(".")[1] if "." in module else ""
        if package:
            found[package] += names
    return found


def page(package: str, names: list[str]) -> str:
    """Write one page: an overview, then every name with its documentation."""
    about = inspect.getdoc(importlib.import_module(f"slopewash.{package}")) or ""
    rows = [f"| [`{n}`](#slopewash.{n}) | {first_sentence(getattr(sw, n))} |" for n in sorted(names, key=str.lower)]
    entries = "\n\n".join(entry(name) for name in sorted(names, key=str.lower))
    overview = "\n".join(["| name | what it is |", "|---|---|", *rows])
    return f"# {TITLES[package]}\n\n{about}\n\n{overview}\n\n```{{eval-rst}}\n{entries}\n```\n"


def entry(name: str) -> str:
    """Return the directive that documents a name, with what it defines itself."""
    if inspect.isclass(getattr(sw, name)):
        # The fields of a model are tables on its own page; here they would be thousands of characters in one line.
        return f".. autoclass:: slopewash.{name}\n   :members:\n   :undoc-members:\n   :exclude-members: fields"
    return f".. autofunction:: slopewash.{name}"


def first_sentence(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def write(app: Sphinx) -> None:
    """Write the pages; one that has not changed is left alone, so that it is not built again."""
    FOLDER.mkdir(exist_ok=True)
    pages = {f"{package}.md": page(package, names) for package, names in homes().items()}
    listed = "\n".join(TITLES)
    pages["index.md"] = (
        "# API reference\n\nEvery public name, as in `import slopewash as sw`. The examples are run by the tests.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    for name, text in pages.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
