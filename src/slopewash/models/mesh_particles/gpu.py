"""Runs the particles on a graphics card.

Between two moves of the vertices nothing leaves the card: particles are hashed, pushed, moved and collided, emitted,
evaporated and exported, erosion adds up at the vertices, grains age and fall. The cores do what happens once every
`update_every` steps, in float64 so that volumes balance: they move the vertices, follow the planes of triangles, give
grains to the nearest particles, and lay out where new particles will start. For that the particles come down and go up
again (96 bytes each). While emitters pause because there are `maximum_particles`, this happens after every step, since
the cores must know how many are left.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.bands import NUMBA_THREADS
from slopewash.backends.gpu import sorting
from slopewash.backends.gpu.lists import Lists, Pass
from slopewash.backends.gpu.program import Kernel, Use
from slopewash.backends.gpu.wgsl import Block
from slopewash.interrupts import safe_point
from slopewash.models.mesh_particles.cpu import CpuBackend
from slopewash.models.mesh_particles.particles import ALIVE, CLEARANCE, GONE, LEFT
from slopewash.models.mesh_particles.physics import Physics
from slopewash.models.mesh_particles.rows import EPS, MISS
from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.mesh_particles.table import AX, AY, BX, BY, GX, GY, TILT, X0, Y0, Z0
from slopewash.models.state import Domain, Reals, State
from slopewash.pieces import Pieces
from slopewash.terrain import emitters_of

HERE = Path(__file__).parent
PARTS = 5
"""vec4 of a triangle: first corner and erosion; gradient and weights there; weights per metre; corners; shares."""
KINDS = {
    **sorting.KINDS,
    "positions": "vec4<f32>",
    "velocities": "vec4<f32>",
    "states": "vec4<i32>",  # triangle below, fate, sub-steps until it starts, and until it has evaporated
    "pushes": "vec4<f32>",
    "triangles": "vec4<i32>",  # bits of float32, but for the corners: float32 may lose those of small whole numbers
    "box_starts": "i32",  # the grid of triangles
    "boxed": "i32",
    "eroded": "array<atomic<u32>, 2>",  # erosion of each vertex, 64-bit fixed point
    "grains": "vec4<i32>",  # particle, steps left, what became of it
}
NEVER = 1 << 30
ON_ITS_WAY, EXPORTED = -1, -2
CONSTANTS = {
    **sorting.CONSTANTS,
    "ALIVE": ALIVE, "LEFT": LEFT, "GONE": GONE, "ON_ITS_WAY": ON_ITS_WAY, "EXPORTED": EXPORTED, "PARTS": PARTS,
    "MISS": MISS, "CLEARANCE": CLEARANCE, "DIGITS": EPS, "FAR": 1e30, "TINY": 1e-30,
    "SLACK": 1e-5,  # of a triangle: what float32 leaves uncertain near its edges
    "HAIR": 1e-3,  # of a box of triangles: likewise, thousands of boxes away from the corner
}  # fmt: skip
WIDER = 1.002
"""Cells of particles in two radii: rounding must not put neighbours two cells apart."""
STEPS_AT_ONCE = 64
LEAST_SIDE = 16
"""Buckets along a side of the folded grid, of which `sorting` takes whole blocks."""
UNITS = 2.0**32
"""Of the fixed point in a whole."""
UNITS_FIELD = "pending_erosion_units"


class Lot(NamedTuple):
    """How many there are, and the two grids."""

    particles: int
    grains: int
    cells_per_metre: float
    side: int
    """buckets along a side"""
    west: float
    north: float
    east: float
    south: float
    boxes_per_metre: float
    columns: int
    rows: int


BLOCK = Block("flow", Physics, Lot)
ENTER = Kernel(
    "enter", HERE / "enter.wgsl",
    (Use("positions", "read"), Use("states", "update"), Use("keys", "write"), Use("counts", "update")),
)  # fmt: skip
PUSH = Kernel(
    "push", HERE / "push.wgsl",
    (
        Use("positions", "read"), Use("velocities", "read"), Use("starts", "read"), Use("order", "read"),
        Use("pushes", "write"),
    ),
)  # fmt: skip
MOVE = Kernel(
    "move", HERE / "move.wgsl",
    (
        Use("positions", "update"), Use("velocities", "update"), Use("pushes", "read"), Use("states", "update"),
        Use("triangles", "read"), Use("box_starts", "read"), Use("boxed", "read"), Use("eroded", "update"),
    ),
)  # fmt: skip
AGE = Kernel("age", HERE / "age.wgsl", (Use("grains", "update"), Use("states", "read")))


class GpuBackend(CpuBackend):
    """Steps particles and grains in float32 on a card, and moves the vertices in float64 on the cores.

    Erosion adds up in `pending_erosion_units` until it is added to `pending_erosion`: sums of whole numbers are exact,
    so that a run in parts gives the same bits.
    """

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain)
        self._lists = Lists(KINDS, block=BLOCK, constants=CONSTANTS)
        self._on_card: tuple[Surface, int] | None = None
        self._pieces = Pieces()
        self.host.setdefault(UNITS_FIELD, np.zeros(len(self.erosion), np.int64))
        self._scalars.setdefault("pending_erosion_scale", 1.0)

    def _steps(self, count: int) -> None:
        done = 0
        while done < count:
            at_once = self._steps_at_once(count - done)
            with self._whole_or_not_at_all(done):
                self._run(at_once)
                if self._scalars["step"] % self.c.update_every == 0:
                    self._add_units()
                    with NUMBA_THREADS:
                        self._move_vertices()
            done += at_once

    @property
    def _has_safe_points(self) -> bool:
        return True  # between pieces of what the card is given

    def _steps_at_once(self, steps: int) -> int:
        """Steps until the cores are needed: for the vertices, or to see whether emitters must pause."""
        every = self.c.update_every
        steps = min(steps, every - int(self._scalars["step"]) % every, STEPS_AT_ONCE)
        emitters = emitters_of(self.host["emitters"])
        born = sum(
            due + e.rate * self.c.time_step * steps for due, e in zip(self.host["emitter_due"], emitters, strict=True)
        )
        return steps if self.flow.count + born < self.c.maximum_particles else 1

    def _run(self, steps: int) -> None:
        """Take particles and grains through some steps on the card."""
        times = [self._scalars["time"]]
        for _ in range(steps):
            self._emit()
            self._scalars["time"] += self.c.time_step
            times.append(self._scalars["time"])
        self._scalars["step"] += steps
        # Particles are put in another order only when vertices move: a run in parts gives the same bits.
        self._close_ranks(self.flow.alive())
        if self.flow.count == 0:
            return
        dry = self._dry_after(times[1:])
        self._upload(np.searchsorted(times[:-1], self.flow.born[: self.flow.count]), dry)
        self._upload_ground()
        self._take_in_pieces(self._step_passes() * steps)
        self._download()
        self._count(dry, steps)

    def _pair_forces(self) -> NDArray[np.float32]:
        n = self.flow.count
        self._upload(np.zeros(n, np.int64), np.full(n, NEVER))
        self._dispatch(self._push_passes())
        return self._lists.tables["pushes"].download(n)[:, :3]

    def _dry_after(self, ends: list[float]) -> NDArray[np.int64]:
        """Number of the step at whose end each particle has evaporated."""
        born = self.flow.born[: self.flow.count]
        dry = np.full(len(born), NEVER)
        for k in reversed(range(len(ends))):
            dry[ends[k] - born >= self.c.lifetime] = k
        return dry

    def _upload(self, wait: NDArray[np.int64], dry: NDArray[np.int64]) -> None:
        """Bring particles and grains up; `wait` are the steps until a particle starts."""
        lists, flow, n = self._lists, self.flow, self.flow.count
        room, grains = _power_of_two(n), len(self.grains.left)
        lengths = dict.fromkeys(("positions", "velocities", "states", "pushes"), room)
        lists.hold(lengths | sorting.lengths(room, self._side() ** 2), f"{n} particles")
        lists.hold({"grains": _power_of_two(grains)}, f"{grains} grains")
        tables = lists.tables
        tables["positions"].upload(_padded(flow.X[:n]))
        tables["velocities"].upload(_padded(flow.V[:n]))
        left = np.where(dry < NEVER, (dry + 1) * self.c.substeps, NEVER)
        tables["states"].upload(np.stack([flow.at[:n], flow.fate[:n], wait * self.c.substeps, left], axis=1))
        if grains:
            fresh = np.full((grains, 4), ON_ITS_WAY)
            fresh[:, 0], fresh[:, 1] = self.grains.carrier, self.grains.left
            tables["grains"].upload(fresh)

    def _side(self) -> int:
        """Buckets along a side of the folded grid: twice as many in all as there is room for particles."""
        return max(LEAST_SIDE, 1 << math.ceil(math.log2(2 * _power_of_two(self.flow.count)) / 2))

    def _upload_ground(self) -> None:
        """Bring the erosion so far up, and triangles where they have changed."""
        surface, lists = self.surface, self._lists
        count = len(surface.triangles)
        start, triangle = surface.grid[-2:]
        lengths = {"triangles": PARTS * count, "box_starts": len(start), "boxed": len(triangle)}
        lists.hold(lengths | {"eroded": len(surface.z)}, f"{count} triangles")
        scale = self._fine_scale()
        if scale != self._scalars["pending_erosion_scale"]:
            self._add_units()
            self._scalars["pending_erosion_scale"] = scale
        lists.tables["eroded"].upload(self.host[UNITS_FIELD].view("<u4"))
        if self._on_card == (surface, surface.version):
            return
        parts = packed(surface.table, self.erodible, surface.triangles, surface.erosion_shares)
        lists.tables["triangles"].upload(parts)
        lists.tables["box_starts"].upload(start)
        lists.tables["boxed"].upload(triangle)
        self._on_card = surface, surface.version

    def _fine_scale(self) -> float:
        """Power of two by which the most that a particle can erode off a vertex at once becomes at most 1."""
        p = self.physics
        most = p.erosion * p.fastest * float(self.surface.erosion_shares.max() * self.erodible.max())
        return 2.0 ** -math.ceil(math.log2(max(most, 1e-30)))

    def _add_units(self) -> None:
        """Begin a new sum of erosion on the card."""
        units = self.host[UNITS_FIELD]
        self.erosion = self.erosion + units / (UNITS * self._scalars["pending_erosion_scale"])
        self.host[UNITS_FIELD] = np.zeros_like(units)

    def _push_passes(self) -> list[Pass]:
        n, room = self.flow.count, self._lists.tables["keys"].length
        return [Pass(ENTER, room), *sorting.passes(n, self._side() ** 2), Pass(PUSH, n)]

    def _step_passes(self) -> list[Pass]:
        part = [*self._push_passes(), Pass(MOVE, self.flow.count)]
        return part * self.c.substeps + [Pass(AGE, len(self.grains.left))]

    def _take_in_pieces(self, passes: list[Pass]) -> None:
        first = 0
        while first < len(passes):
            count = self._pieces.next(len(passes) - first)
            with self._pieces:
                self._dispatch(passes[first : first + count])
            first += count
            if first < len(passes):
                safe_point()

    def _dispatch(self, passes: list[Pass]) -> None:
        physics = self.physics
        cells_per_metre = 1 / (2 * physics.radius * WIDER)
        counts = self.flow.count, len(self.grains.left)
        lot = Lot(*counts, cells_per_metre, self._side(), *self.surface.extent, *self.surface.grid[2:5])
        self._lists.use(physics._replace(erosion=physics.erosion * self._scalars["pending_erosion_scale"]), lot)
        self._lists.run(passes)

    def _download(self) -> None:
        tables, flow, n = self._lists.tables, self.flow, self.flow.count
        flow.X[:n] = tables["positions"].download(n)[:, :3]
        flow.V[:n] = tables["velocities"].download(n)[:, :3]
        states = tables["states"].download(n)
        flow.at[:n], flow.fate[:n] = states[:, 0], states[:, 1]
        self.host[UNITS_FIELD] = tables["eroded"].download(len(self.erosion)).view("<i8")[:, 0]

    def _count(self, dry: NDArray[np.int64], steps: int) -> None:
        """Count who has gone, and take out the grains that are no longer on their way."""
        fate = self.flow.fate[: self.flow.count]
        dried = (fate == ALIVE) & (dry < NEVER)
        self._scalars["left"] += int((fate != ALIVE).sum())
        self._scalars["evaporated"] += int(dried.sum())
        if len(self.grains.left):
            self._settle(self._lists.tables["grains"].download(len(self.grains.left)))
        # Emitters count those who went in the last part of a step as still there, as on the other backends.
        earlier = (fate == GONE) | (dried & (dry < steps - 1))
        fate[(fate != ALIVE) | dried] = GONE
        self._close_ranks(~earlier)

    def _settle(self, grains: NDArray[np.int32]) -> None:
        """Export grains and let them fall as the card has found, step by step: parts of a run add up to the bit."""
        became, step = grains[:, 2], self.grains.left - grains[:, 1]
        done = became != ON_ITS_WAY
        for k in np.unique(step[done]):
            now = done & (step == k)
            out = now & (became == EXPORTED)
            self._scalars["exported"] += float(self.grains.volume[out].sum())
            self._fall(became[now & ~out], self.grains.volume[now & ~out])
        self.grains.left = grains[:, 1].copy()
        self.grains.take_out(done)

    def _close_ranks(self, stay: NDArray[np.bool_]) -> None:
        """Forget particles that do not stay; the others keep their order."""
        if stay.all():
            return
        flow, which = self.flow, np.flatnonzero(stay)
        place = np.full(flow.count, -1, np.int32)
        place[which] = np.arange(len(which))
        for a in flow.arrays():
            a[: len(which)] = a[which]
        flow.count = len(which)
        self.grains.carrier = place[self.grains.carrier]

    def close(self) -> None:
        """Give the device's memory back."""
        self._lists.close()


def packed(table: Reals, erodible: Reals, triangles: NDArray[np.int32], shares: Reals) -> NDArray[np.int32]:
    """Triangles as the kernels have them, `PARTS` vec4 each.

    The first corner is rounded to float32 in plan; height and weights are those where it then is, so that all
    triangles go on meeting each other.
    """
    out = np.zeros((len(table), PARTS, 4), np.float32)
    corner = table[:, X0 : Y0 + 1].astype(np.float32)
    dx, dy = (corner - table[:, X0 : Y0 + 1]).T
    out[:, 0, :2] = corner
    out[:, 0, 2] = table[:, Z0] + table[:, GX] * dx + table[:, GY] * dy
    out[:, 0, 3] = table[:, TILT] * erodible
    out[:, 1, :2] = table[:, GX : GY + 1]
    out[:, 1, 2] = table[:, AX] * dx + table[:, AY] * dy
    out[:, 1, 3] = table[:, BX] * dx + table[:, BY] * dy
    out[:, 2] = table[:, AX : BY + 1]
    out[:, 4, :3] = shares
    bits = out.view(np.int32)
    bits[:, 3, :3] = triangles
    return bits


def _padded(a: NDArray[np.generic]) -> NDArray[np.float32]:
    return np.pad(a, ((0, 0), (0, 1))).astype(np.float32)


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 1).bit_length()
