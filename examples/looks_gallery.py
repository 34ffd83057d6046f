"""Every look of the library in one picture, and each from above and from inside.

    python examples/looks_gallery.py
    python examples/looks_gallery.py --only fjords --size 1024

Prints how long each took.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import slopewash as sw

LARGE, SMALL = (1040, 644), (520, 322)


def main(words: Sequence[str] | None = None) -> None:
    """Make every look and draw it three times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--only", default="", help="part of the names of the looks to make")
    parser.add_argument("--out", type=Path, default=Path("out/looks"), help="folder for the pictures")
    parser.add_argument("--backend", default="auto", help="auto, gpu, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = {name: look for name, look in sw.looks().items() if options.only in name}
    views = []
    for name, look in chosen.items():
        result = look.recipe(size=options.size, backend=options.backend).run()
        print(f"{name}: {result.seconds:.1f} s", flush=True)
        terrain = sw.add_water(result.terrain)
        sw.render(terrain, options.out / f"{name}_map.png", **look.picture)
        sw.render_view(terrain, options.out / f"{name}_inside.png", size=LARGE, camera="inside", **look.picture)
        sw.render_view(terrain, options.out / f"{name}.png", size=LARGE, **look.picture)
        views.append(sw.render_view(terrain, size=SMALL, **look.picture))
    sw.side_by_side(views, list(chosen), options.out / "looks.png", columns=3)
    print(f"pictures are in {options.out}")


if __name__ == "__main__":
    main()
