"""What the rules of paint read: layers of a terrain in units that suit any size and relief."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis import slope
from slopewash.rendering.grid import filled
from slopewash.rendering.ground import SUNNY_LINE
from slopewash.rendering.palettes import Season, find_palette
from slopewash.rendering.scene import snow_level
from slopewash.rendering.shape import shape_of
from slopewash.terrain import Terrain

Floats = NDArray[np.float32]
Quantities = Mapping[str, Floats]
SnowLine = float | Literal["auto"] | None

WORN = 0.98
"""Quantile of the erosion that counts as 1."""
ORDINARY, LARGEST = 0.5, 0.995
"""Quantiles of the flow that count as 0 and 1, on a logarithmic scale."""


def quantities_of(terrain: Terrain, *, palette: str, season: Season | None, snow_line: SnowLine) -> Quantities:
    """Collect what is known of a terrain.

    | quantity | unit |
    |---|---|
    | slope | degrees |
    | wear | 1 at the 98 % quantile of the erosion |
    | deposit | cells of thickness |
    | flow | logarithm: 0 at the median, 1 at the 99.5 % quantile |
    | water | cells of depth of rivers and lakes, or else of the simulated water |
    | snow | height above the snow line, as a fraction of the relief; lower on sunny slopes |
    """
    elevation = filled(terrain, "elevation")
    found: dict[str, Floats | None] = {
        "slope": slope(elevation, terrain.cell_size),
        "wear": _layer(terrain, "wear", _worn),
        "deposit": _layer(terrain, "deposit", lambda layer: layer / np.float32(terrain.cell_size)),
        "flow": _layer(terrain, "flow" if "flow" in terrain else "drainage", _gathered),
        "water": _water(terrain),
        "snow": _snow(terrain, elevation, palette, season, snow_line),
    }
    return {name: values for name, values in found.items() if values is not None}


def _layer(terrain: Terrain, name: str, convert: Callable[[Floats], Floats]) -> Floats | None:
    if name not in terrain or not terrain[name].any():
        return None
    return convert(np.maximum(filled(terrain, name), 0))


def _worn(wear: Floats) -> Floats:
    return wear / np.float32(max(float(np.quantile(wear, WORN)), 1e-6))


def _gathered(flow: Floats) -> Floats:
    low, high = (float(v) for v in np.log(np.maximum(np.quantile(flow, [ORDINARY, LARGEST]), 1e-12)))
    gathered: Floats = (np.log(np.maximum(flow, np.float32(1e-12))) - np.float32(low)) / np.float32(
        max(high - low, 1e-6)
    )
    return gathered


def water_depth(terrain: Terrain) -> Floats | None:
    """Depth in metres of the rivers and lakes of `add_water`, or else of the simulated water; None without any."""
    names = [name for name in ("river", "lake") if name in terrain] or [name for name in ("water",) if name in terrain]
    depths = [filled(terrain, name) for name in names]
    if not any(depth.any() for depth in depths):
        return None
    return np.maximum.reduce(depths)


def _water(terrain: Terrain) -> Floats | None:
    depth = water_depth(terrain)
    return None if depth is None else depth / np.float32(terrain.cell_size)


def _snow(
    terrain: Terrain, elevation: Floats, palette: str, season: Season | None, snow_line: SnowLine
) -> Floats | None:
    from slopewash.rendering.light import normals

    shape = shape_of(elevation, terrain.cell_size, normals(elevation, terrain.cell_size))
    line = snow_level(snow_line, find_palette(palette, season), shape)
    if line is None:
        return None
    height: Floats = (elevation - np.float32(shape.low)) / np.float32(max(shape.relief, 1e-6)) - np.float32(line)
    sunny: Floats = height - np.float32(SUNNY_LINE) * shape.southward  # as pictures do
    return sunny
