"""Parameters as maps: rain on one half only, and ground that stands steeper on one half.

Run it: python examples/maps.py --out out/maps
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw


def across(size: int) -> Any:
    """0 in the west, 1 in the east, with a soft border between both halves."""
    x = (np.arange(size) + 0.5) / size
    share = np.clip((x - 0.47) / 0.06, 0, 1)
    return np.broadcast_to(share * share * (3 - 2 * share), (size, size))


def main() -> None:
    """Erode the same mountains twice, and draw them side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256, help="cells along a side")
    parser.add_argument("--strength", type=float, default=0.4, help="share of the preset's own steps")
    parser.add_argument("--width", type=int, default=900, help="pixels of each picture")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--out", type=Path, default=Path("out/maps"), help="folder for the picture")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    half = across(options.size)
    runs: dict[str, dict[str, Any]] = {
        "rain in the east only": {"rain_rate": sw.Map(half, low=0.0, high=0.002)},
        "talus of 14° in the west, 50° in the east": {
            "talus_slope_bias": sw.Map(half, low=0.25, high=1.2), "talus_slope_range": 0.0,
        },
    }  # fmt: skip
    pictures = []
    for maps in runs.values():
        recipe = sw.recipe("landscape", size=options.size, seed=5, strength=options.strength, backend=options.backend)
        terrain = recipe.replace(**maps).run().terrain
        pictures.append(sw.render_view(terrain, size=(options.width, options.width * 2 // 3), azimuth=180.0))
    sw.side_by_side(pictures, list(runs), options.out / "maps.png", height=options.width * 2 // 3)


if __name__ == "__main__":
    main()
