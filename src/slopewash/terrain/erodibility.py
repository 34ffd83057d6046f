"""Erodibility of the ground, estimated from its height [JakoToth11, Sec. 4]."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.terrain.place import Place
from slopewash.terrain.terrain import Layer, Terrain

DEVIATION = 2.0
"""Cells over which the noise is blurred, and over which fine noise is."""
FINE_DEVIATION = 0.7


def erodibility_from_elevation(
    terrain: Terrain, *, seed: int = 0, fine_noise: float = 0.0, place: Place | None = None
) -> Layer:
    """Return an erodibility of 0.05 (hard) .. 1 (soft): high ground is hard, with random variation.

    `R = 1 - 0.6 * height scaled to 0..1 + 0.3 * normal noise`, blurred over 2 cells. As published, the
    height itself is scaled, which would make summits soft, although the text describes them as hard. `fine_noise` adds
    noise blurred over 0.7 cells only, which breaks up gullies that would otherwise be spaced too evenly. Part of a
    terrain has its `place` in the whole, with the numbers `drawn` for its cells.

    >>> R = erodibility_from_elevation(Terrain(np.eye(8)), seed=1)
    >>> bool(0.05 <= R.min() and R.max() <= 1.0)
    True
    """
    if not isinstance(seed, Integral) or seed < 0:
        raise InvalidParameter(f"seed is {seed!r}; it must be a whole number, not negative")
    if not (math.isfinite(fine_noise) and fine_noise >= 0):
        raise InvalidParameter(f"fine_noise is {fine_noise}; it must be finite and not negative")
    place = place or Place.of(terrain)
    drawn = iter(place.drawn) if place.drawn else random_fields(seed, terrain.shape)
    low, high = place.low, place.high
    scaled = np.clip((terrain["elevation"].astype(np.float64) - low) / max(high - low, 1e-30), 0.0, 1.0)
    noise = 0.3 * next(drawn)
    soft = blur(1.0 - 0.6 * scaled + noise, DEVIATION)
    if terrain.nodata is not None:
        # Cells without data hold 0 m, which is no ground: beside them, the heights that are there are blurred alone.
        there = (~terrain.nodata).astype(np.float64)
        beside = blur(1.0 - there, DEVIATION) > 0
        heights = blur(there * scaled, DEVIATION) / np.maximum(blur(there, DEVIATION), 1e-30)
        soft = np.where(beside, 1.0 - 0.6 * heights + blur(noise, DEVIATION), soft)
    if fine_noise:
        soft += blur(fine_noise * next(drawn), FINE_DEVIATION)
    return np.clip(soft, 0.05, 1.0).astype(np.float32)


def random_fields(seed: int, shape: tuple[int, int]) -> Iterator[NDArray[np.float64]]:
    """Normal numbers for every cell, one field after another from one sequence; in blocks of rows it is the same."""
    random = np.random.Generator(np.random.Philox(int(seed)))
    while True:
        yield random.standard_normal(shape)


def blur(values: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Gaussian blur with mirrored borders, separable, cut off at four standard deviations."""
    reach = int(np.ceil(4 * sigma))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padding = [(reach, reach) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(values, padding, mode="symmetric")
        length = values.shape[axis]
        values = np.zeros_like(values)
        for i, weight in enumerate(weights):
            window = padded[i : i + length] if axis == 0 else padded[:, i : i + length]
            values += weight * window
    return values
