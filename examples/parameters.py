"""What each parameter does: the same terrain with one value changed at a time, a strip of pictures for each parameter.

Run it: python examples/parameters.py --out docs/pictures/parameters
One of them: python examples/parameters.py --model velocity_field --only margin --out docs/pictures/parameters

Beside the pictures, notes.json records what else a strip needs and what should be known of it, for the pages.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

import slopewash as sw

WATER, ERODED, DEPOSITED = (np.array(colour) for colour in ((70, 120, 165), (196, 98, 36), (30, 135, 110)))
"""Colours on the shaded relief: lakes and streams, ground that was lowered, ground that was raised."""
TINT = 0.55
"""Strength of the colour where a strip changed most."""
BLANK = (250, 250, 246)
"""Colour of the paper."""


@dataclass(frozen=True)
class Base:
    """A run of which one value is changed."""

    model: Any
    generator: str
    steps: int
    start: Mapping[str, Any] = field(default_factory=dict)
    settle: int = 0
    edges: Any = "open"

    def terrain(self, size: int) -> sw.Terrain:
        """Where it begins; particles start in a ring around the middle."""
        terrain = sw.generate(self.generator, **{**self.start, "size": size, "seed": 7})
        if self.model.name != "mesh_particles":
            return terrain
        side, angles = terrain.width, [2 * math.pi * k / 6 for k in range(6)]
        places = [(side * (0.5 + 0.14 * math.sin(a)), side * (0.5 + 0.14 * math.cos(a))) for a in angles]
        return terrain.replace(emitters=[sw.Emitter(x=x, y=y, radius=0.02 * side, rate=12) for x, y in places])

    def run(self, change: dict[str, Any], size: int, share: float) -> sw.Terrain:
        """Run it with what is changed, and only `share` of the steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.StabilityWarning)  # the ends of some ranges need sub-steps
            warnings.simplefilter("ignore", sw.RangeWarning)
            simulation = sw.Simulation(self.terrain(size), self.model.replace(**change), edges=self.edges, seed=7)
            simulation.run(max(1, round(share * self.steps)))
            if self.settle:
                simulation.settle(max(1, round(share * self.settle)))
            return simulation.terrain


BASES: dict[str, Sequence[Base]] = {
    # The second is for what the first makes no use of: laws of the papers, lakes, mud.
    "virtual_pipes": (
        Base(sw.preset("landscape").replace(rain_rate=0.004), "dome", 900, {"relief": 970.0}, settle=150),
        Base(sw.VirtualPipes(), "diamond_square", 400, {"roughness": 0.2}, edges="closed"),
    ),
    "steepest_talus": (Base(sw.SteepestTalus(), "ridged", 300, edges="closed"),),
    "velocity_field": (
        Base(sw.preset("chiba_fig2"), "noisy_cylinder", 120, sw.find_preset("chiba_fig2").start),
    ),
    "mesh_particles": (
        Base(
            sw.preset("bezin2010").replace(
                triangles=12_000, maximum_particles=6000, erosion_rate=0.08, transport_time=400, drag=0.5
            ),
            "hill", 2000, {"cell_size": 10.0, "relief": 320.0},
        ),
    ),
}  # fmt: skip
BED = {"bed_contrast": 0.2}
BY_HARDNESS = {"talus_law": "hard_stands_steeper"}
COVER = {"cover": "loose"}
THICK = {**COVER, "weathering_rate": 0.02}
NEEDS: dict[tuple[str, str], dict[str, Any]] = {
    ("virtual_pipes", "bed_thickness"): BED,
    ("virtual_pipes", "bed_dip"): BED,
    ("virtual_pipes", "bed_direction"): BED,
    ("virtual_pipes", "bed_datum"): BED,
    ("virtual_pipes", "weathering_rate"): COVER,
    ("virtual_pipes", "weathering_depth"): THICK,
    ("virtual_pipes", "cover_talus_slope"): THICK,
    ("virtual_pipes", "cover_slide_rate"): THICK,
    ("virtual_pipes", "softening_rate"): {"deposition_rate": 3.0},
    ("virtual_pipes", "deposit_below_surface"): {"sediment_volume": 0.0, "deposition_rate": 3.0},
    ("steepest_talus", "talus_slope_range"): BY_HARDNESS,
    ("steepest_talus", "talus_slope_bias"): BY_HARDNESS,
    ("velocity_field", "capacity_exponent"): {"transport_capacity": 1e-4},
    ("velocity_field", "slide_rate"): {"talus_slope": 0.4},
}
"""What must be switched on for a parameter to matter."""

TABLE_2 = frozenset(
    {
        "evaporation_rate", "gravity", "pipe_friction", "maximum_erosion_depth", "sediment_volume", "softening_rate",
        "thermal_rate", "deposit_below_surface",
    }
)  # fmt: skip
"""Parameters of `virtual_pipes` that matter more with the second base than with the first."""

CHOSEN: dict[tuple[str, str], list[Any]] = {
    ("virtual_pipes", "bed_direction"): [0.0, 90.0, 180.0],
    ("virtual_pipes", "bed_datum"): [0.0, 40.0, 80.0],
    ("virtual_pipes", "evaporation_rate"): [0.0, 0.05, 0.5],
    ("virtual_pipes", "gravity"): [0.1, 1.0, 20.0],
    ("virtual_pipes", "pipe_area"): [0.1, 1.0, 10.0],
    ("virtual_pipes", "pipe_friction"): [0.0, 0.2, 1.0],
    ("virtual_pipes", "maximum_erosion_depth"): [0.0, 2.0, 10.0],
    ("virtual_pipes", "dig_limit"): [0.0, 0.01, 0.5],
    ("virtual_pipes", "softening_rate"): [0.0, 1.0, 10.0],
    ("virtual_pipes", "thermal_rate"): [0.0, 0.3, 3.0],
    ("virtual_pipes", "cover_slide_rate"): [0.0, 0.5, 3.0],
    ("virtual_pipes", "cover_talus_slope"): [0.1, 0.5, 1.0],
    ("velocity_field", "collision_erosion"): [1e-5, 3e-4, 1e-3],
    ("velocity_field", "transport_capacity"): [1e-6, 1e-4, 1.0],
    ("velocity_field", "slide_rate"): [0.0, 0.05, 0.2],
    ("velocity_field", "talus_slope"): [0.4, 0.8, 1.4],
    ("velocity_field", "margin"): [0.0, 0.05, 1.0],
    ("velocity_field", "gravity"): [0.1, 1.0, 20.0],
    ("velocity_field", "maximum_speed"): [1.5, 5.0, 30.0],
    ("velocity_field", "minimum_speed"): [0.001, 0.3, 0.7],
    ("velocity_field", "maximum_steps"): [10, 30, 4000],
    ("velocity_field", "longest_stay"): [1, 2, 200],
    ("mesh_particles", "maximum_particles"): [300, 1200, 6000],
    ("mesh_particles", "triangles"): [2000, 12_000, 30_000],
    ("mesh_particles", "lifetime"): [8.0, 25.0, 600.0],
    ("mesh_particles", "transport_time"): [20, 400, 2000],
    ("mesh_particles", "dig_limit"): [0.0, 0.02, 0.5],
    ("mesh_particles", "smallest_grain"): [0.0, 0.2, 0.5],
}
"""Values where the ends of the typical range do not suit the base, or the effect is over long before them."""

CLEAR, SEEN = 24, 0.006
"""Two pictures look different where colours differ by this much, of 255, on this share of the pixels."""
FAINT = "Hard to see: the second row is the difference from the first picture."


def values(declared: Any, model: Any) -> list[Any]:
    """Return the ends of the typical range with the model's own value between them, or every choice of a law."""
    if (model.name, declared.name) in CHOSEN:
        return CHOSEN[model.name, declared.name]
    if declared.choices:
        return list(declared.choices)
    if isinstance(declared.default, bool):
        return [False, True]
    own = getattr(model, declared.name)
    low, high = declared.typical or (own, own)
    between = math.sqrt(low * high) if declared.log else (low + high) / 2
    whole = isinstance(declared.default, int)
    return [low, own if low < own < high else round(between) if whole else between, high]


def runs(declared: Any, bases: Sequence[Base], size: int, share: float) -> dict[str, sw.Terrain]:
    """Run one parameter at each of its values, from the first base in which it matters."""
    made: dict[str, sw.Terrain] = {}
    if declared.name in TABLE_2 and bases[0].model.name == "virtual_pipes":
        bases = bases[1:]
    for base in bases:
        needs = NEEDS.get((base.model.name, declared.name), {})
        try:
            made = {
                f"{value:.3g}" if isinstance(value, float) else str(value).lower(): base.run(
                    {**needs, declared.name: value}, size, share
                )
                for value in values(declared, base.model)
            }
        except sw.InvalidParameter:  # a law that does not go with the others of this base
            continue
        if np.ptp([terrain["elevation"] for terrain in made.values()], axis=0).max() > 0:
            break
    return made


def draw(terrain: sw.Terrain, width: int, most: float) -> Image.Image:
    """Shaded relief, coloured by what was eroded and deposited, up to `most` metres, and by water that can be seen."""
    shaded = np.asarray(sw.hillshade(terrain, width=width).convert("RGB"), float)

    def cover(ground: Any, colour: Any, share: Any) -> Any:
        fitted = Image.fromarray(np.float32(share)).resize((ground.shape[1], ground.shape[0]))
        strength = np.asarray(fitted)[..., None]
        return ground * (1 - strength) + colour * (0.4 + 0.6 * ground.mean(-1, keepdims=True) / 160) * strength

    change = np.clip(terrain["difference"] / most, -1, 1)
    shaded = cover(shaded, ERODED, TINT * np.maximum(-change, 0))
    shaded = cover(shaded, DEPOSITED, TINT * np.maximum(change, 0))
    water = terrain.get("water")
    if water is not None and not terrain.emitters:  # particles would hide the ground
        shaded = cover(shaded, WATER, np.clip(water / terrain.cell_size / 0.5, 0, 0.8))
    return Image.fromarray(np.clip(shaded, 0, 255).astype(np.uint8))


def different(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels that clearly differ after smoothing over three: shapes count, noise does not."""
    first, second = (np.asarray(image.filter(ImageFilter.BoxBlur(1)), float) for image in (one, other))
    return float(np.mean(np.abs(first - second).max(axis=2) > CLEAR))


def strip(made: dict[str, sw.Terrain], width: int) -> tuple[Image.Image, bool]:
    """Draw runs beside each other with one scale of colours, their values above them.

    Where neighbours look the same, a second row shows their difference from the first of them, in a scale of its own
    that its titles give; returns also whether it does.
    """
    changes = np.concatenate([np.abs(terrain["difference"]).ravel() for terrain in made.values()])
    most = max(float(np.percentile(changes, 99)), 1e-6)
    images, titles = [draw(terrain, width, most) for terrain in made.values()], list(made)
    faint = any(different(*pair) < SEEN for pair in pairwise(images))
    if faint:
        first, *others = made.values()
        apart = [terrain["elevation"] - first["elevation"] for terrain in others]
        within = max(float(np.percentile(np.abs(apart), 99)), 1e-6)
        images.append(Image.new("RGB", images[0].size, BLANK))
        titles += ["difference:", *(f"within {within:.2g} m" for _ in others)]
        for change in apart:
            ground = sw.Terrain(first["elevation"], cell_size=first.cell_size, difference=change)
            images.append(sw.overlay(ground, "difference", limits=(-within, within), width=width, framed=False))
    return sw.side_by_side(images, titles, columns=len(made)).convert("RGB"), faint


def note(model: str, name: str, *, faint: bool) -> str:
    """Return what a reader of a strip should know: what else was set, on which base, and where to look."""
    needs = [f"`{key}={value!r}`" for key, value in NEEDS.get((model, name), {}).items()]
    if model == "virtual_pipes" and name in TABLE_2:
        needs.insert(0, "the second base")
    given = f"With {', '.join(needs)}." if needs else ""
    return " ".join(filter(None, (given, FAINT if faint else "")))


def main(words: Sequence[str] | None = None) -> None:
    """Draw a strip for each parameter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="cells along a side")
    parser.add_argument("--share", type=float, default=1.0, help="share of the steps to take")
    parser.add_argument("--width", type=int, default=200, help="pixels of a picture")
    parser.add_argument("--model", choices=list(BASES), action="append", help="this one only; may be repeated")
    parser.add_argument("--only", action="append", metavar="PARAMETER", help="this one only; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("out/parameters"), help="folder for the pictures")
    options = parser.parse_args(words)
    for name in options.model or BASES:
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "notes.json"
        notes = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        for declared in sw.find_model(name)().parameters():
            if options.only and declared.name not in options.only:
                continue
            made = runs(declared, BASES[name], options.size, options.share)
            picture, faint = strip(made, options.width)
            picture.save(folder / f"{declared.name}.jpg", quality=82)
            print(folder / f"{declared.name}.jpg", flush=True)
            notes[declared.name] = note(name, declared.name, faint=faint)
        known = {key: text for key, text in sorted(notes.items()) if text}
        file.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
