"""The public names: three lists that must agree, and none of them costs an import."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import slopewash as sw

SOURCE = ast.parse(Path(sw.__file__).read_text(encoding="utf-8"))


def names_imported_for_type_checkers() -> dict[str, str]:
    block = next(node for node in SOURCE.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_three_lists_of_public_names_agree() -> None:
    lazy = {name: module for module, names in sw._HOMES.items() for name in names}
    assert names_imported_for_type_checkers() == lazy
    assert sorted(sw.__all__) == sorted([*lazy, "__version__"])


def test_lists_are_sorted_and_name_nothing_twice() -> None:
    capitals = [name for name in sw.__all__ if name[0].isupper()]
    words = [name for name in sw.__all__ if name[0].islower()]
    assert sw.__all__ == [*sorted(capitals), "__version__", *sorted(words)]
    assert len(sw.__all__) == len(set(sw.__all__))
    assert list(sw._HOMES) == sorted(sw._HOMES)


@pytest.mark.parametrize("name", sw.__all__)
def test_every_public_name_can_be_imported_and_is_documented(name: str) -> None:
    value = getattr(sw, name)
    if name != "__version__":
        assert value is getattr(importlib.import_module(sw._HOME_OF[name]), name)
        assert value.__doc__


def test_dir_lists_the_public_names() -> None:
    assert dir(sw) == sorted(sw.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'erodee'"):
        _ = sw.erodee


def test_importing_the_package_imports_no_array_library() -> None:
    code = "import sys, slopewash; print(sorted({'numpy', 'numba', 'PIL', 'rich', 'cyclopts'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_studio_stays_a_function_after_the_folder_of_its_name_is_imported() -> None:
    importlib.import_module("slopewash.studio.messages")
    assert not isinstance(sw.studio, ModuleType)


def test_no_other_folder_has_the_name_of_a_public_function() -> None:
    folders = {path.name for path in Path(sw.__file__).parent.iterdir() if path.is_dir()}
    assert folders & set(sw.__all__) == {"analysis", "studio"}  # the first is the folder itself


def test_every_public_name_has_an_example() -> None:
    things = {name: getattr(sw, name) for name in sw.__all__ if name not in ("__version__", "analysis")}
    assert [name for name, thing in things.items() if ">>>" not in (thing.__doc__ or "")] == []
