"""Photographs every page of the built site at desktop and phone width, and fails if anything is wrong with one.

    python tests/docs/take_screenshots.py out/docs out/screenshots      or: make screenshots

Look at the pictures: what no rule finds, such as a table that is hard to read, is found by eye.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # a script finds only modules in its own folder

from tests.docs.site import WIDTHS, Reader, chromium, html_pages


def main(site: Path, out: Path) -> int:
    faults = []
    out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for kind, (width, height) in WIDTHS.items():
            reader = Reader(browser, width, height)
            for page in html_pages(site):
                name = page.relative_to(site).with_suffix("")
                faults += [f"{name} at {width} px: {fault}" for fault in reader.faults(page)]
                reader.photograph(out / f"{'-'.join(name.parts)}.{kind}.png")
    print("\n".join(faults) or f"{len(html_pages(site))} pages: nothing is wrong with them; now look at {out}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
