"""Eight starts, eroded on one grid and from coarse to fine: what levels, eight pipes and world-anchored rock bring.

    python examples/landscape_gallery.py
    python examples/landscape_gallery.py --size 1024 --only dome
    python examples/landscape_gallery.py --strength 0.1

Prints what the eye should find too: how much of the fine relief runs along the grid (1 where it prefers no direction;
real terrain has 0.7 to 1.6), the mean slope, the highest deposit as a share of the relief, and the mass-balance error.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import slopewash as sw

PRESETS = ("single_grid", "landscape")
STARTS = (
    ("dome", 7), ("dome", 31), ("dome", 57), ("ridged", 4), ("ridged", 9), ("diamond_square", 2), ("diamond_square", 7),
    ("fbm", 3),
)  # fmt: skip
EXTENT, RELIEF = 5120.0, 970.0


def main(words: Sequence[str] | None = None) -> None:
    """Erode every start both ways, and draw maps and views of them side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side of the same ground")
    parser.add_argument("--strength", type=float, default=1.0, help="share of the presets' steps")
    parser.add_argument("--only", default="", help="kind of start")
    parser.add_argument("--out", type=Path, default=Path("out/gallery"), help="folder for the pictures")
    parser.add_argument("--width", type=int, default=1024, help="pixels across each picture")
    parser.add_argument("--backend", default="auto", help="auto, gpu, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    size = (options.width, options.width * 5 // 8)
    starts = [(kind, seed) for kind, seed in STARTS if options.only in kind]
    drawn = {}
    for preset in PRESETS:
        maps, views = [], []
        for kind, seed in starts:
            start = sw.generate(kind, size=options.size, cell_size=EXTENT / options.size, seed=seed, relief=RELIEF)
            recipe = sw.recipe(preset, source=start, seed=seed, backend=options.backend, strength=options.strength)
            result = recipe.run(progress=True)
            terrain = sw.add_water(result.terrain)
            print(f"{preset} on {kind} {seed}: {measures(result)}", flush=True)
            file = options.out / f"{preset}_{kind}_{seed}.png"
            maps.append(sw.render(terrain, file, width=options.width))
            views.append(sw.render_view(terrain, file.with_stem(f"{file.stem}_view"), size=size))
            sw.render_view(terrain, file.with_stem(f"{file.stem}_inside"), size=size, camera="inside")
        names = [f"{kind} {seed}" for kind, seed in starts]
        sw.side_by_side(maps, names, options.out / f"{preset}_maps.png", columns=4)
        sw.side_by_side(views, names, options.out / f"{preset}_views.png", columns=2)
        drawn[preset] = views
    pairs = [view for both in zip(*drawn.values(), strict=True) for view in both]
    titles = [f"{kind} {seed}, {way}" for kind, seed in starts for way in ("one grid", "coarse to fine")]
    sw.side_by_side(pairs, titles, options.out / "before_after.png", columns=4)
    print(f"pictures are in {options.out}")


def measures(result: sw.Result) -> str:
    """What can be told in numbers."""
    terrain = result.terrain
    return (
        f"along the grid {sw.axis_preference(terrain['elevation']):.2f}, mean slope {terrain['slope'].mean():.1f}°, "
        f"highest deposit {terrain['deposit'].max() / RELIEF:.2f}, drift {result.budget.solids_drift:.0e}, "
        f"{result.seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
