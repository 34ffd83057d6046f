"""Runs the WGSL kernels on whole heights: two dispatches per iteration, the same bits as the reference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.backends.gpu.workspace import Workspace
from slopewash.models.base import Edges
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
}


class Numbers(NamedTuple):
    """What slides, in units of height."""

    straight: int
    diagonal: int
    amplitude: int
    printed: bool
    varied: bool


BLOCK = Block("talus", Numbers)


def kernels(*, varied: bool) -> tuple[Kernel, ...]:
    """One iteration: what each dispatch reads and writes."""
    choose = [Use("n", "read"), Use("to", "write")]
    if varied:
        choose.append(Use("standing", "read"))
    gather = (Use("to", "read"), Use("n", "update"), Use("books", "update", whole=True, apart=True))
    return Kernel("choose", HERE / "choose.wgsl", tuple(choose)), Kernel("gather", HERE / "gather.wgsl", gather)


class GpuEngine(TalusEngine):
    """Steps the heights on a graphics card; `largest_binding` holds bands of rows to so many bytes of a field."""

    def __init__(
        self, model: SteepestTalus, terrain: Terrain, *, edges: Edges, substeps: int, seed: int,
        largest_binding: int | None = None,
    ) -> None:  # fmt: skip
        self._work = Workspace(
            terrain.shape, KINDS, block=BLOCK, entries=("SENT",), periodic=edges == "periodic",
            largest_binding=largest_binding,
        )  # fmt: skip
        self._counted = 0
        super().__init__(model, terrain, edges=edges, substeps=substeps, seed=seed)
        self._work.fields["n"].upload(self._state.n)

    def set_model(self, model: SteepestTalus, substeps: int) -> None:
        """Go on with other parameter values."""
        if hasattr(self, "_talus"):
            self._count()  # what moved so far moved by the amplitude in force until now
        super().set_model(model, substeps)
        self._varied = self._talus.straight.size > 1
        if self._varied:
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
        )
        constants = {"WALL": WALL, "NOWHERE": NOWHERE, "CLOSER": float(CLOSER)}
        self._work.use(numbers, kernels(varied=self._varied), constants)
        self._work.run(iterations)

    def traffic(self) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move."""
        return self._work.traffic(kernels(varied=self._varied))

    def state(self) -> State:
        """Download the heights."""
        self._count()
        self._state.n = self._work.fields["n"].download()
        return self._state

    def close(self) -> None:
        """Give the device's memory back."""
        self._work.close()
