"""One version: `__version__`, which the wheel takes from there, and what repeats it for readers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import slopewash as sw

ROOT = Path(__file__).parent.parent


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def released() -> tuple[str, str]:
    """Version and date of the newest release in the changelog."""
    found = re.search(r"(?m)^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"))
    assert found
    return found[1], found[2]


def test_the_wheel_takes_its_version_from_the_package() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/slopewash/__init__.py"


def test_the_changelog_describes_this_version() -> None:
    assert released()[0] == sw.__version__


def test_citations_name_this_version_and_its_date() -> None:
    cited = dict(re.findall(r"(?m)^(version|date-released): (\S+)$", text("CITATION.cff")))
    assert cited == {"version": sw.__version__, "date-released": released()[1]}


def test_the_blender_add_on_has_this_version() -> None:
    manifest = tomllib.loads(text("integrations/blender/slopewash_blender/blender_manifest.toml"))
    assert manifest["version"] == sw.__version__
