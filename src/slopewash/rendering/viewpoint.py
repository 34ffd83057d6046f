"""A place inside the terrain to look from: on the side of a valley, with mountains ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.rendering.camera import Camera
from slopewash.rendering.grid import resize

Floats = NDArray[np.float32]

ANGLE_OF_VIEW = 62.0
"""Degrees across the picture: a 30 mm lens on a full frame."""
EYE_HEIGHT = 0.01
"""Fraction of the terrain's longer side, so that the ground at the foot of the picture is not a few cells enlarged."""
SEARCH_CELLS = 96
"""Cells along the longer side of the coarse grid on which a viewpoint is searched."""
SEARCH_SPACING, SEARCH_MARGIN = 3, 8
SEARCH_HEADINGS = 16
SEARCH_RAYS = 9
LIT = 0.30
"""Advantage of looking away from the sun, at flanks that it lights."""
DULL_WATER, NEAR = 1.5, 0.15
"""Disadvantage of water in the foreground, and the fraction of the longer side that this is: a shore frames a lake."""
DISTANT_WATER = 1.5
"""Advantage of water beyond it, up to a tenth of what lies ahead."""
LEAST_AHEAD = 0.45
"""Fraction of the longer side that lies ahead at least: no view ends at the near edge."""


@dataclass(frozen=True)
class Viewpoint:
    """Where the camera stands, in cells of the grid, how high above the ground in metres, and where it looks."""

    row: float
    column: float
    above: float
    heading: float
    """Degrees clockwise from north."""
    pitch: float
    """Degrees below the horizon."""


def find_viewpoint(
    surface: Floats,
    wet: Floats,
    cell_size: float,
    sun_azimuth: float,
    at: tuple[float, ...] | None,
    heading: float | None,
    pitch: float | None,
) -> Viewpoint:
    """Complete a viewpoint: (x, y) or (x, y, height above ground) in metres from the north-west corner."""
    rows, columns = surface.shape
    above = EYE_HEIGHT * max(rows, columns) * cell_size
    places = None
    if at is not None:
        if len(at) not in (2, 3) or not all(math.isfinite(v) for v in at):
            raise InvalidParameter(f"viewpoint is {at}; it must be (x, y) or (x, y, height above ground) in metres")
        if not (0 <= at[0] <= columns * cell_size and 0 <= at[1] <= rows * cell_size):
            raise InvalidParameter(
                f"viewpoint is {at}; it must lie on the terrain, {columns * cell_size:g} x {rows * cell_size:g} m"
            )
        above = at[2] if len(at) == 3 else above
        if not above > 0:
            raise InvalidParameter(f"viewpoint is {above:g} m above the ground; it must be above it")
        places = np.array([[at[1] / cell_size - 0.5, at[0] / cell_size - 0.5]])
    if heading is not None and not math.isfinite(heading):
        raise InvalidParameter(f"heading is {heading} degrees; it must be finite")
    row, column, direction, skyline = _best(surface, wet, cell_size, sun_azimuth, places, above, heading)
    if pitch is None:
        # The skyline ahead a third from the top, but never a picture of the sky or of the ground only.
        pitch = float(np.clip(10.0 - math.degrees(math.atan(skyline)), -12.0, 14.0))
    if not -60 <= pitch <= 60:
        raise InvalidParameter(f"pitch is {pitch:g} degrees; from inside it must lie within -60 .. 60")
    return Viewpoint(row, column, above, direction, pitch)


def _best(
    surface: Floats,
    wet: Floats,
    cell_size: float,
    sun_azimuth: float,
    places: NDArray[np.float64] | None,
    above: float,
    heading: float | None,
) -> tuple[float, float, float, float]:
    """Row, column, heading and tangent of the skyline of the view that shows the most ground below high mountains."""
    rows, columns = surface.shape
    factor = max(rows, columns) / min(SEARCH_CELLS, max(rows, columns))
    size = max(2, round(columns / factor)), max(2, round(rows / factor))
    ground, water, cell = resize(surface, size), resize(wet, size), cell_size * columns / size[0]
    spots = (
        _valley_sides(ground, water) if places is None else np.clip(places / factor, 0, np.array(ground.shape) - 1.0)
    )
    i, j = spots[:, 0], spots[:, 1]
    eye = ground[np.rint(i).astype(int), np.rint(j).astype(int)] + np.float32(above)
    longest = max(ground.shape)
    far = np.arange(1.0, longest, 1.0)
    best = (-math.inf, 0, 0.0, 0.0)
    headings = np.arange(SEARCH_HEADINGS) * (360 / SEARCH_HEADINGS) if heading is None else np.array([heading])
    for towards in headings:
        score, skyline = np.zeros(len(spots)), np.zeros(len(spots))
        for aside in np.linspace(-0.42, 0.42, SEARCH_RAYS) * ANGLE_OF_VIEW:
            angle = math.radians(towards + aside)
            y, x = i[:, None] - far * math.cos(angle), j[:, None] + far * math.sin(angle)
            inside = (y >= 0) & (x >= 0) & (y <= ground.shape[0] - 1) & (x <= ground.shape[1] - 1)
            nearest = tuple(np.clip(np.rint(v), 0, n - 1).astype(int) for v, n in ((y, size[1]), (x, size[0])))
            reached, over_water = ground[nearest], water[nearest]
            tangent = np.where(inside, (reached - eye[:, None]) / (far * cell), -np.inf)
            top = np.maximum.accumulate(tangent, axis=1)
            seen = inside & (tangent >= top)
            # Ground in the middle distance counts: a wall at arm's length shows little of it.
            score += 3.0 * (seen * np.minimum(far / (0.3 * longest), 1)).sum(axis=1) / longest
            score += 2.0 * np.clip(np.max(np.where(far > 0.25 * longest, tangent, -1), axis=1), -0.2, 0.25)
            score += LIT * math.cos(math.radians(towards - sun_azimuth - 180))
            score -= 2.0 * np.clip(top[:, max(1, int(0.08 * longest))], -0.2, 0.5)
            near = max(1, int(NEAR * longest))
            score -= DULL_WATER * over_water[:, :near].mean(axis=1)
            score += DISTANT_WATER * np.minimum((seen * over_water)[:, near:].mean(axis=1), 0.1)
            score -= 1.5 * (inside.sum(axis=1) < LEAST_AHEAD * longest)
            skyline += np.maximum(np.where(np.isfinite(top[:, -1]), top[:, -1], 0), -0.2) / SEARCH_RAYS
        winner = int(np.argmax(score))
        if score[winner] > best[0]:
            best = (float(score[winner]), winner, float(towards), float(skyline[winner]))
    _, winner, towards, sky = best
    spot = spots[winner] * factor if places is None else places[winner]
    return float(spot[0]), float(spot[1]), towards, sky


def _valley_sides(ground: Floats, water: Floats) -> NDArray[np.float64]:
    """Rows and columns of dry cells a little above the lowest ground around them, away from the edges."""
    rows, columns = ground.shape
    margin = min(SEARCH_MARGIN, (min(rows, columns) - 1) // 2)
    found = []
    everywhere = []
    reach = max(2, max(rows, columns) // 12)
    for i in range(margin, rows - margin, SEARCH_SPACING):
        for j in range(margin, columns - margin, SEARCH_SPACING):
            around = ground[max(0, i - reach) : i + reach + 1, max(0, j - reach) : j + reach + 1]
            low, high = float(around.min()), float(around.max())
            everywhere.append((i, j))
            if water[i, j] < 0.5 and low + 0.12 * (high - low) <= ground[i, j] <= low + 0.5 * (high - low):
                found.append((i, j))
    return np.array(found or everywhere or [(rows // 2, columns // 2)], dtype=np.float64)


def look_from(spot: Viewpoint, surface: Floats, cell_size: float, size: tuple[int, int], zoom: float) -> Camera:
    """Place the camera at a viewpoint."""
    if not (zoom > 0 and math.isfinite(zoom)):
        raise InvalidParameter(f"zoom is {zoom:g}; it must be positive")
    rows, columns = surface.shape
    i, j = int(np.clip(round(spot.row), 0, rows - 1)), int(np.clip(round(spot.column), 0, columns - 1))
    # Above the highest ground within reach of a step, so that the camera is never in a spike.
    near = surface[max(0, i - 2) : i + 3, max(0, j - 2) : j + 3]
    eye = (
        (min(max(spot.column, 0.5), columns - 1.5) - (columns - 1) / 2) * cell_size,
        ((rows - 1) / 2 - min(max(spot.row, 0.5), rows - 1.5)) * cell_size,
        float(near.max()) + spot.above,
    )
    heading = math.radians(spot.heading)
    focal = zoom * size[0] / 2 / math.tan(math.radians(ANGLE_OF_VIEW / 2))
    return Camera(
        eye, (math.sin(heading), math.cos(heading)), math.radians(spot.pitch), focal, (size[0] / 2, size[1] / 2), size
    )
