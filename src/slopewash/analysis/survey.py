"""A landscape beside what has been published of real ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slopewash.analysis.flow import Flow
from slopewash.analysis.landforms import (
    Hypsometry,
    StreamOrders,
    checked_channel_area,
    measure_hack,
    measure_hypsometry,
    measure_orders,
    measure_slope_area,
)
from slopewash.analysis.power_law import PowerLaw
from slopewash.analysis.relief import slope
from slopewash.terrain import Terrain

DIGITS = 2
"""Digits after the point that a measure is shown with, and compared."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A range that real landscapes were found to have, and by whom."""

    name: str
    symbol: str
    low: float
    high: float
    shown: tuple[float, float]
    """Range of the chart: what could be expected at most."""
    source: str
    meaning: str


PUBLISHED = (
    Published(
        name="concavity of channels", symbol="θ", low=0.225, high=0.575, shown=(-0.2, 1.2), source="Gailleton21",
        meaning="How quickly channels flatten downstream; the middle half of mountain and upland landscapes worldwide, "
        "with a median of 0.425.",
    ),
    Published(
        name="Hack's exponent", symbol="h", low=0.49, high=0.6, shown=(0.3, 0.9),
        source="MontgomeryDietrich92, Hack57",
        meaning="How stream length grows with the area of its basin; 0.5 would be basins of one shape at all sizes.",
    ),
    Published(
        name="hypsometric integral of basins", symbol="HI", low=0.35, high=0.6, shown=(0.0, 1.0), source="Strahler52",
        meaning="Mean height of a basin as a share of its relief; more is young, hardly dissected ground, less has few "
        "remnants of it.",
    ),
    Published(
        name="bifurcation ratio", symbol="Rb", low=3.0, high=5.0, shown=(1.0, 9.0), source="Strahler57",
        meaning="How many times more streams there are than of the next order, where geology does not distort it.",
    ),
    Published(
        name="length ratio", symbol="Rl", low=1.5, high=3.5, shown=(0.5, 6.0), source="RodriguezIturbe79",
        meaning="How many times longer streams of the next order are.",
    ),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One measure of a terrain, and the published range."""

    name: str
    symbol: str
    value: float
    low: float
    high: float
    source: str
    verdict: str
    """within, below, above, or not measured where the terrain is too small for it."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What `analyse` measures of a terrain; lengths in metres, areas in m²."""

    width: int
    height: int
    cell_size: float
    area: float
    relief: float
    mean_slope: float
    """In degrees."""
    slope_95: float
    depressions: float
    """Share of the area that lies in closed depressions."""
    catchments: int
    """Those that cover a hundredth of the terrain or more, by D8."""
    largest_catchment: float
    channel_area: float
    """Drainage area at which channels are taken to begin."""
    gathered: bool
    """Whether streams side by side were drawn together."""
    drainage_density: float
    """Length of channels per area, in km per km²."""
    hypsometry: Hypsometry
    orders: StreamOrders
    slope_area: PowerLaw
    hack: PowerLaw

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Measures that have a published range."""
        values = (
            -self.slope_area.exponent, self.hack.exponent, self.hypsometry.basins, self.orders.bifurcation_ratio,
            self.orders.length_ratio,
        )  # fmt: skip
        return tuple(
            Finding(
                name=known.name, symbol=known.symbol, value=value, low=known.low, high=known.high, source=known.source,
                verdict=_verdict(value, known),
            )
            for known, value in zip(PUBLISHED, values, strict=True)
        )  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{self.width} x {self.height} cells of {self.cell_size:g} m, {self.area / 1e6:.4g} km², "
            f"relief {self.relief:.4g} m",
            f"slope {self.mean_slope:.1f}° on average, {self.slope_95:.1f}° in the steepest 5 %",
            f"{self.depressions:.2%} of the area in closed depressions",
            f"{self.catchments} catchments (D8) of 1 % or more, the largest {self.largest_catchment / 1e6:.4g} km²",
            f"channels from {self.channel_area / 1e6:.3g} km² on: {self.drainage_density:.3g} km per km², "
            f"orders {', '.join(map(str, self.orders.count)) or 'none'}",
            "",
            f"{'':<32}{'here':>8}   published",
        ]
        for finding in self.findings:
            value = "-" if math.isnan(finding.value) else f"{finding.value:.{DIGITS}f}"
            span = f"{finding.low:g} .. {finding.high:g}"
            lines.append(f"{finding.name:<32}{value:>8}   {span:<15}{finding.verdict:<14}[{finding.source}]")
        return "\n".join(lines)


def analyse(terrain: Terrain, *, channel_area: float | None = None, gather: bool = True) -> Survey:
    """Measure a landscape, beside what has been published of real ones.

    Parameters
    ----------
    terrain
        The ground. Depressions are filled before water is sent over it.
    channel_area
        Drainage area at which channels begin, in m². The default is a thousandth of the terrain, at least 50 cells.
    gather
        Draw streams together that run side by side over smooth valley floors, as `add_water` does. Without it, they
        follow the steepest of eight directions alone (D8), and keep apart where the ground is level across.
        Catchments are those of D8 either way, as `catchments` gives them.

    >>> import slopewash as sw
    >>> survey = analyse(sw.generate("dome", size=128, seed=7))
    >>> [finding.symbol for finding in survey.findings]
    ['θ', 'h', 'HI', 'Rb', 'Rl']
    """
    channel_area = checked_channel_area(terrain, channel_area)
    flow, steepest = Flow(terrain, gather=gather), Flow(terrain)  # catchments are those of `catchments` in any case
    inside = np.ones(terrain.shape, np.bool_) if terrain.nodata is None else ~terrain.nodata
    steepness = slope(terrain["elevation"], terrain.cell_size, nodata=terrain.nodata)[inside]
    sizes = np.bincount(steepest.catchments.ravel())[1:]
    rank, _ = flow.stream_orders(channel_area)
    steps = np.where(np.isin(flow.directions, (2, 8, 32, 128)), math.sqrt(2), 1.0)[rank > 0].sum() * terrain.cell_size
    return Survey(
        width=terrain.shape[1],
        height=terrain.shape[0],
        cell_size=terrain.cell_size,
        area=terrain.area,
        relief=terrain.relief,
        mean_slope=float(steepness.mean(dtype=np.float64)),
        slope_95=float(np.percentile(steepness, 95)),
        depressions=float((steepest.filled > terrain["elevation"])[inside].mean()),
        catchments=int((sizes >= 0.01 * inside.sum()).sum()),
        largest_catchment=float(sizes.max(initial=0)) * terrain.cell_size**2,
        channel_area=channel_area,
        gathered=gather,
        drainage_density=float(steps) / terrain.area * 1000,
        hypsometry=measure_hypsometry(terrain, steepest),
        orders=measure_orders(flow, channel_area),
        slope_area=measure_slope_area(terrain, flow, channel_area),
        hack=measure_hack(flow, channel_area),
    )


def _verdict(value: float, known: Published) -> str:
    if math.isnan(value):
        return "not measured"
    value = round(value, DIGITS)
    return "below" if value < known.low else "above" if value > known.high else "within"
