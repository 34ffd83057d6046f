"""Where the cells of a Zarr group lie, and how its arrays are turned: by dimensions, coordinates and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidFile
from slopewash.io.crs import Crs
from slopewash.io.decoding import decoding
from slopewash.io.orientation import is_mirrored
from slopewash.io.placement import SAME
from slopewash.io.units import metres_per
from slopewash.models.state import Window
from slopewash.tiles.zarr_crs import grid_mapping_of
from slopewash.tiles.zarr_folder import FORMAT, ZarrArray, ZarrFacts, opened

Transform = tuple[float, ...]
SAME_UNIT = 1e-9
_NAMES = {
    "y": ("y", "yc", "lat", "latitude", "northing", "row", "rows"),
    "x": ("x", "xc", "lon", "long", "longitude", "easting", "column", "columns", "col", "cols"),
}  # fmt: skip
_STANDARD = {
    "y": ("projection_y_coordinate", "latitude", "grid_latitude"),
    "x": ("projection_x_coordinate", "longitude", "grid_longitude"),
}
_DEGREES = ("degree", "degrees", "degrees_north", "degrees_east", "degree_north", "degree_east", "deg", "°")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """How the rows and columns of arrays become those of a terrain, whose row 0 is in the north."""

    transposed: bool = False
    from_the_south: bool = False
    from_the_east: bool = False

    def stored(self, window: Window, shape: tuple[int, int]) -> Window:
        """Where a window of the terrain lies in the arrays."""
        rows = _from_the_end(window[0], shape[0]) if self.from_the_south else window[0]
        columns = _from_the_end(window[1], shape[1]) if self.from_the_east else window[1]
        return (columns, rows) if self.transposed else (rows, columns)

    def upright(self, values: NDArray[Any]) -> NDArray[Any]:
        """Turn a window of the arrays.

        >>> Turn(transposed=True, from_the_south=True).upright(np.array([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
        """
        values = values.T if self.transposed else values
        return values[:: -1 if self.from_the_south else 1, :: -1 if self.from_the_east else 1]


def _from_the_end(span: slice, cells: int) -> slice:
    return slice(cells - span.stop, cells - span.start)


@dataclass(frozen=True, kw_only=True)
class ZarrPlace:
    """What is said of place and size."""

    turn: Turn
    shape: tuple[int, int]
    """Rows and columns of the terrain."""
    transform: Transform | None
    """Of the terrain, once turned."""
    in_degrees: bool
    unit: float | None
    """Metres per unit of coordinates, where they have one of their own."""
    noted: float | None
    """Side of a cell in metres that an attribute gives."""

    @property
    def sizes(self) -> tuple[float, float] | None:
        """Width and height of a cell."""
        if self.transform is None:
            return None
        a, b, _, d, e, _ = self.transform
        return math.hypot(a, d), math.hypot(b, e)


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """Coordinates of cell centres along one side."""

    first: float
    step: float | None
    """None for a single cell."""
    in_degrees: bool
    unit: float | None


def place_of(facts: ZarrFacts, crs: Crs) -> ZarrPlace:
    """Work out the place; what contradicts itself is refused."""
    elevation = facts.arrays["elevation"]
    names, transposed = _dimensions(facts.path, elevation, facts.arrays)
    shape = (elevation.shape[1], elevation.shape[0]) if transposed else (elevation.shape[0], elevation.shape[1])
    y, x = (_axis(facts, side, name, cells) for side, name, cells in zip("yx", names, shape, strict=True))
    stated = [*_stated(facts), *_by_coordinates(facts.path, x, y)]
    for other in stated[1:]:
        _check_same(facts.path, stated[0], other, shape)
    transform = stated[0] if stated else None
    if transform is None or (crs.text is None and y is None):  # a picture has no north
        turn = Turn(transposed=transposed)
    else:
        turn = _turn(transform, transposed=transposed)
    return ZarrPlace(
        turn=turn, shape=shape, transform=None if transform is None else _turned(transform, turn, shape),
        in_degrees=crs.geographic or any(axis is not None and axis.in_degrees for axis in (x, y)),
        unit=_unit(facts.path, [axis.unit for axis in (x, y) if axis is not None], crs), noted=_noted(facts),
    )  # fmt: skip


# Dimensions


def _dimensions(
    path: Path, elevation: ZarrArray, arrays: Mapping[str, ZarrArray]
) -> tuple[tuple[str | None, str | None], bool]:
    """Names of the dimensions of rows and columns, and whether arrays have the columns first."""
    if elevation.dimensions is None:
        named = tuple(
            next((name for name in _NAMES[side] if name in arrays and len(arrays[name].shape) == 1), None)
            for side in "yx"
        )
        return (named[0], named[1]), False
    first, second = elevation.dimensions
    sides = _side(first, arrays), _side(second, arrays)
    if sides[0] is not None and sides[0] == sides[1]:
        raise InvalidFile(f"{path} has the dimensions {first} and {second}, which run the same way; rename one")
    transposed = sides[0] == "x" or sides[1] == "y"
    return ((second, first) if transposed else (first, second)), transposed


def _side(name: str, arrays: Mapping[str, ZarrArray]) -> str | None:
    attributes = arrays[name].attributes if name in arrays else {}
    for side in "yx":
        if str(attributes.get("axis", "")).lower() == side or attributes.get("standard_name") in _STANDARD[side]:
            return side
    return next((side for side in "yx" if name.lower() in _NAMES[side]), None)


# Coordinates


def _axis(facts: ZarrFacts, side: str, name: str | None, cells: int) -> _Axis | None:
    """Coordinates along a dimension, or None if there are none."""
    if name is None or name not in facts.arrays:
        return None
    array = facts.arrays[name]
    if array.shape != (cells,):
        raise InvalidFile(
            f"{facts.path} has coordinates {name} of shape {array.shape} for {cells} cells; save as many as there are"
        )
    if array.dtype.kind not in "iuf" or {"scale_factor", "add_offset"} & set(array.attributes):
        raise InvalidFile(f"{facts.path} has coordinates {name} of type {array.dtype}; save them as plain numbers")
    with decoding(facts.path, FORMAT):
        values = np.asarray(opened(facts.path, name)[:])
    exact = values.astype(np.float64)
    step = float((exact[-1] - exact[0]) / (cells - 1)) if cells > 1 else None
    slack = 0.0 if values.dtype.kind != "f" else 2 * float(np.finfo(values.dtype).eps) * float(np.abs(exact).max())
    even = exact[0] + (step or 0.0) * np.arange(cells)
    if not (np.isfinite(exact).all() and step != 0 and np.abs(exact - even).max() <= SAME * abs(step or 0.0) + slack):
        raise InvalidFile(f"{facts.path} has coordinates {name} that are not evenly spaced; resample it to even ones")
    if step is not None and slack > SAME * abs(step):
        raise InvalidFile(
            f"{facts.path} has coordinates {name} of type {values.dtype}, too coarse; save them as float64"
        )
    units = array.attributes.get("units")
    in_degrees = str(units).lower() in _DEGREES or array.attributes.get("standard_name") in ("latitude", "longitude")
    in_degrees = in_degrees or (units is None and name.lower() in ("lat", "latitude", "lon", "long", "longitude"))
    return _Axis(
        first=float(exact[0]), step=step, in_degrees=in_degrees,
        unit=None if in_degrees or units in (None, "", "1") else _metres(facts.path, name, units),
    )  # fmt: skip


def _metres(path: Path, name: str, units: object) -> float:
    metres = metres_per(units) if isinstance(units, str) else None
    if metres is None:
        raise InvalidFile(f'{path} has the unknown unit "{units}" of coordinates {name}; correct it in the file')
    return metres


def _unit(path: Path, units: list[float | None], crs: Crs) -> float | None:
    known = sorted({unit for unit in (*units, crs.unit) if unit is not None})
    if known and known[-1] - known[0] > SAME_UNIT * known[0]:
        listed = " and ".join(f"{unit:.9g} m" for unit in known)
        raise InvalidFile(f"{path} has coordinates and a CRS in units of {listed}; save both in the same unit")
    return crs.unit or next(iter(known), None)


def _by_coordinates(path: Path, x: _Axis | None, y: _Axis | None) -> Iterator[Transform]:
    """The transform that coordinates give; along a side of a single cell, cells are square."""
    if x is None and y is None:
        return
    if x is None or y is None or (x.step is None and y.step is None):
        raise InvalidFile(f"{path} has coordinates for one side only, or for a single cell; add those that are missing")
    across = abs(y.step or 1.0) if x.step is None else x.step
    down = -abs(x.step or 1.0) if y.step is None else y.step
    yield across, 0.0, x.first - across / 2, 0.0, down, y.first - down / 2


# Attributes


def _stated(facts: ZarrFacts) -> Iterator[Transform]:
    """Transforms that attributes give."""
    mapping = grid_mapping_of(facts)
    for attributes in (facts.attributes, facts.arrays["elevation"].attributes):
        if (value := attributes.get("spatial:transform")) is not None:
            a, b, c, d, e, f = _numbers(facts.path, "spatial:transform", value)
            if attributes.get("spatial:registration") == "node":
                c, f = c - (a + b) / 2, f - (d + e) / 2
            yield a, b, c, d, e, f
    if (value := facts.attributes.get("transform")) is not None:  # as `Terrain.to_xarray` writes it
        yield _numbers(facts.path, "transform", value)
    if mapping is not None and (value := mapping.attributes.get("GeoTransform")) is not None:
        c, a, b, f, d, e = _numbers(facts.path, "GeoTransform", str(value).split())
        yield a, b, c, d, e, f


def _numbers(path: Path, name: str, value: object) -> Transform:
    try:
        numbers = tuple(float(number) for number in value) if isinstance(value, list | tuple) else ()
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) == 9 and numbers[6:] == (0.0, 0.0, 1.0):
        numbers = numbers[:6]
    good = len(numbers) == 6 and all(map(math.isfinite, numbers))
    if not good or numbers[0] * numbers[4] - numbers[1] * numbers[3] == 0:
        raise InvalidFile(f"{path} has the {name} {value}; it must be six numbers that give cells an area")
    return numbers


def _noted(facts: ZarrFacts) -> float | None:
    value = facts.attributes.get("cell_size")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise InvalidFile(f"{facts.path} has the cell_size {value!r}; it must be a positive number of metres")
    return float(value)


def _check_same(path: Path, one: Transform, other: Transform, shape: tuple[int, int]) -> None:
    """Refuse two transforms that put a corner elsewhere."""
    size = min(math.hypot(one[0], one[3]), math.hypot(one[1], one[4]))
    for column in (0, shape[1]):
        for row in (0, shape[0]):
            x, y = (one[k] * column + one[k + 1] * row + one[k + 2] for k in (0, 3))
            u, v = (other[k] * column + other[k + 1] * row + other[k + 2] for k in (0, 3))
            if math.hypot(x - u, y - v) > SAME * size:
                raise InvalidFile(
                    f"{path} gives row {row}, column {column} two places, {x:.12g}, {y:.12g} and {u:.12g}, {v:.12g}; "
                    "leave the wrong one out"
                )


def _turn(transform: Transform, *, transposed: bool) -> Turn:
    a, b, _, d, e, _ = transform
    if b == d == 0:
        return Turn(transposed=transposed, from_the_south=e > 0, from_the_east=a < 0)
    return Turn(transposed=transposed, from_the_south=is_mirrored(transform))


def _turned(transform: Transform, turn: Turn, shape: tuple[int, int]) -> Transform:
    a, b, c, d, e, f = transform
    if turn.from_the_south:
        b, c, e, f = 0.0 - b, c + b * shape[0], 0.0 - e, f + e * shape[0]
    if turn.from_the_east:
        a, c, d, f = 0.0 - a, c + a * shape[1], 0.0 - d, f + d * shape[1]
    return a, b, c, d, e, f
