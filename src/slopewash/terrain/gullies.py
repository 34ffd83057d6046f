"""Fine gullies along the fall line, drawn without a simulation: a finishing touch for slopes.

Stripes that run down the slope are the sum of cosine waves around points scattered over the ground. Each wave has its
crests across the slope, a wavelength apart, and fades with the distance from its point, so that stripes begin, end
and shift against each other as gullies do. Every wavelength is half the one before, and follows the ground with the
gullies before it, so that small gullies lead into large ones. Points and waves are a function of position in metres
and of the random seed.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.terrain import lattice
from slopewash.terrain.terrain import Terrain

Heights: TypeAlias = NDArray[np.float64]

USUAL_WAVELENGTH, USUAL_CELLS = 12 / 512, 6.0
"""Distance of the largest gullies, as a share of the terrain's longer side, and the least cells that this may be."""
SHORTEST, MOST_OCTAVES = 5.0, 2
"""Least cells from gully to gully, and the number of wavelengths: shorter ones would be noise."""
HEIGHT = 0.125
"""Height of a wave on a slope of one, relative to its wavelength."""
STEEPEST = 1.2
"""Slope above which gullies become no deeper."""
GENTLEST, FADING = 0.12, 0.3
"""Slope at which gullies begin, and over how much more they reach their full depth: valley floors have none."""
SUNK = 0.3
"""How far waves are lowered, relative to their height: gullies are cut more than ribs are raised."""
AROUND = 2
"""Points of the lattice on each side of a cell whose waves count; the next has a weight below exp(-4.5)."""
JITTER = 1.0
"""How far points stray from the lattice, from side to side, relative to their distance."""
TURN = complex(12.0, 5.0) / 13.0
"""Direction of the lattice: 22.6 degrees, so that its axes and diagonals are equally far from those of the grid."""
DEEPEST = 2.0
"""Largest depth: beyond it, gullies are deeper than they are wide, and ribs stand like blades."""
BLUR = 1 / 6
"""Deviation of the average over which the slope is taken, relative to the wavelength."""
DEEP = 0.02
"""Depth of water, relative to the wavelength, that no gully is cut below."""
ROWS = 64
"""Rows that are worked on at a time, so that they fit into the cache."""


def add_gullies(
    terrain: Terrain,
    *,
    depth: float = 0.5,
    wavelength: float | None = None,
    seed: int = 0,
    origin: tuple[int, int] = (0, 0),
) -> Terrain:
    """Return the terrain with fine gullies on its slopes.

    Nothing is simulated: mass is not conserved, and no sediment arrives below. Layers that hold the change since the
    start (`difference`, `wear`, `deposit`) include the gullies, and `bedrock` keeps its depth below the ground.

    Parameters
    ----------
    terrain
        The ground.
    depth
        1 cuts gullies about a sixth as deep as they are far apart, on a slope of one; 0 leaves the ground as it is, and
        2 is the most.
    wavelength
        Distance of the largest gullies in metres; by default 12/512 of the longer side, or six cells if that is more.
        Then come gullies of half of it, where the cells are fine enough: at least 5 cells from one to the next.
    seed
        Random seed.
    origin
        Row and column of the first cell in a larger terrain of which this is a part. Parts that overlap by two
        wavelengths agree in between.

    >>> import slopewash as sw
    >>> slope = sw.Terrain(np.arange(64.0)[:, None] * np.full(64, 5.0), cell_size=10.0)
    >>> carved = add_gullies(slope, wavelength=120.0, seed=1)
    >>> bool((carved["elevation"] - slope["elevation"])[32].std() > 1)
    True
    """
    if not 0 <= depth <= DEEPEST:
        raise InvalidParameter(f"depth is {depth}; it must be within 0 .. {DEEPEST:g}, and 0.5 is a good one")
    usual = usual_wavelength(terrain.width, terrain.height, terrain.cell_size)
    longest = usual if wavelength is None else wavelength
    if not (math.isfinite(longest) and longest > 0):
        raise InvalidParameter(f"wavelength is {wavelength} m; it must be finite and positive")
    if depth == 0:
        return terrain
    z = terrain["elevation"].astype(np.float64)
    ground = np.ones_like(z) if terrain.nodata is None else (~terrain.nodata).astype(np.float64)
    water = terrain.get("water")
    for octave, length in enumerate(wavelengths(longest, terrain.cell_size)):
        datum = z[ground > 0].min() if ground.any() else 0.0
        key = lattice.key(seed, octave)
        z += depth * layer_of_gullies(z, ground, water, terrain.cell_size, length, key, origin, datum)
    return carved(terrain, z)


def usual_wavelength(width: float, height: float, cell_size: float) -> float:
    """Distance of the largest gullies on a terrain of that extent."""
    return max(USUAL_WAVELENGTH * max(width, height), USUAL_CELLS * cell_size)


def wavelengths(longest: float, cell_size: float) -> list[float]:
    """Every wavelength, from the longest to those that the cells are just fine enough for."""
    lengths = [longest * 0.5**octave for octave in range(MOST_OCTAVES)]
    return [length for length in lengths if length >= SHORTEST * cell_size]


def reach_of_gullies(length: float, cell_size: float) -> int:
    """Cells around a cell that its gullies of one wavelength depend on: by the slope of the averaged ground."""
    return _reach(BLUR * length / cell_size) + 1


def carved(terrain: Terrain, elevation: Heights) -> Terrain:
    """The terrain with another elevation, and what depends on it."""
    change = elevation.astype(np.float32) - terrain["elevation"]
    layers = {"elevation": terrain["elevation"] + change}
    if "bedrock" in terrain:
        layers["bedrock"] = terrain["bedrock"] + change
    if "difference" in terrain:
        layers["difference"] = terrain["difference"] + change
    if "wear" in terrain and "deposit" in terrain:
        total = terrain["deposit"] - terrain["wear"] + change
        layers |= {"wear": np.maximum(-total, 0), "deposit": np.maximum(total, 0)}
    return terrain.replace(**layers)


def layer_of_gullies(
    z: Heights,
    ground: Heights,
    water: NDArray[np.float32] | None,
    cell: float,
    length: float,
    key: int,
    origin: tuple[int, int],
    datum: float,
) -> Heights:
    """Change of the ground by gullies of one wavelength, in metres; `ground` is 0 in nodata, `datum` the lowest."""
    south, east = _gradient(z, ground, BLUR * length / cell, cell, datum)
    slope = np.hypot(south, east)
    strength = HEIGHT * length * np.minimum(slope, STEEPEST) * np.clip((slope - GENTLEST) / FADING, 0, 1) * ground
    if water is not None:
        strength *= np.clip(1 - water / (DEEP * length), 0, 1)
    # Along a contour line; where the ground is level the strength is 0, and any direction will do.
    scale = 1 / np.maximum(slope, 1e-12)
    along_x, along_y = -south * scale, east * scale
    change = np.zeros_like(z)
    for first in range(0, z.shape[0], ROWS):
        block = slice(first, first + ROWS)
        if not strength[block].any():
            continue
        rows = np.arange(first, min(first + ROWS, z.shape[0])) + origin[0]
        columns = np.arange(z.shape[1]) + origin[1]
        x, y = (np.asarray((cells + 0.5) * (cell / length), np.float64) for cells in (columns, rows))
        waves = _waves(x[None, :], y[:, None], along_x[block], along_y[block], key)
        change[block] = strength[block] * (waves - SUNK)
    return change


def _waves(x: Heights, y: Heights, along_x: Heights, along_y: Heights, key: int) -> Heights:
    """Mean of the waves around a cell, between -1 and 1; x (a row) and y (a column) are in wavelengths."""
    # The lattice is turned and shifted, or points would stand in rows along the grid.
    x, y = _turned(x + (key & 0xFFFF) / 64.0, y + (key >> 16) / 64.0)
    along_x, along_y = _turned(along_x, along_y)
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    columns, rows = (np.arange(at.min() - AROUND, at.max() + AROUND + 1) for at in (column, row))
    numbers = lattice.scramble(lattice.point_numbers(rows, columns), key)
    # Sixteen bits for each coordinate of a point.
    point_x = (columns + 0.5 + JITTER * ((numbers & 0xFFFF) / 65536 - 0.5)).ravel()
    point_y = (rows[:, None] + 0.5 + JITTER * ((numbers >> 16) / 65536 - 0.5)).ravel()
    nearest = (row - rows[0]) * columns.size + (column - columns[0])
    total, weights = np.zeros(along_x.shape), np.zeros(along_x.shape)
    for down in range(-AROUND, AROUND + 1):
        for right in range(-AROUND, AROUND + 1):
            at = nearest + (down * columns.size + right)
            dx, dy = x - point_x[at], y - point_y[at]
            weight = np.exp(-2 * (dx * dx + dy * dy))
            total += weight * np.cos(2 * np.pi * (dx * along_x + dy * along_y))
            weights += weight
    return total / weights


def _turned(x: Heights, y: Heights) -> tuple[Heights, Heights]:
    """Coordinates in the frame of the lattice."""
    return TURN.real * x - TURN.imag * y, TURN.imag * x + TURN.real * y


def _gradient(z: Heights, ground: Heights, deviation: float, cell_size: float, datum: float) -> tuple[Heights, Heights]:
    """Slope to the south and to the east of the ground averaged with its surroundings, nodata left out."""
    share = _blurred(ground, deviation)
    smooth = datum + _blurred((z - datum) * ground, deviation) / np.where(share > 0, share, 1)
    south, east = np.zeros_like(z), np.zeros_like(z)
    if z.shape[0] > 1:
        south = np.gradient(smooth, cell_size, axis=0)
    if z.shape[1] > 1:
        east = np.gradient(smooth, cell_size, axis=1)
    return south, east


def _blurred(values: Heights, deviation: float) -> Heights:
    """Average with weights of a Gaussian."""
    reach = _reach(deviation)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padded = np.pad(values, [(reach, reach) if k == axis else (0, 0) for k in (0, 1)], mode="edge")
        length = values.shape[axis]
        values = sum(
            (weight * (padded[k : k + length] if axis == 0 else padded[:, k : k + length])
             for k, weight in enumerate(weights)), start=np.zeros_like(values),
        )  # fmt: skip
    return values


def _reach(deviation: float) -> int:
    """Cells each way over which the ground is averaged."""
    return max(1, math.ceil(3 * deviation))
