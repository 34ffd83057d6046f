"""A mountain range, eroded from coarse to fine, with its rivers.

Run it: python examples/alpine.py --out out/alpine
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import slopewash as sw


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side: more are the same ground, finer")
    parser.add_argument("--seed", type=int, default=7, help="random seed")
    parser.add_argument("--strength", type=float, default=1.0, help="share of the preset's steps")
    parser.add_argument("--out", type=Path, default=Path("out/alpine"), help="folder for the pictures")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    recipe = sw.recipe("alpine", size=options.size, seed=options.seed, strength=options.strength)
    result = recipe.run(progress=True)
    print(result.budget)
    terrain = sw.add_water(result.terrain)
    sw.write(terrain, options.out / "alpine.exr")
    sw.render_view(terrain, options.out / "alpine.png")
    sw.render(terrain, options.out / "alpine_map.png")


if __name__ == "__main__":
    main()
