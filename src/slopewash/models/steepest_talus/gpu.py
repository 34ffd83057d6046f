"""Runs the WGSL kernels on whole heights: two dispatches per iteration, the same bits as the reference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.backends.gpu.workspace import Workspace
from slopewash.models.base import Edges
from slopewash.models.editing import Field, Window
from slopewash.models.steepest_talus.engine import TalusEngine
from slopewash.models.steepest_talus.model import SteepestTalus
from slopewash.models.steepest_talus.reference import CLOSER, NOWHERE
from slopewash.models.steepest_talus.state import WALL, State
from slopewash.terrain import Terrain

HERE = Path(__file__).parent
KINDS = {
    "n": "i32",  # heights
    "to": "i32",  # direction in which the cell sends, or nowhere
    "standing": "vec2<i32>",  # drops that stand to straight and diagonal neighbours, where they vary
    "rock": "i32",  # with strata: bedrock
    "top": "vec2<i32>",  # with strata: top of the first layer, high and low bits
}
LOW_BITS = 24
"""Depths may exceed 32 bits: they are kept as a high part and so many low bits."""


class Numbers(NamedTuple):
    """What slides, in units of height."""

    straight: int
    diagonal: int
    amplitude: int
    printed: bool
    varied: bool
    layered: bool


BLOCK = Block("talus", Numbers)


def kernels(*, varied: bool = False, layered: bool = False) -> tuple[Kernel, ...]:
    """One iteration: what each dispatch reads and writes."""
    choose = [Use("n", "read"), Use("to", "write")]
    gather = [Use("to", "read"), Use("n", "update"), Use("books", "update", whole=True, apart=True)]
    if layered:
        choose += [Use("rock", "read"), Use("top", "read"), Use("strata", "read", whole=True)]
        gather.append(Use("rock", "update"))
    elif varied:
        choose.append(Use("standing", "read"))
    return (
        Kernel("choose", HERE / "choose.wgsl", tuple(choose)),
        Kernel("gather", HERE / "gather.wgsl", tuple(gather)),
    )


def high_and_low(a: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split whole numbers into a high part and `LOW_BITS` low bits, for comparing without 64-bit integers."""
    return np.stack([a >> LOW_BITS, a & ((1 << LOW_BITS) - 1)], axis=-1)


class GpuEngine(TalusEngine):
    """Steps the heights on a graphics card; `largest_binding` holds bands of rows to so many bytes of a field."""

    def __init__(
        self, model: SteepestTalus, terrain: Terrain, *, edges: Edges, substeps: int, seed: int,
        largest_binding: int | None = None,
    ) -> None:  # fmt: skip
        strata = terrain.strata
        unused = {"standing"} if strata is not None else {"rock", "top"}
        self._work = Workspace(
            terrain.shape, {name: kind for name, kind in KINDS.items() if name not in unused}, block=BLOCK,
            entries=("SENT",), tables=None if strata is None else {"strata": ("vec4<i32>", len(strata.layers) + 1)},
            periodic=edges == "periodic", largest_binding=largest_binding,
        )  # fmt: skip
        self._counted = 0
        super().__init__(model, terrain, edges=edges, substeps=substeps, seed=seed)
        self._upload()

    def _upload(self) -> None:
        self._work.fields["n"].upload(self._state.n)
        if self._state.rock is not None:
            self._work.fields["rock"].upload(self._state.rock)

    def _write(self, layer: str, window: Window, values: Field) -> None:
        super()._write(layer, window, values)
        if layer in ("elevation", "bedrock"):
            self._upload()

    def set_model(self, model: SteepestTalus, substeps: int) -> None:
        """Go on with other parameter values."""
        if hasattr(self, "_talus"):
            self._count()  # what moved so far moved by the amplitude in force until now
        super().set_model(model, substeps)
        layers = self._talus.layers
        self._varied = layers is None and self._talus.straight.size > 1
        if layers is not None:
            begins = np.append(layers.depths, 0)  # loose soil, the last, lies nowhere by its depth
            self._work.fields["top"].upload(high_and_low(layers.top))
            self._work.tables["strata"].upload(
                np.column_stack([high_and_low(begins), layers.straight, layers.diagonal])
            )
        elif self._varied:
            self._work.fields["standing"].upload(np.stack([self._talus.straight, self._talus.diagonal], axis=-1))

    def _count(self) -> None:
        sent = round(self._work.books.totals()["SENT"])
        self._state.transfers += (sent - self._counted) * self._talus.amplitude
        self._counted = sent

    def _iterate(self, iterations: int) -> None:
        talus = self._talus
        numbers = Numbers(
            straight=int(talus.straight.flat[0]),
            diagonal=int(talus.diagonal.flat[0]),
            amplitude=talus.amplitude,
            printed=talus.printed,
            varied=self._varied,
            layered=talus.layers is not None,
        )
        constants = {"WALL": WALL, "NOWHERE": NOWHERE, "CLOSER": float(CLOSER), "LOW_BITS": LOW_BITS}
        self._work.use(numbers, kernels=self._kernels(), constants=constants)
        self._work.run(iterations)

    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move."""
        return self._work.traffic(self._kernels())

    def _kernels(self) -> tuple[Kernel, ...]:
        return kernels(varied=self._varied, layered=self._talus.layers is not None)

    def state(self) -> State:
        """Download the heights."""
        self._count()
        self._state.n = self._work.fields["n"].download().copy()
        if self._state.rock is not None:
            self._state.rock = self._work.fields["rock"].download().copy()
        return self._state

    def close(self) -> None:
        """Give the device's memory back."""
        self._work.close()
