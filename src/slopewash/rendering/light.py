"""Sun and sky on a height field: soft cast shadows and ambient occlusion.

Every direction of light is swept once across the grid. A plane of light descends from row to row away from its source;
ground that rises through it shades everything behind. One sweep costs a few operations per cell, however long the
shadows, and the sky is simply many faint suns, so that valleys darken as they do outdoors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.rendering.grid import blur, resize
from slopewash.rendering.threads import each

Floats = NDArray[np.float32]
Sun = tuple[float, float]
SunName = Literal["map", "morning", "noon", "evening"]
Sunlight = Sun | SunName
"""Azimuth and altitude in degrees, or a name."""

DEFAULT_SUN: Sun = (315.0, 38.0)
"""North-west, as is usual on maps: lit from the south, valleys look like ridges."""
SUNS: dict[SunName, Sun] = {
    "map": DEFAULT_SUN,
    "morning": (105.0, 24.0),
    "noon": (180.0, 58.0),
    "evening": (268.0, 17.0),
}
"""Where the sun stands; but for that of maps, as north of the tropics in summer."""

SUN_RADIUS = 1.6
"""Degrees. Six times the real disc, which softens shadows as haze does."""
SKY_AZIMUTHS = 16
SKY_RINGS = 4
SKY_LONG_SIDE = 1024
"""Cells; sky light is smooth, and a finer grid would dominate the run time of a large picture."""
SKY_SOFTNESS = 8.0
"""Degrees over which one sky direction fades out, so that the rings leave no contours."""
SKY_TOWARDS_SUN = 0.45
"""How much brighter the sky is on the sun's side: gives shape to slopes the sun does not reach."""
FILL_ALTITUDE = 35.0
"""Degrees; hazy light from the side opposite the sun, which shapes slopes in the shade."""
SOFT_AROUND = 0.25
"""Sine of the angle by which a soft sun lights ground that faces away from it."""
SOFT_SHADOW = 0.5
"""Share of a soft sun that reaches into its shadows."""
TOGETHER = 2
"""Directions of light that one thread adds up: the same for any number of threads, so that sums are too."""
BOUNCE_REACH = 0.03
"""Fraction of the picture over which lit slopes light those across the valley."""


@dataclass(frozen=True)
class Light:
    """Light on every cell, 1 on open flat ground."""

    sun: Floats
    sky: Floats
    fill: Floats
    """Diffuse light from the side opposite the sun."""
    bounce: Floats
    """Light of sunny slopes around that reaches a cell: nothing in the open, where it sees the sky instead."""


def illuminate(
    height: Floats,
    cell_size: float,
    sun: Sunlight,
    *,
    shadows: bool = True,
    sky_size: tuple[int, int] | None = None,
    roughness: Floats | None = None,
    soft: bool = False,
) -> Light:
    """Light from sun and sky on a height field.

    With a `sky_size` (width, height) smaller than the field, sky light is computed at that size: an enlarged field has
    no finer detail. `roughness` in metres, of boulders and trees, is lit but casts no shadow and hides no sky. The
    sun of a `soft` light shines a little around corners and into the shadows.

    >>> light = illuminate(np.zeros((4, 4), dtype=np.float32), 1.0, (315, 40))
    >>> bool(np.allclose(light.sun, 1) and np.allclose(light.sky, 1) and np.allclose(light.fill, 1))
    True
    >>> bool(np.allclose(light.bounce, 0))
    True
    """
    azimuth, altitude = checked_sun(sun)
    normal = normals(height, cell_size)
    rough = normal if roughness is None else normals(height + roughness, cell_size)
    around = np.float32(SOFT_AROUND if soft else 0)
    facing: Floats = np.maximum(_facing(rough, azimuth, altitude) + around, 0).astype(np.float32) / np.float32(
        math.sin(math.radians(altitude)) + around
    )
    if shadows:
        seen = sunshine(height, cell_size, (azimuth, altitude))
        facing *= seen + np.float32(SOFT_SHADOW) * (1 - seen) if soft else seen
    sky = _sky(height, cell_size, azimuth, normal, sky_size)
    fill = np.maximum(_facing(rough, azimuth + 180, FILL_ALTITUDE), 0) / np.float32(
        math.sin(math.radians(FILL_ALTITUDE))
    )
    lit_around = blur(facing, BOUNCE_REACH * max(height.shape))
    hidden = 1 - np.minimum(sky, 1)
    return Light(facing, sky, fill * (1 - hidden), lit_around * hidden)


def _sky(height: Floats, cell_size: float, azimuth: float, normal: Floats, sky_size: tuple[int, int] | None) -> Floats:
    rows, columns = height.shape
    size = _coarse(sky_size or (columns, rows))
    if size[0] >= columns or size[1] >= rows:
        return skylight(height, cell_size, azimuth, normal)
    coarse, coarse_cell = resize(height, size), cell_size * columns / size[0]
    sky = skylight(coarse, coarse_cell, azimuth, normals(coarse, coarse_cell))
    return np.maximum(resize(sky, (columns, rows)), 0)


def _coarse(size: tuple[int, int]) -> tuple[int, int]:
    factor = min(1.0, SKY_LONG_SIDE / max(size))
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))


def checked_sun(sun: Sunlight) -> Sun:
    """Return the sun's azimuth and altitude in degrees, or raise.

    >>> checked_sun("noon"), checked_sun((-45, 30))
    ((180.0, 58.0), (315.0, 30.0))
    """
    if isinstance(sun, str):
        if sun not in SUNS:
            raise unknown_name("sun", sun, SUNS)
        return SUNS[sun]
    azimuth, altitude = float(sun[0]), float(sun[1])
    if not (math.isfinite(azimuth) and 0 < altitude <= 90):
        raise InvalidParameter(
            f"sun is ({azimuth:g}, {altitude:g}) degrees; altitude must lie above 0 and at most 90, azimuth be finite"
        )
    return azimuth % 360, altitude


def normals(height: Floats, cell_size: float) -> Floats:
    """Compute unit normals (east, north, up) of a height field."""
    south = _slope(height, 0) / np.float32(cell_size)
    east = _slope(height, 1) / np.float32(cell_size)
    up = 1 / np.sqrt(1 + south * south + east * east)
    return np.stack([-east * up, south * up, up])


def _slope(height: Floats, axis: int) -> Floats:
    if height.shape[axis] < 2:
        return np.zeros_like(height)
    rise: Floats = np.gradient(height, axis=axis)
    return rise


def _facing(normal: Floats, azimuth: float, altitude: float) -> Floats:
    a, e = math.radians(azimuth), math.radians(altitude)
    level = normal[0] * np.float32(math.sin(a)) + normal[1] * np.float32(math.cos(a))
    facing: Floats = level * np.float32(math.cos(e)) + normal[2] * np.float32(math.sin(e))
    return facing


def sunshine(height: Floats, cell_size: float, sun: Sun) -> Floats:
    """Fraction of the sun's disc seen from every cell: 0 in full shadow, 1 in the open."""
    azimuth, altitude = sun
    offsets = (-SUN_RADIUS, 0.0, SUN_RADIUS)
    tangents = _tangents([min(max(altitude + o, 0.5), 89.5) for o in offsets])
    whole = np.ones(len(offsets), np.float32)
    sweeps = [
        _Sweep(azimuth + o, tangents, SUN_RADIUS, level=0 * whole, rise=whole, weight=1 / len(offsets) ** 2)
        for o in offsets
    ]
    return _light_of(sweeps, height, cell_size, None)


def skylight(height: Floats, cell_size: float, sun_azimuth: float, normal: Floats) -> Floats:
    """Light of the open sky, brighter on the sun's side, on every cell."""
    sines = (np.arange(SKY_RINGS) + 0.5) / SKY_RINGS  # rings of equal solid angle
    tangents = _tangents(np.degrees(np.arcsin(sines)).tolist())
    rise = sines.astype(np.float32)
    level = np.sqrt(1 - rise * rise)
    sweeps = []
    for azimuth in np.arange(SKY_AZIMUTHS) * (360 / SKY_AZIMUTHS) + sun_azimuth:
        strength = 1 + SKY_TOWARDS_SUN * math.cos(math.radians(azimuth - sun_azimuth))
        weight = strength / (SKY_AZIMUTHS * float(sines.sum()))
        sweeps.append(_Sweep(azimuth, tangents, SKY_SOFTNESS, level=level, rise=rise, weight=weight))
    return _light_of(sweeps, height, cell_size, normal)


def _tangents(altitudes: list[float]) -> Floats:
    return np.tan(np.radians(np.array(altitudes, dtype=np.float32)))


@dataclass(frozen=True)
class _Sweep:
    """One direction of light, at several altitudes."""

    azimuth: float
    tangents: Floats
    softness: float
    """Degrees over which it fades out."""
    level: Floats
    """Part of the light along the ground, for each altitude."""
    rise: Floats
    """Part across it."""
    weight: float


def _light_of(sweeps: list[_Sweep], height: Floats, cell_size: float, normal: Floats | None) -> Floats:
    """Sum of the light of all sweeps; without normals, cells take it whichever way they face."""
    from slopewash.rendering.kernels import NOWHERE, sweep

    # Kernels would be compiled again for read-only arrays.
    fields = [np.require(a, np.float32, ["C", "W"]) for a in ([height] if normal is None else [height, *normal])]
    by_turn: dict[tuple[bool, bool], list[_Sweep]] = {}
    for given in sweeps:
        by_turn.setdefault(_turn_of(given.azimuth)[0], []).append(given)
    turned = {False: fields}
    if any(transposed for transposed, _ in by_turn):
        turned[True] = each(lambda field: np.array(field.T, order="C"), fields)

    def work(part: tuple[tuple[bool, bool], list[_Sweep]]) -> Floats:
        (transposed, backwards), some = part
        ground, *facing = turned[transposed]
        east, north, up = facing or (ground, ground, ground)
        result = np.zeros_like(ground)
        buffers = np.zeros((3, len(some[0].tangents), 2, ground.shape[1] + 2), np.float32)
        for given in some:
            _, shift = _turn_of(given.azimuth)
            angle = math.radians(given.azimuth)
            buffers[1:] = 0
            buffers[1:, :, 0] = NOWHERE
            sweep(
                ground, east, north, up, np.float32(math.sin(angle)), np.float32(math.cos(angle)), backwards,
                np.float32(shift), np.float32(cell_size * math.hypot(1.0, shift)), given.tangents,
                np.float32(1 / math.tan(math.radians(given.softness))), given.level, given.rise,
                np.float32(given.weight), normal is None, buffers, result,
            )  # fmt: skip
        return result

    parts = [
        (turn, some[first : first + TOGETHER])
        for turn, some in by_turn.items()
        for first in range(0, len(some), TOGETHER)
    ]
    total = np.zeros_like(fields[0])
    across = np.zeros_like(turned[True][0]) if True in turned else None
    for ((transposed, _), _), light in zip(parts, each(work, parts), strict=True):
        if transposed:
            assert across is not None
            across += light
        else:
            total += light
    if across is not None:  # once: across the grain of memory, this takes long
        total += across.T
    return total


def _turn_of(azimuth: float) -> tuple[tuple[bool, bool], float]:
    """Whether light crosses a field along its columns, and whether from the last row; columns a ray moves per row.

    Where it crosses along the columns, the field is transposed first.
    """
    angle = math.radians(azimuth)
    rows, columns = -math.cos(angle), math.sin(angle)
    transposed = abs(columns) > abs(rows)
    if transposed:
        rows, columns = columns, rows
    return (transposed, rows > 0), columns / abs(rows)
