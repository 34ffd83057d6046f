"""What the samples of a file stand for, and the one conversion of them to layers, whoever decodes them.

A format works out a `Meaning` from metadata and options alone. Whole files and windows of them, decoded by any library,
become layers by it and by nothing else, so that they cannot differ.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import GeoreferenceWarning, InvalidFile, InvalidParameter, InvalidTerrain
from slopewash.io import gdal
from slopewash.io.cells import SQUARE
from slopewash.io.crs import Crs
from slopewash.io.gathering import gather
from slopewash.io.heights import as_float32, as_metres, bands
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.orientation import row_0_in_the_north, upright
from slopewash.io.suspects import SENTINELS, Look, Suspects, check_possible
from slopewash.io.units import FOOT, HEIGHT_UNITS, US_FOOT, metres_per
from slopewash.remedies import by_file, by_place, option
from slopewash.terrain import Layer, Terrain, TerrainPart
from slopewash.terrain.fields import LAYERS, layer_spec

DEPTHS = (
    "has a CRS with depths, which count downwards; save heights, which count upwards, or give it a CRS with heights if "
    "they do"
)
_CORRECT = "correct it in the file"
Mask = NDArray[np.bool_]
Samples = tuple[NDArray[Any], Mask | None]
"""Samples of one band as they are stored, and which of them the file's own mask leaves out."""


@dataclass(frozen=True, kw_only=True)
class Band:
    """One layer of a file, and how its samples become numbers."""

    layer: str = "elevation"
    number: int = 1
    """From 1, where bands have numbers."""
    nodata: tuple[float, ...] = ()
    """Samples that mark cells without data; if there are any, NaN is another."""
    asked: float | None = None
    """The one of them that an option names."""
    scale: float = 1.0
    offset: float = 0.0
    metres: float = 1.0
    """Metres per unit of what scale and offset give."""
    numbers: bool = False
    """Whether integers are values by themselves, and not steps of a range."""
    span: HeightRange | None = None
    """Values of the lowest and the highest possible integer."""
    is_ground: bool = False
    """Whether it holds heights of the ground, which are looked at for what no ground has."""

    @property
    def is_scaled(self) -> bool:
        """Whether the file says how samples become values."""
        return (self.scale, self.offset) != (1.0, 0.0)

    def missing(self, samples: NDArray[Any]) -> Mask | None:
        """Cells without data, or None where no sample marks them.

        >>> Band(nodata=(-9999.0,)).missing(np.array([[-9999, 5]], dtype=np.int16))
        array([[ True, False]])
        """
        if not self.nodata:
            return None
        found = np.zeros(samples.shape, np.bool_)
        for value in map(float, self.nodata):
            if samples.dtype.kind == "f":
                with np.errstate(over="ignore"):
                    found |= np.isnan(samples) | (samples == samples.dtype.type(value))
            elif value.is_integer() and np.iinfo(samples.dtype).min <= value <= np.iinfo(samples.dtype).max:
                found |= samples == int(value)
        return found

    def look(self, path: Path, stored: NDArray[Any], values: Layer, missing: Mask | None) -> Look:
        """What is to be asked about its samples and the metres that they become."""
        look = Look.at(values, missing, self.suspects(path, stored.dtype))
        if self.asked is None or self.nodata.count(self.asked) > 1:  # declared, too
            return look
        found = dataclasses.replace(self, nodata=(self.asked,)).missing(stored)
        assert found is not None
        nan = np.isnan(stored) if stored.dtype.kind == "f" else np.zeros(stored.shape, np.bool_)
        alone = 0 if np.isnan(self.asked) else int(np.count_nonzero(nan))
        asked = int(np.count_nonzero(found)) - alone
        return dataclasses.replace(look, asked={self.asked: asked}, beside=alone if len(self.nodata) == 1 else 0)

    def suspects(self, path: Path, dtype: np.dtype[Any]) -> Suspects:
        """Samples that may mark cells without data though nothing says so, by the metres that they become.

        Steps of a range cannot: the lowest and the highest are in use.

        >>> Band(is_ground=True, numbers=True, metres=0.5).suspects(Path("dem.tif"), np.dtype(np.int16))[-4999.5]
        -9999.0
        """
        if not self.is_ground or (dtype.kind != "f" and not self.is_scaled and not self.numbers):
            return {}
        limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        fitting = [float(value) for value in SENTINELS if float(limits.min) <= value <= float(limits.max)]
        metres = self.values(path, np.array([fitting]).astype(dtype))
        return dict(zip(metres[0].tolist(), fitting, strict=True))

    def values(self, path: Path, samples: NDArray[Any]) -> Layer:
        """Numbers of samples, those of cells without data included.

        >>> Band(scale=0.5, offset=100.0).values(Path("dem.tif"), np.array([[0, 3]], dtype=np.int16))
        array([[100. , 101.5]], dtype=float32)
        """
        if self.is_scaled and self.span is not None:
            raise InvalidParameter(f"{path} says itself what its samples stand for; leave out {option('height_range')}")
        if not self.is_scaled and (self.span is not None or not (self.numbers and samples.dtype.kind in "biu")):
            samples = as_metres(path, samples, self.span)
        if not self.is_scaled and self.metres == 1.0:
            return as_float32(samples)
        values = np.empty(samples.shape, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in bands(samples.shape):
                values[rows] = (samples[rows].astype(np.float64) * self.scale + self.offset) * self.metres
        return values


def plain_band(
    options: ReadOptions,
    *,
    nodata: tuple[float, ...] = (),
    recorded: HeightRange | None = None,
    numbers: bool = False,
    unit: float | None = None,
    layer: str = "elevation",
) -> Band:
    """Band of a format that stores one kind of number: metres, or steps of a recorded range.

    `unit` is that of heights in metres, where the file gives it.

    >>> plain_band(ReadOptions(height_unit="ft", nodata=-1.0)).metres
    0.3048
    """
    is_ground, metres = layer == "elevation", 1.0
    if options.kind == "height" and layer_spec(layer).height:
        metres = (unit or 1.0) if options.height_unit is None else HEIGHT_UNITS[options.height_unit]
    return Band(
        layer=layer,
        nodata=(*nodata, options.nodata) if is_ground and options.nodata is not None else nodata,
        metres=metres,
        numbers=numbers or not is_ground,
        asked=options.nodata if is_ground else None,
        span=(options.height_range or recorded) if is_ground else None,
        is_ground=is_ground and options.kind == "height",
    )


def metres_of(
    path: Path,
    options: ReadOptions,
    layer: str,
    stated: str | None,
    *,
    what: str,
    crs: Crs,
    is_own: bool = False,
) -> float:
    """Metres per unit of a layer, by the unit that is stated for it or by the CRS; 1 for what is no length.

    Parameters
    ----------
    path, options
        The file, and how it is read.
    layer, stated
        The layer, and its unit as the file writes it.
    what
        What holds the layer, for the message.
    crs
        Whether it has heights, their unit, and which way they count.
    is_own
        Whether slopewash wrote the file, in metres.

    >>> metres_of(Path("d.tif"), ReadOptions(), "water", "cm", what="band 1", crs=Crs())
    0.01
    """
    spec = layer_spec(layer)
    if options.kind == "height" and spec.height and crs.downwards:
        raise InvalidFile(f"{path} {DEPTHS}")
    if options.kind == "value" or spec.units != "m" or (layer == "elevation" and options.height_range is not None):
        return 1.0
    if spec.height and options.height_unit is not None:
        return HEIGHT_UNITS[options.height_unit]
    if stated is not None:
        metres = metres_per(stated)
        if metres is None:
            of = "heights" if spec.height else what
            remedy = f"give it with {option('height_unit')}" if spec.height else _CORRECT
            remedy = by_file(ground=remedy, other=_CORRECT)
            raise InvalidFile(f'{path} has the unknown unit "{stated}" of {of}; {remedy}')
        return metres
    if not (spec.height and crs.has_heights):
        if layer == "elevation" and not is_own:
            _question_feet(path, crs)
        return 1.0
    if crs.height_unit is None:
        how = "" if gdal.is_available() else f", or let GDAL look it up: {gdal.EXTRA}"
        given = by_file(ground=f"give it with {option('height_unit')}", other="write it into the file")
        raise InvalidFile(f"{path} has a CRS with heights, whose unit it does not give; {given}{how}")
    return crs.height_unit


def _question_feet(path: Path, crs: Crs) -> None:
    """Warn of heights that nothing gives a unit, on a map in feet."""
    if crs.unit is None or abs(crs.unit - FOOT) > SQUARE * FOOT:
        return
    unit, called = ("us-ft", "US survey feet") if crs.unit > (FOOT + US_FOOT) / 2 else ("ft", "feet")
    remedy = option("height_unit", repr(unit).replace("'", '"'), unit)
    given = by_file(ground=f"give {remedy}", other="write their unit into the file")
    warnings.warn(
        f"{path} has a CRS in {called} and heights without a unit, which are taken for metres; if they are feet, "
        f"{given}",
        GeoreferenceWarning,
        stacklevel=2,
    )


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a file of layers stands for: which layers, in what units, where, and which way up."""

    path: Path
    shape: tuple[int, int]
    """Rows and columns as they are stored."""
    bands: tuple[Band, ...]
    cell_size: float | None = None
    crs: str | None = None
    transform: tuple[float, ...] | None = None
    """Of the samples as they are stored."""
    orientation: int = 1
    """As TIFF counts: 1 for rows from the top, 2 to 8 for the ways to turn and mirror them."""
    from_the_south: bool = False
    """Whether row 0 lies in the south."""
    may_lack_data: bool = False
    """Whether cells without data can be marked."""

    @property
    def by_windows(self) -> bool:
        """Whether a part of the terrain is a part of the file, with the same rows and columns."""
        return self.orientation == 1 and not self.from_the_south

    @property
    def own_layers(self) -> tuple[str, ...]:
        """Layers that only their author knows."""
        return tuple(band.layer for band in self.bands if band.layer not in LAYERS)

    def terrain(self, samples: Callable[[Band], Samples], **others: Any) -> Terrain:
        """The whole, given a decoder of its bands; `others` are water sources and the like."""
        layers, nodata, look, suspects = self._layers(samples, (0, 0))
        look.question(str(self.path), suspects, stacklevel=6)
        terrain = gather(
            self.path, layers, cell_size=self.cell_size, nodata=nodata, crs=self.crs, transform=self.transform, **others
        )
        return row_0_in_the_north(terrain) if self.from_the_south else terrain

    def part(self, samples: Callable[[Band], Samples], origin: tuple[int, int]) -> tuple[TerrainPart, Look]:
        """A window, given a decoder of its bands, and what is to be asked about it.

        Its first cell is that of row and column `origin`.
        """
        assert self.by_windows
        layers, nodata, look, _ = self._layers(samples, origin)
        own = {name: layers.pop(name) for name in self.own_layers}
        try:
            part = TerrainPart(**layers, own_layers=own, nodata=nodata, cell_size=self.cell_size or 1.0)
        except InvalidTerrain as error:
            raise InvalidTerrain(f"{self.path}: {error}") from error
        return part, look

    def suspects(self, dtype: np.dtype[Any]) -> Suspects:
        """Samples of the elevation that may mark cells without data, where samples are of that type."""
        return next((band.suspects(self.path, dtype) for band in self.bands if band.is_ground), {})

    def _layers(
        self, samples: Callable[[Band], Samples], origin: tuple[int, int]
    ) -> tuple[dict[str, Any], Any, Look, Suspects]:
        layers, missing = dict[str, Layer](), dict[str, Mask | None]()
        look, suspects = Look(), Suspects()
        for band in self.bands:
            stored, outside = samples(band)
            lacking = band.missing(stored)
            if outside is not None:
                lacking = outside if lacking is None else lacking | outside
            values = band.values(self.path, stored)
            if band.is_ground:
                check_possible(str(self.path), values, stored, lacking)
                look, suspects = band.look(self.path, stored, values, lacking), band.suspects(self.path, stored.dtype)
            layers[band.layer] = upright(values, self.orientation)
            missing[band.layer] = None if lacking is None else upright(lacking, self.orientation)
            del stored, values
        nodata = missing.get("elevation")
        for name, lacking in missing.items():
            self._check_complete(name, layers[name], lacking, nodata, origin)
        return layers, nodata, look, suspects

    def _check_complete(
        self, name: str, layer: Layer, missing: Mask | None, nodata: Mask | None, origin: tuple[int, int]
    ) -> None:
        """Refuse numbers that are none, and ground of which a layer knows nothing."""
        bad = ~np.isfinite(layer)
        called = "it" if len(self.bands) == 1 else f"layer {name}"
        called = by_file(ground=f"layer {name}", other=called)
        if missing is not None:
            bad |= missing
        if nodata is not None:
            bad &= ~nodata
        if not bad.any():
            return
        row, column = np.argwhere(bad)[0]
        place = f"at row {row + origin[0]}, column {column + origin[1]}"
        if missing is not None and missing[row, column]:
            raise InvalidFile(f"{self.path}: {called} has no data {place}, where there is ground; fill it first")
        typed = str(layer[row, column])
        value = by_place(python=f'float("{typed}")', command=typed)
        raise InvalidTerrain(
            f"{self.path}: {called} is {layer[row, column]} {place}; fill such cells"
            + by_file(ground=f", or leave them out with {option('nodata', value, typed)}", other="")
        )
