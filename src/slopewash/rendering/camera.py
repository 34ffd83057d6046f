"""The camera, and how its image relates to one with parallel verticals.

Looking down, the verticals of an image converge; looking horizontally with a shifted lens they stay parallel, and every
column of pixels lies in one vertical plane, which makes casting rays at a height field easy. Both images are taken from
the same point, so that one is an exact plane projection of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter

Floats = NDArray[np.float32]

STEEPEST, FLATTEST = 60.0, 4.0
"""Degrees of pitch: steeper, the upright image grows without bound; flatter, the camera may be below the ground."""
MARGIN_ACROSS, MARGIN_UP = 0.95, 0.84
"""Fraction of the image that the block fills."""


@dataclass(frozen=True)
class Camera:
    """A camera with an image of (width, height) pixels; metres from the centre of the terrain, east, north and up."""

    eye: tuple[float, float, float]
    forward: tuple[float, float]
    """Horizontal viewing direction."""
    pitch: float
    """Radians below the horizon."""
    focal: float
    centre: tuple[float, float]
    size: tuple[int, int]

    @property
    def right(self) -> tuple[float, float]:
        """Horizontal direction to the right."""
        return self.forward[1], -self.forward[0]

    def upright(self, u: float, v: float) -> tuple[float, float]:
        """Sideways and upward tangents of the ray through a point of the image."""
        x, y = (u - self.centre[0]) / self.focal, -(v - self.centre[1]) / self.focal
        ahead = math.cos(self.pitch) + y * math.sin(self.pitch)
        return x / ahead, (y * math.cos(self.pitch) - math.sin(self.pitch)) / ahead

    def row_of(self, upward: Floats) -> Floats:
        """Row of the image, as a fraction of its height, for upward tangents straight ahead."""
        cosine, sine = math.cos(self.pitch), math.sin(self.pitch)
        y = (upward * np.float32(cosine) + np.float32(sine)) / (np.float32(cosine) - upward * np.float32(sine))
        row: Floats = (np.float32(self.centre[1]) - y * np.float32(self.focal)) / np.float32(self.size[1])
        return row


def look_at(
    points: NDArray[np.float64],
    *,
    size: tuple[int, int],
    azimuth: float,
    pitch: float,
    distance: float,
    zoom: float,
    target: tuple[float, float, float] | None = None,
) -> Camera:
    """Place the camera in the direction `azimuth` and frame the given points (east, north, up), or centre a target."""
    eye, forward, p = _place(points, azimuth, pitch, distance)
    _check_zoom(zoom)
    across, up = _seen(points - np.array(eye), forward, p)
    focal = zoom * _fitting(size, np.ptp(across), np.ptp(up))
    middle = float(across.min() + across.max()) / 2, float(up.min() + up.max()) / 2
    if target is not None:
        x, y = _seen(np.array([target]) - np.array(eye), forward, p)
        middle = float(x[0]), float(y[0])
    return Camera(eye, forward, p, focal, _centre(size, focal, middle), size)


def orbit(
    points: NDArray[np.float64],
    *,
    size: tuple[int, int],
    azimuths: Sequence[float],
    pitch: float,
    distance: float,
    zoom: float,
) -> list[Camera]:
    """Cameras around the points, all with one lens: the axis stays in the middle, and no point leaves the picture."""
    places = [_place(points, azimuth, pitch, distance) for azimuth in azimuths]
    _check_zoom(zoom)
    seen = [_seen(points - np.array(eye), forward, p) for eye, forward, p in places]
    aside = max(float(np.abs(across).max()) for across, _ in seen)
    low, high = min(float(up.min()) for _, up in seen), max(float(up.max()) for _, up in seen)
    focal = zoom * _fitting(size, 2 * aside, high - low)
    centre = _centre(size, focal, (0.0, (low + high) / 2))
    return [Camera(eye, forward, p, focal, centre, size) for eye, forward, p in places]


def _place(
    points: NDArray[np.float64], azimuth: float, pitch: float, distance: float
) -> tuple[tuple[float, float, float], tuple[float, float], float]:
    """Eye, horizontal direction and pitch in radians."""
    if not math.isfinite(azimuth):
        raise InvalidParameter(f"azimuth is {azimuth} degrees; it must be finite")
    if not FLATTEST <= pitch <= STEEPEST:
        raise InvalidParameter(f"pitch is {pitch:g} degrees; it must lie within {FLATTEST:g} .. {STEEPEST:g}")
    if not (distance > 0.7 and math.isfinite(distance)):
        raise InvalidParameter(f"distance is {distance:g} diagonals; it must exceed 0.7 to be outside the block")
    a, p = math.radians(azimuth), math.radians(pitch)
    low, high = points.min(axis=0), points.max(axis=0)
    reach = distance * float(np.linalg.norm(high - low))
    forward = (-math.sin(a), -math.cos(a))
    middle = float(low[2] + high[2]) / 2
    eye = (-forward[0] * reach * math.cos(p), -forward[1] * reach * math.cos(p), middle + reach * math.sin(p))
    return eye, forward, p


def _check_zoom(zoom: float) -> None:
    if not (zoom > 0 and math.isfinite(zoom)):
        raise InvalidParameter(f"zoom is {zoom:g}; it must be positive")


def _fitting(size: tuple[int, int], across: float, up: float) -> float:
    """Focal length at which tangents of these spans fill the picture but for its margins."""
    return float(min(MARGIN_ACROSS * size[0] / max(across, 1e-9), MARGIN_UP * size[1] / max(up, 1e-9)))


def _centre(size: tuple[int, int], focal: float, middle: tuple[float, float]) -> tuple[float, float]:
    """Pixel straight ahead, if the point of these tangents is in the middle."""
    return size[0] / 2 - focal * middle[0], size[1] / 2 + focal * middle[1]


def _seen(
    offsets: NDArray[np.float64], forward: tuple[float, float], pitch: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    level = offsets[:, 0] * forward[0] + offsets[:, 1] * forward[1]
    sideways = offsets[:, 0] * forward[1] - offsets[:, 1] * forward[0]
    ahead = level * math.cos(pitch) - offsets[:, 2] * math.sin(pitch)
    return sideways / ahead, (level * math.sin(pitch) + offsets[:, 2] * math.cos(pitch)) / ahead


@dataclass(frozen=True)
class Upright:
    """The upright image that covers that of a camera: sideways and upward tangents of its pixels."""

    sideways: Floats
    upward: Floats
    """Top to bottom."""
    coefficients: tuple[float, ...]
    """Plane projection from the camera's pixels to those of this image, in Pillow's order."""


def upright_for(camera: Camera) -> Upright:
    """Lay out the upright image, with the resolution of the camera at its centre."""
    width, height = camera.size
    corners = [camera.upright(u, v) for u in (0, width) for v in (0, height)]
    middle = [camera.upright(width / 2 + d, height / 2 + d) for d in (0, 1)]
    fine = middle[1][0] - middle[0][0], middle[0][1] - middle[1][1]
    left, right = (extreme(c[0] for c in corners) for extreme in (min, max))
    low, high = (extreme(c[1] for c in corners) for extreme in (min, max))
    columns, rows = math.ceil((right - left) / fine[0]) + 4, math.ceil((high - low) / fine[1]) + 4
    sideways = left + (np.arange(columns) - 1.5) * fine[0]
    upward = high - (np.arange(rows) - 1.5) * fine[1]

    cosine, sine, focal = math.cos(camera.pitch), math.sin(camera.pitch), camera.focal
    pixel = np.array([[1 / focal, 0, -camera.centre[0] / focal], [0, -1 / focal, camera.centre[1] / focal], [0, 0, 1]])
    ray = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    grid = np.array([[1 / fine[0], 0, 2 - left / fine[0]], [0, -1 / fine[1], 2 + high / fine[1]], [0, 0, 1]])
    plane = grid @ ray @ pixel
    plane /= plane[2, 2]
    return Upright(sideways.astype(np.float32), upward.astype(np.float32), tuple(float(v) for v in plane.ravel()[:8]))
