"""Layers that a recipe adds to its terrain: rain, hardness and the like, painted or measured elsewhere."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slopewash.errors import (
    GeoreferenceWarning,
    InvalidFile,
    InvalidParameter,
    InvalidTerrain,
    UnknownName,
    unknown_name,
)
from slopewash.io.files import read_with
from slopewash.io.grids import Placed, has_coordinates
from slopewash.io.options import HeightRange, ReadOptions, ValueOptions, check_height_range
from slopewash.io.placement import Cover, Raster, lattice_between, same_grid
from slopewash.memory import check_memory
from slopewash.models import find_model, model_names
from slopewash.recipes.bedrock import Above
from slopewash.recipes.masking import MASK
from slopewash.remedies import Wanted, by_place, read_for
from slopewash.terrain import Layer, Terrain
from slopewash.terrain.fields import LAYERS, layer_spec
from slopewash.terrain.resampling import resampled_shape

SHARE = (0.0, 1.0)
"""What black and white of a picture stand for where nothing else is asked for or recorded."""


@dataclass(frozen=True, kw_only=True)
class LayerFile:
    """A layer read from a file of one channel, resampled to the terrain where it has other cells.

    >>> import slopewash as sw
    >>> sw.LayerFile(path="rain.png").path.name
    'rain.png'
    """

    path: Path
    range: HeightRange | None = None
    """Values of black and white of a file of integers; those recorded in it, or 0 and 1, if not given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        if self.range is not None:
            check_height_range(self.range, "range")

    def values(self, name: str, terrain: Terrain, *, integers: HeightRange | None = None) -> Layer:
        """Read it for the cells of a terrain; `integers` gives black and white where no range was asked for."""
        raster = self.raster(name, terrain, integers=integers)
        values, missing, outside = raster.cells((slice(0, terrain.shape[0]), slice(0, terrain.shape[1])))
        Cover.of(missing, outside, terrain.nodata).check(self.path)
        span = terrain.range("elevation")
        Above.of(name, values, terrain, span, resampled=raster.resampled).check(self.path)
        return values

    def raster(self, name: str, terrain: Placed, *, integers: HeightRange | None = None) -> Raster:
        """Read it, and find out where it lies in a terrain: by its coordinates, or by its shape if one has none."""
        given = self._layer(self._read(name, integers), name)
        lattice = lattice_between(self.path, given, terrain)
        if lattice is not None and same_grid(given, terrain, lattice):
            lattice = None
        stretched = lattice is None and given.shape != terrain.shape
        if stretched:
            given = self._stretched(given, name, terrain)
        return Raster(
            path=self.path, values=given["elevation"], missing=given.nodata, lattice=lattice, whole=given.shape,
            nearest=name == MASK, resampled=stretched or lattice is not None,
        ).averaged()  # fmt: skip

    def _stretched(self, given: Terrain, name: str, terrain: Placed) -> Terrain:
        """Resample what has no coordinates, or has some that the terrain has not, if its proportions fit."""
        rows, columns = terrain.shape
        if resampled_shape(given.shape, max(terrain.shape)) != terrain.shape:
            raise InvalidTerrain(
                f"{self.path} is not of the same ground: {name} needs the proportions of {columns} x {rows} cells; "
                "crop it first"
            )
        if has_coordinates(terrain) or has_coordinates(given):
            without, other = (self.path, "the terrain") if has_coordinates(terrain) else ("the terrain", self.path)
            warnings.warn(
                f"{without} has no coordinates, and {other} has: {self.path} is resampled from {given.shape[1]} x "
                f"{given.shape[0]} to {columns} x {rows} cells, as if it were of the same ground",
                GeoreferenceWarning,
                stacklevel=2,
            )
        check_memory(
            f"{self.path}, resampled to {columns} x {rows} cells,", 24.0 * rows * columns, "give it the terrain's cells"
        )
        return given.resampled(max(terrain.shape))

    def _layer(self, given: Terrain, name: str) -> Terrain:
        """A file of several layers must have the one that is asked for."""
        if len(given) == 1:
            return given
        if name not in given:
            raise InvalidFile(f"{self.path} has layers {', '.join(given)}, and none called {name}; keep one")
        if self.range is not None:
            raise InvalidParameter(
                f"{self.path} has several layers, whose values need no range; leave out {self.range[0]:g} .. "
                f"{self.range[1]:g} of layer {name}"
            )
        nodata, crs, transform = given.nodata, given.crs, given.transform
        return Terrain(given[name], cell_size=given.cell_size, nodata=nodata, crs=crs, transform=transform)

    def _read(self, name: str, integers: HeightRange | None) -> Terrain:
        """Read its values: heights in metres, others as they are; the side of a cell is that of the terrain."""

        def values(height_range: HeightRange | None) -> Terrain:
            with read_for(wanted(name)):
                return read_with(self.path, options_of(name, height_range))

        if integers is not None and self.range is None:
            with contextlib.suppress(InvalidParameter):  # floats
                return values(integers)
        if self.range is not None:
            return values(self.range)
        try:
            return values(None)
        except InvalidParameter:  # integers without a recorded range
            if layer_spec(name).height:
                raise
            return values(SHARE)


def wanted(name: str) -> Wanted:
    """What messages call what a file is read for.

    >>> str(wanted("bedrock")), str(wanted("rain_rate"))
    ('layer bedrock', 'the map of rain_rate')
    """
    return Wanted(name, is_map=name not in LAYERS)


def options_of(name: str, height_range: HeightRange | None = None) -> ReadOptions:
    """How the file of a layer or map is read: only a height has a unit of heights.

    >>> options_of("bedrock").kind, options_of("rainfall").kind
    ('height', 'value')
    """
    kind = ReadOptions if layer_spec(name).height else ValueOptions
    return kind(height_range=height_range, allow_8bit=True, cell_size=1.0)


LayerSource = float | LayerFile


def input_layers() -> list[str]:
    """Names of the layers that some model starts from, besides the elevation.

    >>> "rainfall" in input_layers(), "wear" in input_layers()
    (True, False)
    """
    models = [find_model(name) for name in model_names()]
    return [
        name
        for name in LAYERS
        if name == MASK
        or (
            name != "elevation"
            and any(name in m.layers() and m.layers()[name].role in ("prognostic", "input") for m in models)
        )
    ]


def _unknown(name: str) -> UnknownName:
    declared = [each for model in model_names() for each in find_model(model).parameters() if each.name == name]
    if not any(each.mappable for each in declared):
        return unknown_name("layer", name, input_layers())
    how = by_place(
        python="a Map as its value", command=f"--map {name}=FILE:LOW..HIGH", recipe=f"[stages.parameters.{name}]"
    )
    return UnknownName(f"{name} is a parameter, not a layer; give its map with {how}")


def as_layer_sources(given: Mapping[str, Any]) -> dict[str, LayerSource]:
    """Check names; a path becomes a file to read.

    >>> as_layer_sources({"rainfall": 2, "erodibility": "rock.png"})["rainfall"]
    2.0
    """
    sources: dict[str, LayerSource] = {}
    for name, source in given.items():
        if name not in input_layers():
            raise _unknown(name)
        if isinstance(source, str | Path):
            source = LayerFile(path=Path(source))
        elif isinstance(source, int | float) and not isinstance(source, bool):
            source = float(source)
        elif not isinstance(source, LayerFile):
            raise InvalidParameter(f"layer {name} is {source!r}; pass a file, a number or LayerFile(...)")
        sources[name] = source
    return sources


def with_layers(terrain: Terrain, layers: Mapping[str, LayerSource]) -> Terrain:
    """Return the terrain with the layers on it.

    >>> with_layers(Terrain([[0.0, 1.0]]), {"rainfall": 0.5})["rainfall"].tolist()
    [[0.5, 0.5]]
    """
    if not layers:
        return terrain
    span = terrain.range("elevation")
    for name, source in layers.items():
        if isinstance(source, float):
            Above.of(name, source, terrain, span).check(None)
    made = {name: s.values(name, terrain) if isinstance(s, LayerFile) else s for name, s in layers.items()}
    return terrain.replace(**made)


def layer_facts(layers: Mapping[str, LayerSource]) -> dict[str, Any]:
    """Facts that JSON and TOML can hold."""
    return {
        name: s if isinstance(s, float) else {"file": str(s.path)} | ({} if s.range is None else {"range": [*s.range]})
        for name, s in layers.items()
    }


def layers_from(facts: Mapping[str, Any]) -> dict[str, LayerSource]:
    """Layers that `layer_facts` described."""
    return {
        name: LayerFile(path=Path(s["file"]), range=tuple(s["range"]) if "range" in s else None)
        if isinstance(s, Mapping) else s
        for name, s in facts.items()
    }  # fmt: skip
