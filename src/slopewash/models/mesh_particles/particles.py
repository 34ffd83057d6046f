"""The particles of one run, and how emitters make new ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slopewash.models.mesh_particles.table import height
from slopewash.models.state import Reals
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
    """Arrays with room for more, of which the first `count` places are taken."""

    fields = ("particle_position", "particle_velocity", "particle_birth", "particle_triangle", "particle_fate")

    def __init__(self, *arrays: NDArray[Any], room: int = FIRST_ROOM) -> None:
        self.count = len(arrays[0])
        self.room = max(room, self.count)
        self.X, self.V, self.born, self.at, self.fate = (
            np.concatenate([a, np.zeros((self.room - self.count, *a.shape[1:]), a.dtype)]) for a in arrays
        )

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All that belongs to a particle, room included."""
        return self.X, self.V, self.born, self.at, self.fate

    def taken(self) -> tuple[NDArray[Any], ...]:
        """All that belongs to a particle."""
        return tuple(a[: self.count] for a in self.arrays())

    def alive(self) -> NDArray[np.bool_]:
        """Whether each particle is still there."""
        return self.fate[: self.count] == ALIVE


def cells_of(points: NDArray[np.floating], cell: float) -> NDArray[np.int64]:
    """Column and row of the cells of a hash grid that points lie in."""
    return np.floor(points[:, :2].astype(np.float64) * (1 / cell)).astype(np.int64)


def above_ground(z: Reals | float, ground: Reals | float, dtype: DTypeLike) -> Reals:
    """Heights at which particles may be: above the ground in their own, coarser numbers too."""
    return np.maximum(z, ground + CLEARANCE + 2 * float(np.finfo(dtype).eps) * np.abs(ground))


def lift(X: NDArray[np.floating], at: NDArray[np.int32], table: Reals) -> None:
    """Lift particles that the ground has risen above."""
    x, y, z = X.astype(np.float64).T
    X[:, 2] = above_ground(z, height(table[at], x, y), X.dtype)


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


def births(
    emitter: Emitter, seed: int, first: int, count: int, extent: tuple[float, float, float, float]
) -> tuple[Reals, Reals]:
    """Place particles number `first` and on evenly on the disc, in plan: a function of seed and number alone.

    An additive recurrence keeps particles born one after another apart, where random ones would overlap and burst.
    """
    number = np.arange(first, first + count, dtype=np.float64)
    seed %= SEEDS
    out = emitter.radius * np.sqrt((0.5 + number * STRIDES[0] + seed * STRIDES[1]) % 1.0)
    angle = 2 * np.pi * ((0.5 + number * STRIDES[1] + seed * STRIDES[0]) % 1.0)
    west, north, east, south = extent
    x, y = emitter.x + out * np.cos(angle), emitter.y + out * np.sin(angle)
    return np.clip(x, west, east), np.clip(y, north, south)
