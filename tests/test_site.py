"""The documentation site is built without a warning, is complete, and can be read on a phone and on a desktop."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.docs.site import WIDTHS, Reader, chromium, html_pages
from tests.threads import apart

import slopewash as sw

ROOT = Path(__file__).parent.parent


def build(site: Path) -> None:
    """As `make docs` does: a link that leads nowhere, or a page that nothing lists, is an error."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(site.with_name("read")), "docs", str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def names_without_a_description(site: Path) -> set[str]:
    reference = "".join(page.read_text(encoding="utf-8") for page in sorted((site / "api").glob("*.html")))
    return {name for name in set(sw.__all__) - {"__version__", "analysis"} if f'id="slopewash.{name}"' not in reference}


def faults_in_a_browser(site: Path) -> list[str]:
    with chromium() as browser:
        readers = {width: Reader(browser, width, height) for width, height in WIDTHS.values()}
        return [
            f"{page.relative_to(site)} at {width} px: {fault}"
            for page in html_pages(site)
            for width, reader in readers.items()
            for fault in reader.faults(page)
        ]


@pytest.mark.slow
def test_it_is_built_without_a_warning_and_its_pages_are_complete_and_fit_the_window(tmp_path: Path) -> None:
    site = tmp_path / "site"
    build(site)
    assert names_without_a_description(site) == set()
    try:
        faults = apart(lambda: faults_in_a_browser(site))
    except LookupError as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))
    assert not faults, "\n".join(faults)


FAULTY = {
    "<p>fine</p>": None,
    '<p style="width: 900px">wide</p>': "wide in 390",
    '<img src="missing.png" alt="">': "missing.png does not load",
    '<p style="font-size: 6px">tiny</p>': "6 px",
    "<script>throw new Error('broken')</script>": "broken",
}
"""Articles, and words of the fault that is found in each."""


def faults_of(page: Path, articles: Iterable[str]) -> dict[str, list[str]]:
    """Write one article after the other, and look at each on a phone."""
    found = {}
    with chromium() as browser:
        reader = Reader(browser, *WIDTHS["phone"])
        for inside in articles:
            page.write_text(
                f'<!doctype html><main class="bd-main"><article class="bd-article">{inside}</article></main>'
            )
            found[inside] = reader.faults(page)
    return found


@pytest.mark.slow
def test_what_is_wrong_with_a_page_is_found(tmp_path: Path) -> None:
    try:
        found = apart(lambda: faults_of(tmp_path / "index.html", FAULTY))
    except LookupError as missing:
        pytest.skip(str(missing))
    for inside, fault in FAULTY.items():
        seen = found[inside]
        assert (seen == []) if fault is None else any(fault in each for each in seen), (inside, seen)
