"""What every task of one stage knows: model, domain, tiles, and where each field is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models import Model, find_model
from slopewash.models.state import Domain, State, Window
from slopewash.simulation.parts import domain_from
from slopewash.tiles.arrays import Field
from slopewash.tiles.facts import check_fields, check_work, grid_from
from slopewash.tiles.grid import TileGrid
from slopewash.tiles.store import Store

Array = NDArray[Any]
INPUTS = "state/inputs"
"""Where fields are that no round changes."""
ITERATIONS = "iterations"
"""The sum that counts time, which is the same in every tile."""


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A field of the state with a value, or several, in each cell."""

    name: str
    dtype: str
    components: int | None
    stepped: bool
    """Whether rounds change it."""

    @property
    def planes(self) -> int:
        """Values in each cell."""
        return self.components or 1


@dataclass(frozen=True, kw_only=True)
class Work:
    """A stage on tiles; small enough to be sent with every task."""

    store: Store
    model: Model
    domain: Domain
    grid: TileGrid
    backend: str
    cells: tuple[Cells, ...] = ()
    lines: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """Fields with a value for each row or column: their place and dtype."""
    lists: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    """Fields that belong to no cell, as a tile begins a round with them: sums are 0."""
    scalars: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON can hold."""
        return {
            "model": self.model.name, "parameters": self.model.values(), "domain": dataclasses.asdict(self.domain),
            "grid": self.grid, "backend": self.backend, "cells": self.cells, "lines": self.lines,
            "lists": {name: [str(a.dtype), list(a.shape), a.ravel()] for name, a in self.lists.items()},
            "scalars": self.scalars,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, store: Store, facts: Mapping[str, Any]) -> Work:
        """Return what `as_dict` described."""
        check_work(facts)
        work = cls(
            store=store,
            model=find_model(facts["model"])(**facts["parameters"]),
            domain=domain_from(facts["domain"]),
            grid=grid_from(facts["grid"]),
            backend=facts["backend"],
            cells=tuple(Cells(**cells) for cells in facts["cells"]),
            lines={name: tuple(line) for name, line in facts["lines"].items()},
            lists={
                name: np.array(values, dtype).reshape(shape) for name, (dtype, shape, values) in facts["lists"].items()
            },
            scalars=tuple(facts["scalars"]),
        )
        check_fields(work)
        return work

    def bundles(self, group: str) -> list[tuple[Field, list[Cells]]]:
        """Arrays of the store, and the fields in each: all that rounds change and that have one dtype are together.

        Then a tile is one file, which is written, flushed and renamed once.
        """
        stepped = [cells for cells in self.cells if cells.stepped]
        dtypes = sorted({cells.dtype for cells in stepped})
        together = [(dtype, [cells for cells in stepped if cells.dtype == dtype]) for dtype in dtypes]
        found = [
            (Field(path=f"{group}/{dtype}", dtype=dtype, components=sum(cells.planes for cells in parts)), parts)
            for dtype, parts in together
        ]
        for cells in self.cells:
            if not cells.stepped:
                path, fill = f"{INPUTS}/{cells.name}", 1.0 if cells.name == "rainfall" else 0.0
                found.append((Field(path=path, dtype=cells.dtype, components=cells.components, fill=fill), [cells]))
        return found

    def create(self, group: str, *, inputs: bool = False) -> None:
        """Make room for the state after a round, or with `inputs` for everything."""
        for field, parts in self.bundles(group):
            if parts[0].stepped or inputs:
                self.store.create(field, self.grid)

    def read(
        self, group: str, window: Window, *, iterations: int, places: Mapping[str, Array] = MappingProxyType({}),
        without: Collection[str] = (),
    ) -> State:  # fmt: skip
        """State of a window after a round and so many iterations.

        What has a place is read into it. Inputs `without` which a task can do are left out, and those that no tile has
        written are one value that stands for all.
        """
        arrays: dict[str, Array] = dict(places)
        shape = (window[0].stop - window[0].start, window[1].stop - window[1].start)
        for field, parts in self.bundles(group):
            if parts[0].name in without:
                continue
            if not parts[0].stepped and not self.store.holds(field):
                whole = shape if field.components is None else (field.components, *shape)
                arrays[parts[0].name] = np.broadcast_to(np.dtype(field.dtype).type(field.fill), whole)
                continue
            for cells in parts:
                if cells.name not in arrays:
                    arrays[cells.name] = np.empty(
                        shape if cells.components is None else (cells.planes, *shape), field.dtype
                    )
            planes = [plane for cells in parts for plane in _planes(arrays[cells.name])]
            self.store.read_into(planes, field, self.grid, window)
        for name, (place, _) in self.lines.items():
            span = window[0] if place == "rows" else window[1]
            line = self.line(name)
            arrays[name] = line[np.arange(span.start, span.stop) % len(line)]
        arrays |= {name: np.array(values) for name, values in self.lists.items()}
        return State(arrays, {name: iterations if name == ITERATIONS else 0 for name in self.scalars})

    def line(self, name: str) -> Array:
        """All of a field with a value for each row or column."""
        place, dtype = self.lines[name]
        return self.store.read_line(f"{INPUTS}/{name}", dtype, self.grid.shape[place == "columns"])

    @contextmanager
    def device(self, group: str, window: Window, domain: Domain, *, iterations: int = 0) -> Iterator[State]:
        """State of a window on the backend, which may store it in other fields."""
        device = self.model.backend(self.backend)(self.read(group, window, iterations=iterations), domain)
        try:
            yield device.state
        finally:
            device.close()

    def write(self, group: str, number: int, state: State, own: Window, *, inputs: bool = False) -> int:
        """Write a tile of what rounds change, or with `inputs` of everything; returns the bytes."""
        written = 0
        for field, parts in self.bundles(group):
            values = [state[cells.name][..., own[0], own[1]] for cells in parts if cells.stepped or inputs]
            if not values:
                continue
            if not parts[0].stepped:
                written += self.store.write(field, self.grid, number, values[0])
                continue
            planes = [plane for array in values for plane in _planes(array)]
            written += self.store.write_planes(field, self.grid, number, planes)
        return written

    def own(self, state: State, own: Window) -> State:
        """The cells that a tile answers for; sums are those of the tile."""
        names = {cells.name for cells in self.cells if cells.name in state}
        arrays = {
            name: array[..., own[0], own[1]] if name in names else array
            for name, array in ((name, state[name]) for name in [*names, *self.lists])
        }
        for height in ("elevation", "bedrock"):  # which a device may store as changes
            if height not in arrays and height in state:
                arrays[height] = state[height][..., own[0], own[1]]
        return State(arrays, dict(state.scalars))


def _planes(array: Array) -> Array:
    """Each component of a field."""
    return array[None] if array.ndim == 2 else array


def laid_out(work: Work, state: State) -> Work:
    """The work with every field of a state that was prepared for a part of the grid."""
    specs = {spec.name: spec for spec in work.model.fields}
    cells, lines, lists = [], {}, {}
    for name in state.arrays:
        array, spec = state[name], specs[name]
        if spec.place == "cells":
            components = None if array.ndim == 2 else len(array)
            stepped = spec.role in ("prognostic", "accumulated")
            cells.append(Cells(name=name, dtype=str(array.dtype), components=components, stepped=stepped))
        elif spec.place == "list":
            lists[name] = np.zeros_like(array) if spec.role == "accumulated" else np.array(array)
    for name, spec in specs.items():
        if spec.place in ("rows", "columns"):
            lines[name] = (spec.place, "float32")
    return dataclasses.replace(
        work, cells=tuple(cells), lines=lines, lists=lists, scalars=tuple(state.scalars),
    )  # fmt: skip
