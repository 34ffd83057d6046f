"""The particles of one run, and how emitters make new ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.models.mesh_particles.table import GX, GY, X0, Y0, Z0
from slopewash.terrain import Emitter, Terrain

ALIVE, LEFT, GONE = 0, 1, 2
"""Fates of a particle; LEFT becomes GONE as soon as it is counted."""
FIRST_ROOM = 1024

CLEARANCE = 1e-6
"""Metres above the surface at which a particle is set down, besides two units of its last digit."""
INNER = 0.1
"""Share of the terrain along each side where the default emitter is not placed: water there would run off at once."""
DEFAULT_DISC = 4.0
"""Radius of the default emitter in shortest edges."""
DEFAULT_RATE = 20.0
STRIDES = (0.7548776662466927, 0.5698402909980532)
"""1/ρ and 1/ρ², ρ the plastic number: the evenest recurrence in two dimensions."""
SEEDS = 1 << 40
"""Seeds there are: beyond, float64 has no digits left for the places."""


class Particles:
    """Arrays of `room` places of which the first `count` are taken."""

    def __init__(self, room: int, dtype: DTypeLike) -> None:
        self.count = 0
        self.X = np.zeros((room, 3), dtype)
        """east, south and up from the corner of the terrain and the datum, in metres"""
        self.V = np.zeros((room, 3), dtype)
        """velocity in metres per second"""
        self.born = np.zeros(room)
        """time of birth in seconds"""
        self.at = np.zeros(room, np.int32)
        """triangle below"""
        self.fate = np.zeros(room, np.int8)

    @classmethod
    def of(cls, *arrays: NDArray[Any], room: int = FIRST_ROOM) -> Particles:
        """Copy positions, velocities, times of birth, triangles and fates, with room for more."""
        count = len(arrays[0])
        particles = cls(max(room, count), arrays[0].dtype)
        particles.count = count
        for target, source in zip(particles.arrays(), arrays, strict=True):
            target[:count] = source
        return particles

    @property
    def room(self) -> int:
        """Places there are."""
        return len(self.born)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All that belongs to a particle, room included."""
        return self.X, self.V, self.born, self.at, self.fate

    def taken(self) -> tuple[NDArray[Any], ...]:
        """All that belongs to a particle."""
        return tuple(a[: self.count] for a in self.arrays())

    def alive(self) -> NDArray[np.bool_]:
        """Whether each particle is still there."""
        return self.fate[: self.count] == ALIVE


def in_order(X: NDArray[np.floating], fate: NDArray[np.int8], cell: float) -> NDArray[np.intp]:
    """Numbers of the living by the cell of a hash grid they are in; those of a cell keep their order."""
    living = np.flatnonzero(fate == ALIVE)
    cells = cells_of(X[living], cell)
    return living[np.lexsort((cells[:, 0], cells[:, 1]))]


def cells_of(points: NDArray[np.floating], cell: float) -> NDArray[np.int64]:
    """Column and row of the cells of a hash grid that points lie in."""
    return np.floor(points[:, :2].astype(np.float64) * (1 / cell)).astype(np.int64)


def ground_below(X: NDArray[np.floating], at: NDArray[np.int32], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Height of the ground below particles."""
    x, y, t = X[:, 0].astype(np.float64), X[:, 1].astype(np.float64), table[at]
    return t[:, Z0] + t[:, GX] * (x - t[:, X0]) + t[:, GY] * (y - t[:, Y0])


def set_down(X: NDArray[np.floating], at: NDArray[np.int32], table: NDArray[np.float64]) -> None:
    """Lift particles that the ground has risen above."""
    ground = ground_below(X, at, table)
    least = ground + CLEARANCE + 2 * float(np.finfo(X.dtype).eps) * np.abs(ground)
    X[:, 2] = np.maximum(X[:, 2].astype(np.float64), least)


class Births(NamedTuple):
    """Where particles start in plan, and how fast."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    vx: float
    vy: float


def default_emitter(terrain: Terrain, edge: float) -> Emitter:
    """Make an emitter on the highest ground away from the border; `edge` is the shortest edge of the mesh."""
    rows, columns = terrain.shape
    # Two rows or columns are all border.
    top, left = (min(math.ceil(INNER * (n - 1)), (n - 1) // 2) for n in (rows, columns))
    inner = terrain["elevation"][top : rows - top, left : columns - left]
    i, j = np.unravel_index(int(inner.argmax()), inner.shape)
    l = terrain.cell_size  # noqa: E741
    x, y = (left + int(j) + 0.5) * l, (top + int(i) + 0.5) * l
    return Emitter(x=x, y=y, radius=DEFAULT_DISC * edge, rate=DEFAULT_RATE)


def births(emitter: Emitter, seed: int, first: int, count: int, extent: tuple[float, float, float, float]) -> Births:
    """Place particles number `first` and on evenly on the disc: a function of seed and number alone.

    An additive recurrence keeps particles born one after another apart, where random ones would overlap and burst.
    """
    number = np.arange(first, first + count, dtype=np.float64)
    seed %= SEEDS
    out = emitter.radius * np.sqrt((0.5 + number * STRIDES[0] + seed * STRIDES[1]) % 1.0)
    angle = 2 * np.pi * ((0.5 + number * STRIDES[1] + seed * STRIDES[0]) % 1.0)
    west, north, east, south = extent
    turn = math.radians(emitter.direction)
    return Births(
        x=np.clip(emitter.x + out * np.cos(angle), west, east),
        y=np.clip(emitter.y + out * np.sin(angle), north, south),
        vx=emitter.speed * math.sin(turn),
        vy=-emitter.speed * math.cos(turn),
    )
