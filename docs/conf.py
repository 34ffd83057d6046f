"""The documentation site: `make docs` builds it from these pages, the declarations and the docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

import slopewash

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "slopewash"
author = "the slopewash authors"
project_copyright = author
version = release = slopewash.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "declared",
    "docstrings",
    "formulas",
    "measured",
    "public_names",
]
exclude_patterns = ["extensions", "reference/numerics-table.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "code"
highlight_language = "sh"  # of blocks that name none: commands

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.strikethrough"]

autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "pydata_sphinx_theme"
html_title = "slopewash"
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"gallery/index": []}  # one page, with nothing beside it
html_math_renderer = "mathml"
html_static_path = ["static", "pictures/gallery/film.webm"]
html_css_files = ["site.css"]
html_js_files = [("compare.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
# `make links` asks other sites; addresses of the reader's own machine are none.
linkcheck_ignore = [r"http://(localhost|127\.0\.0\.1)"]
linkcheck_timeout = 20
