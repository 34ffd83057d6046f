"""Help is instant and teaches."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import slopewash as sw
from slopewash.cli.app import COMMANDS, make_app
from slopewash.cli.generate import KINDS, OPTIONS
from slopewash.io.options import ReadOptions

Run = Callable[..., Any]

GROUPED = "*"
"""Name of what only gathers options, such as those of reading."""

MEASURED = """
import resource, sys
from slopewash.cli import main
main(sys.argv[1:])
usage = resource.getrusage(resource.RUSAGE_SELF)
heavy = sorted({"numpy", "numba", "PIL"} & set(sys.modules))
print(usage.ru_utime + usage.ru_stime, heavy, file=sys.stderr)
"""


def test_help_is_instant_and_imports_no_array_library() -> None:
    seconds = []
    for _ in range(3):  # the best counts: other tests run beside this one
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, "--help"], capture_output=True, text=True, check=True, timeout=60
        )
        time, heavy = done.stderr.strip().split(" ", 1)
        assert heavy == "[]"
        seconds.append(float(time))
    assert min(seconds) < 0.4


def test_help_lists_every_command_with_examples(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(name in done.out for name in COMMANDS)
    assert "Examples:" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_fit_a_terminal(name: str, run: Run) -> None:
    done = run(name, "--help")
    assert done.code == 0
    assert f"  slopewash {name}" in done.out
    assert max(map(len, COMMANDS[name].EXAMPLES.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    for argument in make_app()[name].assemble_argument_collection(parse_docstring=True):
        assert argument.parameter.help or argument.name == GROUPED, argument.name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_terminal_alone_wraps_what_explains_an_option(name: str) -> None:
    for argument in make_app()[name].assemble_argument_collection(parse_docstring=True):
        assert "\n" not in (argument.parameter.help or ""), argument.name


READERS = ("erode", "convert", "render", "analyse", "export", "info", "studio")


@pytest.mark.parametrize("name", READERS)
def test_every_command_that_reads_heights_takes_every_option_of_reading(name: str) -> None:
    options = {field.name for field in dataclasses.fields(ReadOptions)}
    if name in ("render", "analyse", "info"):
        options.remove("allow_8bit")  # they always do
    flags = {argument.name for argument in make_app()[name].assemble_argument_collection()}
    assert {f"--{option.replace('_', '-')}" for option in options} <= flags


def test_help_lists_the_kinds_that_there_are() -> None:
    assert sorted(KINDS.split()) == sorted(sw.generator_names())


def test_help_lists_the_options_of_each_kind() -> None:
    listed = {}
    for line in OPTIONS.splitlines():
        kinds, flags = line.strip().split("  ", 1)
        for kind in kinds.split(", "):
            listed[kind] = [flag.removeprefix("--").replace("-", "_") for flag in flags.split()]
    declared = {kind: [option.name for option in sw.generator_options(kind)] for kind in sw.generator_names()}
    assert listed == {kind: names for kind, names in declared.items() if names}


def test_version_is_reported(run: Run) -> None:
    assert run("--version").out.strip() == f"slopewash {sw.__version__}"
