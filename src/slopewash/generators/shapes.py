"""Shapes with a known outline: test beds, the papers' starting terrains, and the dome that landscapes start from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.generators import checks
from slopewash.generators.noise import FINEST, fbm
from slopewash.generators.registry import Grid, generator
from slopewash.terrain import lattice

Shape = NDArray[np.float64]

BUMPS = 32
"""Bumps of a cone's noise along its side."""
SPURS = 4
"""Spurs of a cylinder along its side."""
CREST = 0.5
"""Share of a cylinder's flank, from the crest down, on which spurs grow to their height."""


@generator("dome")
def dome(grid: Grid, *, noise: float = 0.5, persistence: float = 0.5) -> Shape:
    """Build a raw massif: a smooth dome that falls to all four edges, plus fractal noise.

    Parameters
    ----------
    noise
        Share of the noise in the relief, 0 (a smooth dome) .. 1 (noise alone).
    persistence
        Roughness of the noise, as for `fbm`.
    """
    noise = checks.fraction("noise", noise)
    bumps = fbm(grid, persistence=persistence)
    y, x = centred(grid)
    # Slopes reach right down to every edge: a foot that levels out would leave plains without valleys.
    rise = (1.0 - y * y)[:, None] * (1.0 - x * x)[None, :]
    return (1.0 - noise) * rise + noise * bumps


@generator("cone")
def cone(grid: Grid, *, noise: float = 0.0) -> Shape:
    """Build a circular cone on flat ground, its foot touching the nearer edges: the maps of [Salamin].

    Parameters
    ----------
    noise
        Height of fine bumps on its flank relative to the cone's, 0 (smooth) .. 1; the largest are a 32nd of the side.
    """
    noise = checks.fraction("noise", noise)
    flank = np.maximum(0.0, 1.0 - np.sqrt(_squared_distance(grid)))
    if noise:
        bumps = fbm(grid, feature_size=max(grid.side / BUMPS, FINEST * grid.cell_size)).astype(np.float64) - 0.5
        # They fade out towards the foot, so that the ground around it stays flat.
        flank += noise * np.minimum(1.0, 10.0 * flank) * bumps
    return flank


@generator("hill")
def hill(grid: Grid) -> Shape:
    """Build a smooth round hill that levels out into flat ground at the nearer edges."""
    return _bump(_squared_distance(grid))


@generator("plateau")
def plateau(grid: Grid, *, top: float = 0.5) -> Shape:
    """Build a round flat-topped mountain with smooth flanks.

    Parameters
    ----------
    top
        Radius of the flat top relative to the radius of the foot, 0 .. 1 (1 excluded).
    """
    top = checks.number("top", top, "at least 0 and below 1", low=0.0, high=1.0, open_high=True)
    flank = np.clip((1.0 - np.sqrt(_squared_distance(grid))) / (1.0 - top), 0.0, 1.0)
    return flank * flank * (3.0 - 2.0 * flank)


@generator("bowl")
def bowl(grid: Grid) -> Shape:
    """Build a round parabolic bowl, lowest in the middle and highest in the corners: everything drains inwards."""
    return _squared_distance(grid)


@generator("ramp")
def ramp(grid: Grid) -> Shape:
    """Build an even slope, high in the north and low in the south."""
    return np.repeat(-centred(grid)[0][:, None], grid.columns, axis=1)


@generator("noisy_cylinder")
def noisy_cylinder(
    grid: Grid, *, arc: float = 120.0, noise: float = 0.05, turn: float = 0.0, spurs: float = 0.0
) -> Shape:
    """Build part of a horizontal cylinder covered with white noise, its ridge from west to east [Chiba98, Sec. 3].

    The paper gives no dimensions; these are ours. The cylinder is the same ground at every size, but the noise is not:
    white noise has one grain per cell, so that a finer grid has finer grains of its own. Spurs are the same.

    Parameters
    ----------
    arc
        Angle of the cylinder that the grid shows, in degrees, up to 180.
    noise
        Height of the noise relative to the cylinder's.
    turn
        Angle in degrees by which the ridge is turned clockwise from west-east; the arc then ends at two corners.
    spurs
        Height of spurs and hollows on the flanks relative to the cylinder's; the largest are a quarter of the side.
    """
    arc = checks.number("arc", arc, "above 0 and at most 180", low=0.0, high=180.0, open_low=True, units="degrees")
    noise, spurs = (checks.number(name, it, "at least 0", low=0.0) for name, it in (("noise", noise), ("spurs", spurs)))
    turned = math.radians(checks.number("turn", turn, "finite", units="degrees"))
    half = math.radians(0.5 * arc)
    (rows, columns), (y, x) = grid.full, centred(grid)
    south, west = rows * math.cos(turned), columns * math.sin(turned)
    corner = abs(south) + abs(west)
    # Across the axis the grid spans -sin(half) .. sin(half) of a cylinder of radius 1.
    across = math.sin(half) * ((south / corner) * y[:, None] - (west / corner) * x[None, :])
    profile = (np.sqrt(1.0 - across * across) - math.cos(half)) / (1.0 - math.cos(half))
    shape: Shape = profile + 0.5 * noise * lattice.uniform(*grid.numbers, grid.seed, 0)
    if spurs:
        bumps = fbm(grid, feature_size=max(grid.side / SPURS, FINEST * grid.cell_size)).astype(np.float64) - 0.5
        # They fade out towards the crest: it is level, and every hollow in it would be closed.
        shape += spurs * np.minimum(1.0, np.abs(across) / (CREST * math.sin(half))) * bumps
    return shape


def centred(grid: Grid) -> tuple[Shape, Shape]:
    """Cell centres from -1 to 1, the outer edges of the whole grid, by rows and columns; exactly symmetric."""
    y, x = ((2.0 * at - (cells - 1)) / cells for at, cells in zip(grid.numbers, grid.full, strict=True))
    return y, x


def _squared_distance(grid: Grid) -> Shape:
    """Squared distance from the middle, 1 at the nearer edges."""
    (rows, columns), (y, x) = grid.full, centred(grid)
    y, x = y * (rows / min(rows, columns)), x * (columns / min(rows, columns))
    return (y * y)[:, None] + (x * x)[None, :]


def _bump(squared_distance: Shape) -> Shape:
    """(1 - r²)² within the radius of 1, 0 beyond: a dome that meets the ground without a crease."""
    inside = np.maximum(0.0, 1.0 - squared_distance)
    return inside * inside
