"""Every figure and table of the papers, put where the pages of the site take them from.

    python examples/papers/all.py --tables       only the tables of times, some minutes on a machine that is not busy
    python examples/papers/all.py                figures too: about half an hour
    python examples/papers/all.py chiba1998      one source

Numbers go to docs/papers/results, pictures to docs/pictures. A table that is not measured stays as it was.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HOME = Path(__file__).parents[2]
sys.path.insert(0, str(HOME))

SOURCES = ("jako2011", "salamin", "outerrain", "chiba1998", "bezin2010", "one_terrain")


def main(words: Sequence[str] | None = None) -> None:
    """Run the scripts one after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help=f"{', '.join(SOURCES)}; all if none is named")
    parser.add_argument("--tables", action="store_true", help="leave the figures out")
    parser.add_argument("--figures", action="store_true", help="leave the times out")
    options = parser.parse_args(words)
    results = HOME / "docs" / "papers" / "results"
    for source in options.sources or SOURCES:
        print(f"\n{source}", flush=True)
        only = ["--only", "speed"] if options.tables else ["--only", "figures"] if options.figures else []
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / source
            made.mkdir()
            known = results / f"{source}.json"
            if known.exists():
                shutil.copy(known, made)
            script = importlib.import_module(f"examples.papers.{source}")
            script.main(["--out", folder, *only])
            shutil.copy(made / known.name, results)
            for picture in (*made.glob("*.jpg"), *made.glob("*.svg")):
                shutil.copy(picture, HOME / "docs" / "pictures")


if __name__ == "__main__":
    main()
