"""Draws the thumbnails of landscapes, generators and presets into public/thumbnails, for the page to choose from.

Run it after a change of one: python src/slopewash/studio/web/make_thumbnails.py. It takes a few minutes; with names as
arguments, it draws only those.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import slopewash as sw

TARGET = Path(__file__).parent / "public/thumbnails"
SIZE = (144, 96)
"""Pixels: twice what the page shows, for screens with more of them."""
CELLS = 128
STRENGTH = 0.5
"""Share of a preset's steps: it shows its character long before its end."""


def main() -> None:
    """Draw all of them, or those that are named."""
    names = sys.argv[1:]
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in sw.generator_names():
        if not names or name in names:
            _draw(sw.generate(name, size=CELLS, seed=3), f"generator-{name}")
    for name in sw.presets():
        if not names or name in names:
            _draw(_eroded(name), f"preset-{name}")
    for name, look in sw.looks().items():
        if not names or name in names:
            _look(look)


def _look(look: sw.Look) -> None:
    """Draw a landscape as its own pictures are, but on few cells."""
    terrain = look.recipe(size=CELLS).run().terrain
    _draw(
        sw.add_water(terrain) if look.picture.get("water") != "none" else terrain, f"look-{look.name}", **look.picture
    )


def _eroded(preset: str) -> sw.Terrain:
    stage = sw.Stage.of(preset, strength=STRENGTH)
    source = sw.preset_source(preset, size=CELLS)
    running = sw.Running(sw.Recipe(source=source, strata=sw.preset_beds(preset), stages=(stage,), seed=source.seed))
    running.run()
    try:
        return running.result().terrain
    finally:
        running.close()


def _draw(terrain: sw.Terrain, name: str, **options: Any) -> None:
    picture = sw.render_view(terrain, size=SIZE, distance=1.25, **options)
    picture.convert("RGB").save(TARGET / f"{name}.jpg", quality=80, optimize=True)


if __name__ == "__main__":
    main()
