"""Fractal gradient noise, sampled in world metres."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from slopewash.generators import checks
from slopewash.generators.registry import Grid, generator
from slopewash.terrain.noise import BOUND, DEVIATION, Coordinates, Samples, Workspace

OCTAVES = 12
"""From half the side down to one cell of a 4096² grid; fixed, so that finer grids repeat coarser ones."""

# Lattice positions stay below 2^31 up to here, for any grid that fits in memory.
LARGEST_OCTAVES = 16

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
