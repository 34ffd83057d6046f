"""Rock of differing hardness, as a function of place, height above a datum, and seed: the same on every grid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.terrain.noise import fractal_noise
from slopewash.terrain.place import Place
from slopewash.terrain.terrain import Layer, Terrain

SOFTEST, HARDENING = 0.95, 0.45
"""Erodibility of the lowest ground, and how much less the highest has."""
PATCHES, PATCH_SIZE, PATCH_OCTAVES = 0.08, 1 / 8, 4
"""Deviation of the noise over the ground, and its wavelength as a share of the longer side."""
BANDING = 0.15
"""How much the erodibility varies from bed to bed."""
BED = 16 / 512
"""Height of a pair of beds, as a share of the longer side."""
DIP = (0.06, 0.10)
"""Tilt of the beds to the south and to the east."""
BENDING, BEND_SIZE, BEND_OCTAVES = 10 / 512, 1 / 6, 3
"""How far beds are bent up and down, and over what distance, as shares of the longer side."""
SECOND, SECOND_PER_BED = 0.6, 2.3
"""Strength of the thinner beds, and how many of them there are to one of the others."""
LEAST = 0.05
"""Least erodibility of a bed."""
PERIOD = 10
"""Beds after which hard and soft ones come in the same order again."""
BEND_PER_BED, BEND_SIZE_PER_BED = BENDING / BED, BEND_SIZE / BED
"""How far beds are bent up and down, and over what distance, in thicknesses of a pair of beds."""


def rock_erodibility(
    terrain: Terrain,
    *,
    seed: int = 0,
    banding: float = BANDING,
    datum: float | None = None,
    place: Place | None = None,
) -> Layer:
    """Erodibility of bedded rock: tilted and bent beds, patches, and harder ground towards the summits.

    Beds are what keeps flanks from looking alike: their edges show as ribs and ledges. `banding` is how much the
    erodibility varies from bed to bed. Heights count from the `datum`, which is the lowest ground if not given: the
    same ground further up has the same rock. Part of a terrain has its `place` in the whole.

    >>> R = rock_erodibility(Terrain(np.arange(64.0).reshape(8, 8)), seed=1)
    >>> bool(0.05 <= R.min() and R.max() <= 1.0)
    True
    """
    (rows, columns), place = terrain.shape, place or Place.of(terrain)
    side, low, high = place.side(terrain.cell_size), place.low, place.high
    z = np.clip(terrain["elevation"].astype(np.float64), low, high)  # nodata holds 0 m, which may be far below

    def noise(share: float, octaves: int, stream: int) -> Layer:
        return fractal_noise(
            terrain.shape, terrain.cell_size, wavelength=share * side, octaves=octaves, seed=1000 * seed + stream,
            origin=place.origin,
        )  # fmt: skip

    R = SOFTEST - HARDENING * (z - low) / max(high - low, 1e-30) + PATCHES * noise(PATCH_SIZE, PATCH_OCTAVES, 1)
    if banding:
        south = (np.arange(rows) + (place.origin[0] + 0.5))[:, None] * terrain.cell_size
        east = (np.arange(columns) + (place.origin[1] + 0.5))[None, :] * terrain.cell_size
        bent = BENDING * side * noise(BEND_SIZE, BEND_OCTAVES, 2)
        bed = (z - (low if datum is None else datum) + DIP[0] * south + DIP[1] * east + bent) / (BED * side)
        R += banding * (np.sin(2 * np.pi * bed) + SECOND * np.sin(2 * SECOND_PER_BED * np.pi * bed + 1))
    return np.clip(R, LEAST, 1.0).astype(np.float32)


def bed_phase(
    shape: tuple[int, int],
    cell_size: float,
    *,
    thickness: float,
    dip: float,
    direction: float,
    seed: int,
    origin: tuple[int, int] = (0, 0),
) -> NDArray[np.float64]:
    """Where in a sequence of tilted and bent beds their datum lies, in pairs of beds from 0 to `PERIOD`.

    A height above the datum adds `height / thickness` to it. Beds sink by `dip` degrees towards `direction`, in degrees
    clockwise from north. `origin` is the row and column of the first cell: finer grids and parts of one see the same
    beds.

    >>> whole = bed_phase((4, 6), 10.0, thickness=50.0, dip=8.0, direction=90.0, seed=1)
    >>> part = bed_phase((2, 3), 10.0, thickness=50.0, dip=8.0, direction=90.0, seed=1, origin=(2, 3))
    >>> bool((whole[2:, 3:] == part).all())
    True
    """
    south, east = (
        (np.arange(n) + (first + 0.5)) * cell_size for n, first in zip(shape, origin, strict=True)
    )  # of cell centres, in metres
    fall, turn = math.tan(math.radians(dip)), math.radians(direction)
    sunk = fall * (math.sin(turn) * east[None, :] - math.cos(turn) * south[:, None])
    bent = fractal_noise(
        shape,
        cell_size,
        wavelength=BEND_SIZE_PER_BED * thickness,
        octaves=BEND_OCTAVES,
        seed=1000 * seed + 2,
        origin=origin,
    )
    phase: NDArray[np.float64] = np.mod(sunk / thickness + BEND_PER_BED * bent.astype(np.float64), PERIOD)
    return phase
