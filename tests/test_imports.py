"""Every package that is imported is declared, in core or in the extra of the module that imports it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "slopewash"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = ("slopewash", "tests", "benchmarks", "examples", "docs")
ONLY_TYPES = ("_typeshed",)
"""Modules of type checkers, which no package brings."""
INSTALLED_BY_HAND = ("atheris", "landlab")
"""What a script compares with, or fuzzes with, if someone has installed it."""

USED_BY = {
    "studio": ("studio/",),
    "tiles": ("tiles/", "terrain/dataset.py"),
    "xarray": ("terrain/", "tiles/"),
    "gis": ("io/", "tiles/", "terrain/dataset.py"),
    "video": ("films/",),
    "usd": ("exports/",),
    "gpu": ("backends/gpu/",),
}
"""Folders and modules that may import what an extra brings; all of them do so where it is needed, not before."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def packages_of(requirements: list[str]) -> set[str]:
    names = (re.match(r"[A-Za-z0-9_.-]+", requirement) for requirement in requirements)
    return {normal(name[0]) for name in names if name}


CORE = packages_of(PROJECT["dependencies"])
EXTRAS = {extra: packages_of(needs) for extra, needs in PROJECT["optional-dependencies"].items()}
BROUGHT_BY = packages_distributions()


def imported(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder, with each package that it imports and that is not Python's or ours."""
    for file in sorted(folder.rglob("*.py")):
        if "node_modules" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                modules = [node.module]
            for module in modules:
                top = module.partition(".")[0]
                if top not in sys.stdlib_module_names and top not in (*OURS, *ONLY_TYPES):
                    yield file.relative_to(folder).as_posix(), top


def declared(module: str, packages: set[str]) -> bool:
    return any(normal(name) in packages for name in BROUGHT_BY.get(module, [module]))


def test_every_import_of_the_package_is_declared_in_core_or_in_the_extra_of_its_module() -> None:
    undeclared = set()
    for file, module in imported(PACKAGE):
        extras = [extra for extra, places in USED_BY.items() if file.startswith(places)]
        if not declared(module, CORE.union(*(EXTRAS[extra] for extra in extras))):
            undeclared.add(f"{file} imports {module}")
    assert not undeclared


@pytest.mark.parametrize("folder", OURS[1:])
def test_every_import_of_tests_and_scripts_is_declared(folder: str) -> None:
    everything = CORE.union(*EXTRAS.values())
    beside = {file.stem for file in (ROOT / folder).rglob("*.py")}  # the site's extensions import each other
    known = {*beside, *INSTALLED_BY_HAND}
    undeclared = {
        f"{file} imports {module}"
        for file, module in imported(ROOT / folder)
        if module not in known and not declared(module, everything)
    }
    assert not undeclared


@pytest.mark.parametrize("folder", ["src/slopewash", "tests"])
def test_no_import_stands_in_the_text_of_a_docstring(folder: str) -> None:
    """Without a prompt it is no line of an example, and where that is skipped, nobody sees that it is none."""
    stray = set()
    for file in sorted((ROOT / folder).rglob("*.py")):
        if "node_modules" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (ast.get_docstring(node) or "").splitlines()
                found = (line for line in lines if re.match(r"\s*(from [\w.]+ import \w|import [\w.]+$)", line))
                stray |= {f"{file.relative_to(ROOT)}: {line}" for line in found}
    assert not stray


def test_every_lower_bound_is_stated() -> None:
    groups = {"core": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    unbound = {
        each for needs in groups.values() for each in needs if ">=" not in each and not each.startswith("slopewash[")
    }
    assert not unbound, "the lowest version that works is tried by make lowest"
