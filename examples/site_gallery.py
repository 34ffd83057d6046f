"""Pictures and times of every look for the gallery of the site: before and after from one camera, and a film.

Run it: python examples/site_gallery.py --out docs/pictures/gallery
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image

import slopewash as sw

SIZE = (960, 594)
STRIP = ("fjords", "mesas", "rolling_hills", "lake_district", "hogbacks", "winter_range")
"""Looks in rows, for the README."""


def strip(files: Sequence[Path], path: Path, width: int = 420, across: int = 3, gap: int = 6) -> None:
    """Put whole pictures in rows, made smaller."""
    height = width * SIZE[1] // SIZE[0]
    columns, rows = min(across, max(1, len(files))), max(1, -(-len(files) // across))
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), "white")
    for number, file in enumerate(files):
        with Image.open(file) as picture:
            place = (number % across * (width + gap), number // across * (height + gap))
            sheet.paste(picture.resize((width, height), Image.Resampling.LANCZOS), place)
    sheet.save(path, quality=88)


def main(words: Sequence[str] | None = None) -> None:
    """Make every look, draw it, and note how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--only", default="", help="part of the names of the looks to make")
    parser.add_argument("--film", default="alpine", help="look to turn in a film, or none")
    parser.add_argument("--seconds", type=float, default=6.0, help="length of the film")
    parser.add_argument("--width", type=int, default=SIZE[0], help="pixels of a picture")
    parser.add_argument("--backend", default="auto", help="auto, gpu, cpu or reference")
    parser.add_argument("--out", type=Path, default=Path("out/gallery"), help="folder for the pictures")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    size = (options.width, options.width * SIZE[1] // SIZE[0])
    seconds: dict[str, float] = {}
    for name, look in sw.looks().items():
        if options.only not in name:
            continue
        recipe = look.recipe(size=options.size, backend=options.backend)
        look.recipe(size=min(64, options.size), backend=options.backend).run()  # compiles what it needs
        result = recipe.run()
        seconds[name] = round(result.seconds, 1)
        for suffix, terrain in (("before", recipe.terrain()), ("after", sw.add_water(result.terrain))):
            picture = sw.render_view(terrain, size=size, **look.picture)
            picture.convert("RGB").save(options.out / f"{name}-{suffix}.jpg", quality=84)
        if name == options.film:
            filmed = terrain
        print(f"{name}: {seconds[name]} s", flush=True)
    facts = {
        "date": datetime.now(UTC).date().isoformat(), "cells": options.size, "cores": os.cpu_count(),
        "python": platform.python_version(), "slopewash": sw.__version__, "seconds": seconds,
    }  # fmt: skip
    (options.out / "times.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    strip([options.out / f"{name}-after.jpg" for name in STRIP if name in seconds], options.out.parent / "strip.jpg")
    if options.film in seconds:
        sw.film(filmed, options.out / "film.webm", size=(640, 396), seconds=options.seconds, zoom=1.2)


if __name__ == "__main__":
    main()
