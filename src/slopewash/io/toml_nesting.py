"""A guard before TOML is parsed: the time to parse a key grows with the square of its depth."""

from __future__ import annotations

import re

DEEPEST_KEY = 16
"""Parts of a dotted key; a table of strata has one, a recipe three."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' r"'''.*?'''|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'|#[^\n]*|[A-Za-z0-9_+-]+|[ \t]+|.|\n",
    re.DOTALL,
)


def too_deep(text: str) -> bool:
    """Whether a key has more than `DEEPEST_KEY` parts, or tables and lists are nested as deep; one pass of the text.

    >>> too_deep("a.b = 1.5"), too_deep(".".join("a" * 100) + " = 1"), too_deep("a = " + "[" * 100)
    (False, True, True)
    """
    dots = depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == ".":
            dots += 1
        elif token in ("'", '"'):
            return False  # a quote without an end: the parser reports it
        elif len(token) == 1 and not (token.isalnum() or token in "_-+ \t"):  # neither part of a key nor between two
            dots = 0
            depth += (token in "[{") - (token in "]}")
        if dots >= DEEPEST_KEY or depth > DEEPEST_KEY:
            return True
    return False
