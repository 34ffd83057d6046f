"""What is behind the ground: a clear sky with thin clouds from inside, a studio backdrop behind the block."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import linear, mix, smoothstep
from slopewash.rendering.daylight import Daylight, daylight
from slopewash.rendering.grid import mottle, sample_tile

Floats = NDArray[np.float32]

BACKDROP = (linear("#7fa5c6"), linear("#d6e0e6"), linear("#c9c8c2"))
"""Sky above, haze in the middle, floor below."""
PLAIN_BACKDROP = linear("#efede8")
"""Of a plain picture: about the paper that it is printed on."""
BACKDROP_LIGHT = 1.15
BACKDROP_TINT = 0.3
"""How much of the sun's colour the backdrop takes."""
VIGNETTE = 0.16
"""Darkening of the backdrop's corners."""
CLOUD = linear("#eef1f3")
CLOUD_COVER, CLOUD_SHARE = (0.3, 2.2), 0.6
"""Thickness, in deviations, at which clouds begin and are complete, and how much of the sky they hide then."""
CLOUD_TILE, CLOUD_SEED = 512, 77
CLOUD_SCALE = 90.0
"""Cells of that tile per height of the clouds."""
GLOW_POWER = 6
"""Sharpness of the glow around the sun."""


def backdrop(row: Floats, column: Floats, *, plain: bool = False) -> Floats:
    """Linear-light colours behind the block, for rows and columns as fractions of the picture."""
    out = (2 * column[None, :] - 1) ** 2 + (2 * row[:, None] - 1) ** 2
    dark = np.float32(0 if plain else VIGNETTE)
    return backdrop_lines(row, plain=plain)[:, None, :] * (1 - dark * np.minimum(out / 2, 1))[..., None]


def backdrop_lines(row: Floats, day: Daylight | None = None, *, plain: bool = False) -> Floats:
    """Colours of the rows of the backdrop, before its corners are darkened."""
    if plain:
        return np.repeat(PLAIN_BACKDROP[None], len(row), axis=0)
    sky = mix(BACKDROP[0], BACKDROP[1], smoothstep(-0.05, 0.55, row))
    lines = mix(sky, BACKDROP[2], smoothstep(0.45, 1.05, row)) * np.float32(BACKDROP_LIGHT)
    if day is not None:
        lines = lines * (1 + np.float32(BACKDROP_TINT) * (day.sun / _white() - 1))
    return lines.astype(np.float32)


def towards_sun(east: Floats, north: Floats, azimuth: float) -> Floats:
    """How much of the sun's glow lies in a horizontal direction, 0 .. 1."""
    a = math.radians(azimuth)
    cosine = (east * np.float32(math.sin(a)) + north * np.float32(math.cos(a))) / np.maximum(
        np.hypot(east, north), np.float32(1e-6)
    )
    return np.asarray((0.5 + 0.5 * cosine) ** GLOW_POWER, dtype=np.float32)


def open_sky(east: Floats, north: Floats, upward: Floats, day: Daylight, azimuth: float) -> Floats:
    """Linear-light colours of the sky: one row per upward tangent, one column per horizontal direction."""
    glow = towards_sun(east, north, azimuth)
    horizon = mix(day.air, day.glow, glow)
    height = smoothstep(-0.05, 0.9, upward)
    sky = mix(horizon[None, :, :], day.zenith, height[:, None] ** np.float32(0.8))
    sky = np.array(np.broadcast_to(sky, (len(upward), len(east), 3)), dtype=np.float32)
    above = upward > 0.02
    if above.any():
        far = np.float32(CLOUD_SCALE) / upward[above][:, None]
        # Seen flat, a layer of clouds merges into the haze.
        veil = smoothstep(0.03, 0.35, upward[above])[:, None]
        thickness = sample_tile(_clouds(), far * north[None, :], far * east[None, :])
        share = np.float32(CLOUD_SHARE) * smoothstep(*CLOUD_COVER, thickness) * veil
        lit = mix(CLOUD, day.glow * np.float32(1.1), 0.5 * glow[None, :])
        sky[above] = mix(sky[above], lit, share)
    return sky * np.float32(1.1)


@cache
def _white() -> Floats:
    return daylight(90.0).sun


@cache
def _clouds() -> Floats:
    return mottle((CLOUD_TILE, CLOUD_TILE), 80, 6, CLOUD_SEED)
