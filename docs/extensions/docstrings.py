"""Reads our docstrings: sections of NumPy's kind for parameters, and examples at the end that need no heading."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import NumpyDocstring

WITH_SECTIONS = ("class", "exception", "function", "method", "module")
CONFIG: Any = Config(napoleon_use_rtype=False)


def read(app: Sphinx, what: Any, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn sections into what Sphinx understands; attributes have none, and may have colons in their sentence."""
    if what not in WITH_SECTIONS:
        return
    if "Parameters" in lines:
        first = next((at for at, line in enumerate(lines) if line.startswith(">>>")), None)
        if first is not None and "Examples" not in lines:
            lines[first:first] = ["Examples", "--------"]
    lines[:] = NumpyDocstring(lines, CONFIG, app, what, name, thing, options).lines()


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", read)
    return {"parallel_read_safe": True}
