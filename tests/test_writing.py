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
LIBRARIES = {"ZipFile": 1, "open": 1, "imwrite": None, "tofile": None, "Export": None, "save": None}
"""Of other libraries, which take a file to write, and where a mode that writes comes after it."""
REMOTE = {"pipe_file", "rm", "mv"}
"""Of file systems that others provide."""
REMOTE_OWNER = "tiles/storage.py"
WRITING = re.compile(r"[rwaxbt+]*[wax+][rwaxbt+]*")
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


def offences(source: str, *, remote: bool = False) -> list[tuple[int, str]]:
    """Lines of a module in which something is written, renamed or removed, but for what `staged` gave to write to.

    `remote` allows what changes the files of a file system that others provide.
    """
    tree = ast.parse(source)
    drafts = _drafts(tree)
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (what := _offence(call, drafts)):
            found.append((call.lineno, what))
    return [(line, what) for line, what in found if not (remote and what.rpartition(".")[2] in REMOTE)]


def _drafts(tree: ast.AST) -> set[str]:
    """Names of what may be written to: `temporary`, drafts, memory, and what is opened in these or named after them."""
    bound = [
        (node.optional_vars, node.context_expr)
        for whole in ast.walk(tree) if isinstance(whole, ast.With)
        for node in whole.items
    ] + [
        (node.targets[0], node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)
    ]  # fmt: skip
    drafts = {"temporary"}
    for target, value in bound:
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Call)):
            continue
        made_by, name = value.func, ""
        if isinstance(made_by, ast.Attribute):
            name = made_by.attr if _name(made_by.value) in drafts | {"io"} else ""
        elif isinstance(made_by, ast.Name):
            name = made_by.id
        if value.args and _name(value.args[0]) in drafts:  # an archive in a draft
            drafts.add(target.id)
        if name in ("staged", "new_file", "BytesIO", "open", "with_name"):
            drafts.add(target.id)
    return drafts


def _name(node: ast.expr) -> str:
    """A variable, also as `str(variable)`."""
    if isinstance(node, ast.Call) and _name(node.func) == "str":
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else ""


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
    if name in REMOTE or _by_library(call, function, drafts):
        return f"{owner}.{name}"
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


def _by_library(call: ast.Call, function: ast.Attribute, drafts: set[str]) -> bool:
    """Whether another library writes something that is no draft."""
    name = function.attr
    if name not in LIBRARIES or not call.args or {_name(call.args[0]), _name(function.value)} & drafts:
        return False
    place = LIBRARIES[name]
    if place is not None:
        return _mode(call.args, call.keywords, place)
    # A picture is saved in a format; what else is called so has none.
    return name != "save" or any(word.arg == "format" for word in call.keywords) or _is_text(call.args[-1])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


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
        for line, what in offences((SRC / name).read_text(encoding="utf-8"), remote=name == REMOTE_OWNER)
    ]
    assert not found, "use slopewash.paths or slopewash.drafts instead:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "shutil.rmtree(folder)", "path.unlink()", "(folder / 'a').unlink(missing_ok=True)", "os.remove(path)",
        "temporary.replace(path)", "os.replace(a, b)", "a.rename(b)", "open(path, 'w')", "open(path, mode='a')",
        "path.open('xb')", "path.open('r+b')", "path.write_text('a')", "self.path.mkdir()", "os.makedirs(a)",
        "os.open(path, os.O_RDWR)", "os.open(path, os.O_CREAT | os.O_EXCL)", "archive.extractall(folder)",
        "zipfile.ZipFile(path, 'w')", "rasterio.open(str(path), 'w', driver='GTiff')", "picture.save(path, 'JPEG')",
        "picture.save(path, format='PNG')", "values.tofile(path)", "layer.Export(str(path))", "files.rm(path)",
        "tifffile.imwrite(path, values)", "shutil.copyfile(a, b)", "os.link(a, b)", "picture.save('a.png')",
        "with staged(a) as b:\n    c.write_text('')",
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
        "with staged(a) as b, b.open('wb') as c:\n    pass", "raster.open(temporary, 'w')",
        "with staged(a) as b:\n    with ZipFile(b, 'w') as c:\n        pass\n    values.tofile(b)",
        "data = io.BytesIO()\npicture.save(data, 'JPEG')", "keeper.save(parts)", "ZipFile(path)",
    ],
)  # fmt: skip
def test_the_rule_passes_what_does_not(code: str) -> None:
    assert not offences(code)
