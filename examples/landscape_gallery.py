"""The landscape preset on several terrains: domes of three seeds, diamond-square, ridged noise, and your own file.

    python examples/landscape_gallery.py
    python examples/landscape_gallery.py my_dem.tif
    python examples/landscape_gallery.py --size 256 --steps 1500

Prints the number of local minima (cells lower than all eight neighbours) of each terrain before and after.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import slopewash as sw

PRESET = sw.find_preset("landscape")
STARTS = (("dome", 3), ("dome", 7), ("dome", 11), ("diamond_square", 7), ("ridged", 7))


def main(words: Sequence[str] | None = None) -> None:
    """Erode every terrain, draw it before and after, and count its local minima."""
    parser = argparse.ArgumentParser(description="The landscape preset on several starting terrains.")
    parser.add_argument("dem", nargs="?", type=Path, help="a height field to erode as well")
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--steps", type=int, default=PRESET.steps, help="iterations")
    parser.add_argument("--settle", type=int, default=PRESET.settle, help="iterations in which the sediment settles")
    parser.add_argument("--out", type=Path, default=Path("out/gallery"), help="folder for the pictures")
    parser.add_argument("--width", type=int, default=1024, help="pixels across each map")
    parser.add_argument("--backend", default="auto", help="auto, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)

    starts = {f"{kind} {seed}": sw.generate(kind, size=options.size, seed=seed) for kind, seed in STARTS}
    if options.dem is not None:
        starts[options.dem.stem] = sw.read(options.dem)

    before, after = [], []
    for name, start in starts.items():
        simulation = sw.Simulation(start, PRESET.model, backend=options.backend, edges=PRESET.edges)
        simulation.add(sw.Progress())
        simulation.run(steps=options.steps)
        simulation.settle(steps=options.settle)
        terrain = simulation.terrain
        minima, left = (sw.local_minima(t["elevation"]) for t in (start, terrain))
        print(f"{name}: {minima} local minima before, {left} after", flush=True)
        file = options.out / f"{name.replace(' ', '_')}.png"
        before.append(sw.render(start, width=options.width))
        after.append(sw.render(terrain, file, width=options.width))
        sw.hillshade(terrain, file.with_stem(f"{file.stem}_bare"), width=options.width)
    sw.side_by_side(before, list(starts), options.out / "before.png", columns=3)
    sw.side_by_side(after, list(starts), options.out / "after.png", columns=3)
    print(f"pictures are in {options.out}")


if __name__ == "__main__":
    main()
