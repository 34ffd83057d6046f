"""Runs the fused kernel on the machine's cores."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import sweep_in_bands
from slopewash.models.base import Edges
from slopewash.models.editing import Field, Window
from slopewash.models.steepest_talus import sweep as kernels
from slopewash.models.steepest_talus.engine import TalusEngine
from slopewash.models.steepest_talus.model import SteepestTalus
from slopewash.models.steepest_talus.reference import NOWHERE
from slopewash.models.steepest_talus.rows import KEY_BITS
from slopewash.models.steepest_talus.state import WALL, Heights, State
from slopewash.terrain import Terrain

DEPTH = 10
"""Iterations in flight: a group of them costs one meeting of all threads. Divides what a run takes in one go."""
SMALLEST_BAND = 2**15
"""Cells worth a thread of their own: below, waiting for another thread costs more than it gives."""


class Grid(NamedTuple):
    """What does not change from step to step; heights times eight, as the kernels store them."""

    height: int
    periodic: bool
    printed: bool
    straight: NDArray[np.int32]
    diagonal: NDArray[np.int32]
    layered: bool
    top: NDArray[np.int64]
    depths: NDArray[np.int64]
    layer_straight: NDArray[np.int32]
    layer_diagonal: NDArray[np.int32]
    wall: NDArray[np.int32]
    nowhere: NDArray[np.int8]


class CpuEngine(TalusEngine):
    """Steps the heights with Numba kernels; fields carry a ghost column on either side."""

    def __init__(
        self, model: SteepestTalus, terrain: Terrain, *, edges: Edges, substeps: int, seed: int, depth: int = DEPTH
    ) -> None:
        super().__init__(model, terrain, edges=edges, substeps=substeps, seed=seed)
        self._depth = depth
        self._now = self._upload()
        self._next = np.empty_like(self._now)
        self._books = np.zeros(terrain.shape[0], np.int64)
        self._bands = 0

    def set_model(self, model: SteepestTalus, substeps: int) -> None:
        """Go on with other parameter values."""
        super().set_model(model, substeps)
        rows, columns = self.shape
        layers = self._talus.layers
        none = np.zeros(1, np.int32)
        self._grid = Grid(
            height=rows,
            periodic=self._edges == "periodic",
            printed=self._talus.printed,
            straight=self._threshold(self._talus.straight),
            diagonal=self._threshold(self._talus.diagonal),
            layered=layers is not None,
            top=np.zeros((1, 1), np.int64) if layers is None else np.pad(layers.top << KEY_BITS, ((0, 0), (1, 1))),
            depths=np.zeros(1, np.int64) if layers is None else layers.depths << KEY_BITS,
            layer_straight=none if layers is None else layers.straight << KEY_BITS,
            layer_diagonal=none if layers is None else layers.diagonal << KEY_BITS,
            wall=np.full(columns + 2, WALL << KEY_BITS, np.int32),
            nowhere=np.full(columns + 2, NOWHERE, np.int8),
        )

    def _threshold(self, drop: Heights) -> NDArray[np.int32]:
        """Thresholds as the kernels want them: a row where they are the same everywhere; walls never slide."""
        rows, columns = self.shape
        wall = self._state.wall
        uniform = drop.shape == (1, 1) and wall is None
        drops = np.broadcast_to(drop << KEY_BITS, (1 if uniform else rows, columns))
        if wall is not None:
            drops = np.where(wall, np.iinfo(np.int32).max, drops)
        return np.pad(drops, ((0, 0), (1, 1)))

    def _make_room(self) -> None:
        """Rings for every thread in use; more bands than rows would leave some empty."""
        rows, columns = self.shape
        bands = max(1, min(numba.get_num_threads(), rows, rows * columns // SMALLEST_BAND))
        if bands == self._bands:
            return
        self._bands = bands
        width = columns + 2
        self._rings = np.zeros((bands, self._depth, len(self._now), kernels.RING, width), np.int32)
        self._choices = np.zeros((bands, self._depth, kernels.RING, width), np.int8)
        self._net = np.zeros((bands, width), np.int8)
        self._limits = np.zeros((bands, 2, width), np.int32)

    def _iterate(self, iterations: int) -> None:
        self._make_room()
        amplitude = self._talus.amplitude
        stored = np.int32(amplitude << KEY_BITS)
        self._books[:] = 0
        while iterations > 0:
            depth = min(self._depth, iterations)
            sweep_in_bands(
                kernels, self.shape[0], depth, self._now, self._next,
                (self._rings, self._choices, self._net, self._limits), self._grid, stored, self._books,
            )  # fmt: skip
            self._now, self._next = self._next, self._now
            iterations -= depth
        self._state.transfers += int(self._books.sum()) * amplitude

    def state(self) -> State:
        """Return the state with the kernel's heights."""
        self._state.n = self._now[kernels.HEIGHT, :, 1:-1] >> KEY_BITS
        if self._state.rock is not None:
            self._state.rock = self._now[kernels.ROCK, :, 1:-1] >> KEY_BITS
        return self._state

    def _write(self, layer: str, window: Window, values: Field) -> None:
        super()._write(layer, window, values)
        if layer in ("elevation", "bedrock"):
            self._now = self._upload()

    def _upload(self) -> NDArray[np.int32]:
        fields = [self._state.n] if self._state.rock is None else [self._state.n, self._state.rock]
        heights: NDArray[np.int32] = np.pad(
            np.stack(fields) << KEY_BITS, ((0, 0), (0, 0), (1, 1)), **_beyond(self._edges)  # type: ignore[call-overload]
        )  # fmt: skip
        return heights


def _beyond(edges: Edges) -> dict[str, object]:
    return {"mode": "wrap"} if edges == "periodic" else {"constant_values": WALL << KEY_BITS}
