"""Help is instant and teaches."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.cli.app import COMMANDS, make_app
from slopewash.cli.generate import KINDS, OPTIONS
from slopewash.cli.options import (
    parse_emitters,
    parse_height_range,
    parse_layer_files,
    parse_maps,
    parse_snow_line,
    parse_sun,
)
from slopewash.cli.reading import Reading
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


def examples(text: str) -> list[list[str]]:
    """Words of each example in the help of a command, without what is said of it."""
    lines = text.replace("\\\n", " ").splitlines()
    commands = [re.split(r"(?<=\S)  +(?![-\s])", line.strip())[0] for line in lines if line.startswith("  slopewash ")]
    return [shlex.split(re.sub(" +(channels|from) .*", "", command))[1:] for command in commands]


PARSERS: dict[str, Callable[[Any], object]] = {
    "reading": Reading.options, "out_height_range": parse_height_range, "layer": parse_layer_files,
    "maps": parse_maps, "emitter": parse_emitters, "sun": parse_sun, "snow_line": parse_snow_line,
}  # fmt: skip
"""Options that a command reads itself; those of several words only."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_a_command_that_takes_its_options(name: str) -> None:
    found = examples(COMMANDS[name].EXAMPLES)
    assert found
    for words in found:
        bound = make_app().parse_args(words, print_error=False, exit_on_error=False)[1]
        for option, value in bound.arguments.items():
            if option in PARSERS and (option != "layer" or isinstance(value, tuple)):
                PARSERS[option](value)


FORCES = {
    "convert": "the input", "erode": "--record", "render": "the input", "recipes": "a file of that name",
    "resume": "an input in --out", "run": "files that it reads",
}  # fmt: skip
"""What is kept without --force, by command."""


@pytest.mark.parametrize("name", COMMANDS)
def test_force_names_what_it_overwrites_that_would_be_kept(name: str) -> None:
    arguments = {each.name: each for each in make_app()[name].assemble_argument_collection(parse_docstring=True)}
    assert ("--force" in arguments) == (name in FORCES)
    if name in FORCES:
        assert FORCES[name] in (arguments["--force"].parameter.help or "")


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


def test_a_setting_without_its_equals_sign_is_shown_with_it(run: Run) -> None:
    for words in (["raw.exr", "--set", "rain_rate", "50"], ["--set", "rain_rate", "50", "raw.exr"]):
        done = run("erode", *words, "-o", "out.exr")
        assert done.code == 2
        assert "write --set rain_rate=50." in done.err
    done = run("info", "raw.exr", "other.exr")
    assert done.err == "slopewash: no option or argument takes other.exr. See: slopewash info --help\n"


def test_a_size_that_no_command_makes_is_answered_with_what_one_can_do(run: Run, tmp_path: Path) -> None:
    way = "slopewash erode FILE --tiles 2048"
    recipe = tmp_path / "my.toml"
    recipe.write_text('[source]\ngenerator = "dome"\nsize = 60000\n[[stages]]\npreset = "landscape"\n')
    for words in (["generate", "dome", "-o", tmp_path / "g.exr"], ["demo", "-o", tmp_path / "demo"]):
        done = run(*words, "--size", "60000")
        assert (done.code, way in done.err, "maximum_size" in done.err) == (2, True, False)
    done = run("run", recipe, "--check")
    assert (done.code, way in done.err) == (2, True)


def test_a_note_on_stability_is_printed_once(run: Run, tmp_path: Path) -> None:
    stage = '[[stages]]\nmodel = "virtual_pipes"\nsteps = 1\nparameters = { time_step = 0.4 }\n'
    recipe = tmp_path / "my.toml"
    recipe.write_text(f'backend = "reference"\n[source]\ngenerator = "dome"\nsize = 16\n{stage}{stage}')
    done = run("run", recipe, "-o", tmp_path / "out")
    assert (done.code, done.err.count("stability limit")) == (0, 1)
