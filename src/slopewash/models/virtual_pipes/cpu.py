"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.aligned import aligned_rows
from slopewash.backends.bands import sweep_in_bands
from slopewash.models.backend import Backend, counted_by, cut
from slopewash.models.ground import WALL
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.virtual_pipes import rings
from slopewash.models.virtual_pipes import sweep as kernels
from slopewash.models.virtual_pipes.coefficients import Coefficients
from slopewash.models.virtual_pipes.fields import SHARES
from slopewash.models.virtual_pipes.strata import beds

DEPTH = 8
"""Most iterations in flight."""
RECOMPUTED = 0.2
"""Most work that a band may do again because it belongs to its neighbours, per work of its own."""
CELLS_PER_THREAD = 16384
"""With fewer cells per thread, waking a thread takes longer than the work."""
STEPPED: dict[str, Any] = {
    "elevation": rings.B, "water": rings.W, "suspended": rings.S, "erodibility": rings.R, "bedrock": -1,
}  # fmt: skip
"""Where the kernels keep each field."""


class Grid(NamedTuple):
    """What does not change during a run."""

    height: int
    width: int
    """cells along a row, ghosts included"""
    deepest: int
    """where the bedrock's surface is kept, if it is known"""
    temporaries: int
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

    def __init__(self, state: State, domain: Domain, *, depth: int | None = None, bands: int | None = None) -> None:
        super().__init__(state, domain)
        self._wanted_depth = depth
        self._wanted_bands = bands
        self._grid: Grid | None = None
        rows, columns = domain.shape
        self._lay_fields(len(state["outflow"]), rocky="bedrock" in state)
        self._flow = aligned_rows(rows, width=columns + 2)
        for name in [*STEPPED, "outflow", "flow"]:
            if name in self.host:
                self.write(name, self.host.pop(name))
        self._sum_by_rows()

    def _lay_fields(self, pipes: int, *, rocky: bool) -> None:
        """Make room for every field that is stepped, with that many components of outflow."""
        rows, columns = self.domain.shape
        self._pipes, self._rocky, self._grid = pipes, rocky, None
        self._temporaries = rings.TEMPORARIES if rocky else rings.WITHOUT_COVER
        self._bands = self._count_bands()
        self.depth = self._wanted_depth or iterations_in_flight(rows, self._bands, wraps=self.domain.sides.wraps_rows)
        fields = rings.FW + pipes + rocky
        own = rings.rows_of_band(fields, self._temporaries, self.depth)
        begin = fields + 2 * fields * rows
        self._rows = aligned_rows(begin + self._bands * own, width=columns + 2)
        self._rows[rings.B] = WALL
        self._first, self._second = fields, fields + fields * rows
        self._room = begin + own * np.arange(self._bands)
        self._fields = fields

    @property
    def _now(self) -> NDArray[np.float32]:
        """Fields as they are, with ghosts."""
        rows, columns = self.domain.shape
        whole = self._rows[self._first : self._first + self._fields * rows]
        return whole.reshape(self._fields, rows, -1)[:, :, : columns + 2]

    def _count_bands(self) -> int:
        """One band of rows per thread in use, fewer where waking a thread takes longer than its work."""
        rows, columns = self.domain.shape
        wanted = self._wanted_bands or min(numba.get_num_threads(), rows * columns // CELLS_PER_THREAD)
        return max(1, min(wanted, rows))

    def _sum_by_rows(self) -> None:
        """Make a row of the budget for each row of the grid; what was summed before stays in the first."""
        budget = self.host["budget"]
        if len(budget) != self.domain.shape[0]:
            self.host["budget"] = np.zeros((self.domain.shape[0], budget.shape[1]))
            self.host["budget"][0] = budget.sum(axis=0)

    def _field(self, name: str) -> Array | None:
        if name == "flow":
            return self._flow[:, 1 : self.domain.shape[1] + 1]
        if name == "outflow":
            return self._now[rings.FW : rings.FW + self._pipes, :, 1:-1]
        return self._now[STEPPED[name], :, 1:-1] if name in STEPPED else None

    def read(self, name: str, window: Window | None = None) -> Array:
        """A view of a field, valid until the next step."""
        field = self._field(name)
        return super().read(name, window) if field is None else cut(field, window)

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it."""
        if name == "outflow" and len(values) != self._pipes:  # another model has another number of pipes
            self._move_fields(len(values), rocky=self._rocky)
        elif name == "bedrock" and not self._rocky:  # another model sets loose cover apart
            self._move_fields(self._pipes, rocky=True)
            self._given = (*self._given, "bedrock")
        field = self._field(name)
        if field is None:
            super().write(name, values, window)
            self._grid = None
        else:
            cut(field, window)[...] = values
            self._close_ends()

    def _move_fields(self, pipes: int, *, rocky: bool) -> None:
        """Make room for other fields and keep what is known; pipes that stay keep their flow."""
        kept = {name: self.read(name).copy() for name in (*STEPPED, "outflow") if name in self.names}
        self._lay_fields(pipes, rocky=rocky)
        flow = kept.pop("outflow")[:pipes]
        self._now[rings.FW : rings.FW + len(flow), :, 1:-1] = flow
        for name, values in kept.items():
            self.write(name, values)

    def _close_ends(self) -> None:
        for k, field in enumerate(self._now):
            if self.domain.sides.wraps_columns:
                field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
            else:
                field[:, 0] = field[:, -1] = WALL if k == rings.B else 0

    def _follow_threads(self) -> None:
        """Make room for other bands where the number of threads has changed."""
        if self._count_bands() != self._bands:
            fields = self._now
            self._lay_fields(self._pipes, rocky=self._rocky)
            self._now[...] = fields

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations."""
        self._follow_threads()
        if self._grid is None:
            self._grid = _grid(
                self.host, self.domain, fields=self._fields, temporaries=self._temporaries, rocky=self._rocky
            )
        single = Coefficients(*(np.float32(v) if isinstance(v, float) else v for v in coefficients))  # type: ignore[arg-type]
        self._scalars["iterations"] += iterations
        for sweeps in range(-(-iterations // self.depth), 0, -1):
            depth = -(-iterations // sweeps)  # as even as possible
            sweep_in_bands(
                kernels, self.domain.shape[0], depth, self._first, self._second, (self._room,), self._rows, self._grid,
                single, self._flow, self.host["budget"],
            )  # fmt: skip
            self._first, self._second = self._second, self._first
            iterations -= depth


def iterations_in_flight(rows: int, bands: int, *, wraps: bool) -> int:
    """As many as its neighbours' rows allow a band: with each, it works on `LAG` more rows than its own."""
    if bands == 1 and not wraps:
        return DEPTH
    return max(1, min(DEPTH, int(RECOMPUTED * rows / bands / kernels.LAG)))


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
        r=padded(r[:1] if (r == 1).all() else r),
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
