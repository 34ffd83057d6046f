"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import sweep_in_bands
from slopewash.models.backend import Backend, counted_by, cut
from slopewash.models.ground import WALL
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.virtual_pipes import sweep as kernels
from slopewash.models.virtual_pipes.coefficients import Coefficients
from slopewash.models.virtual_pipes.fields import SHARES
from slopewash.models.virtual_pipes.strata import beds

DEPTH = 4
"""Iterations in flight."""
CELLS_PER_THREAD = 16384
"""With fewer cells per thread, waking a thread takes longer than the work."""
STEPPED: dict[str, Any] = {
    "elevation": kernels.B, "water": kernels.W, "suspended": kernels.S, "erodibility": kernels.R, "bedrock": -1,
}  # fmt: skip
"""Where the kernels keep each field."""


class Grid(NamedTuple):
    """What does not change during a run."""

    height: int
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
    wall: NDArray[np.float32]
    nothing: NDArray[np.float32]


class CpuBackend(Backend):
    """Steps the state with Numba kernels; fields carry a ghost column on either side."""

    adds_into: ClassVar = ("budget",)

    def __init__(self, state: State, domain: Domain, *, depth: int = DEPTH, bands: int | None = None) -> None:
        super().__init__(state, domain)
        self._depth = depth
        self._wanted_bands = bands
        self._grid: Grid | None = None
        rows, columns = domain.shape
        self._lay_fields(len(state["outflow"]), rocky="bedrock" in state)
        self._flow = np.zeros((rows, columns + 2), np.float32)
        for name in [*STEPPED, "outflow", "flow"]:
            if name in self.host:
                self.write(name, self.host.pop(name))
        self._sum_by_rows()

    def _lay_fields(self, pipes: int, *, rocky: bool) -> None:
        """Make room for every field that is stepped, with that many components of outflow."""
        rows, columns = self.domain.shape
        self._pipes, self._rocky, self._bands, self._grid = pipes, rocky, 0, None
        fields = kernels.FW + pipes + rocky
        self._now = np.zeros((fields, rows, columns + 2), np.float32)
        self._next = np.zeros_like(self._now)

    def _sum_by_rows(self) -> None:
        """Make a row of the budget for each row of the grid; what was summed before stays in the first."""
        budget = self.host["budget"]
        if len(budget) != self.domain.shape[0]:
            self.host["budget"] = np.zeros((self.domain.shape[0], budget.shape[1]))
            self.host["budget"][0] = budget.sum(axis=0)

    def _field(self, name: str) -> Array | None:
        if name == "flow":
            return self._flow[:, 1:-1]
        if name == "outflow":
            return self._now[kernels.FW : kernels.FW + self._pipes, :, 1:-1]
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
        self._now[kernels.FW : kernels.FW + len(flow), :, 1:-1] = flow
        for name, values in kept.items():
            self.write(name, values)

    def _close_ends(self) -> None:
        for k, field in enumerate(self._now):
            if self.domain.sides.wraps_columns:
                field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
            else:
                field[:, 0] = field[:, -1] = WALL if k == kernels.B else 0

    def _make_room(self) -> None:
        """Rings for every band of rows: one per thread in use, fewer where waking a thread takes longer."""
        rows, columns = self.domain.shape
        bands = self._wanted_bands or max(1, min(numba.get_num_threads(), rows * columns // CELLS_PER_THREAD))
        bands = min(bands, rows)
        if bands == self._bands:
            return
        self._bands = bands
        fields, width = len(self._now), columns + 2
        self._rings = np.zeros((bands, self._depth, fields, kernels.RING, width), np.float32)
        temporaries = kernels.TEMPORARIES if self._rocky else kernels.WITHOUT_COVER
        self._temporaries = np.zeros((bands, self._depth, temporaries, kernels.RING, width), np.float32)
        self._scratch = np.zeros((bands, kernels.SCRATCH, width), np.float32)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations."""
        self._make_room()
        if self._grid is None:
            self._grid = _grid(self.host, self.domain, rocky=self._rocky)
        single = Coefficients(*(np.float32(v) if isinstance(v, float) else v for v in coefficients))  # type: ignore[arg-type]
        self._scalars["iterations"] += iterations
        while iterations > 0:
            depth = min(self._depth, iterations)
            sweep_in_bands(
                kernels, self.domain.shape[0], depth, self._now, self._next,
                (self._rings, self._temporaries, self._scratch), self._grid, single, self._flow, self.host["budget"],
            )  # fmt: skip
            self._now, self._next = self._next, self._now
            iterations -= depth


def _grid(state: Mapping[str, Array], domain: Domain, *, rocky: bool) -> Grid:
    rows, columns = domain.shape

    def padded(a: NDArray[Any]) -> NDArray[np.float32]:
        return np.pad(a.astype(np.float32), ((0, 0), (1, 1)))

    none = np.zeros((1, columns), np.float32)
    r, sides, layers = state["rainfall"], domain.sides, beds(domain)
    source, top = state.get("source_rate", none), state.get("strata_top", none)
    return Grid(
        height=rows,
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
        wall=np.full(columns + 2, WALL, np.float32),
        nothing=np.zeros(columns + 2, np.float32),
    )


def _shares(state: Mapping[str, Array], domain: Domain) -> NDArray[np.float32] | None:
    """Shares with ghosts, which faces over periodic sides look at; None where all are 1."""
    uneven = {name: state[name] for name in SHARES if name in state and not (state[name] == 1).all()}
    if not uneven:
        return None
    whole = np.ones(domain.shape, np.float32)
    planes = np.stack([uneven.get(name, whole) for name in SHARES]).astype(np.float32)
    return np.pad(planes, ((0, 0), (0, 0), (1, 1)), mode="wrap" if domain.sides.wraps_columns else "edge")
