"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import sweep_in_bands
from slopewash.models.backend import Backend, counted_by, cut
from slopewash.models.state import Array, Domain, State, Window
from slopewash.models.steepest_talus import sweep as kernels
from slopewash.models.steepest_talus.coefficients import Coefficients, beds, standing_ground
from slopewash.models.steepest_talus.prepare import WALL, Heights
from slopewash.models.steepest_talus.reference import NOWHERE
from slopewash.models.steepest_talus.rows import KEY_BITS

DEPTH = 10
"""Iterations in flight: each group costs one synchronisation of all threads. A divisor of a run's longest chunk."""
SMALLEST_BAND = 2**15
"""Cells worth a thread of their own: below, waiting for another thread costs more than it gives."""
FARTHEST_NEAR = 2**30
"""Units from the datum within which depths below the top of strata fit 32 bits, because heights fit 28."""
UNREACHED = 2**31 - 2


class Grid(NamedTuple):
    """What does not change from step to step; heights times eight, as the kernels store them."""

    height: int
    from_row: int
    to_row: int
    from_column: int
    to_column: int
    """what the budget counts, ghost columns included"""
    wraps_rows: bool
    wraps_columns: bool
    printed: bool
    straight: NDArray[np.int32]
    diagonal: NDArray[np.int32]
    layered: bool
    near: bool
    """whether depths below the top fit 32 bits"""
    near_top: NDArray[np.int32]
    near_depths: NDArray[np.int32]
    top: NDArray[np.int64]
    depths: NDArray[np.int64]
    layer_straight: NDArray[np.int32]
    layer_diagonal: NDArray[np.int32]
    wall: NDArray[np.int32]
    nowhere: NDArray[np.int8]


STEPPED = {"elevation": kernels.HEIGHT, "bedrock": kernels.ROCK}
"""Where the kernels keep each field."""


class CpuBackend(Backend):
    """Steps the heights with Numba kernels; fields carry a ghost column on either side."""

    def __init__(self, state: State, domain: Domain, *, depth: int = DEPTH) -> None:
        super().__init__(state, domain)
        self._depth = depth
        rows, columns = domain.shape
        self._now = np.full((2 if domain.strata else 1, rows, columns + 2), WALL << KEY_BITS, np.int32)
        self._next = np.empty_like(self._now)
        for name in STEPPED:
            if name in self.host:
                self.write(name, self.host.pop(name))
        self._sent = np.zeros(rows, np.int64)
        self._bands = 0
        self._grid: Grid | None = None
        self._coefficients: Coefficients | None = None

    def read(self, name: str, window: Window | None = None) -> Array:
        """Return a field, or part of it."""
        if name not in STEPPED:
            return super().read(name, window)
        return cut(self._now[STEPPED[name], :, 1:-1], window) >> KEY_BITS

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it."""
        if name not in STEPPED:
            super().write(name, values, window)
            self._grid = None
            return
        field = self._now[STEPPED[name]]
        cut(field[:, 1:-1], window)[...] = values << KEY_BITS
        if self.domain.sides.wraps_columns:
            field[:, 0], field[:, -1] = field[:, -2], field[:, 1]

    def _make_room(self) -> None:
        """Rings for every thread in use; more bands than rows would leave some empty."""
        rows, columns = self.domain.shape
        bands = max(1, min(numba.get_num_threads(), rows, rows * columns // SMALLEST_BAND))
        if bands == self._bands:
            return
        self._bands = bands
        width = columns + 2
        self._rings = np.zeros((bands, self._depth, len(self._now), kernels.RING, width), np.int32)
        self._choices = np.zeros((bands, self._depth, kernels.RING, width), np.int8)
        self._net = np.zeros((bands, width), np.int8)
        self._limits = np.zeros((bands, 2, width), np.int32)

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations."""
        self._make_room()
        if self._grid is None or coefficients != self._coefficients:
            self._grid, self._coefficients = _grid(State(self.host), self.domain, coefficients), coefficients
        stored = np.int32(coefficients.amplitude << KEY_BITS)
        self._sent[:] = 0
        while iterations > 0:
            depth = min(self._depth, iterations)
            sweep_in_bands(
                kernels, self.domain.shape[0], depth, self._now, self._next,
                (self._rings, self._choices, self._net, self._limits), self._grid, stored, self._sent,
            )  # fmt: skip
            self._now, self._next = self._next, self._now
            iterations -= depth
        self._scalars["solids_moved"] += int(self._sent.sum()) * coefficients.amplitude


def _grid(state: State, domain: Domain, c: Coefficients) -> Grid:
    rows, columns = domain.shape
    nodata, top = state.get("nodata"), state.get("strata_top")
    none = np.zeros(1, np.int32)
    layers = beds(domain, c) if domain.strata else None
    tops = np.zeros((1, columns), np.int64) if top is None else top
    depths = np.zeros(1, np.int64) if layers is None else layers.depths
    near = bool((np.abs(tops) < FARTHEST_NEAR).all())
    stands = standing_ground(state, domain, c)

    def drops(stand: Heights) -> NDArray[np.int32]:
        """Thresholds as the kernels want them: a row where they are the same everywhere; nodata never slides."""
        uniform = stand.shape == (1, 1) and nodata is None
        drop = np.broadcast_to(stand << KEY_BITS, (1 if uniform else rows, columns))
        if nodata is not None:
            drop = np.where(nodata, np.iinfo(np.int32).max, drop)
        return np.pad(drop, ((0, 0), (1, 1)))

    return Grid(
        height=rows,
        **counted_by(domain),
        wraps_rows=domain.sides.wraps_rows,
        wraps_columns=domain.sides.wraps_columns,
        printed=c.printed,
        straight=drops(stands.straight),
        diagonal=drops(stands.diagonal),
        layered=layers is not None,
        near=near,
        near_top=np.pad(tops if near else tops[:1] * 0, ((0, 0), (1, 1))).astype(np.int32),
        near_depths=np.minimum(depths, UNREACHED).astype(np.int32),
        top=np.pad(tops[:1] * 0 if near else tops, ((0, 0), (1, 1))),
        depths=depths,
        layer_straight=none if layers is None else layers.straight << KEY_BITS,
        layer_diagonal=none if layers is None else layers.diagonal << KEY_BITS,
        wall=np.full(columns + 2, WALL << KEY_BITS, np.int32),
        nowhere=np.full(columns + 2, NOWHERE, np.int8),
    )
