"""What a run consists of besides its model: fields and sums (`State`), and what is global (`Domain`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.terrain import Stratum
from slopewash.terrain.fields import FieldSpec

Array = NDArray[Any]
Reals = NDArray[np.float64]
Window = tuple[slice, slice]
"""Rows and columns of part of the grid."""
Side = Literal["open", "closed", "periodic", "halo"]
Edges = Literal["open", "closed", "periodic"]
EDGES: tuple[Edges, ...] = get_args(Edges)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What lies beyond each of the four sides.

    "open": water and sediment leave; "closed": nothing passes; "periodic": the opposite side.

    >>> Sides(north="open", south="open", west="closed", east="closed")
    Sides(north='open', south='open', west='closed', east='closed')
    >>> Sides.of("periodic").wraps_rows
    True
    """

    # A fourth kind, "halo", is for tiles: more ground, which is computed elsewhere. After k iterations, cells within
    # `k * model.halo` of it may be wrong.
    north: Side
    south: Side
    west: Side
    east: Side

    def __post_init__(self) -> None:
        for name, side in self.items():
            if side not in get_args(Side):
                raise InvalidParameter(f"the {name} side is {side!r}; it must be one of {', '.join(EDGES)}")
        for one, other in (("north", "south"), ("west", "east")):
            if (getattr(self, one) == "periodic") != (getattr(self, other) == "periodic"):
                raise InvalidParameter(
                    f"the {one} side is {getattr(self, one)} and the {other} side {getattr(self, other)}; "
                    "periodic sides come in opposite pairs"
                )

    @classmethod
    def of(cls, edges: str | Sides | Mapping[str, Any]) -> Sides:
        """Return four sides, from one word for all or a word for each."""
        if isinstance(edges, Sides):
            return edges
        if isinstance(edges, Mapping):
            sides = [f.name for f in dataclasses.fields(cls)]
            unknown = ", ".join(f'"{name}"' for name in edges if name not in sides)
            missing = ", ".join(f'"{name}"' for name in sides if name not in edges)
            wrong = [f"unknown side {unknown}"] * bool(unknown) + [f"missing {missing}"] * bool(missing)
            if wrong:
                raise InvalidParameter(f"edges: {', '.join(wrong)}; name all four sides")
            return cls(**edges)
        if edges not in EDGES:
            raise InvalidParameter(f"edges is {edges!r}; it must be one of {', '.join(EDGES)}, or Sides(...)")
        return cls(north=edges, south=edges, west=edges, east=edges)

    def items(self) -> Iterator[tuple[str, Side]]:
        """Name and kind of each side."""
        return iter((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))

    def kinds(self) -> set[Side]:
        """All kinds of side there are."""
        return {side for _, side in self.items()}

    @property
    def word(self) -> Side | None:
        """The word for all four, if they are alike."""
        kinds = self.kinds()
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def wraps_rows(self) -> bool:
        """Whether the row north of the first is the last."""
        return self.north == "periodic"

    @property
    def wraps_columns(self) -> bool:
        """Whether the column west of the first is the last."""
        return self.west == "periodic"

    @property
    def any_open(self) -> bool:
        """Whether anything can leave."""
        return "open" in self.kinds()

    def __str__(self) -> str:
        return self.word or ", ".join(f"{name} {side}" for name, side in self.items())


@dataclass(frozen=True, kw_only=True)
class Domain:
    """What is global: worked out once from the whole terrain, and the same for every part of it."""

    shape: tuple[int, int]
    origin: tuple[int, int] = (0, 0)
    """Row and column of the first cell in the whole terrain."""
    cell_size: float
    datum: float
    """Elevation in metres that counts as zero inside."""
    scale: float = 1.0
    """Units of height in a cell, for models that count in units of their own."""
    seed: int = 0
    sides: Sides
    strata: tuple[Stratum, ...] = ()
    """Layers from the top, if there are strata; where they begin is a field."""
    margins: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Cells in the north, south, west and east that another part answers for: they count in no budget."""

    @property
    def own(self) -> Window:
        """Rows and columns without the margins."""
        north, south, west, east = self.margins
        return slice(north, self.shape[0] - south), slice(west, self.shape[1] - east)

    def part(self, window: Window, sides: Sides, core: Window | None = None) -> Domain:
        """Domain of part of the grid, which answers for `core` alone, if given."""
        rows, columns = window
        own = window if core is None else core
        return dataclasses.replace(
            self,
            shape=(rows.stop - rows.start, columns.stop - columns.start),
            origin=(self.origin[0] + rows.start, self.origin[1] + columns.start),
            sides=sides,
            margins=(
                own[0].start - rows.start, rows.stop - own[0].stop,
                own[1].start - columns.start, columns.stop - own[1].stop,
            ),
        )  # fmt: skip


def with_margin(window: Window, margin: int, domain: Domain) -> tuple[Window, Sides]:
    """Part of the grid with so many cells around it, and what lies beyond those.

    The margin ends at the border, or goes on beyond it on the far side where that is periodic: a part of a periodic
    grid is not periodic itself.

    >>> domain = Domain(shape=(20, 30), cell_size=1.0, datum=0.0, sides=Sides.of("closed"))
    >>> window, sides = with_margin((slice(0, 20), slice(2, 15)), 4, domain)
    >>> window[1], str(sides)
    (slice(0, 19, None), 'north closed, south closed, west closed, east halo')
    """
    sides = domain.sides
    rows, (north, south) = _widened(window[0], margin, domain.shape[0], (sides.north, sides.south))
    columns, (west, east) = _widened(window[1], margin, domain.shape[1], (sides.west, sides.east))
    return (rows, columns), Sides(north=north, south=south, west=west, east=east)


def _widened(span: slice, margin: int, size: int, beyond: tuple[Side, Side]) -> tuple[slice, tuple[Side, Side]]:
    if (span.start, span.stop) == (0, size):
        return span, beyond
    low, high = span.start - margin, span.stop + margin
    if beyond[0] == "periodic":
        return slice(low, high), ("halo", "halo")
    return slice(max(low, 0), min(high, size)), (
        beyond[0] if low <= 0 else "halo",
        beyond[1] if high >= size else "halo",
    )


@dataclass
class State:
    """Everything a run needs to continue, in the model's own units: arrays by field name, and numbers.

    Arrays may be views of a backend's own; read them before its next step.
    """

    arrays: MutableMapping[str, Array]
    scalars: MutableMapping[str, float | int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __setitem__(self, name: str, values: Array) -> None:
        self.arrays[name] = values

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def get(self, name: str) -> Array | None:
        """Return an array, or None if this state has none of that name."""
        return self.arrays[name] if name in self.arrays else None  # noqa: SIM401, a device may hold it by another name

    def part(self, name: str, window: Window | None) -> Array:
        """Part of an array; of a device's, no more than that is downloaded."""
        return self.arrays[name] if window is None else self.arrays[name][..., window[0], window[1]]

    def copy(self) -> State:
        """Return a state that shares nothing with this one."""
        return State({name: np.array(array) for name, array in self.arrays.items()}, dict(self.scalars))

    def window(self, window: Window, fields: Iterable[FieldSpec]) -> State:
        """State of part of the grid, copied; rows and columns beyond the grid are taken from the far side.

        >>> fields = [FieldSpec(name="water", doc="")]
        >>> State({"water": np.arange(6).reshape(2, 3)}).window((slice(0, 2), slice(1, 4)), fields)["water"]
        array([[1, 2, 0],
               [4, 5, 3]])
        """
        places = {spec.name: spec.place for spec in fields}
        rows, columns = (np.arange(part.start, part.stop) for part in window)
        return State(
            {name: _part(array, places[name], rows, columns) for name, array in self.arrays.items()},
            dict(self.scalars),
        )


def _part(array: Array, place: str, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
    if place == "cells":
        whole = np.take(array, rows, axis=-2, mode="wrap")
        return np.take(whole, columns, axis=-1, mode="wrap")
    if place == "rows":
        return np.take(array, rows, axis=0, mode="wrap")
    if place == "columns":
        return np.take(array, columns, axis=0, mode="wrap")
    return np.array(array)


@dataclass(frozen=True)
class Patch:
    """Values to write to a field, or to part of it."""

    name: str
    values: Array
    window: Window | None = None
