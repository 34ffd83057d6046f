"""How an option is written where an error is read: in Python, on the command line, in a recipe or in the studio.

A file that is read for a layer or a map has other options than one that is read for a terrain: a range, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from slopewash.errors import SlopewashError

Place = Literal["anywhere", "command", "recipe", "page"]

_place: Place = "anywhere"
_wanted: ContextVar[Wanted | None] = ContextVar("wanted", default=None)


@dataclass(frozen=True)
class Wanted:
    """What a file is read for, besides the ground: a layer, or the map of a parameter."""

    name: str
    is_map: bool = False

    def __str__(self) -> str:
        return f"the map of {self.name}" if self.is_map else f"layer {self.name}"

    def range(self, given: bool) -> str:
        """Its range, as it is given or, where it is `given` already, as it is called."""
        flag = f"--{'map' if self.is_map else 'layer'} {self.name}=FILE:LOW..HIGH"
        if given:
            return f"the range of {self}"
        if _place == "command":
            return flag
        table = "stages.parameters" if self.is_map else "layers"
        if _place in ("recipe", "page"):
            return f"range = [low, high] in [{table}.{self.name}]"
        return f"{'low and high of its Map' if self.is_map else 'range=(low, high) of its LayerFile'}, or {flag}"


@contextmanager
def read_in(place: Place) -> Iterator[None]:
    """Write options for those who read the errors raised meanwhile."""
    global _place
    before, _place = _place, place
    try:
        yield
    finally:
        _place = before


@contextmanager
def read_for(wanted: Wanted | None) -> Iterator[None]:
    """Name the layer or map that a file is read for in the errors raised meanwhile; None for the ground.

    >>> with read_for(Wanted("rainfall")):
    ...     option("height_range", "(low, high)"), by_file(ground="name it", other="take another")
    ('range=(low, high) of its LayerFile, or --layer rainfall=FILE:LOW..HIGH', 'take another')
    """
    token = _wanted.set(wanted)
    try:
        yield
    except SlopewashError as error:
        if wanted is None:
            raise
        raise type(error)(f"{wanted}: {error}") from error
    finally:
        _wanted.reset(token)


def by_file(*, ground: str, other: str) -> str:
    """Return the words for the file of a terrain, or those for the file of a layer or map."""
    return ground if _wanted.get() is None else other


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
    wanted = _wanted.get()
    if wanted is not None and name == "height_range":
        return wanted.range(given=not value)
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
    """Return the words for Python, or those for commands; a recipe may need others, and who sees a page types commands.

    >>> by_place(python="call sw.read_mesh", command="use slopewash convert")
    'call sw.read_mesh'
    >>> with read_in("command"):
    ...     by_place(python="call sw.read_mesh", command="use slopewash convert")
    'use slopewash convert'
    """
    if _place == "recipe":
        return command if recipe is None else recipe
    return python if _place == "anywhere" else command
