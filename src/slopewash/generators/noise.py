"""Fractal gradient noise, sampled at cell centres in world metres."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from slopewash.generators import checks
from slopewash.generators.registry import Grid, generator
from slopewash.terrain.noise import BOUND, DEVIATION, Coordinates, Samples, Workspace

FINEST = 2.0
"""Wavelength in cells from which a grid shows an octave in full; one of half of it would be noise from cell to cell."""

NOMINAL_OCTAVES = 12
"""Octaves by which heights are scaled, whichever of them a grid shows: from half the side to a cell of a 4096² grid."""

# Lattice positions stay below 2^31 up to here, for any grid that fits in memory.
LARGEST_OCTAVES = 16

# Points per block: few enough for temporaries to stay in cache, enough that threads seldom wait for the interpreter.
_BLOCK = 131072


@generator("fbm", world_option="feature_size")
def fbm(
    grid: Grid, *, feature_size: float | None = None, octaves: int | None = None, persistence: float = 0.5
) -> Samples:
    """Fractional Brownian motion: octaves of gradient noise, each of half the wavelength.

    The mean is ½, and three standard deviations either way span the nominal 0 .. 1; a wide window exceeds it in places.

    Parameters
    ----------
    feature_size
        Wavelength of the first octave in metres. If given, the landscape is anchored to the world (see `generate`);
        the default is half of the longer side, and the landscape is fitted to the grid.
    octaves
        Number of octaves, 1 .. 16. The default is those that the grid can show, down to a wavelength of two cells: a
        finer grid has the octaves of a coarser one and finer ones.
    persistence
        Amplitude of an octave relative to the previous one, 0 .. 1; higher is rougher.
    """
    wavelength, amplitudes, nominal = _checked(grid, feature_size, octaves, persistence)
    scale = np.float32(1.0 / (6.0 * DEVIATION * sum(a * a for a in nominal) ** 0.5))

    def fill(x: Coordinates, y: Coordinates, out: Samples) -> None:
        out[...] = 0.0
        workspace = Workspace(out.shape)
        for octave, amplitude in enumerate(amplitudes):
            samples = workspace.octave(x, y, octave, grid.seed)
            samples *= np.float32(amplitude)
            out += samples
        out *= scale
        out += np.float32(0.5)

    return _sample(grid, wavelength, fill)


@generator("ridged", world_option="feature_size")
def ridged(
    grid: Grid, *, feature_size: float | None = None, octaves: int | None = None, persistence: float = 0.5
) -> Samples:
    """Ridged multifractal: the zero lines of gradient noise become crests, rough on top and smooth in the valleys.

    An octave is `(1 - |noise|)²` weighted by twice the octave before (at most 1), after Musgrave. Heights lie
    within 0 .. 1.

    Parameters
    ----------
    feature_size
        Wavelength of the first octave in metres. If given, the landscape is anchored to the world (see `generate`);
        the default is half of the longer side, and the landscape is fitted to the grid.
    octaves
        Number of octaves, 1 .. 16. The default is those that the grid can show, down to a wavelength of two cells: a
        finer grid has the octaves of a coarser one and finer ones.
    persistence
        Amplitude of an octave relative to the previous one, 0 .. 1; higher is rougher.
    """
    wavelength, amplitudes, nominal = _checked(grid, feature_size, octaves, persistence)
    scale = np.float32(1.0 / sum(nominal))

    def fill(x: Coordinates, y: Coordinates, out: Samples) -> None:
        out[...] = 0.0
        workspace = Workspace(out.shape)
        weight = np.ones_like(out)
        for octave, amplitude in enumerate(amplitudes):
            crest = workspace.octave(x, y, octave, grid.seed)
            np.abs(crest, out=crest)
            crest *= np.float32(-1.0 / BOUND)
            crest += np.float32(1.0)
            crest *= crest
            crest *= weight
            np.minimum(np.float32(2.0) * crest, np.float32(1.0), out=weight)
            crest *= np.float32(amplitude)
            out += crest
        out *= scale

    return _sample(grid, wavelength, fill)


def _sample(grid: Grid, wavelength: float, fill: Callable[[Coordinates, Coordinates, Samples], None]) -> Samples:
    """Fill the grid block by block on all cores; blocks are independent, so their order does not matter."""
    heights = np.empty(grid.shape, dtype=np.float32)
    row, column = (numbers.astype(np.float64) for numbers in grid.numbers)
    x = (column + 0.5)[None, :] * grid.cell_size / wavelength
    y = (row + 0.5)[:, None] * grid.cell_size / wavelength
    rows = max(1, _BLOCK // grid.columns)

    def fill_rows(top: int) -> None:
        fill(x, y[top : top + rows], heights[top : top + rows])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill_rows, range(0, grid.rows, rows)))
    return heights


def _checked(
    grid: Grid, feature_size: float | None, octaves: int | None, persistence: float
) -> tuple[float, list[float], list[float]]:
    """Wavelength in metres, amplitudes of the octaves to sum, and those to scale by."""
    if feature_size is not None:
        feature_size = checks.number(
            "feature_size", feature_size, f"at least one cell, {grid.cell_size:g} m", low=grid.cell_size, units="m"
        )
    wavelength = 0.5 * grid.side if feature_size is None else feature_size
    persistence = checks.fraction("persistence", persistence)
    if octaves is not None:
        amplitudes = [persistence**i for i in range(checks.integer("octaves", octaves, 1, LARGEST_OCTAVES))]
        return wavelength, amplitudes, amplitudes
    shares = _visible_shares(wavelength / grid.cell_size)
    amplitudes = [share * persistence**i for i, share in enumerate(shares)]
    return wavelength, amplitudes, [persistence**i for i in range(NOMINAL_OCTAVES)]


def _visible_shares(cells: float) -> list[float]:
    """How much of each octave a grid shows, of which the first has a wavelength of so many cells and counts in full.

    The last one fades in, so that a few cells more do not make the ground rougher at once.

    >>> _visible_shares(8.0), [round(share, 2) for share in _visible_shares(12.0)]
    ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.58])
    """
    finer = math.log2(max(2.0 * cells / FINEST, 1.0))
    shares = (min(finer - octave, 1.0) for octave in range(1, LARGEST_OCTAVES))
    # A rounding error of the cell size makes no octave.
    return [1.0, *(share for share in shares if share > 1e-9)]
