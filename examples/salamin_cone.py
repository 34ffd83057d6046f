"""Figure 1 of Salamin & Szénási: a cone before and after 50 iterations of rain.

python examples/salamin_cone.py
python examples/salamin_cone.py --size 128 --steps 20 --out out/small
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import slopewash as sw

PRESET = sw.find_preset("salamin")


def main(words: Sequence[str] | None = None) -> None:
    """Erode the cone and draw both states."""
    parser = argparse.ArgumentParser(description="Rain on a cone, as Salamin & Szénási show it.")
    parser.add_argument("--size", type=int, default=256, help="cells along a side")
    parser.add_argument("--steps", type=int, default=PRESET.steps, help="iterations")
    parser.add_argument("--out", type=Path, default=Path("out/salamin"), help="folder for the pictures")
    parser.add_argument("--width", type=int, default=1024, help="pixels across each picture")
    parser.add_argument("--backend", default="auto", help="auto, cpu or reference")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)

    cone = sw.generate(PRESET.generator, size=options.size)
    simulation = sw.Simulation(cone, PRESET.model, backend=options.backend, edges=PRESET.edges)
    simulation.add(sw.Progress())
    simulation.run(steps=options.steps)
    eroded = simulation.terrain

    titles = ["before", f"after {options.steps} iterations"]
    views = [sw.render(terrain, view="perspective", width=options.width) for terrain in (cone, eroded)]
    sw.side_by_side(views, titles, options.out / "cone.png")
    sw.wear_and_deposit(eroded, options.out / "wear_deposit.png", width=options.width)
    print(f"deepest erosion {eroded['wear'].max():.3g} m, thickest deposit {eroded['deposit'].max():.3g} m")
    print(f"pictures are in {options.out}")


if __name__ == "__main__":
    main()
