"""The documentation site is built without a warning: every link leads somewhere and every page is listed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import slopewash as sw

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_it_is_built_without_a_warning_and_has_every_public_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "read"), "docs", str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reference = "".join(page.read_text(encoding="utf-8") for page in sorted((site / "api").glob("*.html")))
    names = set(sw.__all__) - {"__version__", "analysis"}
    assert {name for name in names if f'id="slopewash.{name}"' not in reference} == set()
