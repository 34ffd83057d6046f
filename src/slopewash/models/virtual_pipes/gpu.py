"""Runs the WGSL kernels: three dispatches per iteration, everything else stays on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block, Constant
from slopewash.backends.gpu.workspace import Workspace
from slopewash.models.base import Block as EditedBlock
from slopewash.models.base import Edges
from slopewash.models.virtual_pipes.coefficients import IS_WALL, SHALLOW, TINY, WALL, Coefficients
from slopewash.models.virtual_pipes.engine import PipesEngine
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.state import Field, State, Tally, enter
from slopewash.terrain import Layer, Terrain, WaterSource

HERE = Path(__file__).parent


class Cover(NamedTuple):
    """What strata add to the coefficients."""

    per_cover: float
    """share of the bedrock that a cell of loose soil hides"""


BLOCK = Block("c", Coefficients, Cover)
KINDS = {
    "cell": "vec4<f32>",  # change of the ground since the start, water, load, erodibility
    "worked": "vec4<f32>",  # the same after the exchange between water and ground
    "flux": "vec4<f32>",  # outflow to the west, east, north, south
    "start": "f32",  # ground at the start; base level on open edges
    "poured": "vec2<f32>",  # water after the rain, weight of slides
    "depth": "f32",  # depth before the flow
    "supply": "vec2<f32>",  # rainfall and springs, where they are uneven
    "rock": "vec2<f32>",  # with strata: bedrock and top of the first layer, both from the start
    "flow": "f32",  # discharge summed over the iterations done
}
ENTRIES = ("RAIN", "SOURCES", "MOVED", "HELD", "EVAPORATED", "WATER_EXPORTED", "SOLIDS_EXPORTED")
CONSTANTS: dict[str, Constant] = {
    "WALL": WALL,
    "IS_WALL": IS_WALL,
    "TINY": TINY,
    "SHALLOW": SHALLOW,
    "DIAGONAL": math.sqrt(2),
}
PARTS: Set[str] = frozenset({"cell", "flux", "flow"})
"""What is downloaded on its own."""
PART_OF = {"velocity": "flux", "flow": "flow"}
"""Parts that layers need besides the cells."""
BOOKS = Use("books", "update", whole=True, apart=True)


def kernels(*, supplied: bool, semi_lagrangian: bool, layered: bool = False) -> tuple[Kernel, ...]:
    """One iteration: what each dispatch reads and writes."""
    push = [Use("cell", "read"), Use("flux", "update"), Use("start", "read"), Use("poured", "write"), BOOKS]
    carry = [Use("worked", "read"), Use("flux", "read"), Use("depth", "read"), Use("cell", "write")]
    carry += [Use("flow", "update", apart=True), BOOKS]
    if supplied:
        push.append(Use("supply", "read", apart=True))
    if semi_lagrangian:
        carry.append(Use("start", "read"))
    work = [Use("cell", "read"), Use("flux", "read"), Use("start", "read"), Use("poured", "read")]
    work += [Use("worked", "write"), Use("depth", "write"), BOOKS]
    if layered:
        work.append(Use("rock", "update", apart=True))
    return (
        Kernel("push", HERE / "push.wgsl", tuple(push)),
        Kernel("work", HERE / "work.wgsl", tuple(work)),
        Kernel("carry", HERE / "carry.wgsl", tuple(carry)),
    )


class GpuEngine(PipesEngine):
    """Steps the state on a graphics card; `largest_binding` holds bands of rows to so many bytes of a field.

    What was downloaded is kept until the next iteration, so that whoever looks twice pays once.
    """

    def __init__(
        self, model: VirtualPipes, terrain: Terrain, *, edges: Edges, substeps: int, seed: int,
        largest_binding: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, terrain, edges=edges, substeps=substeps)
        state = enter(terrain, model, edges=edges, seed=seed)
        self._supplied = False
        unused = {"supply"} if self._layered else {"supply", "rock"}
        self._work = Workspace(
            terrain.shape, {name: kind for name, kind in KINDS.items() if name not in unused},
            block=BLOCK, entries=ENTRIES, periodic=edges == "periodic", largest_binding=largest_binding,
        )  # fmt: skip
        self._between = Tally()
        self._state = state
        self._wanted = PARTS
        self._here: set[str] = set()
        self._put_back(state)
        self._supply()

    def _put_back(self, state: State) -> None:
        self._put_back_rows(0, self.shape[0])
        self._work.fields["flux"].upload(np.moveaxis(state.f, 0, -1))

    def _put_back_rows(self, first: int, last: int) -> None:
        """Upload ground, water, load, erodibility and bedrock of some rows."""
        state, fields, rows = self._state, self._work.fields, slice(first, last)
        start = self._base_or_start(state)[rows]

        def from_start(a: Field) -> NDArray[np.float32]:
            return np.where(start < IS_WALL, a[rows].astype(np.float64) - start, 0).astype(np.float32)

        change = from_start(state.b)
        fields["start"].upload_rows(first, start)
        fields["cell"].upload_rows(first, np.stack([change, state.w[rows], state.s[rows], state.R[rows]], axis=-1))
        state.b[rows] = change.astype(np.float64) + start  # as the device has it now
        if state.layers is not None and state.rock is not None:
            deep, top = from_start(state.rock), from_start(state.layers.top)
            fields["rock"].upload_rows(first, np.stack([deep, top], axis=-1))
            state.rock[rows] = deep.astype(np.float64) + start

    def _base_or_start(self, state: State) -> Field:
        """Elevations that changes are counted from; on open edges base level, which the border must not sink below."""
        start = state.b0.copy()
        if self._edges == "open":
            start[0], start[-1] = state.base.north, state.base.south
            start[:, 0], start[:, -1] = state.base.west, state.base.east
            start[state.b0 >= IS_WALL] = WALL
        return start

    def _supply(self) -> None:
        """Upload rainfall and springs, where they are uneven."""
        state = self._state
        if not self._supplied and state.source is None and (state.r == 1).all():
            return
        if not self._supplied:
            self._work.add_field("supply", KINDS["supply"])
            self._supplied = True
        springs = np.zeros_like(state.r) if state.source is None else state.source
        self._work.fields["supply"].upload(np.stack([state.r, springs], axis=-1))

    def _iterate(self, c: Coefficients, iterations: int) -> None:
        layers = self._state.layers
        constants: dict[str, Constant] = CONSTANTS | {
            "opened": self._edges == "open",
            "supplied": self._supplied,
            "layered": self._layered,
            "LAYERS": 1 if layers is None else len(layers.R),
            "BEGINS": (0.0,) if layers is None else tuple(layers.depths.tolist()),
            "OWN": (0.0,) if layers is None else tuple(layers.R.tolist()),
        }
        cover = Cover(0.0 if layers is None else float(layers.per_cover))
        self._work.use(c, cover, kernels=self._kernels(c), constants=constants)
        self._here.clear()
        self._work.run(iterations)
        self._state.iterations += iterations

    def _kernels(self, c: Coefficients) -> tuple[Kernel, ...]:
        return kernels(supplied=self._supplied, semi_lagrangian=c.semi_lagrangian, layered=self._layered)

    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move."""
        return self._work.traffic(self._kernels(self._coefficients))

    def state(self) -> State:
        """Download the state; the ground in float64, because it is the sum of two float32 fields."""
        return self._download(self._wanted)

    def _held(self) -> State:
        return self._state

    def _solids(self) -> State:
        return self._download({"cell"})

    def layers(self, names: Sequence[str]) -> dict[str, Layer]:
        """Download what these layers need, and no more."""
        self._wanted = {"cell"} | {PART_OF[name] for name in names if name in PART_OF}
        try:
            return super().layers(names)
        finally:
            self._wanted = PARTS

    def _download(self, parts: Set[str]) -> State:
        state, fields, missing = self._state, self._work.fields, parts - self._here
        if "cell" in missing:
            cell, start = fields["cell"].download(), self._base_or_start(state)
            state.b = cell[..., 0].astype(np.float64) + start
            state.w, state.s, state.R = (cell[..., k].copy() for k in (1, 2, 3))
            if self._layered:
                state.rock = fields["rock"].download()[..., 0].astype(np.float64) + start
        if "flux" in missing:
            state.f = np.moveaxis(fields["flux"].download(), -1, 0).copy()
        if "flow" in missing:
            state.flow = fields["flow"].download()
        self._here |= missing
        state.tally = self._tally()
        return state

    def _tally(self) -> Tally:
        totals, between = self._work.books.totals(), self._between
        return Tally(
            rain=totals["RAIN"],
            sources=totals["SOURCES"],
            evaporated=totals["EVAPORATED"] + between.evaporated,
            water_exported=totals["WATER_EXPORTED"],
            solids_exported=totals["SOLIDS_EXPORTED"] + totals["HELD"] + between.solids_exported,
            moved=totals["MOVED"] + between.moved,
        )

    def _book(self, evaporated: float, solids_exported: float, moved: float) -> None:
        self._between.evaporated += evaporated
        self._between.solids_exported += solids_exported
        self._between.moved += moved

    def set_sources(self, sources: Sequence[WaterSource]) -> None:
        """Replace all springs."""
        super().set_sources(sources)
        self._supply()

    def _exchange(self, block: EditedBlock) -> EditedBlock:
        old = super()._exchange(block)
        if block.layer == "rainfall":
            self._supply()
        else:
            self._put_back_rows(block.row, block.row + len(block.values))
        return old

    def close(self) -> None:
        """Give the device's memory back."""
        self._work.close()
