"""Valley floors and fans: meadow, lush banks, gravel where streams wander, sand where they spread it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import blend, smoothstep
from slopewash.rendering.materials import Materials
from slopewash.rendering.palettes import Palette
from slopewash.rendering.shape import Shape

Floats = NDArray[np.float32]

FLOOR_SLOPE = 9.0
"""Degrees up to which sediment is a floor and not a slope of debris."""
FLOODED = (0.25, 0.6)
"""Moisture from which, and from which on all of it, flat ground is the work of a stream."""
FAN = (3.5, 9.0)
"""Slope in degrees over which a floor of meadow becomes a fan of gravel."""


def floors(
    colour: Floats, shape: Shape, palette: Palette, materials: Materials, damp: Floats, patches: Floats, grain: Floats
) -> tuple[Floats, Floats]:
    """Cover the ground with floors and fans; return its colour, three planes, and how much of it they are."""
    flat = 1 - smoothstep(0.6 * FLOOR_SLOPE, 1.6 * FLOOR_SLOPE, shape.slope)
    floor = _extent(flat, shape, materials)
    nothing = np.zeros_like(flat)
    moisture = materials.moisture if materials.moisture is not None else np.clip(0.3 + 0.4 * damp, 0, 1)
    threads = nothing if materials.threads is None else materials.threads
    bank = nothing if materials.bank is None else materials.bank * flat
    bare = np.float32(1 - palette.green_floors)

    # Terraces dry out where little water passes.
    dry = np.clip(0.30 + 0.22 * patches - 0.40 * moisture - 0.25 * threads, 0, 0.6)
    ground = blend(palette.colour("meadow"), palette.colour("heath"), _f32(dry))
    wet = smoothstep(0.45, 1.0, moisture + 0.30 * threads + 0.15 * patches)
    near = np.maximum(wet, smoothstep(0.02, 0.35, bank))
    ground = blend(ground, palette.colour("lush"), near * np.float32(0.7 * palette.green_floors))
    fan = smoothstep(*FAN, shape.slope + 1.5 * patches + 1.2 * threads)
    sandy = np.clip(1.1 * bare + 0.75 * fan - 0.10 * damp + 0.07 * patches + 0.08 * grain - 0.15 * near, 0, 0.95)
    ground = blend(ground, palette.colour("sand"), _f32(sandy))
    # Streams shift their beds: gravel lies along them in threads.
    strewn = smoothstep(0.75, 1.5, moisture + 0.6 * threads + 0.15 * grain) * flat * np.float32(0.6)
    gravel = np.maximum(smoothstep(0.25, 0.9, bank + 0.15 * threads + 0.1 * grain) * np.float32(0.85), strewn)
    ground = blend(ground, palette.colour("gravel"), gravel)
    return blend(colour, ground, floor * np.float32(0.92)), floor


def _extent(flat: Floats, shape: Shape, materials: Materials) -> Floats:
    floor = flat * smoothstep(-0.2, 0.6, shape.hollow) * np.float32(0.6 * shape.ruggedness)
    if materials.sediment is not None:
        # Fans are steeper than floors.
        floor = np.maximum(0, np.maximum(flat, 1 - smoothstep(12, 20, shape.slope)) * materials.sediment)
    if materials.moisture is not None:
        # A run that erodes deep leaves floors lower than the ground it began with: no deposit shows them.
        floor = np.maximum(floor, flat * smoothstep(*FLOODED, materials.moisture) * np.float32(shape.ruggedness))
    if materials.bank is not None:
        floor = np.maximum(floor, materials.bank * flat)
    return _f32(floor)


def _f32(values: Floats) -> Floats:
    return values.astype(np.float32, copy=False)
