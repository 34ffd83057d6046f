"""Does what a page says, from its first block to its last, in an empty folder."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.inputs import INPUTS
from tests.docs.pages import COMMANDS, ROOT, SHOWN, Block, blocks, page_notes
from tests.docs.smaller import small_defaults, smaller, smaller_command

import slopewash as sw
from slopewash.cli import main
from slopewash.cli.app import make_app
from slopewash.exports.targets import TARGETS
from slopewash.models.base import _models

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHORTEST = '[source]\ngenerator = "dome"\n\n[[stages]]\npreset = "landscape"\n'
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def follow(page: Path, folder: Path) -> str:
    """Run every block of a page in a folder; returns what was printed."""
    notes = page_notes(page)
    for name in filter(None, notes.get("needs", "").split(", ")):
        INPUTS[name](folder / name)
    names: dict[str, Any] = {"__name__": "page"}
    printed = io.StringIO()
    with (
        contextlib.chdir(folder), contextlib.redirect_stdout(printed), small_defaults(), nothing_stays_known(folder),
    ):  # fmt: skip
        sys.path.insert(0, str(folder))
        for block in blocks(page):
            _follow(block, names, as_given=notes.get("sizes") == "as given")
    return printed.getvalue()


@contextlib.contextmanager
def nothing_stays_known(folder: Path) -> Iterator[None]:
    """Forget the models, targets and modules of a folder in the end: other tests list what is registered."""
    path, models, targets = list(sys.path), dict(_models), dict(TARGETS)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        _models.clear()
        _models.update(models)
        TARGETS.clear()
        TARGETS.update(targets)


def _follow(block: Block, names: dict[str, Any], *, as_given: bool) -> None:
    if block.language in SHOWN or block.note("not run"):
        return
    text = smaller(block.text, _replacements(block), as_given=as_given)
    refused = block.note("refused")
    error = ""
    try:
        if file := block.note("file"):
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(text, encoding="utf-8")
        elif file := block.note("part of"):
            before = Path(file).read_text(encoding="utf-8") if Path(file).exists() else SHORTEST
            Path(file).write_text(f"{before}\n{text}", encoding="utf-8")
        elif block.language == "python":
            exec(block.note("given") or "", names)
            # Lines before it are left empty, so that an error names the line of the page.
            exec(compile("\n" * block.line + text, str(block.page), "exec"), names)
        elif block.language in COMMANDS:
            _run_commands(block, text, as_given=as_given)
        else:
            raise AssertionError(f"{block.place}: nobody knows how to run {block.language!r}")
        if file is not None and file.endswith(".toml"):
            _check_toml(Path(file))
    except sw.SlopewashError as caught:
        if refused is None:
            raise AssertionError(f"{block.place}: {caught}") from caught
        error = str(caught)
    assert refused is None or refused in error, f"{block.place} was to be refused: {refused}"
    for made in filter(None, (block.note("makes") or "").split(", ")):
        assert Path(made).exists(), f"{block.place} did not make {made}"


def _replacements(block: Block) -> list[str]:
    return [part for value in block.all("smaller") for part in value.split("; ")]


def _check_toml(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    if "[source]" in text:
        sw.Recipe.read(file)
    else:
        sw.read_strata(file)


def _run_commands(block: Block, text: str, *, as_given: bool) -> None:
    lines = [words for line in text.replace("\\\n", " ").splitlines() if (words := shlex.split(line, comments=True))]
    if any(words[0] not in ("slopewash", "python", "pip", "make") for words in lines):
        _run_script(block, text)
        return
    for words in lines:
        if words[0] == "pip":
            _check_install(block, words)
        elif words[0] == "make":
            assert f"\n{words[1]}:" in MAKEFILE, f"{block.place}: no target {words[1]}"
        elif words[0] == "python":
            _run_script(block, shlex.join(words))
        elif len(words) > 1 and words[1] == "studio":  # serves until it is stopped: tests/studio do that
            make_app().parse_args(words[1:], print_error=False, exit_on_error=False)
        else:
            _run_command(block, words[1:] if as_given else smaller_command(words[1:]))


def _run_command(block: Block, words: list[str]) -> None:
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = main(words)
    shown = f"{block.place}: slopewash {shlex.join(words)}: {errors.getvalue()}"
    if (refused := block.note("refused")) is not None and code:
        raise sw.SlopewashError(errors.getvalue()) if refused in errors.getvalue() else AssertionError(shown)
    assert code == 0, shown


def _check_install(block: Block, words: list[str]) -> None:
    """What is installed is a copy of this project, with extras that it has."""
    (wanted,) = [word for word in words[2:] if not word.startswith("-")]
    name, _, extras = wanted.rstrip("]").partition("[")
    assert name in ("path/to/slopewash", "."), f"{block.place}: {wanted}"
    unknown = set(filter(None, extras.split(","))) - set(PROJECT["optional-dependencies"])
    assert not unknown, f"{block.place}: no extra {unknown}"


def _run_script(block: Block, text: str) -> None:
    """Run a script of the shell, in which `slopewash` and `python` are these ones."""
    folder = Path(".command").absolute()
    folder.mkdir(exist_ok=True)
    for name, words in (("slopewash", "-m slopewash"), ("python", "")):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
    around = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", text], env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block.place}: {done.stderr}"
