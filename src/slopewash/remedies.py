"""How an option is written where an error is read: in Python, on the command line, in a recipe or in the studio."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Place = Literal["anywhere", "command", "recipe", "page"]

_place: Place = "anywhere"


@contextmanager
def read_in(place: Place) -> Iterator[None]:
    """Write options for those who read the errors raised meanwhile."""
    global _place
    before, _place = _place, place
    try:
        yield
    finally:
        _place = before


def option(name: str, value: str = "", typed: str | None = None, *, table: str = "[source]") -> str:
    """Return an option, with a value in Python and the same as it is typed; `table` of a recipe holds it.

    >>> option("reproject", '"utm"', "utm")
    'reproject="utm", or --reproject utm'
    >>> with read_in("command"):
    ...     option("reproject", '"utm"', "utm")
    '--reproject utm'
    >>> with read_in("recipe"):
    ...     option("reproject", '"utm"', "utm")
    'reproject = "utm" in [source]'
    >>> with read_in("page"):
    ...     option("reproject", '"utm"', "utm")
    'reproject (slopewash studio FILE --reproject utm)'
    """
    flag = f"--{name.replace('_', '-')} {value if typed is None else typed}".rstrip()
    if _place == "command":
        return flag
    if _place == "page":
        return f"{name} (slopewash studio FILE {flag})"
    if _place == "recipe":
        listed = value.replace("(", "[").replace(")", "]").replace("True", "true")
        return f"{name} = {listed} in {table}" if value else f"{name} in {table}"
    return f"{name}={value}, or {flag}" if value else f"{name}, or {flag}"


def by_place(*, python: str, command: str, recipe: str | None = None) -> str:
    """Return the words for Python, or those for where commands are typed, or for a recipe if it needs others.

    >>> by_place(python="call sw.read_mesh", command="use slopewash convert")
    'call sw.read_mesh'
    >>> with read_in("command"):
    ...     by_place(python="call sw.read_mesh", command="use slopewash convert")
    'use slopewash convert'
    """
    if _place == "recipe":
        return command if recipe is None else recipe
    return command if _place == "command" else python
