"""What each parameter does: the same terrain with one value changed at a time, a strip of pictures for each parameter.

Run it: python examples/parameters.py --out docs/pictures/parameters
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import slopewash as sw

WATER, ERODED, DEPOSITED = (np.array(colour) for colour in ((70, 120, 165), (196, 98, 36), (30, 135, 110)))
"""Colours on the shaded relief: lakes and streams, ground that was lowered, ground that was raised."""
TINT = 0.55
"""Strength of the colour where a strip changed most."""


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
NEEDS: dict[tuple[str, str], dict[str, Any]] = {
    ("virtual_pipes", "bed_thickness"): BED,
    ("virtual_pipes", "bed_dip"): BED,
    ("virtual_pipes", "bed_direction"): BED,
    ("steepest_talus", "talus_slope_range"): BY_HARDNESS,
    ("steepest_talus", "talus_slope_bias"): BY_HARDNESS,
    **{
        ("virtual_pipes", name): {"cover": "loose"}
        for name in ("cover_talus_slope", "cover_slide_rate", "weathering_rate", "weathering_depth")
    },
}
"""What must be switched on for a parameter to matter."""


CHOSEN: dict[tuple[str, str], list[Any]] = {
    ("velocity_field", "maximum_speed"): [1.5, 5.0, 30.0],
    ("mesh_particles", "maximum_particles"): [300, 1200, 6000],
    ("mesh_particles", "triangles"): [2000, 12_000, 30_000],
    ("mesh_particles", "lifetime"): [8.0, 25.0, 600.0],
    ("mesh_particles", "transport_time"): [20, 400, 2000],
}
"""Values where the typical range is not that of the base: slow water, few particles, a short run."""


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


def strip(made: dict[str, sw.Terrain], width: int) -> Image.Image:
    """Draw runs beside each other with one scale of colours, their values above them."""
    changes = np.concatenate([np.abs(terrain["difference"]).ravel() for terrain in made.values()])
    most = max(float(np.percentile(changes, 99)), 1e-6)
    return sw.side_by_side([draw(terrain, width, most) for terrain in made.values()], list(made)).convert("RGB")


def main(words: Sequence[str] | None = None) -> None:
    """Draw a strip for each parameter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128, help="cells along a side")
    parser.add_argument("--share", type=float, default=1.0, help="share of the steps to take")
    parser.add_argument("--width", type=int, default=200, help="pixels of a picture")
    parser.add_argument("--model", choices=list(BASES), action="append", help="this one only; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("out/parameters"), help="folder for the pictures")
    options = parser.parse_args(words)
    for name in options.model or BASES:
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        for declared in sw.find_model(name)().parameters():
            made = runs(declared, BASES[name], options.size, options.share)
            strip(made, options.width).save(folder / f"{declared.name}.jpg", quality=82)
            print(folder / f"{declared.name}.jpg", flush=True)


if __name__ == "__main__":
    main()
