"""What commands print: names from files are text, and steer no terminal."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rich.console import Console

import slopewash as sw
from slopewash.cli.console import add_row, as_json, make_table, show
from slopewash.errors import printable

CLI = Path(sw.__file__).parent / "cli"
EVIL = "\x1b[2J\x9bm\u202e[/bold]hill"


def test_only_the_console_prints() -> None:
    """`show`, `note`, `add_row` and `print_json` escape what could steer a terminal."""
    found = []
    for file in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            plain = isinstance(called, ast.Name) and called.id == "print"
            row = isinstance(called, ast.Attribute) and called.attr == "add_row"
            if (plain or row) and file.name != "console.py":
                found.append(f"{file.name}:{node.lineno}")
    assert not found


def test_errors_are_printable_wherever_they_are_shown() -> None:
    assert str(sw.InvalidFile(f"{EVIL} is missing")) == r"\x1b[2J\x9bm\u202e[/bold]hill is missing"
    assert str(sw.InvalidFile("été 5 m²\n\tsommet\u00a0")) == "été 5 m²\n\tsommet\u00a0"
    assert printable("\ud800") == r"\ud800"


def test_rows_and_results_are_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table("layer")
    add_row(table, EVIL)
    Console(force_terminal=True, no_color=True, width=80, color_system=None).print(table)
    show(EVIL)
    print(as_json({EVIL: EVIL, "é": "²"}))
    said = capsys.readouterr().out
    assert said.count("[/bold]hill") == 4
    assert not any(mark in said for mark in ("\x1b[2J", "\x9b", "\u202e"))
    assert '"é": "²"' in said
