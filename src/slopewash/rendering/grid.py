"""Resample fields to the size of a picture: nodata filled, enlarged smoothly or reduced by averaging."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from slopewash.errors import InvalidParameter
from slopewash.terrain import Layer, Terrain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Floats = NDArray[np.float32]
Layers = TypeVar("Layers", bound="DataclassInstance")

SMALLEST_LONG_SIDE = 768
"""Smaller terrains are enlarged to about this many pixels, so that a 64-cell terrain is not tiny."""
LARGEST_LONG_SIDE = 4096
"""Larger terrains are reduced to this unless a width is given, which limits memory: 2.2 GB with water at 4096²."""
COARSE_RADIUS = 3
"""Cells: a wider blur is computed on a coarser grid, on which it is about this wide."""
ROUNDED = 0.4
"""Cells of the terrain over which an enlarged one is smoothed."""
MOST_PIXELS = 8192 * 8192
KEPT, MOST_KEPT = 4, 2048 * 2048
"""Patterns that are kept for the next picture of the same size, and the most pixels of one: 64 MB in all."""


def picture_size(shape: tuple[int, int], width: int | None) -> tuple[int, int]:
    """Return the width and height in pixels of a picture of a grid.

    >>> picture_size((512, 1024), None), picture_size((100, 300), None), picture_size((100, 300), 150)
    ((1024, 512), (900, 300), (150, 50))
    """
    rows, columns = shape
    longest = max(rows, columns)
    if width is None:
        factor = float(-(-SMALLEST_LONG_SIDE // longest)) if longest < SMALLEST_LONG_SIDE else 1.0
        factor = min(factor, LARGEST_LONG_SIDE / longest)
    else:
        if width < 1:
            raise InvalidParameter(f"width is {width} pixels; it must be at least 1")
        factor = width / columns
    size = max(1, round(columns * factor)), max(1, round(rows * factor))
    if size[0] * size[1] > MOST_PIXELS:
        raise InvalidParameter(
            f"a picture of {size[0]} x {size[1]} pixels is too large; choose a width below {width or columns}"
        )
    return size


def resize(values: Layer, size: tuple[int, int]) -> Floats:
    """Resample to (width, height): bicubic when enlarging, area average when reducing.

    >>> resize(np.ones((4, 4), dtype=np.float32), (2, 3)).shape
    (3, 2)
    """
    rows, columns = values.shape
    if (columns, rows) == size:
        return np.array(values, dtype=np.float32)
    method = Image.Resampling.BICUBIC if size[0] >= columns and size[1] >= rows else Image.Resampling.BOX
    image = Image.fromarray(np.ascontiguousarray(values, dtype=np.float32))
    return np.array(image.resize(size, method), dtype=np.float32)


def filled(terrain: Terrain, name: str) -> Floats:
    """Return a layer with its nodata cells filled from their surroundings, so that their border draws no cliff."""
    layer = np.array(terrain[name], dtype=np.float32)
    if terrain.nodata is None:
        return layer
    return _pull(layer, (~terrain.nodata).astype(np.float32))


def _pull(values: Floats, weight: Floats) -> Floats:
    """Fill cells of zero weight from increasingly coarse averages (push-pull)."""
    if weight.min() > 0:
        return values
    rows, columns = values.shape
    padding = ((0, rows % 2), (0, columns % 2))
    weights = np.pad(weight, padding)
    totals = np.pad(values * weight, padding)
    coarse_weight = weights.reshape(weights.shape[0] // 2, 2, -1, 2).sum(axis=(1, 3))
    coarse = totals.reshape(totals.shape[0] // 2, 2, -1, 2).sum(axis=(1, 3)) / np.maximum(coarse_weight, 1e-6)
    coarse = _pull(coarse.astype(np.float32), np.minimum(coarse_weight, 1))
    finer = np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1)[:rows, :columns]
    return np.where(weight > 0, values, finer)


def coverage(terrain: Terrain, size: tuple[int, int]) -> Floats | None:
    """Fraction of each pixel that has data, or None if every pixel has."""
    if terrain.nodata is None:
        return None
    return np.clip(resize((~terrain.nodata).astype(np.float32), size), 0, 1)


def rows_of(layers: Layers, first: int, last: int) -> Layers:
    """Return the same layers of a grid, from one row up to another; what is not a layer stays."""

    def part(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[first:last] if value.ndim == 2 else value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return rows_of(value, first, last)
        return value

    return type(layers)(**{name: part(value) for name, value in vars(layers).items()})


def blur(values: Floats, radius: float) -> Floats:
    """Smooth by three passes of a box of about that radius in cells: a fast near-Gaussian, mirrored at the borders."""
    reach = round(radius)
    if reach < 1:
        return values
    if (factor := reach // COARSE_RADIUS) > 1 and min(values.shape) > 4 * reach:
        # What is blurred that much has no detail left that a coarser grid would lose.
        rows, columns = values.shape
        coarse = resize(values, (columns // factor, rows // factor))
        return resize(blur(coarse, radius * coarse.shape[1] / columns), (columns, rows))
    for axis in (0, 1):
        r = min(reach, values.shape[axis] - 1)
        for _ in range(3 if r >= 1 else 0):
            values = _box(values, r, axis)
    return values


def rounded(values: Floats, enlarged: float) -> Floats:
    """Round off what enlarging leaves of the cells: steps in gullies that run askew."""
    return blur(values, enlarged * ROUNDED) if enlarged >= 2 else values


def _box(values: Floats, radius: int, axis: int) -> Floats:
    """Average along an axis, by shifted copies: for the few cells of a box, sums over whole lines take longer."""
    padded = np.pad(values, [(radius, radius) if a == axis else (0, 0) for a in (0, 1)], mode="symmetric")
    length = values.shape[axis]
    total = np.zeros_like(values)
    for shift in range(2 * radius + 1):
        total += padded[shift : shift + length] if axis == 0 else padded[:, shift : shift + length]
    total *= np.float32(1 / (2 * radius + 1))
    return total


def mottle(shape: tuple[int, int], wavelength: float, octaves: int, seed: int) -> Floats:
    """Make a fixed random pattern of mean 0 and deviation about 1: the variation of vegetation and stone."""
    known = shape[0] * shape[1] <= MOST_KEPT
    return _kept_mottle(shape, wavelength, octaves, seed) if known else _mottle(shape, wavelength, octaves, seed)


@lru_cache(maxsize=KEPT)
def _kept_mottle(shape: tuple[int, int], wavelength: float, octaves: int, seed: int) -> Floats:
    pattern = _mottle(shape, wavelength, octaves, seed)
    pattern.setflags(write=False)
    return pattern


def _mottle(shape: tuple[int, int], wavelength: float, octaves: int, seed: int) -> Floats:
    rows, columns = shape
    random = np.random.Generator(np.random.Philox(seed))
    pattern = np.zeros(shape, dtype=np.float32)
    weight = 1.0
    power = 0.0
    for _ in range(octaves):
        lattice = (int(rows / wavelength) + 2, int(columns / wavelength) + 2)
        values = random.standard_normal(lattice, dtype=np.float32)
        pattern += (
            np.float32(weight) * resize(values, (max(columns, lattice[1]), max(rows, lattice[0])))[:rows, :columns]
        )
        power += weight * weight
        weight *= 0.6
        wavelength = max(wavelength / 2, 1.0)
    return pattern / np.float32(power**0.5)


def sample(field: Floats, i: Floats, j: Floats) -> Floats:
    """Bilinear samples of a field, of one or more components, at fractional cells."""
    rows, columns = field.shape[:2]
    i0 = np.minimum(i.astype(np.int32), rows - 2)
    j0 = np.minimum(j.astype(np.int32), columns - 2)
    down, across = i - i0, j - j0
    if field.ndim == 3:
        down, across = down[..., None], across[..., None]
    flat = field.reshape(rows * columns, *field.shape[2:])
    corner = i0 * columns + j0
    top = flat[corner] * (1 - across) + flat[corner + 1] * across
    bottom = flat[corner + columns] * (1 - across) + flat[corner + columns + 1] * across
    sampled: Floats = top * (1 - down) + bottom * down
    return sampled


def sample_tile(tile: Floats, i: Floats, j: Floats) -> Floats:
    """Bilinear samples of a tile that repeats, forth and back, so that it has no seams."""
    down, right = (
        (n - 1) - np.abs(cells % np.float32(2 * (n - 1)) - np.float32(n - 1))
        for cells, n in zip((i, j), tile.shape, strict=True)
    )
    return sample(tile, down.astype(np.float32), right.astype(np.float32))
