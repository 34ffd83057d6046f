"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.aligned import aligned_rows
from slopewash.backends.bands import sweep_in_bands
from slopewash.models.backend import Backend, Memory, Ready, counted_by, cut
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.virtual_pipes import sweep as kernels
from slopewash.models.virtual_pipes.coefficients import Coefficients
from slopewash.models.virtual_pipes.fields import SHARES
from slopewash.models.virtual_pipes.room import Room, count_bands
from slopewash.models.virtual_pipes.strata import beds


class Grid(NamedTuple):
    """What does not change during a run."""

    height: int
    width: int
    """cells along a row, ghosts included"""
    deepest: int
    """where the bedrock's surface is kept, if it is known"""
    temporaries: int
    """rows of them that an iteration keeps"""
    from_row: int
    to_row: int
    from_column: int
    to_column: int
    """what the budget counts, ghost columns included"""
    wraps_rows: bool
    wraps_columns: bool
    open_north: bool
    open_south: bool
    open_west: bool
    open_east: bool
    r: NDArray[np.float32]
    source: NDArray[np.float32]
    has_source: NDArray[np.bool_]
    base_n: NDArray[np.float32]
    base_s: NDArray[np.float32]
    base_w: NDArray[np.float32]
    base_e: NDArray[np.float32]
    rocky: bool
    """whether the bedrock's surface is known"""
    layered: bool
    top: NDArray[np.float32]
    depths: NDArray[np.float32]
    layers: NDArray[np.float32]
    rock: NDArray[np.float32]
    phase: NDArray[np.float32]
    shares: NDArray[np.float32] | None
    """what multiplies parameters that differ from cell to cell, if any does: a plane for each of `SHARES`"""


class CpuBackend(Backend):
    """Steps the state with Numba kernels; fields carry a ghost column on either side."""

    adds_into: ClassVar = ("budget",)
    unused: ClassVar = ("start",)

    def __init__(
        self, state: State, domain: Domain, *, depth: int | None = None, bands: int | None = None,
        room: Room | None = None,
    ) -> None:  # fmt: skip
        super().__init__(state, domain)
        self._wanted = depth, bands
        self._grid: Grid | None = None
        self._since = 0
        """Iterations since something was written."""
        self._room = room or Room(domain, pipes=len(state["outflow"]), rocky="bedrock" in state, wanted=self._wanted)
        for name, place in self._room.places().items():
            values = self.host.pop(name, None)
            if room is None and values is not None:
                place[...] = values
        self._room.close_ends()
        self._sum_by_rows()

    @classmethod
    def room(cls, components: Mapping[str, int], domain: Domain, memory: Memory) -> Ready:
        """Room for fields that are yet to be read."""
        room = Room(domain, pipes=components["outflow"], rocky="bedrock" in components, memory=memory)
        return Ready(room.places(), lambda state: cls(state, domain, room=room))

    @property
    def depth(self) -> int:
        """Most iterations in flight."""
        return self._room.depth

    def _sum_by_rows(self) -> None:
        """Make a row of the budget for each row of the grid; what was summed before stays in the first."""
        budget = self.host["budget"]
        if len(budget) != self.domain.shape[0]:
            self.host["budget"] = np.zeros((self.domain.shape[0], budget.shape[1]))
            self.host["budget"][0] = budget.sum(axis=0)

    def read(self, name: str, window: Window | None = None) -> Array:
        """A view of a field, valid until the next step."""
        field = self._room.field(name)
        return super().read(name, window) if field is None else cut(field, window)

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it."""
        if name == "outflow" and len(values) != self._room.pipes:  # another model has another number of pipes
            self._move_fields(len(values), rocky=self._room.rocky)
        elif name == "bedrock" and not self._room.rocky:  # another model sets loose cover apart
            self._move_fields(self._room.pipes, rocky=True)
            self._given = (*self._given, "bedrock")
        self._since = 0
        field = self._room.field(name)
        if field is None:
            super().write(name, values, window)
            self._grid = None
        else:
            cut(field, window)[...] = values
            self._room.close_ends()

    def _move_fields(self, pipes: int, *, rocky: bool) -> None:
        """Make room for other fields and keep what is known; pipes that stay keep their flow."""
        kept = self._room.places()
        self._room, self._grid = Room(self.domain, pipes=pipes, rocky=rocky, wanted=self._wanted), None
        for name, place in self._room.places().items():
            if name == "outflow":
                pipes = min(pipes, len(kept[name]))
                place[:pipes] = kept[name][:pipes]
            elif name in kept:
                place[...] = kept[name]
        self._room.close_ends()

    def _rows_wanted(self, depth: int) -> tuple[int, int]:
        """First and one past the last row to compute: what a halo has made wrong by then belongs to another part."""
        rows, sides, (north, south, *_) = self.domain.shape[0], self.domain.sides, self.domain.margins
        wrong = kernels.LAG * (self._since + depth) if self._room.bands == 1 else 0
        above, below = sides.north == "halo", sides.south == "halo"
        return min(wrong, north) * above, rows - min(wrong, south) * below

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations."""
        if count_bands(self.domain, self._wanted[1]) != self._room.bands:  # the number of threads has changed
            self._move_fields(self._room.pipes, rocky=self._room.rocky)
        room = self._room
        if self._grid is None:
            self._grid = _grid(
                self.host, self.domain, fields=room.fields, temporaries=room.temporaries, rocky=room.rocky
            )
        single = Coefficients(*(np.float32(v) if isinstance(v, float) else v for v in coefficients))  # type: ignore[arg-type]
        self._scalars["iterations"] += iterations
        for sweeps in range(-(-iterations // room.depth), 0, -1):
            depth = -(-iterations // sweeps)  # as even as possible
            wanted = self._rows_wanted(depth)
            sweep_in_bands(
                kernels, self.domain.shape[0], depth, room.first, room.second, (room.of_bands,), room.rows, self._grid,
                single, room.flow, self.host["budget"], only=wanted if room.bands == 1 else None,
            )  # fmt: skip
            room.swap(*wanted)
            self._since += depth
            iterations -= depth


def _grid(state: Mapping[str, Array], domain: Domain, *, fields: int, temporaries: int, rocky: bool) -> Grid:
    rows, columns = domain.shape

    def padded(a: NDArray[Any]) -> NDArray[np.float32]:
        room = aligned_rows(len(a), width=columns + 2)
        room[:, 1 : columns + 1] = a
        return room

    none = np.zeros((1, columns), np.float32)
    r, sides, layers = state["rainfall"], domain.sides, beds(domain)
    source, top = state.get("source_rate", none), state.get("strata_top", none)
    return Grid(
        height=rows,
        width=columns + 2,
        deepest=fields - 1,
        temporaries=temporaries,
        **counted_by(domain),
        wraps_rows=sides.wraps_rows,
        wraps_columns=sides.wraps_columns,
        open_north=sides.north == "open",
        open_south=sides.south == "open",
        open_west=sides.west == "open",
        open_east=sides.east == "open",
        r=padded(r[:1] if _is_one(r) else r),
        source=padded(source),
        has_source=np.broadcast_to((source > 0).any(axis=1), rows).copy(),
        base_n=state["base_north"],
        base_s=state["base_south"],
        base_w=state["base_west"],
        base_e=state["base_east"],
        rocky=rocky,
        layered=bool(domain.strata),
        top=padded(top[:1] if (top == top[:1]).all() else top),
        depths=layers.depths,
        layers=layers.R,
        rock=padded(state.get("rock_erodibility", none)),
        phase=padded(state.get("bed_phase", none)),
        shares=_shares(state, domain),
    )


def _is_one(a: Array) -> bool:
    """Whether every value is 1; a single one may stand for all."""
    return bool(a.flat[0] == 1 and (not any(a.strides) or (a == 1).all()))


def _shares(state: Mapping[str, Array], domain: Domain) -> NDArray[np.float32] | None:
    """Shares with ghosts, which faces over periodic sides look at; None where all are 1."""
    uneven = {name: state[name] for name in SHARES if name in state and not (state[name] == 1).all()}
    if not uneven:
        return None
    whole = np.ones(domain.shape, np.float32)
    planes = np.stack([uneven.get(name, whole) for name in SHARES]).astype(np.float32)
    planes = np.pad(planes, ((0, 0), (0, 0), (1, 1)), mode="wrap" if domain.sides.wraps_columns else "edge")
    room = aligned_rows(*planes.shape[:2], width=planes.shape[2])
    room[..., : planes.shape[2]] = planes
    return room
