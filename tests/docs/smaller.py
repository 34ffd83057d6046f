"""How what a page shows is made small enough to run in a second: one table, so that pages need not repeat it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.exports.sizes import UNITY, UNREAL

CELLS = 40
"""Cells along a side, where a page has hundreds."""
SIDES = {**dict.fromkeys(UNITY, 65), **dict.fromkeys(UNREAL, 127)}
"""Sides of exports, by those that engines take."""

WORDS = (
    (r"(--size |\bsize ?= ?)(\d+)\b", lambda m: m[1] + str(SIDES.get(int(m[2]), min(int(m[2]), CELLS)))),
    (r"(--tiles |\btile=)\d+\b(?!x)", r"\g<1>32"),
    (r"\bsteps=\d{4,}", "steps=20"),
    (r"(--seconds |\bseconds ?= ?)\d+\b", r"\g<1>0.2"),
    (r"(\bsize ?= ?[(\[])\d+, ?\d+", r"\g<1>160, 90"),
)
"""What is replaced wherever it stands."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "film": {"size": (160, 90), "seconds": 0.2},
    "render_view": {"size": (160, 100)},
    "render_mesh": {"size": (160, 100)},
    "erode_tiled": {"workers": 0},
}
"""Defaults of functions while a page is followed."""

OPTIONS = {
    "generate": ["--size", str(CELLS)],
    "demo": ["--size", str(CELLS)],
    "bench": ["--size", "64", "--steps", "4"],
    "render": ["--width", "160"],
}
"""Options of commands that do not have the first of them."""

SLOW = {"bezin2010", "chiba_fig2", "chiba_strata"}
"""Presets of models with particles, which take long on few cells too."""


@contextmanager
def small_defaults() -> Iterator[None]:
    """Let functions be quick by default."""
    functions: dict[str, Any] = {name: getattr(sw, name) for name in DEFAULTS}
    usual = {name: function.__kwdefaults__ for name, function in functions.items()}
    for name, function in functions.items():
        assert set(DEFAULTS[name]) <= set(usual[name]), f"{name} has no options {list(DEFAULTS[name])}"
        function.__kwdefaults__ = usual[name] | DEFAULTS[name]
    try:
        yield
    finally:
        for name, function in functions.items():
            function.__kwdefaults__ = usual[name]


def smaller(text: str, replacements: Sequence[str] = (), *, as_given: bool = False) -> str:
    """Make a block small, after the replacements that its page declares.

    >>> smaller('sw.export(sw.generate("dome", size=512), "unreal", "game", size=1009)')
    'sw.export(sw.generate("dome", size=40), "unreal", "game", size=127)'
    """
    for replacement in replacements:
        old, new = replacement.split(" -> ")
        assert old in text, f"{old!r} is to be replaced, but is not there"
        text = text.replace(old, new)
    if as_given:
        return text
    for pattern, new_text in WORDS:
        text = re.sub(pattern, new_text, text)
    return text


def smaller_command(words: Sequence[str]) -> list[str]:
    """Make a command small that names no size of its own."""
    command = words[0]
    added: list[str] = []
    if command in OPTIONS and OPTIONS[command][0] not in words:
        added += OPTIONS[command]
    if command in ("erode", "demo") and SLOW & set(words) and "--steps" not in words:
        added += ["--steps", "8"]
    if command == "render" and any(word.endswith((".webm", ".mp4")) for word in words):
        added += [] if "--seconds" in words else ["--seconds", "0.2"]
        added += [] if "--height" in words else ["--height", "90"]
    if "--tiles" in words and command in ("erode", "run") and "--workers" not in words:
        added += ["--workers", "0"]
    if command == "run" and "source.size" not in " ".join(words) and "generator" in Path(words[1]).read_text("utf-8"):
        added += ["--set", f"source.size={2 * CELLS if '--preview' in words else CELLS}"]
    return [*words, *added]
