"""Starts with a plan: a mountain front, the edge of a plateau, a volcano, islands. Erosion makes landscapes of them."""

from __future__ import annotations

import numpy as np

from slopewash.generators import checks
from slopewash.generators.noise import fbm, ridged
from slopewash.generators.registry import Grid, generator
from slopewash.generators.shapes import Shape, centred


@generator("front")
def front(grid: Grid, *, noise: float = 0.35, foot: float = 0.55) -> Shape:
    """Build a mountain front: rough mountains in the north, which end at a plain that falls gently to the south.

    Parameters
    ----------
    grid
        The grid to fill.
    noise
        Share of the noise in the relief, 0 .. 1.
    foot
        Where the mountains end, as a share of the way from the north to the south, 0 .. 1.
    """
    noise, foot = checks.fraction("noise", noise), checks.fraction("foot", foot)
    y, x = _shares(grid)
    bumps = fbm(grid) - 0.5
    line = foot + 0.06 * np.sin(7.0 * x + 1.0 + grid.seed) + 0.25 * bumps  # the front is no straight line
    rise = _smooth((line - y) / 0.4)
    plain = 0.1 * (1.0 - y)
    return plain + (1.0 - noise) * 0.9 * rise + noise * 2.0 * bumps * np.sqrt(rise)


@generator("scarp")
def scarp(grid: Grid, *, noise: float = 0.15, edge: float = 0.5, steepness: float = 6.0) -> Shape:
    """Build the edge of a plateau: high and almost level in the north, low in the south, with bays and spurs between.

    Parameters
    ----------
    grid
        The grid to fill.
    noise
        Share of the noise in the relief, 0 .. 1.
    edge
        Where the plateau ends, as a share of the way from the north to the south, 0 .. 1.
    steepness
        Height of the edge over its width, both as shares of the whole; 1 .. 50.
    """
    noise, edge = checks.fraction("noise", noise), checks.fraction("edge", edge)
    steepness = checks.number("steepness", steepness, "from 1 to 50", low=1.0, high=50.0)
    y, _ = _shares(grid)
    bumps = fbm(grid) - 0.5
    step = _smooth(0.5 + steepness * (edge - y + 0.9 * bumps))
    return 0.12 * (1.0 - y) + (0.88 - noise) * step + noise * bumps * (0.4 + step)


@generator("volcano")
def volcano(grid: Grid, *, noise: float = 0.12, crater: float = 0.07, width: float = 0.8) -> Shape:
    """Build a volcano that falls, ever gentler, to all sides: flanks that are concave, a crater, side vents.

    Parameters
    ----------
    grid
        The grid to fill.
    noise
        Share of the noise in the relief, 0 .. 1.
    crater
        Radius of the crater as a share of the side, 0 .. 1.
    width
        Radius at which the flanks level out as a share of half the side, above 0.
    """
    noise, crater = checks.fraction("noise", noise), checks.fraction("crater", crater)
    width = checks.positive("width", width)
    bumps = fbm(grid) - 0.5
    y, x = _shares(grid)
    lean = np.random.default_rng(grid.seed).uniform(-0.06, 0.06, 2)
    r = 2.0 * np.hypot(y - 0.5 - lean[0], x - 0.5 - lean[1]) + 0.16 * bumps
    cone = np.exp(-3.2 * r / width)
    rim = np.exp(-3.2 * 2.0 * crater / width)
    bowl = rim - 0.25 * rim * _smooth(1.0 - r / max(2.0 * crater, 1e-9))
    return np.minimum(cone, bowl + 0.25 * np.maximum(cone - rim, 0.0)) + noise * bumps


@generator("islands")
def islands(grid: Grid, *, roughness: float = 0.5, land: float = 0.5) -> Shape:
    """Build islands of several sizes: noise that sinks towards all edges, flat where it would be sea floor.

    Parameters
    ----------
    grid
        The grid to fill.
    roughness
        Share of ridges in the noise, 0 .. 1.
    land
        Height that the middle is lifted by, 0 .. 1: more makes larger islands.
    """
    roughness, land = checks.fraction("roughness", roughness), checks.fraction("land", land)
    y, x = _shares(grid)
    size = grid.side / 3
    heights = (1.0 - roughness) * fbm(grid, feature_size=size) + roughness * ridged(grid, feature_size=size)
    out = np.maximum(np.abs(2.0 * y - 1.0), np.abs(2.0 * x - 1.0))
    return heights + land * (1.0 - out**3) - 0.9 * out**6


def _shares(grid: Grid) -> tuple[Shape, Shape]:
    """Position of cell centres as shares of the way from the north and from the west."""
    return 0.5 + 0.5 * centred(grid.rows)[:, None], 0.5 + 0.5 * centred(grid.columns)[None, :]


def _smooth(t: Shape) -> Shape:
    """From 0 at 0 to 1 at 1, without a crease."""
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
