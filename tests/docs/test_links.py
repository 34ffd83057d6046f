"""Links lead somewhere: those of README and CONTRIBUTING into the repository; those to other sites are all listed here.

Sphinx checks links between the pages of the site, and their anchors. `make links` asks other sites, with the internet.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, page_name, pages

OTHER_SITES = {
    "https://docs.dask.org",
    "https://github.com/TokisanGames/Terrain3D",
    "https://keepachangelog.com",
    "https://semver.org",
    "https://threejs.org",
    "https://toml.io",
    "https://wgpu-py.readthedocs.io",
    "https://zarr.dev",
}
"""Front pages where possible, which move seldom. `make links` asks them all but the changelog's two."""

LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXTS = [*pages(), ROOT / "CHANGELOG.md"]


def links(page: Path) -> list[str]:
    return LINK.findall(re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """Of headings, as GitHub and Sphinx make them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=page_name)
def test_links_into_the_repository_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = ROOT / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_links_to_other_sites_are_those_listed() -> None:
    found = {link for page in TEXTS for link in links(page) if "://" in link}
    assert found == OTHER_SITES


def test_links_of_both_kinds_are_found() -> None:
    assert "docs/limits.md#accuracy" in links(ROOT / "README.md")
    assert "accuracy" in anchors(ROOT / "docs" / "limits.md")
