"""Draws the thumbnails of generators and presets into public/thumbnails, which the page shows to choose from.

Run it after a change of one: python src/slopewash/studio/web/make_thumbnails.py. It takes about a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

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


def _eroded(preset: str) -> sw.Terrain:
    stage = sw.Stage.of(preset, strength=STRENGTH)
    source = sw.preset_source(preset, size=CELLS)
    running = sw.Running(sw.Recipe(source=source, strata=sw.preset_beds(preset), stages=(stage,), seed=source.seed))
    running.run()
    try:
        return running.result().terrain
    finally:
        running.close()


def _draw(terrain: sw.Terrain, name: str) -> None:
    picture = sw.render_view(terrain, size=SIZE, distance=1.25)
    picture.convert("RGB").save(TARGET / f"{name}.jpg", quality=80, optimize=True)


if __name__ == "__main__":
    main()
