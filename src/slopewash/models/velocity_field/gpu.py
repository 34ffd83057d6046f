"""Runs the particles on a graphics card.

Sediment is routed on the machine's cores: each cell waits for all that feed it, a chain as long as the longest stream,
of which a card could only take one link per dispatch. The particles are most of the work (see docs/gpu.md).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.gpu.adapters import chosen_adapter
from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.backends.gpu.workspace import Workspace
from slopewash.interrupts import safe_point
from slopewash.models.state import Domain, State
from slopewash.models.velocity_field.cpu import RoutingOnCores
from slopewash.models.velocity_field.reference import SCALE, Integers, Motion, Sums, fixed
from slopewash.models.velocity_field.surface import Field, Surface
from slopewash.pieces import Pieces

HERE = Path(__file__).parent
KINDS = {
    "surface": "vec2<f32>",  # elevation, energy needed to go on
    "pulls": "vec4<f32>",  # towards the steepest neighbour
    "ways": "vec4<i32>",  # a particle's row and column, steps done, what it does
    "states": "vec4<f32>",  # its offset and level velocity
    "climbs": "vec4<f32>",  # its upward velocity, water, steps in the cell
    "passing": "array<atomic<u32>, 4>",  # water and energy, 64-bit fixed point
    "flow": "array<atomic<u32>, 4>",  # water times velocity to the south and to the east
}
MOST_STEPS_AT_ONCE = 250
FEWEST_STEPS_AT_ONCE, FEWEST_IN_SOFTWARE = 10, 1
"""On large grids: a card is kept busy by ten, but they would take a software driver seconds."""
PARTICLE_STEPS_AT_ONCE = 1 << 22
"""Of all particles in one dispatch: about 0.1 s of a software driver, because signals wait for it."""
RUNNING, LEFT, STOPPED = 0, -1, -2
NODATA = -2.0
"""Marks nodata, which nothing enters, instead of the energy needed to go on."""
CONSTANTS = {
    "RUNNING": RUNNING, "LEFT": LEFT, "STOPPED": STOPPED, "NODATA": NODATA,
    "WATER": 0, "ENERGY": 1, "SOUTH": 0, "EAST": 1,
}  # fmt: skip
NO_ESCAPE = 3.0e38
"""Stands for infinity, which WGSL does not promise."""
FINER = 4.0
"""Units of the device's sums in one of `SCALE`."""
BLOCK = Block("motion", Motion)


def kernel(*, steepest: bool) -> Kernel:
    """What the one dispatch reads and writes."""
    uses = [
        Use("surface", "read", whole=True), Use("ways", "update", whole=True), Use("states", "update", whole=True),
        Use("climbs", "update", whole=True), Use("passing", "update", whole=True), Use("flow", "update", whole=True),
    ]  # fmt: skip
    if steepest:
        uses.append(Use("pulls", "read", whole=True))
    return Kernel("trace", HERE / "trace.wgsl", tuple(uses))


class GpuBackend(RoutingOnCores):
    """Steps the state with particles in float32 on a card, and everything else in float64 on the cores."""

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain)
        rows, columns = domain.shape
        fewest = FEWEST_IN_SOFTWARE if chosen_adapter().software else FEWEST_STEPS_AT_ONCE
        at_once = max(PARTICLE_STEPS_AT_ONCE // (rows * columns), fewest)
        self._steps_at_once = min(at_once, MOST_STEPS_AT_ONCE)
        self._work = Workspace((rows + 2, columns + 2), KINDS, block=BLOCK, entries=("NONE",), whole=True, ring=1)

    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        """Run the particles on the card."""
        fields = self._work.fields
        steepest = not motion.downhill
        needed = np.where(surface.nodata, NODATA, np.minimum(surface.escape, NO_ESCAPE))
        fields["surface"].upload(np.stack([surface.T, np.pad(needed, 1, constant_values=NODATA)], axis=-1))
        if steepest:
            pulls = np.stack([surface.ay, surface.ax, surface.az, np.zeros_like(surface.ay)], axis=-1)
            fields["pulls"].upload(np.pad(pulls, ((1, 1), (1, 1), (0, 0))))
        safe_point()
        self._launch(w)
        safe_point()
        chosen: dict[str, float] = {"steepest": steepest, "STEPS_AT_ONCE": self._steps_at_once}
        self._work.use(motion, kernels=[kernel(steepest=steepest)], constants=CONSTANTS | chosen)
        pieces, left = Pieces(), math.ceil(motion.most_steps / self._steps_at_once)
        while left > 0:
            count = pieces.next(left)
            with pieces:
                self._work.run(count)
            left -= count
            safe_point()
        return self._sums(w)

    def _launch(self, w: Field) -> None:
        """Put a particle at rest into every cell that has water."""
        fields = self._work.fields
        rows, columns = w.shape
        ways = np.full((rows + 2, columns + 2, 4), STOPPED, np.int32)
        ways[1:-1, 1:-1, 0], ways[1:-1, 1:-1, 1] = np.indices(w.shape) + 1
        ways[1:-1, 1:-1, 2] = 0
        ways[1:-1, 1:-1, 3] = np.where(w > 0, RUNNING, STOPPED)
        climbs = np.zeros(ways.shape, np.float32)
        climbs[1:-1, 1:-1, 1] = w
        fields["ways"].upload(ways)
        fields["climbs"].upload(climbs)
        for name in ("states", "passing", "flow"):
            fields[name].clear()

    def _sums(self, w: Field) -> Sums:
        W, E = self._totals("passing")
        safe_point()
        Vy, Vx = self._totals("flow")
        safe_point()
        way = self._work.fields["ways"].download()[1:-1, 1:-1]
        launched, water = w > 0, fixed(w.astype(np.float32).astype(np.float64))
        return Sums(
            W, Vy, Vx, E,
            left=int(water[launched & (way[..., 3] == LEFT)].sum()),
            sunk=int(water[launched & (way[..., 3] == STOPPED)].sum()),
            particle_steps=int(way[..., 2][launched].sum(dtype=np.int64)),
        )  # fmt: skip

    def _totals(self, name: str) -> tuple[Integers, Integers]:
        """The two sums of a field, rounded to `SCALE`."""
        halves = np.ascontiguousarray(self._work.fields[name].download()[1:-1, 1:-1])
        whole: NDArray[Any] = halves.view("<i8")
        first, second = (np.rint(whole[..., k] / FINER).astype(np.int64) for k in (0, 1))
        return first, second

    def close(self) -> None:
        """Free the device's memory."""
        self._work.close()


assert FINER * SCALE == 2.0**32
