"""The built page, and what to say where there is none."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "page"
INDEX = FOLDER / "index.html"

HOW_TO_BUILD = (
    "this installation has no built page. From a source checkout, build it with: pip install . (or, with Node: "
    "cd src/slopewash/studio/web && npm ci && npm run build)"
)
MISSING_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>slopewash studio</title></head>
<body><h1>The page is not built</h1><p>The server runs, but {HOW_TO_BUILD}</p></body></html>
"""


def is_built() -> bool:
    """Whether there is a page to serve."""
    return INDEX.is_file()
