"""The model's state in cell units, and the door through which a terrain comes in and goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.base import Edges
from slopewash.models.virtual_pipes.base_level import EdgeBase, edge_base
from slopewash.models.virtual_pipes.coefficients import WALL
from slopewash.models.virtual_pipes.layers import Layers, enter_layers, expose
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.terrain import Terrain, erodibility_from_elevation

Field = NDArray[Any]
"""A float32 field; the reference also runs in float64."""

FINE_NOISE = 0.15
"""Amplitude of the fine erodibility noise of the `landscape` preset."""


@dataclass
class Tally:
    """What happened, in cells³ of water and of soil, each summed where it happens."""

    rain: float = 0.0
    sources: float = 0.0
    evaporated: float = 0.0
    water_exported: float = 0.0
    solids_exported: float = 0.0
    moved: float = 0.0


@dataclass
class State:
    """Fields of one run, `[row, column]`, all lengths in cells; letters are the paper's."""

    b: Field
    """ground above the datum"""
    w: Field
    """water"""
    s: Field
    """suspended sediment"""
    R: Field
    """erodibility; with strata, of what is exposed"""
    f: Field
    """outflow through the four pipes: west, east, north, south"""
    r: Field
    """rainfall relative to `rain_rate`"""
    source: Field | None
    """depth from springs per unit of time"""
    base: EdgeBase
    b0: Field
    """ground at the start"""
    flow: Field
    """discharge summed over the iterations done"""
    rock: Field | None = None
    """with strata: the bedrock's surface, the lowest the ground ever was"""
    layers: Layers | None = None
    """strata, if there are any"""
    iterations: int = 0
    tally: Tally = field(default_factory=Tally)
    water_start: float = 0.0
    solids_start: float = 0.0


def enter(terrain: Terrain, model: VirtualPipes, *, edges: Edges, seed: int, dtype: Any = np.float32) -> State:
    """Convert a terrain in metres to a state in cells above its own lowest ground.

    The datum is subtracted because float32 at 2000 m has a hundred times less room for small changes.
    """
    l = terrain.cell_size  # noqa: E741, the paper's letter
    wall = terrain.nodata

    def cells(name: str, offset: float = 0.0) -> Field:
        if name not in terrain:
            return np.zeros(terrain.shape, dtype)
        return ((terrain[name].astype(np.float64) - offset) / l).astype(dtype)

    b = cells("elevation", datum(terrain))
    w, s = cells("water"), cells("suspended")
    layers = enter_layers(terrain, model, datum(terrain), dtype)
    if layers is None:
        rock, R = None, _erodibility(terrain, model, seed).astype(dtype)
    else:
        rock = np.minimum(cells("bedrock", datum(terrain)), b) if "bedrock" in terrain else b.copy()
        R = expose(b, rock, layers)
    r = terrain["rainfall"].astype(dtype) if "rainfall" in terrain else np.ones(terrain.shape, dtype)
    source = springs(terrain, dtype)
    if wall is not None:
        for layer, value in ((b, WALL), (rock, WALL), (w, 0), (s, 0), (R, 0), (r, 0), (source, 0)):
            if layer is not None:
                layer[wall] = value
    state = State(
        b=b, w=w, s=s, R=R, f=np.zeros((4, *terrain.shape), dtype), r=r, source=source,
        base=edge_base(b, graded=model.edge_base == "graded"), b0=b.copy(), flow=np.zeros(terrain.shape, dtype),
        rock=rock, layers=layers,
    )  # fmt: skip
    state.water_start = total(w)
    state.solids_start = total(ground(b)) + total(s)
    return state


def springs(terrain: Terrain, dtype: Any) -> Field | None:
    """Depth that all springs add per unit of time, in cells."""
    if not terrain.sources:
        return None
    source = np.zeros(terrain.shape, dtype)
    for spring in terrain.sources:
        source += spring.footprint(terrain.shape, terrain.cell_size) * dtype(spring.rate / terrain.cell_size)
    if terrain.nodata is not None:
        source[terrain.nodata] = 0
    return source


def datum(terrain: Terrain) -> float:
    """Elevation that counts as zero inside."""
    return terrain.range("elevation")[0]


def _erodibility(terrain: Terrain, model: VirtualPipes, seed: int) -> Field:
    if "erodibility" in terrain:
        return terrain["erodibility"]
    if model.default_erodibility == "uniform":
        return np.ones(terrain.shape, np.float32)
    fine = FINE_NOISE if model.default_erodibility == "from_elevation_fine" else 0.0
    return erodibility_from_elevation(terrain, seed=seed, fine_noise=fine)


def ground(b: Field) -> Field:
    """Heights with walls counted as nothing."""
    return np.where(b < WALL / 2, b, b.dtype.type(0))


def total(a: Field) -> float:
    """Sum in float64."""
    return float(a.sum(dtype=np.float64))
