"""How a camera moves: around the block, or over the ground."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.camera import Camera, orbit
from slopewash.rendering.grid import blur, resize, sample
from slopewash.rendering.stage import Stage

Floats = NDArray[np.float32]

RADIUS = 0.46
"""Of the arc of a flight around the centre, as a fraction of the terrain's shorter side."""
ARC = 130.0
"""Degrees of that arc."""
LEAD = 14.0
"""Degrees by which the camera looks ahead of the centre."""
CLEARANCE = 0.34
"""Reliefs above the highest ground around."""
AROUND = 0.09
"""Fraction of the side that counts as around: the flight is smoothed over it, so that the camera does not bob."""
DOWN = 11.0
"""Degrees by which the camera looks down in flight."""
ANGLE_OF_VIEW = 62.0
"""Degrees across."""


def turntable(
    stage: Stage, size: tuple[int, int], count: int, *, azimuth: float, pitch: float, distance: float, zoom: float,
    turns: float,
) -> list[Camera]:  # fmt: skip
    """Cameras around the block; after whole turns the film repeats without a jump."""
    if not (math.isfinite(turns) and turns != 0):
        raise InvalidParameter(f"turns is {turns}; it must be finite and not zero")
    azimuths = [azimuth + 360 * turns * k / count for k in range(count)]
    points = stage.block.outline(stage.scene)
    return orbit(points, size=size, azimuths=azimuths, pitch=pitch, distance=distance, zoom=zoom)


def flyover(
    stage: Stage, size: tuple[int, int], count: int, *, heading: float | None, pitch: float | None, zoom: float
) -> list[Camera]:
    """Cameras on an arc over the terrain, above all ground around, looking across its centre.

    `heading` is where the flight looks half-way; by default away from the sun, at lit slopes.
    """
    course = stage.sun[0] + 180 if heading is None else heading
    down = DOWN if pitch is None else pitch
    if not (math.isfinite(course) and -60 <= down <= 60):
        raise InvalidParameter(f"heading is {course} and pitch {down} degrees; they must be finite, pitch within ±60")
    if not (math.isfinite(zoom) and zoom > 0):
        raise InvalidParameter(f"zoom is {zoom:g}; it must be positive")
    scene, block = stage.scene, stage.block
    side = 2 * min(block.east, block.north)
    turned = np.radians(course + ARC * (np.linspace(0, 1, count) - 0.5 if count > 1 else np.zeros(1)))
    east, north = -RADIUS * side * np.sin(turned), -RADIUS * side * np.cos(turned)
    looks = turned + math.radians(LEAD)
    safe = _safe_heights(scene.surface)
    factor = (len(safe) - 1) / max(len(scene.surface) - 1, 1)
    i = ((block.north - north) / scene.cell_size * factor).astype(np.float32)
    j = ((east + block.east) / scene.cell_size * factor).astype(np.float32)
    relief = float(scene.surface.max() - scene.surface.min())
    up = sample(safe, np.clip(i, 0, safe.shape[0] - 1), np.clip(j, 0, safe.shape[1] - 1)) + CLEARANCE * relief
    focal = zoom * size[0] / 2 / math.tan(math.radians(ANGLE_OF_VIEW / 2))
    return [
        Camera(
            (float(x), float(y), float(z)), (math.sin(look), math.cos(look)), math.radians(down), focal,
            (size[0] / 2, size[1] / 2), size,
        )
        for x, y, z, look in zip(east, north, up, looks, strict=True)
    ]  # fmt: skip


def _safe_heights(surface: Floats) -> Floats:
    """Highest ground around each point, smoothed, on a coarse grid."""
    rows, columns = surface.shape
    factor = min(1.0, 128 / max(rows, columns))
    coarse = resize(surface, (max(2, round(columns * factor)), max(2, round(rows * factor))))
    reach = max(1, round(AROUND * max(coarse.shape)))
    highest = coarse
    for axis in (0, 1):
        padded = np.pad(highest, [(reach, reach) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=axis)
        highest = windows.max(axis=-1)
    return blur(np.ascontiguousarray(highest, np.float32), reach)
