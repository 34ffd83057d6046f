"""Every text that users read, with its place: pages, help, errors, public docstrings, and the studio's page."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from tests.docs.pages import ROOT, pages

import slopewash as sw
from slopewash.cli.app import COMMANDS

SOURCE = ROOT / "src" / "slopewash"
PAGE = SOURCE / "studio" / "web"
Text = tuple[str, str]
"""Where it stands, and what it says."""


def all_texts() -> list[Text]:
    return [*from_pages(), *from_literals(), *from_docstrings(), *from_the_studio()]


def from_pages() -> Iterator[Text]:
    """Lines of pages, README and changelog, each with the first words of the next: phrases may be broken."""
    for page in [*pages(), ROOT / "CHANGELOG.md"]:
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, (line, after) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
            yield f"{page.relative_to(ROOT)}:{number}", " ".join([line, *after.split()[:4]])


def from_literals() -> Iterator[Text]:
    """Sentences in the code that are no docstrings: errors, notes, help, and what declarations say of themselves."""
    for file in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {
            id(body[0].value)
            for node in ast.walk(tree)
            if (body := getattr(node, "body", None)) and isinstance(body, list) and isinstance(body[0], ast.Expr)
        } | {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                words = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                words = node.value
            else:
                continue
            if " " in words.strip():
                yield f"{file.relative_to(ROOT)}:{node.lineno}", words


def from_docstrings() -> Iterator[Text]:
    """What the reference and the help of commands show."""
    for name in sw.__all__:
        thing = getattr(sw, name)
        yield f"sw.{name}", inspect.getdoc(thing) or ""
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and callable(value):
                    yield f"sw.{name}.{member}", inspect.getdoc(value) or ""
    for command, module in COMMANDS.items():
        yield f"slopewash {command}", inspect.getdoc(module.command) or ""


def from_the_studio() -> Iterator[Text]:
    """Quoted sentences of the page's source, and its HTML."""
    for file in sorted(PAGE.glob("src/**/*.ts")):
        for number, line in enumerate(_without_comments(file.read_text(encoding="utf-8")).splitlines(), 1):
            for words in re.findall(r'"([^"]* [^"]*)"|`([^`]* [^`]*)`', line):
                yield f"{file.relative_to(ROOT)}:{number}", "".join(words)
    for file in sorted(PAGE.glob("*.html")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{file.relative_to(ROOT)}:{number}", line


def _without_comments(code: str) -> str:
    return re.sub(r"(?m)^\s*(//|/?\*).*$", "", code)
