"""The built site in a real browser: what is wrong with a page at a given width."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
"""Windows in which pages are looked at."""
SMALLEST = 11
"""Pixels of the smallest text that can be read on a phone."""

SETTLED = """async () => {
  await document.fonts.ready;
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map(image => image.complete || new Promise(done => {
    image.onload = image.onerror = done;
  })));
}"""

FAULTS = """smallest => {
  const faults = [];
  const name = part => part.tagName.toLowerCase() + (part.className ? "." + part.className : "");
  const room = document.documentElement.clientWidth;
  for (const part of [document.scrollingElement, ...document.querySelectorAll(".bd-article-container, .bd-main")])
    if (part.scrollWidth > part.clientWidth + 1) {
      const wide = [...document.querySelectorAll(".bd-article *")].filter(inside =>
        inside.getBoundingClientRect().right > room + 1
        && !inside.closest("pre, .formula, .pst-scrollable-table-container, .compared"));
      faults.push(`${name(part)} is ${part.scrollWidth} wide in ${part.clientWidth}: ${wide.slice(0, 3).map(name)}`);
    }
  for (const image of document.images)
    if (!(image.complete && image.naturalWidth)) faults.push(`${image.getAttribute("src")} does not load`);
  for (const film of document.querySelectorAll("video"))
    if (film.error) faults.push(`${film.getAttribute("src")} does not load`);
  const texts = document.createTreeWalker(document.querySelector(".bd-article") ?? document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (texts.nextNode()) {
    const holder = texts.currentNode.parentElement;
    const size = parseFloat(getComputedStyle(holder).fontSize);  // 0 for the words of a card that is all one link
    if (!texts.currentNode.data.trim() || !holder.checkVisibility() || holder.closest("math, svg, sup")) continue;
    if (size && size < smallest) small.add(`${name(holder)} has text of ${size} px`);
  }
  return [...faults, ...small];
}"""


def html_pages(site: Path) -> list[Path]:
    """Every page of a built site that a reader can reach; those for finding things have no article."""
    finders = {"search.html", "genindex.html", "py-modindex.html"}
    return [
        page
        for page in sorted(site.rglob("*.html"))
        if page.name not in finders and "_static" not in page.relative_to(site).parts
    ]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; raises `LookupError` with the remedy where there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        raise LookupError("pages are looked at in Chromium, which is not on PATH: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise LookupError("pages are looked at with Playwright: pip install playwright") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Reader:
    """A window of one width that opens pages and notes what is wrong with them."""

    def __init__(self, browser: Any, width: int, height: int) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self._complaints: list[str] = []
        self.page.on("console", lambda line: self._note(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.on("requestfailed", lambda request: self._note(f"{request.url} was not loaded"))

    def _note(self, complaint: str) -> None:
        self._complaints.append(complaint)

    def faults(self, page: Path) -> list[str]:
        """Open a page: errors of its scripts, what did not load, what is wider than the window, text too small."""
        self._complaints.clear()
        self.page.goto(page.absolute().as_uri())
        self.page.evaluate(SETTLED)
        return [*self._complaints, *self.page.evaluate(FAULTS, SMALLEST)]

    def photograph(self, file: Path) -> None:
        """The whole page, from top to bottom, as it was opened last."""
        self.page.screenshot(path=str(file), full_page=True)
