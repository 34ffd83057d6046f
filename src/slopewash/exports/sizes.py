"""Which sizes a target takes, and what has to be done to a terrain of another size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.remedies import option

Fit = Literal["resample", "crop", "pad"]
"""What is done to a terrain whose size a target does not take."""

UNREAL = (127, 253, 505, 1009, 2017, 4033, 8129)
"""Vertices along a side that Unreal divides into its components without a rest."""
UNITY = (33, 65, 129, 257, 513, 1025, 2049, 4097)
"""2ⁿ + 1 vertices along a side."""

Shape = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a target takes: the sides of one file, and how neighbouring files meet."""

    target: str
    sides: tuple[int, ...] | None = None
    """Sides of a square file; None: any rectangle."""
    largest: int = 16384
    tiled: bool = True
    """Whether the target can be given in several files."""
    shared_edges: bool = False
    """Whether the last row or column of a file is the first of the next."""

    def whole(self, tile: Shape, tiles: Shape, shared: bool) -> Shape:
        """Rows and columns of the terrain that `tiles` (columns, rows) files of that shape make up.

        >>> Sizes(target="unity").whole((513, 513), (2, 1), True)
        (513, 1025)
        """
        overlap = int(shared)
        return tuple(n * (side - overlap) + overlap for side, n in zip(tile, tiles[::-1], strict=True))  # type: ignore[return-value]


@dataclass(frozen=True)
class Plan:
    """Rows and columns of the whole terrain and of one file, and how the terrain is brought to that size."""

    whole: Shape
    tile: Shape
    tiles: Shape
    """Files from west to east, and from north to south."""
    shared: bool
    fit: Fit | None
    """None: the terrain has that size already."""


def plan_sizes(
    shape: Shape, sizes: Sizes, *, size: int | None, tiles: Shape, fit: Fit | None, shared: bool | None
) -> Plan:
    """Choose the size of an export, or raise an error that names the nearest valid ones.

    >>> plan_sizes((512, 512), Sizes(target="unreal", sides=UNREAL), size=505, tiles=(1, 1), fit="crop", shared=None)
    Plan(whole=(505, 505), tile=(505, 505), tiles=(1, 1), shared=False, fit='crop')
    """
    if fit is not None and fit not in get_args(Fit):
        raise unknown_name("fit", fit, get_args(Fit))
    _check_tiles(sizes, tiles)
    together = sizes.shared_edges if shared is None else shared
    choose = _square if sizes.sides is not None else _free
    tile = choose(shape, sizes, size, tiles, fit, together)
    whole = sizes.whole(tile, tiles, together)
    if whole != shape and fit is None:
        raise InvalidParameter(
            f"the terrain has {_times(shape)} cells and the export {_times(whole)}; choose how to change it with "
            f"{_option('fit')}: resample, crop or pad"
        )
    _check_fit(shape, whole, fit)
    return Plan(whole, tile, tiles, together, None if whole == shape else fit)


def _option(name: str) -> str:
    return option(name, table="[[outputs]]")


def _check_tiles(sizes: Sizes, tiles: Shape) -> None:
    if len(tiles) != 2 or min(tiles) < 1 or max(tiles) > 256:
        raise InvalidParameter(f"tiles is {tiles}; it must be columns and rows of files, each within 1 .. 256")
    if tiles != (1, 1) and not sizes.tiled:
        raise InvalidParameter(f"tiles is {tiles}, but {sizes.target} takes one file; leave it out")


def _square(shape: Shape, sizes: Sizes, size: int | None, tiles: Shape, fit: Fit | None, shared: bool) -> Shape:
    sides = sizes.sides
    assert sides is not None
    if size is not None:
        if size not in sides:
            raise InvalidParameter(
                f"size is {size}; {sizes.target} takes {_listed(sides)} on a side, the nearest {_nearest(size, sides)}"
            )
        return size, size
    fitting = [side for side in sides if sizes.whole((side, side), tiles, shared) == shape]
    if fitting:
        return fitting[0], fitting[0]
    length = _side_of(shape, tiles, shared)
    if fit is None:
        each = "" if tiles == (1, 1) else f" for each of {tiles[0]} x {tiles[1]} files"
        raise InvalidParameter(
            f"the terrain has {_times(shape)} cells; {sizes.target} takes {_listed(sides)} on a side{each}, the "
            f"nearest {_nearest(round(length), sides)}; choose with {_option('size')}, and how with "
            f"{_option('fit')}: resample, crop or pad"
        )
    chosen = _closest(length, sides, fit, lambda side: sizes.whole((side, side), tiles, shared), shape)
    return chosen, chosen


def _side_of(shape: Shape, tiles: Shape, shared: bool) -> float:
    """Side of a file, if the longer side of the terrain were divided evenly."""
    longer = 0 if shape[0] / tiles[1] >= shape[1] / tiles[0] else 1
    return (shape[longer] - shared) / tiles[1 - longer] + shared


def _closest(length: float, sides: tuple[int, ...], fit: Fit, whole: Callable[[int], Shape], shape: Shape) -> int:
    if fit == "crop":
        inside = [s for s in sides if all(w <= n for w, n in zip(whole(s), shape, strict=True))]
        return max(inside, default=min(sides))
    if fit == "pad":
        around = [s for s in sides if all(w >= n for w, n in zip(whole(s), shape, strict=True))]
        return min(around, default=max(sides))
    return min(sides, key=lambda s: abs(math.log(s / length)))


def _free(shape: Shape, sizes: Sizes, size: int | None, tiles: Shape, fit: Fit | None, shared: bool) -> Shape:
    if size is not None and not 2 <= size <= sizes.largest:
        raise InvalidParameter(f"size is {size}; {sizes.target} takes 2 .. {sizes.largest} on the longer side")
    wanted = shape
    if size is not None:
        longest = max(sizes.whole((size, size), tiles, shared))
        if fit == "crop":
            wanted = min(shape[0], longest), min(shape[1], longest)
        elif fit == "pad":
            wanted = max(shape[0], longest), max(shape[1], longest)
        else:
            factor = max(shape) / longest
            wanted = math.ceil(shape[0] / factor - 1e-9), math.ceil(shape[1] / factor - 1e-9)
    if max(wanted) > sizes.largest:
        raise InvalidParameter(
            f"the terrain has {_times(shape)} cells; {sizes.target} takes up to {sizes.largest} on a side; choose a "
            f"smaller one with {_option('size')}, and how with {_option('fit')}: resample or crop"
        )
    parts = [(side - shared) / n for side, n in zip(wanted, tiles[::-1], strict=True)]
    if all(part == int(part) for part in parts):
        return int(parts[0]) + shared, int(parts[1]) + shared
    if fit is None or fit == "resample":
        below, above = (sizes.whole((int(f(parts[0])) + shared, int(f(parts[1])) + shared), tiles, shared)
                        for f in (math.floor, math.ceil))  # fmt: skip
        raise InvalidParameter(
            f"{_times(wanted)} cells do not divide into {tiles[0]} x {tiles[1]} files; the nearest sizes are "
            f"{_times(below)} and {_times(above)}; choose {_option('fit')}: crop or pad"
        )
    rounding = math.floor if fit == "crop" else math.ceil
    return rounding(parts[0]) + shared, rounding(parts[1]) + shared


def _check_fit(shape: Shape, whole: Shape, fit: Fit | None) -> None:
    if fit == "crop" and (whole[0] > shape[0] or whole[1] > shape[1]):
        raise InvalidParameter(
            f"a terrain of {_times(shape)} cells cannot be cropped to {_times(whole)}; "
            f"choose {_option('fit')}: pad or resample"
        )
    if fit == "pad" and (whole[0] < shape[0] or whole[1] < shape[1]):
        raise InvalidParameter(
            f"a terrain of {_times(shape)} cells cannot be padded to {_times(whole)}; "
            f"choose {_option('fit')}: crop or resample"
        )
    factor = max(shape) / max(whole)
    if fit == "resample" and tuple(math.ceil(side / factor - 1e-9) for side in shape) != whole:
        raise InvalidParameter(
            f"a terrain of {_times(shape)} cells cannot be resampled to {_times(whole)} without distortion; "
            f"choose {_option('fit')}: crop or pad; or {_option('tiles')}: of the same proportions"
        )


def _nearest(size: int, sides: tuple[int, ...]) -> str:
    """Say which one or two valid sides enclose a size."""
    below, above = [s for s in sides if s <= size], [s for s in sides if s > size]
    names = [str(s) for s in (*below[-1:], *above[:1])]
    return f"{'is' if len(names) == 1 else 'are'} {' and '.join(names)}"


def _listed(sides: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, sides[:-1]))} or {sides[-1]}"


def _times(shape: Shape) -> str:
    return f"{shape[1]} x {shape[0]}"
