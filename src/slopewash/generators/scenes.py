"""Starts with a plan: a mountain front, the edge of a plateau, a volcano, islands. Erosion makes landscapes of them."""

from __future__ import annotations

import numpy as np

from slopewash.generators import checks
from slopewash.generators.noise import fbm, ridged
from slopewash.generators.registry import Grid, generator
from slopewash.generators.shapes import Shape, centred
from slopewash.needs import Cost
from slopewash.patience import patiently

SHORE = 0.4
"""Height of the shore of islands, as a share of the relief."""


@generator("front")
def front(grid: Grid, *, noise: float = 0.35, foot: float = 0.55, plain: float = 0.06) -> Shape:
    """Build a mountain front: rough mountains in the north, which end at a plain that falls gently to the south.

    Parameters
    ----------
    noise
        Share of the noise in the relief, 0 .. 1.
    foot
        Where the mountains end, as a share of the way from the north to the south, 0 .. 1.
    plain
        Fall of the plain from the north to the south, as a share of the relief, 0 .. 1.
    """
    noise, foot, plain = checks.fraction("noise", noise), checks.fraction("foot", foot), checks.fraction("plain", plain)
    y, x = _shares(grid)
    bumps = fbm(grid) - 0.5
    line = foot + 0.06 * np.sin(7.0 * x + 1.0 + grid.seed % 1000) + 0.25 * bumps  # the front is no straight line
    rise = _smooth((line - y) / 0.4)
    return plain * (1.0 - y) + (1.0 - noise) * 0.9 * rise + noise * 2.0 * bumps * np.sqrt(rise)


@generator("scarp")
def scarp(
    grid: Grid, *, noise: float = 0.15, edge: float = 0.5, steepness: float = 6.0, tilt: float = 0.12, bays: float = 0.9
) -> Shape:
    """Build the edge of a plateau: high and almost level in the north, low in the south, with bays and spurs between.

    Parameters
    ----------
    noise
        Share of the noise in the relief, 0 .. 1.
    edge
        Where the plateau ends, as a share of the way from the north to the south, 0 .. 1.
    steepness
        Height of the edge over its width, both as shares of the whole; 1 .. 50.
    tilt
        Fall of the ground from the north to the south besides the edge, as a share of the relief, 0 .. 1.
    bays
        How far noise moves the edge back and forth, at least 0: much of it leaves hills in front of the plateau.
    """
    noise, edge, tilt = checks.fraction("noise", noise), checks.fraction("edge", edge), checks.fraction("tilt", tilt)
    bays = checks.number("bays", bays, "at least 0", low=0.0)
    steepness = checks.number("steepness", steepness, "from 1 to 50", low=1.0, high=50.0)
    y, _ = _shares(grid)
    bumps = fbm(grid) - 0.5
    step = _smooth(0.5 + steepness * (edge - y + bays * bumps))
    return tilt * (1.0 - y) + (1.0 - tilt) * (1.0 - noise) * step + noise * bumps * (0.4 + step)


@generator("volcano")
def volcano(grid: Grid, *, noise: float = 0.12, crater: float = 0.08, width: float = 1.0) -> Shape:
    """Build a volcano that falls, ever gentler, to all sides: flanks that are concave, a crater, side vents.

    Parameters
    ----------
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
    random = _random(grid)
    lean, open_side = random.uniform(-0.06, 0.06, 2), random.uniform(0.0, 2.0 * np.pi)
    south, east = y - 0.5 - lean[0], x - 0.5 - lean[1]
    r = 2.0 * np.hypot(south, east) + 0.16 * bumps
    rim = 2.0 * crater
    cone = np.exp(-3.2 * np.maximum(r, rim) / width)
    inside = _smooth(1.3 * (1.0 - r / max(rim, 1e-9)))
    # Open to one side, where a valley leaves it: water in a closed crater would cut its way out anyhow.
    toward = np.cos(np.arctan2(south, east) - open_side)
    gap = _smooth((toward - 0.75) / 0.25) * np.exp(-(((r - rim) / rim) ** 2)) if rim else 0.0
    return cone - 0.5 * np.maximum(inside, 0.6 * gap) * np.exp(-3.2 * rim / width) + noise * bumps


@generator(
    "islands", by_position=False, cost=Cost(46, 375e-9, fixed=55e6)
)  # the shore lies at a quantile of all heights
def islands(grid: Grid, *, roughness: float = 0.2, land: float = 0.35) -> Shape:
    """Build islands of all sizes and straits between them; the shore lies at two fifths of the relief.

    Parameters
    ----------
    roughness
        Share of ridges in the noise, 0 .. 1.
    land
        Share of the ground above the shore, above 0 and below 1.
    """
    roughness = checks.fraction("roughness", roughness)
    land = checks.number("land", land, "above 0 and below 1", low=0.0, high=1.0, open_low=True, open_high=True)
    y, x = _shares(grid)
    size = _length(grid, 0.22)
    heights = (1.0 - roughness) * fbm(grid, feature_size=size) + roughness * ridged(grid, feature_size=size)
    out = np.maximum(np.abs(2.0 * y - 1.0), np.abs(2.0 * x - 1.0))
    heights = heights - 0.4 * out**8  # open sea around
    # By rank and not by height: any seed has its share of land.
    shore = patiently(lambda: np.quantile(heights, 1.0 - land), heights.size, "finding the shore")
    above = SHORE + (1.0 - SHORE) * (heights - shore) / max(heights.max() - shore, 1e-9)
    below = SHORE * (heights - heights.min()) / max(shore - heights.min(), 1e-9)
    return np.where(heights > shore, above, below)


@generator("coast", cost=Cost(13, 380e-9, fixed=55e6))
def coast(grid: Grid, *, edge: float = 0.5, steepness: float = 14.0, stacks: float = 0.5) -> Shape:
    """Build a cliffed coast: a plateau in the north, bays and headlands, rocks in the shallow sea before them.

    Parameters
    ----------
    edge
        Where the plateau ends, as a share of the way from the north to the south, 0 .. 1.
    steepness
        Height of the cliffs over their width, both as shares of the whole; 1 .. 50.
    stacks
        How much the shore is broken up into rocks, 0 .. 1.
    """
    edge, stacks = checks.fraction("edge", edge), checks.fraction("stacks", stacks)
    steepness = checks.number("steepness", steepness, "from 1 to 50", low=1.0, high=50.0)
    y, _ = _shares(grid)
    bumps = fbm(grid) - 0.5
    inland = edge - y + 0.9 * bumps
    near = np.exp(-((inland / 0.1) ** 2))
    inland = inland + 0.35 * stacks * near * (fbm(grid, feature_size=_length(grid, 1 / 12)) - 0.5)
    step = _smooth(0.5 + steepness * inland)
    floor = 0.16 * _smooth(1.0 + inland / 0.5)
    return floor + step * (0.4 + 0.35 * _smooth(inland / 0.7) + 0.25 * (bumps + 0.3))


@generator("range")
def mountain_range(grid: Grid, *, noise: float = 0.5) -> Shape:
    """Build a winding mountain range from west to east that falls to the north and the south.

    Parameters
    ----------
    noise
        Share of the noise in the relief, 0 .. 1.
    """
    noise = checks.fraction("noise", noise)
    y, x = _shares(grid)
    lean, wave = _random(grid).uniform(-1.0, 1.0, 2)
    crest = 0.5 + 0.25 * lean * (x - 0.5) + 0.09 * np.sin(2.0 * np.pi * (x + wave))
    rise = 1.0 - np.minimum(np.abs(y - crest) / 0.7, 1.0) ** 1.3
    bumps = 0.4 * fbm(grid) + 0.6 * ridged(grid, feature_size=_length(grid, 0.35))
    return (1.0 - noise) * rise + noise * bumps * (0.4 + 0.6 * rise)


@generator("troughs")
def troughs(grid: Grid, *, depth: float = 0.75, breadth: float = 0.5) -> Shape:
    """Build a highland cut by deep, winding, branching troughs, as glaciers leave them; it falls to the south.

    Parameters
    ----------
    depth
        Depth of the troughs as a share of the height of the highland, 0 .. 1.
    breadth
        How wide they are, 0 .. 1.
    """
    depth, breadth = checks.fraction("depth", depth), checks.fraction("breadth", breadth)
    y, _ = _shares(grid)
    # The crests of one octave of ridged noise, upside down.
    lines = ridged(grid, feature_size=_length(grid, 0.55), octaves=1).astype(np.float64)
    cut = _smooth((lines - 0.95 + 0.5 * breadth) / 0.32)
    highland = 0.55 + 0.25 * (1.0 - y) + 0.5 * (ridged(grid, feature_size=_length(grid, 0.3)) - 0.5)
    return highland * (1.0 - depth * cut) + 0.12 * (1.0 - y) * cut


def _shares(grid: Grid) -> tuple[Shape, Shape]:
    """Position of cell centres as shares of the way from the north and from the west."""
    y, x = centred(grid)
    return 0.5 + 0.5 * y[:, None], 0.5 + 0.5 * x[None, :]


def _length(grid: Grid, share: float) -> float:
    """A share of the side in metres, at least one cell."""
    return max(share * grid.side, grid.cell_size)


def _random(grid: Grid) -> np.random.Generator:
    """Random numbers by the seed, which may be negative."""
    return np.random.default_rng(grid.seed if grid.seed >= 0 else (-grid.seed, 1))


def _smooth(t: Shape) -> Shape:
    """From 0 at 0 to 1 at 1, without a crease."""
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
