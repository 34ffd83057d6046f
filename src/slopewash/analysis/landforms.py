"""What geomorphologists measure of a landscape: hypsometry, stream orders, slope and area, length and area."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.analysis.flow import Flow
from slopewash.analysis.power_law import PowerLaw, fit_binned, line
from slopewash.errors import InvalidParameter
from slopewash.terrain import Terrain, check_terrain

Floats = NDArray[np.float64]

CHANNEL_SHARE, CHANNEL_CELLS = 0.001, 50
"""Share of the terrain, and cells, that drain through a channel where it begins, at least."""
SHALLOW = 0.2
"""Depth in cells of depressions that count as noise in the heights: what they make level, steps beside them make up."""
BASIN_SHARE = 0.01
"""Share of the terrain that a catchment covers, at least, to count as a basin."""
CURVE_POINTS = 101


@dataclass(frozen=True, kw_only=True)
class Hypsometry:
    """How the area of a terrain is spread over its heights."""

    integral: float
    """Mean height above the lowest, as a share of the relief [Strahler52, PikeWilson71]."""
    basins: float
    """Mean of the integrals of the large catchments, weighted by area; NaN if there are none."""
    height: tuple[float, ...]
    """Heights, as shares of the relief."""
    area: tuple[float, ...]
    """Share of the area above each of them."""


@dataclass(frozen=True, kw_only=True)
class StreamOrders:
    """Streams of each of Strahler's orders, from the first, and Horton's ratios of them."""

    count: tuple[int, ...]
    mean_length: tuple[float, ...]
    """In metres."""
    bifurcation_ratio: float
    """How many times more streams there are than of the next order; NaN for fewer than three orders."""
    length_ratio: float
    """How many times longer streams of the next order are, on average. The highest order counts for neither."""


def usual_channel_area(terrain: Terrain) -> float:
    """Drainage area at which channels are taken to begin, in m²: a thousandth of the terrain, at least 50 cells.

    >>> usual_channel_area(Terrain(np.zeros((100, 100)), cell_size=10.0))
    5000.0
    """
    return max(CHANNEL_SHARE * terrain.area, CHANNEL_CELLS * terrain.cell_size**2)


def hypsometry(terrain: Terrain) -> Hypsometry:
    """Measure how the area of a terrain is spread over its heights.

    >>> plane = Terrain(np.tile(np.linspace(0, 100, 101), (5, 1)))
    >>> hypsometry(plane).integral
    0.5
    """
    check_terrain(terrain)
    return measure_hypsometry(terrain, Flow(terrain))


def slope_area(terrain: Terrain, *, channel_area: float | None = None, gather: bool = True) -> PowerLaw:
    """Fit the slope of channels against the area that drains through them: S = k A^-θ [Flint74].

    The exponent is minus the concavity θ. Depressions deeper than a fifth of a cell are left out. `gather` is that of
    `Flow`.
    """
    return measure_slope_area(terrain, Flow(terrain, gather=gather), checked_channel_area(terrain, channel_area))


def hack_law(terrain: Terrain, *, channel_area: float | None = None, gather: bool = True) -> PowerLaw:
    """Fit the length of the longest stream against the area that drains into it: L = c A^h [Hack57]."""
    return measure_hack(Flow(terrain, gather=gather), checked_channel_area(terrain, channel_area))


def horton_ratios(terrain: Terrain, *, channel_area: float | None = None, gather: bool = True) -> StreamOrders:
    """Count the streams of each of Strahler's orders, and measure Horton's ratios [Horton45, Strahler57]."""
    return measure_orders(Flow(terrain, gather=gather), checked_channel_area(terrain, channel_area))


def checked_channel_area(terrain: Terrain, channel_area: float | None) -> float:
    """Return the area at which channels begin, in m²."""
    check_terrain(terrain)
    if channel_area is None:
        return usual_channel_area(terrain)
    if not (math.isfinite(channel_area) and channel_area > 0):
        raise InvalidParameter(f"channel_area is {channel_area} m²; it must be positive and finite")
    return channel_area


def measure_hypsometry(terrain: Terrain, flow: Flow) -> Hypsometry:
    """Measure the hypsometry of a terrain whose flow is known."""
    ground = terrain["elevation"].astype(np.float64)
    inside = np.ones(terrain.shape, np.bool_) if terrain.nodata is None else ~terrain.nodata
    heights = np.sort(ground[inside])
    relief = float(heights[-1] - heights[0])
    share = np.linspace(0, 1, CURVE_POINTS)
    above = 1 - np.searchsorted(heights, heights[0] + share * relief, side="left") / heights.size
    number = flow.catchments[inside]
    size = np.bincount(number)
    large = np.flatnonzero(size >= BASIN_SHARE * heights.size)
    large = large[large > 0]
    lowest, highest = np.full(size.size, np.inf), np.full(size.size, -np.inf)
    np.minimum.at(lowest, number, ground[inside])
    np.maximum.at(highest, number, ground[inside])
    sums = np.bincount(number, ground[inside])
    large = large[highest[large] > lowest[large]]
    basins = math.nan
    if large.size:
        integrals = (sums[large] / size[large] - lowest[large]) / (highest[large] - lowest[large])
        basins = float(np.average(integrals, weights=size[large]))
    return Hypsometry(
        integral=float((heights.mean() - heights[0]) / relief) if relief > 0 else math.nan,
        basins=basins,
        height=tuple(share.tolist()),
        area=tuple(above.tolist()),
    )


def measure_slope_area(terrain: Terrain, flow: Flow, channel_area: float) -> PowerLaw:
    """Fit slope against area where the flow is known."""
    shallow = flow.filled - terrain["elevation"] <= SHALLOW * terrain.cell_size
    chosen = (flow.area >= channel_area) & shallow & (flow.directions != 0)
    return fit_binned(flow.area[chosen], flow.slope[chosen])


def measure_hack(flow: Flow, channel_area: float) -> PowerLaw:
    """Fit length against area where the flow is known."""
    chosen = flow.area >= channel_area
    return fit_binned(flow.area[chosen], flow.upstream_length[chosen])


def measure_orders(flow: Flow, channel_area: float) -> StreamOrders:
    """Count the streams of each order where the flow is known."""
    rank, begins = flow.stream_orders(channel_area)
    highest = int(rank.max(initial=0))
    if highest == 0:
        return StreamOrders(count=(), mean_length=(), bifurcation_ratio=math.nan, length_ratio=math.nan)
    count = np.bincount(rank[begins], minlength=highest + 1)[1:]
    diagonal = np.isin(flow.directions, (2, 8, 32, 128))
    steps = np.where(diagonal, math.sqrt(2), 1.0)[rank > 0] * flow.cell_size
    length = np.bincount(rank[rank > 0], steps, minlength=highest + 1)[1:] / count
    bifurcation = lengthening = math.nan
    if highest >= 3:
        # Streams of the highest order are cut off by the edge of the terrain, in number and in length.
        order = np.arange(1.0, highest)
        bifurcation = math.exp(-line(order, np.log(count[:-1]))[0])
        lengthening = math.exp(line(order, np.log(length[:-1]))[0])
    return StreamOrders(
        count=tuple(count.tolist()),
        mean_length=tuple(length.tolist()),
        bifurcation_ratio=bifurcation,
        length_ratio=lengthening,
    )
