"""What the arrays of a Zarr group stand for, by the conventions of CF, GDAL, xarray and GeoZarr."""

from __future__ import annotations

import base64
import math
import struct
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import GeoreferenceWarning, InvalidFile, InvalidParameter, UnusualWarning
from slopewash.io.cells import SQUARE, cannot_measure, side_of_cell
from slopewash.io.crs import Crs
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.files import check_info
from slopewash.io.grids import Grid
from slopewash.io.ground_scale import question_scale
from slopewash.io.info import FileInfo
from slopewash.io.meaning import Band, Meaning, Samples, metres_of
from slopewash.io.options import ReadOptions
from slopewash.models.state import Window
from slopewash.remedies import option
from slopewash.terrain.fields import LAYERS, RESERVED, STRATA_TOP
from slopewash.tiles.zarr_crs import crs_of
from slopewash.tiles.zarr_folder import FORMAT, ZarrArray, ZarrFacts, facts_of, opened
from slopewash.tiles.zarr_place import Turn, ZarrPlace, place_of

INPUTS = (
    "water", "suspended", "erodibility", "rainfall", "evaporation", "capacity", "talus", "sliding", "bedrock",
)  # fmt: skip
"""Layers of slopewash that a run may begin with; what another run has changed is not its start."""
NODATA = "nodata"
_NUMBERS = "iuf"
_VALID = ("valid_min", "valid_max", "valid_range")


@dataclass(frozen=True, kw_only=True)
class ZarrRaster:
    """A Zarr group whose meaning is known, and what decoding it takes."""

    meaning: Meaning
    turn: Turn
    dtypes: Mapping[str, str]
    """Types of the arrays."""
    has_mask: bool = False
    """Whether an array says where there is no ground."""
    valid: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest sample of arrays that mark cells without data by others."""

    def samples(self, band: Band, window: Window) -> Samples:
        """Decode a window of an array."""
        stored = self._read(band.layer, window)
        outside: NDArray[np.bool_] | None = None
        if self.has_mask and band.layer == "elevation":
            outside = self._read(NODATA, window) != 0
        if band.layer in self.valid:
            low, high = self.valid[band.layer]
            beyond = (stored < low) | (stored > high)
            outside = beyond if outside is None else outside | beyond
        return stored, outside

    def _read(self, name: str, window: Window) -> NDArray[Any]:
        meaning = self.meaning
        with decoding(meaning.path, FORMAT):
            array = opened(meaning.path, name)
            rows, columns = meaning.shape
            whole = (columns, rows) if self.turn.transposed else (rows, columns)
            if array.shape != whole or str(array.dtype) != self.dtypes[name]:
                raise Damaged(f"{name} was changed while it was read")
            return self.turn.upright(np.asarray(array[self.turn.stored(window, meaning.shape)]))


def resolve(path: Path, options: ReadOptions) -> ZarrRaster:
    """Work out what a Zarr group stands for; refuses what would be read wrongly."""
    facts = facts_of(path)
    names = _layers(facts)
    _check_options(facts, names, options)
    crs = crs_of(facts)
    place = place_of(facts, crs)
    bands = tuple(_band(facts, name, crs, options, placed=_is_placed(place, crs)) for name in names)
    has_mask = NODATA in facts.arrays
    valid = {name: span for name in names if (span := _valid(path, facts.arrays[name])) is not None}
    meaning = Meaning(
        path=path, shape=place.shape, bands=bands, cell_size=options.cell_size or _cell_size(path, place, crs),
        crs=crs.text, transform=place.transform,
        may_lack_data=has_mask or bool(bands[0].nodata) or "elevation" in valid,
    )  # fmt: skip
    if options.cell_size is None and not place.in_degrees:
        question_scale(str(path), Grid(meaning.shape, crs.text, meaning.transform), meaning.cell_size)
    return ZarrRaster(
        meaning=meaning, turn=place.turn, has_mask=has_mask, valid=valid,
        dtypes={name: str(facts.arrays[name].dtype) for name in (*names, *((NODATA,) if has_mask else ()))},
    )  # fmt: skip


# Layers


def _layers(facts: ZarrFacts) -> tuple[str, ...]:
    """Arrays that are read: those that a run may begin with, and the user's own on the same grid."""
    arrays, path = facts.arrays, facts.path
    if "elevation" not in arrays:
        listed = ", ".join(arrays) or "no arrays"
        raise InvalidFile(f"{path} has {listed}; one must be named elevation")
    elevation = arrays["elevation"]
    if len(elevation.shape) != 2 or min(elevation.shape) == 0:
        raise InvalidFile(
            f"{path} has an elevation of shape {elevation.shape}; it must have rows and columns: choose one grid, as "
            "isel of xarray does"
        )
    beside = {str(name) for array in arrays.values() for name in str(array.attributes.get("coordinates", "")).split()}
    own = [
        name for name, array in arrays.items()
        if name not in LAYERS and name != NODATA and name not in beside and _on_grid(array, elevation)
    ]  # fmt: skip
    useless = {name: why for name in own if (why := _useless(arrays[name])) is not None}
    for name, why in useless.items():
        warnings.warn(f"{path} has {name} {why}; it is left out", UnusualWarning, stacklevel=2)
    names = ("elevation", *(name for name in INPUTS if name in arrays), *(name for name in own if name not in useless))
    for name in (*names, *((NODATA,) if NODATA in arrays else ())):
        array = arrays[name]
        if name in RESERVED and name != NODATA:
            raise InvalidFile(f'{path} contains a layer called "{name}", which is a reserved name; rename it')
        if not _on_grid(array, elevation):
            raise InvalidFile(
                f"{path} has the array {name} of shape {array.shape} beside an elevation of shape {elevation.shape}; "
                "save it on the same grid"
            )
        if array.dtype.kind not in ("biu" if name == NODATA else _NUMBERS):
            raise InvalidFile(f"{path} has the array {name} of type {array.dtype}; save it as numbers")
        if str(array.attributes.get("_Unsigned", "false")).lower() == "true":
            raise InvalidFile(f"{path} has the array {name} of type {array.dtype} with _Unsigned; save it as unsigned")
    is_depth = "depth" in str(elevation.attributes.get("standard_name", "")).lower()
    if is_depth or str(elevation.attributes.get("positive", "up")).lower() != "up":
        raise InvalidFile(f"{path} has an elevation that counts downwards; save heights, which count upwards")
    return names


def _useless(array: ZarrArray) -> str | None:
    """Why nothing can be done with an array that is no layer of slopewash; None if it can be kept."""
    if array.dtype.kind not in _NUMBERS:
        return f"of type {array.dtype}, which is no number"
    return "of a result, without the strata that it belongs to" if array.name == STRATA_TOP else None


def _on_grid(array: ZarrArray, elevation: ZarrArray) -> bool:
    same = array.dimensions is None or elevation.dimensions is None or array.dimensions == elevation.dimensions
    return array.shape == elevation.shape and same


def _check_options(facts: ZarrFacts, names: tuple[str, ...], options: ReadOptions) -> None:
    path, elevation = facts.path, facts.arrays["elevation"]
    if options.reproject is not None:
        raise InvalidParameter(
            f"{path} is read by windows, which are not resampled; leave out {option('reproject')}, and resample it "
            "first, as gdalwarp does"
        )
    info = FileInfo(
        format=FORMAT, width=elevation.shape[1], height=elevation.shape[0], bits=8 * elevation.dtype.itemsize,
        dtype=str(elevation.dtype), channels=len(names), layers=names,
    )  # fmt: skip
    check_info(path, info, options)


# Samples


def _band(facts: ZarrFacts, name: str, crs: Crs, options: ReadOptions, *, placed: bool) -> Band:
    path, array = facts.path, facts.arrays[name]
    is_ground, stated = name == "elevation", array.attributes.get("units")
    if stated is not None and not isinstance(stated, str):
        raise InvalidFile(f"{path} has the units {stated!r} of {name}; they must be text")
    metres = metres_of(path, options, name, stated or None, what=name, crs=crs)
    nodata = _nodata(path, array)
    return Band(
        layer=name,
        nodata=(*nodata, float(options.nodata)) if is_ground and options.nodata is not None else nodata,
        scale=_number(path, array, "scale_factor", 1.0),
        offset=_number(path, array, "add_offset", 0.0),
        metres=metres,
        numbers=not is_ground or placed or bool(stated),
        asked=options.nodata if is_ground else None,
        span=options.height_range if is_ground else None,
        is_ground=is_ground,
    )


def _number(path: Path, array: ZarrArray, name: str, usual: float) -> float:
    value = array.attributes.get(name, usual)
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or (name == "scale_factor" and value == 0):
        raise InvalidFile(f"{path} has the {name} {value!r} of {array.name}; it must be a finite number other than 0")
    return float(value)


def _nodata(path: Path, array: ZarrArray) -> tuple[float, ...]:
    """Samples that mark cells without data.

    0 is what Zarr itself fills with: it marks nothing unless an attribute says so, or version 2 as xarray and GDAL
    write it, which keep `_FillValue` there.
    """
    found = []
    for name in ("_FillValue", "missing_value"):
        value = array.attributes.get(name)
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                found.append(_marker(path, array, name, each))
    fill = array.fill_value
    if fill is not None and np.ndim(fill) == 0 and array.dtype.kind in "iuf":
        of_others = array.version == 2 and "_ARRAY_DIMENSIONS" in array.attributes
        if float(fill) != 0 or of_others:
            found.append(float(fill))
    return tuple({repr(value): value for value in found}.values())


def _marker(path: Path, array: ZarrArray, name: str, value: Any) -> float:
    """A number, as JSON has it, or as xarray writes floats: base64 of eight bytes."""
    try:
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                return float(struct.unpack("<d", base64.b64decode(value, validate=True))[0])
        if not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError, OverflowError, struct.error):
        pass
    raise InvalidFile(f"{path} has the {name} {value!r} of {array.name}; it must be a number")


def _valid(path: Path, array: ZarrArray) -> tuple[float, float] | None:
    if not any(name in array.attributes for name in _VALID):
        return None
    both = array.attributes.get("valid_range", [None, None])
    if not isinstance(both, list) or len(both) != 2:
        raise InvalidFile(f"{path} has the valid_range {both!r} of {array.name}; it must be two numbers")
    low, high = (
        other if value is None else _marker(path, array, name, value)
        for value, name, other in (
            (array.attributes.get("valid_min", both[0]), "valid_min", -math.inf),
            (array.attributes.get("valid_max", both[1]), "valid_max", math.inf),
        )
    )
    return low, high


# Place


def _is_placed(place: ZarrPlace, crs: Crs) -> bool:
    return crs.text is not None or place.transform is not None or place.noted is not None


def _cell_size(path: Path, place: ZarrPlace, crs: Crs) -> float | None:
    if crs.text is not None and place.sizes is None and place.noted is None:
        raise InvalidFile(cannot_measure(path, "has a CRS, and neither coordinates nor a transform", resample=False))
    unit = 1.0 if crs.text is None and place.unit is None else place.unit
    side = side_of_cell(
        path, place.sizes, noted=place.noted, geographic=place.in_degrees, unit=unit,
        obstacle=f"does not give the unit of {crs.text}", resample=False,
    )  # fmt: skip
    if place.noted is not None and side is not None and abs(side - place.noted) > SQUARE * side:
        warnings.warn(
            f"{path} has coordinates with cells of {side:g} m, which count, and a cell_size of {place.noted:g} m; "
            "correct the attribute, or leave it out",
            GeoreferenceWarning,
            stacklevel=2,
        )
    return side
