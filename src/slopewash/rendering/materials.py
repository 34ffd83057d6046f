"""What the layers of a terrain know about its ground: sediment, moisture, fresh rock, soil and beds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import smoothstep
from slopewash.rendering.grid import blur, filled, resize
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]

SEDIMENT_SHOWN = (0.05, 2.0)
"""Cells of deposit from which, and up to which, the ground takes its colour."""
DRY, WET = 3e-5, 1e-2
"""Drainage areas, as fractions of the terrain, of ordinary and of the dampest ground."""
BANK_REACH = 0.004
"""Fraction of the terrain's side over which large rivers leave gravel."""
BANK_DEPTH = 0.12
"""Cells of depth, on average over that reach, at which all of the bank is gravel."""
THREAD_REACH = 4.0
"""Cells: threads of water are what carries more than the surroundings of that radius."""
FRESH_WEAR = (0.08, 0.5)
"""Erosion beyond that of the surroundings, as a fraction of it, from which and at which rock is fresh."""
FRESH_REACH = 0.02
"""Fraction of the terrain's side that counts as surroundings."""
SOIL_SHOWN = (0.01, 0.12)
"""Cells of soil on bedrock from which, and up to which, it hides the rock."""
UNIFORM_ROCK = 0.01
"""Deviation of the erodibility within its surroundings below which it shows nothing of the rock."""


@dataclass(frozen=True)
class Beds:
    """Layers of rock where they crop out: the bed of every cell, that above or below it, and how much of that."""

    bed: NDArray[np.intp]
    other: NDArray[np.intp]
    share: Floats
    """Of the other bed, above 0 only next to their boundary, which would be jagged otherwise."""
    hardness: Floats
    """Of every bed, 0 .. 1."""


@dataclass(frozen=True)
class Materials:
    """What layers of the terrain know about the cover; None where there is no such layer."""

    sediment: Floats | None = None
    """0 on ground that was there before, 1 on a thick deposit."""
    moisture: Floats | None = None
    """0 on divides, 1 along rivers."""
    threads: Floats | None = None
    """Above 0 where more water passes than around, below where less does; about -1 .. 1."""
    bank: Floats | None = None
    """1 beside large rivers, where floods leave gravel."""
    fresh: Floats | None = None
    """1 where much more was eroded than around."""
    soil: Floats | None = None
    """0 on bare rock, 1 where soil hides it."""
    hardness: Floats | None = None
    """Of the rock relative to its surroundings, about -1 .. 1."""
    beds: Beds | None = None


def materials_of(terrain: Terrain, size: tuple[int, int], elevation: Floats, slope: Floats) -> Materials:
    """What is known of the ground on a grid of (width, height) pixels, of that elevation and slope in degrees."""
    moisture, threads = _moisture(terrain, size)
    beds = _beds(terrain, size, elevation, slope)
    return Materials(
        sediment=_sediment(terrain, size),
        moisture=moisture,
        threads=threads,
        bank=_bank(terrain, size),
        fresh=_fresh(terrain, size),
        soil=_soil(terrain, size),
        hardness=_hardness(terrain, size) if beds is None else None,
        beds=beds,
    )


def _sediment(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    name = next((name for name in ("deposit", "difference") if name in terrain), None)
    if name is None:
        return None
    thickness = (np.maximum(filled(terrain, name), 0) / np.float32(terrain.cell_size)).astype(np.float32)
    return resize(blur(smoothstep(*SEDIMENT_SHOWN, thickness), 0.002 * max(terrain.shape)), size)


def _moisture(terrain: Terrain, size: tuple[int, int]) -> tuple[Floats | None, Floats | None]:
    """Moisture by drainage, or else by flow, and the threads of water by flow, or else by drainage."""
    given = {name: _passing(terrain, name) for name in ("drainage", "flow") if name in terrain and terrain[name].any()}
    if not given:
        return None, None
    wet = given.get("drainage", given.get("flow"))
    assert wet is not None
    fine = given.get("flow", wet)
    parted = fine - blur(fine, THREAD_REACH)
    threads = np.tanh(parted / np.float32(max(float(parted.std()), 1e-6)))
    return resize(blur(wet, max(1.0, 0.003 * max(terrain.shape))), size), resize(threads, size)


def _passing(terrain: Terrain, name: str) -> Floats:
    """Logarithm of the water that passes a cell, 0 on ordinary and 1 on the dampest ground."""
    amount = filled(terrain, name)
    if name == "drainage":
        amount = amount / np.float32(terrain.width * terrain.height)
        low, high = float(np.log(DRY)), float(np.log(WET))
    else:
        low, high = (float(v) for v in np.log(np.maximum(np.quantile(amount, [0.5, 0.995]), 1e-12)))
    wet = np.log(np.maximum(amount, np.float32(1e-12)))
    rising: Floats = np.clip((wet - np.float32(low)) / np.float32(max(high - low, 1e-6)), 0, 1)
    return rising


def _bank(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "river" not in terrain:
        return None
    near = blur(filled(terrain, "river"), max(1.0, BANK_REACH * max(terrain.shape)))
    return resize(
        smoothstep(0.1 * BANK_DEPTH, BANK_DEPTH, (near / np.float32(terrain.cell_size)).astype(np.float32)), size
    )


def _fresh(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "wear" not in terrain or not terrain["wear"].any():
        return None
    wear = np.maximum(filled(terrain, "wear"), 0)
    around = np.maximum(blur(wear, FRESH_REACH * max(terrain.shape)), np.float32(0.05 * terrain.cell_size))
    return resize(smoothstep(*FRESH_WEAR, (wear / around - 1).astype(np.float32)), size)


def _soil(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "bedrock" not in terrain:
        return None
    thickness = (filled(terrain, "elevation") - filled(terrain, "bedrock")) / np.float32(terrain.cell_size)
    return resize(smoothstep(*SOIL_SHOWN, thickness.astype(np.float32)), size)


def _hardness(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    if "erodibility" not in terrain:
        return None
    soft = filled(terrain, "erodibility")
    relative = blur(soft, 0.03 * max(terrain.shape)) - soft
    spread = float(relative.std())
    if spread < UNIFORM_ROCK:
        return None
    return resize(np.clip(blur(relative, 1) / np.float32(2 * spread), -1, 1).astype(np.float32), size)


def _beds(terrain: Terrain, size: tuple[int, int], elevation: Floats, slope: Floats) -> Beds | None:
    strata = terrain.strata
    if strata is None or strata.top is None:
        return None
    depth = resize(np.broadcast_to(strata.top, terrain.shape).astype(np.float32), size) - elevation
    begins = strata.depths.astype(np.float32)
    last = len(begins) - 1
    bed = np.clip(np.searchsorted(begins, depth, side="right") - 1, 0, last)
    # Boundaries blend over the height of a pixel.
    rise = np.tan(np.radians(np.minimum(slope, np.float32(80)))) * np.float32(terrain.width / size[0])
    ends = np.append(begins[1:], np.float32(np.inf))
    begins[0] = -np.inf
    over, under = depth - begins[bed], ends[bed] - depth
    share = np.clip(0.5 - np.minimum(over, under) / np.maximum(rise, np.float32(1e-6)), 0, 0.5)
    other = np.clip(np.where(over < under, bed - 1, bed + 1), 0, last)
    hardness = np.array([layer.hardness for layer in strata.layers], dtype=np.float32)
    return Beds(bed, other, share.astype(np.float32), hardness)
