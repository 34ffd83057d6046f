"""Fractal gradient noise, sampled in world metres."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from slopewash.generators import checks, lattice
from slopewash.generators.registry import Grid, generator

Samples = NDArray[np.float32]
Coordinates = NDArray[np.float64]

OCTAVES = 12
"""From half the side down to one cell of a 4096² grid; fixed, so that finer grids repeat coarser ones."""

# Lattice positions stay below 2^31 up to here, for any grid that fits in memory.
LARGEST_OCTAVES = 16

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

# Points per block: few enough for temporaries to stay in cache, enough that threads seldom wait for the interpreter.
_BLOCK = 131072


@generator("fbm", world_option="feature_size")
def fbm(grid: Grid, *, feature_size: float | None = None, octaves: int = OCTAVES, persistence: float = 0.5) -> Samples:
    """Fractional Brownian motion: octaves of gradient noise, each of half the wavelength.

    The mean is ½, and three standard deviations either way span the nominal 0 .. 1; a wide window exceeds it in places.

    Parameters
    ----------
    grid
        The grid to fill.
    feature_size
        Wavelength of the first octave in metres. If given, the landscape is anchored to the world (see `generate`);
        the default is half of the longer side, and the landscape is fitted to the grid.
    octaves
        Number of octaves, 1 .. 16.
    persistence
        Amplitude of an octave relative to the previous one, 0 .. 1; higher is rougher.
    """
    wavelength, octaves, persistence = _checked(grid, feature_size, octaves, persistence)
    power = sum(persistence ** (2 * i) for i in range(octaves))
    scale = np.float32(1.0 / (6.0 * DEVIATION * power**0.5))

    def fill(x: Coordinates, y: Coordinates, out: Samples) -> None:
        out[...] = 0.0
        workspace = Workspace(out.shape)
        amplitude = 1.0
        for octave in range(octaves):
            samples = workspace.octave(x, y, octave, grid.seed)
            samples *= np.float32(amplitude)
            out += samples
            amplitude *= persistence
        out *= scale
        out += np.float32(0.5)

    return _sample(grid, wavelength, fill)


@generator("ridged", world_option="feature_size")
def ridged(
    grid: Grid, *, feature_size: float | None = None, octaves: int = OCTAVES, persistence: float = 0.5
) -> Samples:
    """Ridged multifractal: the zero lines of gradient noise become crests, rough on top and smooth in the valleys.

    An octave is `(1 - |noise|)²` weighted by twice the octave before (at most 1), after Musgrave. Heights lie
    within 0 .. 1.

    Parameters
    ----------
    grid, feature_size, octaves, persistence
        As for `fbm`.
    """
    wavelength, octaves, persistence = _checked(grid, feature_size, octaves, persistence)
    scale = np.float32(1.0 / sum(persistence**i for i in range(octaves)))

    def fill(x: Coordinates, y: Coordinates, out: Samples) -> None:
        out[...] = 0.0
        workspace = Workspace(out.shape)
        weight = np.ones_like(out)
        amplitude = 1.0
        for octave in range(octaves):
            crest = workspace.octave(x, y, octave, grid.seed)
            np.abs(crest, out=crest)
            crest *= np.float32(-1.0 / BOUND)
            crest += np.float32(1.0)
            crest *= crest
            crest *= weight
            np.minimum(np.float32(2.0) * crest, np.float32(1.0), out=weight)
            crest *= np.float32(amplitude)
            out += crest
            amplitude *= persistence
        out *= scale

    return _sample(grid, wavelength, fill)


def gradient_noise(x: Coordinates, y: Coordinates, key: int) -> Samples:
    """Gradient noise on the unit lattice: 256 unit gradients, quintic fade; 0 at lattice points, within ±√½."""
    x, y = np.broadcast_arrays(x, y)
    workspace = Workspace(x.shape)
    workspace.x[...], workspace.y[...] = x, y
    return workspace.noise(key)


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
        """Noise at the positions in `x` and `y`, in an array that the next call overwrites."""
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


def _sample(grid: Grid, wavelength: float, fill: Callable[[Coordinates, Coordinates, Samples], None]) -> Samples:
    """Fill the grid block by block on all cores; blocks are independent, so their order does not matter."""
    heights = np.empty(grid.shape, dtype=np.float32)
    x = np.arange(grid.columns, dtype=np.float64)[None, :] * grid.cell_size / wavelength
    y = np.arange(grid.rows, dtype=np.float64)[:, None] * grid.cell_size / wavelength
    rows = max(1, _BLOCK // grid.columns)

    def fill_rows(top: int) -> None:
        fill(x, y[top : top + rows], heights[top : top + rows])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill_rows, range(0, grid.rows, rows)))
    return heights


def _checked(grid: Grid, feature_size: float | None, octaves: int, persistence: float) -> tuple[float, int, float]:
    if feature_size is not None:
        feature_size = checks.number(
            "feature_size", feature_size, f"at least one cell, {grid.cell_size:g} m", low=grid.cell_size, units="m"
        )
    wavelength = 0.5 * grid.side if feature_size is None else feature_size
    return (
        wavelength,
        checks.integer("octaves", octaves, 1, LARGEST_OCTAVES),
        checks.fraction("persistence", persistence),
    )
