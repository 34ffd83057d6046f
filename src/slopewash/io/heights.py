"""Conversion between the integers of image files and heights in metres."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.options import HeightRange, check_height_range
from slopewash.remedies import by_file, option
from slopewash.terrain import Layer, Terrain

_BAND = 1 << 18
"""Cells converted at a time, so that float64 intermediates stay small compared with the grid."""


def as_metres(path: Path, samples: NDArray[Any], height_range: HeightRange | None) -> Layer:
    """Convert a file's samples to heights: floats are already metres, integers span `height_range`.

    >>> as_metres(Path("hill.png"), np.array([[0, 65535]], dtype=np.uint16), (100.0, 300.0))
    array([[100., 300.]], dtype=float32)
    """
    if samples.dtype.kind == "f":
        if height_range is not None:
            raise InvalidParameter(
                f"{path} contains floats, which are {by_file(ground='already metres', other='taken as they are')}; "
                f"leave out {option('height_range')}"
            )
        return as_float32(samples)
    if samples.dtype.kind not in "iu":
        raise InvalidFile(f"{path} contains samples of type {samples.dtype}; heights must be real numbers")
    if height_range is None:
        raise InvalidParameter(
            f"{path} contains integers, not metres; give the heights of its lowest and highest possible value with "
            f"{option('height_range', '(low, high)', 'LOW..HIGH')}"
        )
    low, high = height_range
    limits = np.iinfo(samples.dtype)
    first, span = float(limits.min), float(limits.max) - float(limits.min)
    metres = np.empty(samples.shape, dtype=np.float32)
    for rows in bands(samples.shape):
        fraction = (samples[rows].astype(np.float64) - first) / span
        metres[rows] = low * (1.0 - fraction) + high * fraction  # exact at both ends
    return metres


def as_float32(samples: NDArray[Any]) -> Layer:
    """Return samples as native float32; what overflows becomes infinite, which Terrain reports with its cell.

    >>> as_float32(np.array([1, 2], dtype=">i2"))
    array([1., 2.], dtype=float32)
    """
    with np.errstate(over="ignore"):
        return samples.astype(np.float32, copy=False)


def as_uint16(terrain: Terrain, layer: str, height_range: HeightRange | None) -> tuple[NDArray[np.uint16], HeightRange]:
    """Round a layer to 65536 steps of `height_range`, or of its own range; return the range used as well.

    >>> as_uint16(Terrain([[0.0, 5.0, 10.0]]), "elevation", None)
    (array([[    0, 32768, 65535]], dtype=uint16), (0.0, 10.0))
    """
    check_no_nodata(terrain, "16-bit heights")
    values = terrain[layer]
    lowest, highest = terrain.range(layer)
    if height_range is None:
        height_range = (lowest, highest if highest > lowest else lowest + 1.0)
    check_height_range(height_range)
    low, high = float(height_range[0]), float(height_range[1])
    if lowest < low or highest > high:
        raise InvalidParameter(
            f"layer {layer} spans {lowest:g} .. {highest:g}, outside the height_range of {low:g} .. {high:g}; "
            f"widen it, or leave it out to use the range of the layer"
        )
    samples = np.empty(values.shape, dtype=np.uint16)
    for rows in bands(values.shape):
        samples[rows] = np.rint((values[rows].astype(np.float64) - low) * (65535.0 / (high - low))).clip(0, 65535)
    return samples, (low, high)


def check_no_nodata(terrain: Terrain, what: str) -> None:
    """Reject nodata cells where the format cannot mark them.

    >>> check_no_nodata(Terrain([[1.0]]), ".npy")
    """
    if terrain.nodata is not None:
        raise InvalidParameter(
            f"{what} cannot mark the {int(terrain.nodata.sum())} nodata cells; write .tif, .exr or .npz, or fill "
            f"them first"
        )


def with_nan(terrain: Terrain, layer: str) -> Layer:
    """Return a layer with NaN in its nodata cells.

    >>> with_nan(Terrain([[1.0, 2.0]], nodata=[[True, False]]), "elevation")
    array([[nan,  2.]], dtype=float32)
    """
    values = terrain[layer]
    return values if terrain.nodata is None else np.where(terrain.nodata, np.float32(np.nan), values)


def bands(shape: tuple[int, ...]) -> Iterator[slice]:
    """Split the rows of a grid into bands of about a quarter of a million cells.

    >>> list(bands((3, 1 << 17)))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    rows = max(1, _BAND // max(1, shape[1]))
    return (slice(first, min(first + rows, shape[0])) for first in range(0, shape[0], rows))
