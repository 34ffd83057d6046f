"""Takes the pictures of a report of `slopewash analyse` in docs/pictures: python tests/browser/take_report.py."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import slopewash as sw

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


def main() -> None:
    """Write the report of an eroded dome, and photograph its charts and its map."""
    # Here and not above: pytest looks for doctests in every file, also where this is not installed.
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder for the pictures")
    options = parser.parse_args()
    start = sw.generate("dome", size=options.size, seed=7)
    terrain = sw.recipe("landscape", source=start, seed=7).run().terrain
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        report = sw.write_report(terrain, Path(temporary) / "report.html", name="landscape, seed 7")
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1140, "height": 900})
        page.goto(report.as_uri())
        top = page.locator("h2", has_text="Beside published landscapes").bounding_box()
        end = page.locator(".charts").bounding_box()
        assert top is not None
        assert end is not None
        edge = max(0.0, top["y"] - 10)
        page.screenshot(
            path=options.to / "analysis.png",
            full_page=True,
            clip={"x": 0, "y": edge, "width": 1140, "height": end["y"] + end["height"] + 10 - edge},
        )
        page.locator("img").screenshot(path=options.to / "analysis_streams.jpg", type="jpeg", quality=85)
        chromium.close()


if __name__ == "__main__":
    main()
