"""From a terrain in metres to a state in cells above its own lowest ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import WALL
from slopewash.models.state import Domain, Sides, State
from slopewash.models.virtual_pipes.base_level import edge_base
from slopewash.models.virtual_pipes.bedding import banding, expose_beds, phase_of
from slopewash.models.virtual_pipes.fields import BUDGET, SHARES
from slopewash.models.virtual_pipes.sea import check_land, flooded, level_in_cells
from slopewash.models.virtual_pipes.strata import expose, exposed_step
from slopewash.terrain import (
    Place,
    Terrain,
    WaterSource,
    erodibility_from_elevation,
    rock_erodibility,
    source_table,
    sources_of,
)

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.model import VirtualPipes

Field = NDArray[Any]
"""A float32 field; the reference also runs in float64."""

FINE_NOISE = 0.15
"""Amplitude of the fine erodibility noise of `default_erodibility="from_elevation_fine"`."""


def prepare(
    terrain: Terrain,
    model: VirtualPipes,
    *,
    sides: Sides,
    seed: int,
    place: Place | None = None,
    dtype: Any = np.float32,
) -> tuple[Domain, State]:
    """Work out what is global, and convert every layer.

    A datum is subtracted because float32 at 2000 m has a hundred times less room for small changes.
    """
    l = terrain.cell_size  # noqa: E741, the paper's letter
    strata, place = terrain.strata, place or Place.of(terrain)
    domain = Domain(
        shape=terrain.shape, origin=place.origin, cell_size=l, datum=place.low, seed=seed, sides=sides,
        strata=() if strata is None else strata.layers, margins=place.margins,
    )  # fmt: skip

    def cells(name: str, offset: float = 0.0) -> Field:
        if name not in terrain:
            return np.zeros(terrain.shape, dtype)
        return ((terrain[name].astype(np.float64) - offset) / l).astype(dtype)

    b = cells("elevation", domain.datum)
    arrays: dict[str, Field] = {"elevation": b, "water": cells("water"), "suspended": cells("suspended")}
    rock = np.minimum(cells("bedrock", domain.datum), b) if "bedrock" in terrain else b.copy()
    if strata is not None or model.covered:
        arrays["bedrock"] = rock
    if strata is not None:
        assert strata.top is not None  # a terrain's strata always have one
        top = ((strata.top - domain.datum) / l).astype(dtype)
        per_cover = model.coefficients(domain, substeps=1).per_cover
        step = exposed_step(b if terrain.nodata is None else np.where(terrain.nodata, dtype(WALL), b), domain.sides)
        arrays["erodibility"] = expose(b, rock, top, domain, per_cover, step)
    elif model.bed_contrast:
        arrays |= _beds(terrain, model, domain, place, rock if model.covered else b)
    else:
        arrays["erodibility"] = _erodibility(terrain, model, seed, place).astype(dtype)
    r = terrain["rainfall"].astype(dtype) if "rainfall" in terrain else np.ones(terrain.shape, dtype)
    if terrain.nodata is not None:
        for name, array in arrays.items():
            array[terrain.nodata] = WALL if name in ("elevation", "bedrock") else 0
        r[terrain.nodata] = 0
    for name in SHARES:
        if name in terrain:
            arrays[name] = terrain[name].astype(dtype)
            if terrain.nodata is not None:
                arrays[name][terrain.nodata] = 1
    if not place.is_part:
        check_land(model, b, domain)
    if not place.is_part or place.sea is not None:
        arrays["water"] = flooded(b, arrays["water"], model, domain, arrays["suspended"], place.sea)
    arrays |= {
        "rainfall": r,
        "outflow": np.zeros((model.pipe_count, *terrain.shape), dtype),
        "flow": np.zeros(terrain.shape, dtype),
        "start": b.copy(),
        "sources": source_table(place.sources),
        "budget": np.zeros((1, len(BUDGET))),
        "base_version": np.zeros(1, np.int64),
    }
    if not place.is_part:  # the border of a part says nothing of how the whole is graded
        arrays |= edge_base(b, graded=model.edge_base == "graded", sea_level=level_in_cells(model, domain))
    if strata is not None:
        arrays["strata_top"] = top
    if terrain.nodata is not None:
        arrays["nodata"] = np.array(terrain.nodata)
    if place.sources:
        arrays["source_rate"] = source_rate(place.sources, domain, terrain.nodata, dtype, whole=place.shape)
    scalars: dict[str, float | int] = {
        "iterations": 0,
        "base_changes": 0,
        "water_start": total(arrays["water"][domain.own]),
        "water_edited": 0.0,
        "solids_start": total(ground(b)[domain.own]) + total(arrays["suspended"][domain.own]),
        "solids_edited": 0.0,
    }
    return domain, State(arrays, scalars)


def in_cells(heights: NDArray[Any], domain: Domain, dtype: Any = np.float32) -> Field:
    """Ground in cells above the datum; NaN, where there is none, is a wall."""
    cells = ((heights.astype(np.float64) - domain.datum) / domain.cell_size).astype(dtype)
    return np.where(np.isnan(heights), dtype(WALL), cells)


def source_rate(
    sources: Sequence[WaterSource] | Field,
    domain: Domain,
    nodata: NDArray[np.bool_] | None,
    dtype: Any = np.float32,
    *,
    whole: tuple[int, int] | None = None,
) -> Field:
    """Depth that all water sources add per unit of time, in cells; of part of a grid, `whole` is that grid's shape."""
    rate = np.zeros(domain.shape, dtype)
    window = tuple(slice(first, first + n) for first, n in zip(domain.origin, domain.shape, strict=True))
    for source in sources_of(sources) if isinstance(sources, np.ndarray) else sources:
        fed = source.footprint(whole or domain.shape, domain.cell_size, window)  # type: ignore[arg-type]
        rate += fed * np.dtype(dtype).type(source.rate / domain.cell_size)
    if nodata is not None:
        rate[nodata] = 0
    return rate


def _beds(terrain: Terrain, model: VirtualPipes, domain: Domain, place: Place, surface: Field) -> dict[str, Field]:
    """Tilted beds, and the rock that they run through. A given erodibility is that of the beds which lie bare."""
    phase, c = phase_of(model, domain, surface.dtype), model.coefficients(domain, substeps=1)
    rock = _erodibility(terrain, model, domain.seed, place).astype(surface.dtype)
    if "erodibility" in terrain:
        rock -= banding(surface, phase, c)
    return {"rock_erodibility": rock, "bed_phase": phase, "erodibility": expose_beds(surface, rock, phase, c)}


def _erodibility(terrain: Terrain, model: VirtualPipes, seed: int, place: Place) -> Field:
    if "erodibility" in terrain:
        return terrain["erodibility"]
    if model.default_erodibility == "uniform":
        return np.ones(terrain.shape, np.float32)
    if model.default_erodibility == "rock":
        banding = {"banding": 0.0} if model.bed_contrast else {}
        return rock_erodibility(terrain, seed=seed, datum=model.foot(place.low), place=place, **banding)
    fine = FINE_NOISE if model.default_erodibility == "from_elevation_fine" else 0.0
    return erodibility_from_elevation(terrain, seed=seed, fine_noise=fine, place=place)


def ground(b: Field) -> Field:
    """Heights with nodata counted as nothing."""
    return np.where(b < WALL / 2, b, b.dtype.type(0))


def total(a: Field) -> float:
    """Sum in float64."""
    return float(a.sum(dtype=np.float64))
