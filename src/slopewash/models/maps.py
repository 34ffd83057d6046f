"""Parameters that differ from place to place: a map becomes a number, and a layer of shares of it.

Whoever steps, stores or paints a run sees nothing but that number and that layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, UnknownName
from slopewash.terrain import Layer, Terrain
from slopewash.terrain.arrays import is_placed, mask_of

if TYPE_CHECKING:
    from slopewash.models.base import Model

    _Number = float  # a map may stand where a parameter takes a number
else:
    _Number = object

Range = tuple[float, float]
Reader = Callable[[Path, str, bool, Terrain], Layer]
"""Reads the map of a parameter for the cells of a terrain; whether 0 .. 1 is wanted, from black to white."""
HIDDEN = "map of "
"""Begins the names of layers that hold maps while a recipe runs."""


@dataclass(frozen=True, eq=False)
class Map(_Number):
    """Values of a parameter for every cell: a file, a layer of the terrain by its name, or an array.

    Parameters
    ----------
    source
        Path of a file of one channel, which is resampled to the terrain; the name of a layer; or an array.
    low, high
        What 0 and 1 of the map stand for, or black and white of a picture. Without them, its values are taken as
        they are.

    >>> Map("rain.png", low=0.0, high=0.05)
    Map('rain.png', low=0.0, high=0.05)
    """

    source: str | Path | NDArray[np.float32]
    low: float | None = None
    high: float | None = None

    reader: ClassVar[Reader | None] = None
    """Registered by the package that reads files."""

    def __init__(self, source: Any, low: float | None = None, high: float | None = None) -> None:
        low, high = (None if end is None else _number(end) for end in (low, high))
        if high is not None and low is None:
            low = 0.0
        if low is not None and high is None:
            raise InvalidParameter(f"a map has low={low:g} and no high; give both")
        if low is not None and high is not None and not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidParameter(f"a map goes from low={low:g} to high={high:g}; low must be below high")
        object.__setattr__(self, "source", _as_source(source))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def of_layer(cls, name: str, low: float | None = None, high: float | None = None) -> Map:
        """Map that is a layer, even if its name looks like a file's."""
        made = cls("layer", low, high)
        object.__setattr__(made, "source", name)
        return made

    @property
    def layer(self) -> str | None:
        """Name of the layer that it is, if it is one."""
        return self.source if isinstance(self.source, str) else None

    @property
    def file(self) -> Path | None:
        """File that it is read from, if there is one."""
        return self.source if isinstance(self.source, Path) else None

    def values(self, name: str, terrain: Terrain) -> Layer:
        """Read it for the cells of a terrain, as it is stored; `name` is that of the parameter."""
        if isinstance(self.source, str):
            if self.source not in terrain:
                raise no_such_layer(name, self.source, terrain)
            return terrain[self.source]
        if isinstance(self.source, Path):
            assert Map.reader is not None  # who makes maps has imported the package that reads files
            return Map.reader(self.source, name, self.low is not None, terrain)
        check_shape(name, self.source, terrain.shape)
        check_finite(name, self.source, terrain.nodata)
        return self.source

    def scaled(self, values: Any) -> Any:
        """Turn values as they are stored into those of the parameter."""
        return values if self.low is None or self.high is None else self.low + (self.high - self.low) * values

    def at(self, layer: str) -> Map:
        """Return the same as that layer of a terrain."""
        return Map.of_layer(layer, self.low, self.high)

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold; an array has a name at most."""
        kind = {"layer": self.source} if isinstance(self.source, str) else {"file": str(self.source)}
        if isinstance(self.source, np.ndarray):
            kind = {"layer": f"{HIDDEN}an array"}
        return kind if self.low is None else kind | {"range": [self.low, self.high]}

    @classmethod
    def from_dict(cls, facts: Any) -> Map:
        """Map that `as_dict` described."""
        low, high = facts.get("range", (None, None))
        return cls(Path(facts["file"]), low, high) if "file" in facts else cls.of_layer(facts["layer"], low, high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Map) or (self.low, self.high) != (other.low, other.high):
            return False
        if isinstance(self.source, np.ndarray) or isinstance(other.source, np.ndarray):
            return self.source is other.source
        return self.source == other.source

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    def __repr__(self) -> str:
        source: Any = self.source if isinstance(self.source, str) else None
        if isinstance(self.source, Path):
            source = self.source.as_posix()
        text = f"<{self.source.shape} array>" if isinstance(self.source, np.ndarray) else repr(source)
        return f"Map({text})" if self.low is None else f"Map({text}, low={self.low}, high={self.high})"


def no_such_layer(name: str, layer: str, there: Iterable[str], when: str = "") -> UnknownName:
    """Return the error of a map that is a layer which is not there."""
    names = ", ".join(other for other in there if not other.startswith(HIDDEN))
    return UnknownName(f'the map of {name} is a layer "{layer}", which the terrain does not have{when}; it has {names}')


def check_shape(name: str, values: NDArray[Any], shape: tuple[int, int]) -> None:
    """Refuse an array that has other cells than the terrain as the map of a parameter."""
    if values.shape != shape:
        raise InvalidParameter(f"the map of {name} has shape {values.shape}; it must be {shape}, as the terrain is")


def check_finite(
    name: str, values: NDArray[Any], nodata: NDArray[np.bool_] | None, origin: tuple[int, int] = (0, 0)
) -> None:
    """Refuse a map, or part of one from row and column `origin` on, that leaves ground without a value."""
    bad = ~np.isfinite(values) if nodata is None else ~np.isfinite(values) & ~nodata
    if bad.any():
        row, column = np.argwhere(bad)[0] + origin
        raise InvalidParameter(f"the map of {name} is not finite at row {row}, column {column}; fill such cells")


def _number(end: Any) -> float:
    try:
        return float(end)
    except (TypeError, ValueError):
        raise InvalidParameter(f"an end of the range of a map is {end!r}; it must be a number") from None


def _as_source(given: Any) -> str | Path | NDArray[np.float32]:
    """A name with a suffix is a file, any other a layer."""
    if isinstance(given, Path):
        return given
    if isinstance(given, str):
        return Path(given) if Path(given).suffix or "/" in given else given
    try:
        values = np.array(given, np.float32)
    except (TypeError, ValueError):
        raise InvalidParameter(f"a map is {given!r}; it must be a file, the name of a layer or an array") from None
    if (masked := mask_of(given)) is not None:
        raise InvalidParameter(f"a map is masked in {int(masked.sum())} of its cells; fill them with .filled(...)")
    if is_placed(given):
        raise InvalidParameter("a map has coordinates, which are not read; pass its .values, row 0 in the north")
    if values.ndim != 2:
        raise InvalidParameter(f"a map has {values.ndim} dimensions; it must have two, rows and columns")
    values.setflags(write=False)
    return values


def itself(values: Any) -> Any:
    """Return the values."""
    return values


@dataclass(frozen=True)
class Mappable:
    """How a parameter is mapped: which layer holds its shares."""

    layer: str
    of: Callable[[Any], Any] = itself
    """What the layer multiplies, of the parameter's value: a tangent of an angle."""
    least: bool = False
    """Whether the number is the smallest value and shares are 1 or more; else it is the largest."""


@dataclass(frozen=True)
class Shares:
    """A layer of shares, to be made from the map of one parameter."""

    layer: str
    source: str
    given: Map
    of: Callable[[Any], Any]
    number: float

    def values(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        """Shares of the number, from the map as it is stored."""
        whole = float(self.of(np.float64(self.number)))
        if whole == 0:
            return np.ones(stored.shape, np.float32)
        shares: NDArray[np.float32] = (self.of(self.given.scaled(stored.astype(np.float64))) / whole).astype(np.float32)
        return shares


def maps_of(model: Model) -> dict[str, Map]:
    """Maps among the parameters of a model, by parameter."""
    return {name: value for name, value in model.values().items() if isinstance(value, Map)}


def map_layers(model: Model) -> tuple[str, ...]:
    """Layers of shares that the maps of a model leave."""
    declared = [model.parameter(name).mappable for name in maps_of(model)]
    return tuple(mappable.layer for mappable in declared if mappable is not None)


def placed(model: Model, terrain: Terrain, tag: str = "") -> tuple[Model, Terrain]:
    """Bring files and arrays to the terrain as layers of their own; then every map is a layer."""
    changes, layers = {}, {}
    for name, given in maps_of(model).items():
        if given.layer is None:
            layer = f"{HIDDEN}{name}{tag}"
            layers[layer], changes[name] = given.values(name, terrain), given.at(layer)
    return (model.replace(**changes), terrain.replace(own_layers=layers)) if changes else (model, terrain)


def check_apart(model: Model) -> None:
    """Refuse two maps whose shares would be the same layer."""
    first: dict[str, str] = {}
    for name in maps_of(model):
        declared = model.parameter(name)
        assert declared.mappable is not None
        other = first.setdefault(declared.mappable.layer, name)
        if other != name:
            raise InvalidParameter(f"{name} has a map, and so has {other}, which it scales alike; give one")


def ends_of(model: Model, name: str, given: Map, span: Range) -> Range:
    """Values of a parameter where its map is least and greatest, or an error where it must not have them."""
    low, high = span
    if given.low is not None and not (low >= 0 and high <= 1):
        raise InvalidParameter(
            f"the map of {name} spans {low:g} .. {high:g}; with low and high it must lie within 0 .. 1"
        )
    declared = model.parameter(name)
    try:
        return float(declared.check(float(given.scaled(low)))), float(declared.check(float(given.scaled(high))))
    except InvalidParameter as error:
        raise InvalidParameter(f"somewhere in its map, {error}") from None


def resolved(model: Model, ranges: Callable[[str], Range]) -> tuple[Any, tuple[Shares, ...]]:
    """Return the model with numbers in place of maps, all of them layers, whose `ranges` over all ground are known."""
    check_apart(model)
    numbers: dict[str, float] = {}
    shares: list[Shares] = []
    for name, given in maps_of(model).items():
        declared = model.parameter(name)
        assert declared.mappable is not None
        assert given.layer is not None
        ends = ends_of(model, name, given, ranges(given.layer))
        number = numbers[name] = min(ends) if declared.mappable.least else max(ends)
        shares.append(Shares(declared.mappable.layer, given.layer, given, declared.mappable.of, number))
    return (model.replace(**numbers) if numbers else model), tuple(shares)


def with_shares(terrain: Terrain, shares: Iterable[Shares]) -> Terrain:
    """Return the terrain, or part of one, with its layers of shares."""
    layers: dict[str, Any] = {share.layer: share.values(terrain[share.source]) for share in shares}
    return terrain.replace(**layers) if layers else terrain


def mapped(model: Any, terrain: Terrain) -> tuple[Any, Terrain]:
    """Return the model with numbers in place of maps, and the terrain with the layers of shares that they leave."""
    if not maps_of(model):
        return model, terrain
    model, with_maps = placed(model, terrain)
    for name, given in maps_of(model).items():
        given.values(name, with_maps)  # raises where there is no such layer
    model, shares = resolved(model, with_maps.range)
    layers: dict[str, Any] = {share.layer: share.values(with_maps[share.source]) for share in shares}
    return model, terrain.replace(**layers)


def without_maps(terrain: Terrain, shares: Iterable[str] = ()) -> Terrain:
    """Return the terrain without maps that a recipe has brought, and without those layers of shares."""
    gone = [name for name in terrain if name.startswith(HIDDEN)] + [name for name in shares if name in terrain]
    return terrain.replace(**dict.fromkeys(gone)) if gone else terrain
