"""Gradient noise as a function of position and seed: every grid and every part of it sees the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.terrain import lattice

Samples = NDArray[np.float32]
Coordinates = NDArray[np.float64]

# Each octave's lattice is rotated by the angle of the 3-4-5 triangle, no fraction of a full turn, so that no two
# octaves share a direction along which noise could line up; the numbers need no cosine.
TURN = complex(0.8, 0.6)

# Zero lines of gradient noise, the crests of `ridged`, prefer the diagonals of its lattice. The first octave, whose
# crests are the longest, is rotated by the angle of the 5-12-13 triangle (22.6°): axes and diagonals of its lattice are
# then equally far from those of the grid.
FIRST_TURN = complex(12.0, 5.0) / 13.0

_ANGLES = (np.arange(256) + 0.5) * (2.0 * np.pi / 256)
# Half a step off the axes, so that no gradient is parallel to the lattice.
_EAST = np.cos(_ANGLES).astype(np.float32)
_SOUTH = np.sin(_ANGLES).astype(np.float32)

BOUND = 0.5**0.5
"""Largest value of the noise, reached in the middle of a lattice cell."""

DEVIATION = 0.21571080
"""Standard deviation of the noise: √(4·∫s²·∫s²t²) with s = 1 - fade(t), over t in 0 .. 1."""


BLOCK = 1 << 17
"""Points worked out at a time: each takes some hundred bytes meanwhile."""


def fractal_noise(
    shape: tuple[int, int],
    cell_size: float,
    *,
    wavelength: float,
    octaves: int,
    seed: int,
    origin: tuple[int, int] = (0, 0),
) -> Samples:
    """Octaves of gradient noise at cell centres, each of half the wavelength and amplitude; mean 0, deviation 1.

    `wavelength` of the first octave is in metres, and `origin` the row and column of the first cell: a finer grid and a
    part of one see the same noise.

    >>> coarse = fractal_noise((8, 8), 2.0, wavelength=64.0, octaves=1, seed=3)
    >>> fine = fractal_noise((16, 16), 1.0, wavelength=64.0, octaves=1, seed=3)
    >>> bool(abs(coarse - (fine[::2, ::2] + fine[1::2, 1::2]) / 2).max() < 0.01)
    True
    """
    y, x = ((np.arange(n, dtype=np.float64) + (first + 0.5)) for n, first in zip(shape, origin, strict=True))
    x, y = x * (cell_size / wavelength), y * (cell_size / wavelength)
    total = np.zeros(shape, np.float32)
    power = sum(0.25**octave for octave in range(octaves))
    height = max(1, BLOCK // max(shape[1], 1))
    for top in range(0, shape[0], height):
        block = total[top : top + height]
        workspace = Workspace(block.shape)
        for octave in range(octaves):
            block += workspace.octave(x[None, :], y[top : top + height, None], octave, seed) * np.float32(0.5**octave)
        block *= np.float32(1 / (DEVIATION * power**0.5))
    return total


class Workspace:
    """Arrays of one block, used for all its octaves: allocating them each time would cost as much as the arithmetic."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.x, self.y, self.floor = (np.empty(shape, dtype=np.float64) for _ in range(3))
        self.u, self.v, self.u1, self.v1 = (np.empty(shape, dtype=np.float32) for _ in range(4))
        self.fade_u, self.fade_v, self.scratch = (np.empty(shape, dtype=np.float32) for _ in range(3))
        self.north, self.south, self.east = (np.empty(shape, dtype=np.float32) for _ in range(3))
        self.numbers, self.hashes, self.shifted = (np.empty(shape, dtype=np.uint32) for _ in range(3))
        self.indices = np.empty(shape, dtype=np.intp)

    def octave(self, x: Coordinates, y: Coordinates, octave: int, seed: int) -> Samples:
        """One octave at x (a row vector) and y (a column vector), in wavelengths of the first octave."""
        turn = FIRST_TURN * (2.0 * TURN) ** octave
        key = lattice.key(seed, octave)
        # Each octave has its own offset, else all would have a lattice point, and therefore a zero, at the origin.
        np.subtract(turn.real * x + (key & 0xFFFF) / 64.0, turn.imag * y, out=self.x)
        np.add(turn.imag * x + (key >> 16) / 64.0, turn.real * y, out=self.y)
        return self.noise(key)

    def noise(self, key: int) -> Samples:
        """Gradient noise at the positions in `x` and `y`, in an array that the next call overwrites.

        On the unit lattice: 256 unit gradients, quintic fade; 0 at lattice points, within ±√½.
        """
        self._split(self.y, self.v, self.v1, self.numbers)
        self.numbers *= np.uint32(lattice.ROW_STEP)
        self._split(self.x, self.u, self.u1, self.hashes)
        self.numbers += self.hashes
        _fade(self.u, out=self.fade_u)
        _fade(self.v, out=self.fade_v)
        self._edge(self.v, key, out=self.north)
        self.numbers += np.uint32(lattice.ROW_STEP)
        self._edge(self.v1, key, out=self.south)
        self.south -= self.north
        self.south *= self.fade_v
        self.south += self.north
        return self.south

    def _split(self, position: Coordinates, fraction: Samples, fraction1: Samples, index: lattice.Words) -> None:
        """Distances from the lattice lines before and after, and the number of the one before."""
        np.floor(position, out=self.floor)
        np.subtract(position, self.floor, out=fraction, casting="same_kind")
        np.subtract(fraction, np.float32(1.0), out=fraction1)
        # Through signed integers: what a negative float becomes as an unsigned one depends on the platform.
        np.copyto(self.indices, self.floor, casting="unsafe")
        np.copyto(index, self.indices, casting="unsafe")

    def _edge(self, v: Samples, key: int, out: Samples) -> None:
        """Interpolate between the west and the east corner of the lattice row in `numbers`."""
        self._corner(0, self.u, v, key, out=out)
        self._corner(1, self.u1, v, key, out=self.east)
        self.east -= out
        self.east *= self.fade_u
        out += self.east

    def _corner(self, offset: int, u: Samples, v: Samples, key: int, out: Samples) -> None:
        """Height at (u, v) from the corner of the plane that the corner's gradient spans."""
        np.add(self.numbers, np.uint32(offset), out=self.hashes)
        lattice.scramble(self.hashes, key, self.shifted)
        np.right_shift(self.hashes, 24, out=self.hashes)
        np.copyto(self.indices, self.hashes)
        np.take(_EAST, self.indices, out=out, mode="clip")
        out *= u
        np.take(_SOUTH, self.indices, out=self.scratch, mode="clip")
        self.scratch *= v
        out += self.scratch


def _fade(t: Samples, out: Samples) -> None:
    """6t⁵ - 15t⁴ + 10t³: its second derivative has no jump at lattice lines, which a hillshade would show."""
    np.multiply(t, np.float32(6.0), out=out)
    out -= np.float32(15.0)
    out *= t
    out += np.float32(10.0)
    out *= t
    out *= t
    out *= t
