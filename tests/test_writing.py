"""What writes, renames and removes files is in a few modules, which keep to a folder and know private modes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "slopewash"
OWNERS = {"paths.py", "drafts.py", "tiles/direct.py"}
"""Names and modes; files that are renamed when they are whole; files past the page cache."""
SCRIPTS = {"studio/web/generate_types.py", "studio/web/make_thumbnails.py"}
"""Of developers; they are not in the wheel."""
METHODS = {
    "unlink", "rmtree", "rmdir", "removedirs", "rename", "renames", "write_text", "write_bytes", "touch", "mkdir",
    "makedirs", "symlink_to", "hardlink_to", "chmod", "extract", "extractall",
}  # fmt: skip
FUNCTIONS = {
    "os": {"remove", "link", "symlink", "replace", "truncate", "mkfifo", "mknod"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move"},
}
WRITING = re.compile(r"[rwaxbt+]*[wax+][rwaxbt+]*")
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


def offences(source: str) -> list[tuple[int, str]]:
    """Lines of a module in which something is written, renamed or removed, but for what `staged` gave to write to."""
    tree = ast.parse(source)
    drafts = {
        node.optional_vars.id
        for whole in ast.walk(tree) if isinstance(whole, ast.With)
        for node in whole.items
        if isinstance(node.optional_vars, ast.Name) and isinstance(node.context_expr, ast.Call)
        and isinstance(node.context_expr.func, ast.Name) and node.context_expr.func.id == "staged"
    }  # fmt: skip
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (what := _offence(call, drafts)):
            found.append((call.lineno, what))
    return found


def _offence(call: ast.Call, drafts: set[str]) -> str:
    function, arguments = call.func, call.args
    if "devnull" in {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}:
        return ""
    if isinstance(function, ast.Name):
        return "open" if function.id == "open" and _mode(arguments, call.keywords, 1) else ""
    if not isinstance(function, ast.Attribute):
        return ""
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    name = function.attr
    if owner in drafts and name in ("open", "write_text", "write_bytes"):
        return ""
    if name in METHODS or name in FUNCTIONS.get(owner, ()):
        return f"{owner}.{name}"
    if name == "replace" and len(arguments) == 1 and not call.keywords and owner != "dataclasses":
        return f"{owner}.replace"  # of text it takes two, of data classes none but keywords
    if owner == "os" and name == "open":
        flags = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        return "os.open" if flags & FLAGS else ""
    return f"{owner}.open" if name == "open" and _mode(arguments, call.keywords, 0) else ""


def _mode(arguments: list[ast.expr], keywords: list[ast.keyword], place: int) -> bool:
    given = [word.value for word in keywords if word.arg == "mode"] + arguments[place : place + 1]
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and WRITING.fullmatch(node.value) is not None
        for node in given
    )


FILES = [file for file in SRC.rglob("*.py") if "node_modules" not in file.parts]
MODULES = sorted({file.relative_to(SRC).as_posix() for file in FILES} - OWNERS - SCRIPTS)


def test_only_owners_write_rename_and_remove() -> None:
    found = [
        f"{name}:{line}: {what}"
        for name in MODULES
        for line, what in offences((SRC / name).read_text(encoding="utf-8"))
    ]
    assert not found, "use slopewash.paths or slopewash.drafts instead:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "shutil.rmtree(folder)", "path.unlink()", "(folder / 'a').unlink(missing_ok=True)", "os.remove(path)",
        "temporary.replace(path)", "os.replace(a, b)", "a.rename(b)", "open(path, 'w')", "open(path, mode='a')",
        "path.open('xb')", "path.open('r+b')", "path.write_text('a')", "self.path.mkdir()", "os.makedirs(a)",
        "os.open(path, os.O_RDWR)", "os.open(path, os.O_CREAT | os.O_EXCL)", "archive.extractall(folder)",
        "shutil.copyfile(a, b)", "os.link(a, b)", "with staged(a) as b:\n    c.write_text('')",
    ],
)  # fmt: skip
def test_the_rule_sees_what_writes(code: str) -> None:
    assert offences(code)


@pytest.mark.parametrize(
    "code",
    [
        "text.replace('a', 'b')", "dataclasses.replace(a, b=1)", "terrain.replace(water=1)", "path.open('rb')",
        "open(path)", "os.open(path, os.O_RDONLY)", "with staged(a) as b:\n    b.write_text('')", "path.read_text()",
        "os.open(os.devnull, os.O_WRONLY)",
        "with staged(a) as b, b.open('wb') as c:\n    pass", "raster.open(draft, 'w')",
    ],
)  # fmt: skip
def test_the_rule_passes_what_does_not(code: str) -> None:
    assert not offences(code)
