"""What messages name exists: options of commands, commands, and names of the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.remedies import flags_of, unknown_options

import slopewash as sw
from slopewash.cli.app import COMMANDS
from slopewash.io.limits import grid_allowance
from slopewash.remedies import Place, by_place, read_in

SOURCES = Path(sw.__file__).parent
OF_OTHERS = ("--user", "--version")


def messages() -> Iterator[tuple[str, str]]:
    """Every text in the sources that is not a docstring, by place."""
    for file in sorted(SOURCES.rglob("*.py")):
        if "node_modules" in file.parts:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield f"{file.relative_to(SOURCES)}:{node.lineno}", node.value


def test_every_option_that_a_message_names_is_one_of_some_command() -> None:
    known = frozenset().union(*map(flags_of, COMMANDS)) | {*OF_OTHERS}
    named = {
        f"{place} {flag}"
        for place, text in messages()
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)
        if flag not in known and "dask" not in text and not flag.startswith("--no-") and place.split("/")[0] != "cli"
    }
    assert not named


def test_every_command_that_a_message_names_exists() -> None:
    named = {name for _, text in messages() for name in re.findall(r"\bslopewash ([a-z]+) (?:[-A-Z./]|$)", text)}
    assert named - COMMANDS.keys() == set()


def test_every_public_name_in_a_message_exists() -> None:
    named = {(place, name) for place, text in messages() for name in re.findall(r"\bsw\.([A-Za-z_]+)", text)}
    assert {(place, name) for place, name in named if not hasattr(sw, name)} == set()


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        ("anywhere", "raise max_pixels, or --max-pixels if"),
        ("command", "raise --max-pixels if"),
        ("recipe", "raise max_pixels in [source] if"),
        ("page", "raise max_pixels (slopewash studio FILE --max-pixels) if"),
    ],
)
def test_a_remedy_is_written_for_where_it_is_read(place: Place, remedy: str) -> None:
    with read_in(place):
        assert remedy in grid_allowance(Path(__file__), 1).remedy


@pytest.mark.parametrize(
    ("place", "words"), [("anywhere", "call it"), ("command", "type it"), ("recipe", "type it"), ("page", "type it")]
)
def test_who_reads_no_python_is_told_what_to_type(place: Place, words: str) -> None:
    with read_in(place):
        assert by_place(python="call it", command="type it") == words


def test_an_option_that_the_command_lacks_is_noticed() -> None:
    assert unknown_options(["run", "my.toml"], "slopewash: give --reproject utm") == ["--reproject"]
    assert unknown_options(["run", "my.toml"], "slopewash: take slopewash erode raw.exr --reproject utm") == []
    assert unknown_options(["run", "my.toml", "--reprject"], "slopewash: unknown --reprject") == []
