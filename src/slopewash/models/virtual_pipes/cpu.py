"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import sweep_in_bands
from slopewash.models.base import Edges
from slopewash.models.virtual_pipes import sweep as kernels
from slopewash.models.virtual_pipes.base_level import EdgeBase
from slopewash.models.virtual_pipes.coefficients import WALL, Coefficients
from slopewash.models.virtual_pipes.engine import PipesEngine
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.state import State, enter
from slopewash.terrain import Terrain, WaterSource

DEPTH = 4
"""Iterations in flight."""
CELLS_PER_THREAD = 16384
"""Fewer cells than this per thread take less time than waking one."""


class Grid(NamedTuple):
    """What does not change during a run."""

    height: int
    periodic: bool
    opened: bool
    r: NDArray[np.float32]
    source: NDArray[np.float32]
    has_source: NDArray[np.bool_]
    base_n: NDArray[np.float32]
    base_s: NDArray[np.float32]
    base_w: NDArray[np.float32]
    base_e: NDArray[np.float32]
    layered: bool
    top: NDArray[np.float32]
    depths: NDArray[np.float32]
    layers: NDArray[np.float32]
    per_cover: np.float32
    wall: NDArray[np.float32]
    nothing: NDArray[np.float32]


class CpuEngine(PipesEngine):
    """Steps the state with Numba kernels; fields carry a ghost column on either side."""

    def __init__(
        self, model: VirtualPipes, terrain: Terrain, *, edges: Edges, substeps: int, seed: int,
        depth: int = DEPTH, bands: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, terrain, edges=edges, substeps=substeps)
        self._depth = depth
        self._wanted_bands = bands
        state = enter(terrain, model, edges=edges, seed=seed)
        rows, columns = terrain.shape
        self._fields = kernels.STATE if state.layers is None else kernels.LAYERED_STATE
        self._now = np.zeros((self._fields, rows, columns + 2), np.float32)
        self._next = np.zeros_like(self._now)
        for k, a in enumerate((state.b, state.w, state.s, state.R)):
            self._now[k, :, 1:-1] = a
        if state.rock is not None:
            self._now[kernels.ROCK, :, 1:-1] = state.rock
        self._close_ends()
        self._flow = np.zeros((rows, columns + 2), np.float32)
        self._books = np.zeros((rows, kernels.BOOKS))
        self._grid = _grid(state, edges)
        self._bands = 0
        state.b, state.w, state.s, state.R = (self._now[k, :, 1:-1] for k in range(4))
        self._state = state

    def _close_ends(self) -> None:
        ghosts = {kernels.B: WALL}
        for k in range(self._fields):
            field = self._now[k]
            if self._edges == "periodic":
                field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
            else:
                field[:, 0] = field[:, -1] = ghosts.get(k, 0)

    def _make_room(self) -> None:
        """Rings for every band of rows: one per thread in use, fewer where waking a thread costs more than it does."""
        rows, columns = self.shape
        bands = self._wanted_bands or max(1, min(numba.get_num_threads(), rows * columns // CELLS_PER_THREAD))
        bands = min(bands, rows)
        if bands == self._bands:
            return
        self._bands = bands
        width = columns + 2
        self._rings = np.zeros((bands, self._depth, self._fields, kernels.RING, width), np.float32)
        self._temporaries = np.zeros((bands, self._depth, kernels.TEMPORARIES, kernels.RING, width), np.float32)
        self._scratch = np.zeros((bands, kernels.SCRATCH, width), np.float32)

    def _iterate(self, c: Coefficients, iterations: int) -> None:
        self._make_room()
        single = Coefficients(*(np.float32(v) if isinstance(v, float) else v for v in c))  # type: ignore[arg-type]
        while iterations > 0:
            depth = min(self._depth, iterations)
            sweep_in_bands(
                kernels, self.shape[0], depth, self._now, self._next,
                (self._rings, self._temporaries, self._scratch), self._grid, single, self._flow, self._books,
            )  # fmt: skip
            self._now, self._next = self._next, self._now
            self._state.iterations += depth
            iterations -= depth

    def state(self) -> State:
        """Return the state as views of the kernel's own fields."""
        state, now = self._state, self._now
        state.b, state.w, state.s, state.R = (now[k, :, 1:-1] for k in range(4))
        state.f = now[kernels.FW : kernels.FS + 1, :, 1:-1]
        if state.layers is not None:
            state.rock = now[kernels.ROCK, :, 1:-1]
        state.flow = self._flow[:, 1:-1]
        tally, books = state.tally, self._books.sum(axis=0)
        tally.rain, tally.sources, tally.evaporated, tally.water_exported, tally.solids_exported, tally.moved = books
        return state

    def _book(self, evaporated: float, solids_exported: float, moved: float) -> None:
        self._books[0, kernels.EVAPORATED] += evaporated
        self._books[0, kernels.SOLIDS_EXPORTED] += solids_exported
        self._books[0, kernels.MOVED] += moved

    def _put_back(self, state: State) -> None:
        self._close_ends()

    def set_model(self, model: VirtualPipes, substeps: int) -> None:
        """Go on with other parameter values."""
        super().set_model(model, substeps)
        self._grid = _grid(self._state, self._edges)

    def set_sources(self, sources: Sequence[WaterSource]) -> None:
        """Replace all springs."""
        super().set_sources(sources)
        self._grid = _grid(self._state, self._edges)

    def _after_edit(self, layer: str, beside: EdgeBase | None) -> None:
        super()._after_edit(layer, beside)
        self._close_ends()
        if layer in ("elevation", "rainfall"):
            self._grid = _grid(self._state, self._edges)


def _grid(state: State, edges: Edges) -> Grid:
    rows, columns = state.b.shape

    def padded(a: NDArray[Any]) -> NDArray[np.float32]:
        return np.pad(a.astype(np.float32), ((0, 0), (1, 1)))

    uniform = bool((state.r == 1).all())
    none = np.zeros((1, columns), np.float32)
    source = none if state.source is None else state.source
    base, layers = state.base, state.layers
    top = none if layers is None else layers.top
    return Grid(
        height=rows,
        periodic=edges == "periodic",
        opened=edges == "open",
        r=padded(state.r[:1] if uniform else state.r),
        source=padded(source),
        has_source=np.broadcast_to((source > 0).any(axis=1), rows).copy(),
        base_n=base.north,
        base_s=base.south,
        base_w=base.west,
        base_e=base.east,
        layered=layers is not None,
        top=padded(top[:1] if (top == top[:1]).all() else top),
        depths=none[0] if layers is None else layers.depths,
        layers=none[0] if layers is None else layers.R,
        per_cover=np.float32(0) if layers is None else layers.per_cover,
        wall=np.full(columns + 2, WALL, np.float32),
        nothing=np.zeros(columns + 2, np.float32),
    )
