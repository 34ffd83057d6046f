"""Colour: tables of perceptual maps, linear light to display values and back."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import SlopewashError, unknown_name

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

SHOULDER = 2.4
"""Sharpness of the shoulder of `tone`: dark and middle tones stay linear, and no finite light reaches pure white."""


@cache
def _table_folder() -> Path:
    # The package itself imports matplotlib; finding it does not.
    spec = importlib.util.find_spec("cmcrameri")
    if spec is None or not spec.submodule_search_locations:
        raise SlopewashError("colour maps need cmcrameri: pip install cmcrameri")
    return Path(spec.submodule_search_locations[0]) / "cmaps"


def colour_map_names() -> list[str]:
    """Return the names of the colour maps that `overlay` accepts.

    >>> "batlow" in colour_map_names()
    True
    """
    return sorted(path.stem for path in _table_folder().glob("*.txt"))


@cache
def colour_table(name: str) -> Bytes:
    """Colours of a map of Crameri's collection as rows of 8-bit red, green and blue, lowest value first.

    >>> colour_table("batlow").shape, colour_table("batlow")[0].tolist()
    ((256, 3), [1, 25, 89])
    """
    names = colour_map_names()
    if name not in names:
        raise unknown_name("colour map", name, names)
    table = np.loadtxt(_table_folder() / f"{name}.txt", dtype=np.float64, ndmin=2)
    colours: Bytes = np.rint(table * 255).astype(np.uint8)
    colours.setflags(write=False)
    return colours


def linear(colour: str) -> Floats:
    """Linear-light red, green and blue of a "#rrggbb" colour.

    >>> linear("#ffffff").tolist()
    [1.0, 1.0, 1.0]
    """
    return np.array(_linear(colour), dtype=np.float32)


@cache
def _linear(colour: str) -> tuple[float, ...]:
    encoded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.float32) / 255
    light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return tuple(light.astype(np.float32).tolist())


def tone(light: Floats) -> Floats:
    """Compress linear light to 0 .. 1 with a soft shoulder."""
    bent: Floats = light / (1 + light**SHOULDER) ** np.float32(1 / SHOULDER)
    return bent


def display(light: ArrayLike) -> Bytes:
    """Convert linear light to 8-bit sRGB.

    >>> display([[0.0, 0.2, 0.6]]).tolist()
    [[0, 123, 194]]
    """
    return _look_up(tone(np.maximum(np.asarray(light, dtype=np.float32), 0)))


def encoded(light: Floats) -> Bytes:
    """Encode linear light as 8-bit sRGB without a shoulder; what is beyond 0 .. 1 is clipped.

    >>> encoded(np.array([0.0, 0.2, 2.0], np.float32)).tolist()
    [0, 124, 255]
    """
    return _look_up(np.clip(light, 0, 1))


def _look_up(share: Floats) -> Bytes:
    # A look-up table instead of a power per pixel: 4096 entries over the square root are accurate enough for 8 bits.
    index = (np.sqrt(share) * 4095 + 0.5).astype(np.uint16)
    return np.take(_srgb_table(), index)


BRIGHTEST = 16.0
"""Linear light up to which `display_table` distinguishes shades; beyond it all is white."""


@cache
def display_table() -> Bytes:
    """8-bit sRGB of linear light after the shoulder, by the square root of the light up to that of BRIGHTEST.

    >>> table = display_table()
    >>> [int(table[round((light / BRIGHTEST) ** 0.5 * (len(table) - 1))]) for light in (0.0, 0.2, 0.6)]
    [0, 123, 194]
    """
    light = (np.arange(16384) / 16383.0) ** 2 * BRIGHTEST
    table = display(light)
    table.setflags(write=True)
    return table


@cache
def _srgb_table() -> Bytes:
    light = (np.arange(4096) / 4095.0) ** 2
    encoded = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    table: Bytes = np.rint(encoded * 255).astype(np.uint8)
    return table


def mix(first: Floats, second: Floats, share: Floats) -> Floats:
    """Blend two colours, each one for all cells or one per cell; `share` is the fraction of the second, per cell."""
    if {first.shape, second.shape} <= {(3,), (*share.shape, 3)} and (first.ndim == 1 or second.ndim == 1):
        # One component after the other: an inner loop over three numbers would take several times as long.
        blended = np.empty((*share.shape, 3), np.float32)
        for k in range(3):
            np.multiply(second[..., k] - first[..., k], share, out=blended[..., k])
            blended[..., k] += first[..., k]
        return blended
    blended = np.asarray((second - first) * share[..., None])
    blended += first  # in place: this is bound by memory
    return blended


def blend(first: Floats, second: Floats, share: Floats) -> Floats:
    """Blend two colours as `mix` does, where a colour per cell is three planes: loops along these are packed."""
    planes = np.empty((3, *share.shape), np.float32)
    for a, b, plane in zip(first, second, planes, strict=True):
        np.multiply(b - a, share, out=plane)
        plane += a
    return planes


def smoothstep(low: float, high: float, values: Floats) -> Floats:
    """Rise smoothly from 0 at `low` to 1 at `high`."""
    t = np.asarray(values - np.float32(low))
    t /= np.float32(high - low)  # in place: this is bound by memory
    np.clip(t, 0, 1, out=t)
    step: Floats = t * t
    t *= 2
    step *= np.subtract(3, t, out=t)
    return step
