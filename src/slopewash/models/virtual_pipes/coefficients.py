"""The model's parameters as the numbers its equations use.

Most variants of the physics are only other coefficients, so that the kernels stay the same; the few that change the
form of an equation are flags, looked at once per row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from slopewash.models.virtual_pipes.strata import SLIDES, THINNEST_COVER

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.model import VirtualPipes

NO_LIMIT = 1.0e30
"""Stands for infinity in limits, because 0 times it is still 0."""
TINY = 1.0e-20
"""Keeps divisions by vanishing discharge, depth or slope finite."""
SHALLOW = 1.0e-3
"""Least mean depth a discharge is divided by [Mei07], in cells."""
SLANTED_WIDTH = 0.5
"""Width of the pipes to diagonal neighbours, where there are eight; those along the axes have 1."""
SHORTENING = math.sqrt(0.5)
"""Slope to a diagonal neighbour per unit of drop."""


class Coefficients(NamedTuple):
    """One iteration's coefficients; letters are the paper's."""

    dt: float
    rain: float
    """Δt·K_r (1)"""
    push: float
    """Δt·A·g (2)"""
    flow_kept: float
    """1 − Δt·K_f (2)"""
    kappa: float
    """share of sediment the pipes see as water (12c)"""
    Kc: float
    Kc75: float
    Kc50: float
    """capacity per Q^¾ and Q^½"""
    per_fan: float
    """1 / sin α_f: below, the capacity falls off"""
    sin_min: float
    ramp_0: float
    ramp_1: float
    """ramp = clamp(ramp_0 + ramp_1·d1, 0, 1) (10)"""
    take: float
    """Δt·K_s (12)"""
    drop: float
    """Δt·K_d (13)"""
    water_0: float
    water_1: float
    """erosion ≤ water_0 + water_1·d2"""
    load_0: float
    load_1: float
    load_2: float
    """erosion ≤ load_0 + load_1·d2 − load_2·s"""
    dig_0: float
    dig_1: float
    """erosion ≤ dig_0 + dig_1·(drop to the lowest neighbour)"""
    rise_0: float
    rise_1: float
    """deposition ≤ rise_0 + rise_1·d2"""
    Kh: float
    talus_0: float
    talus_1: float
    """talus = talus_0 + talus_1·R (17)"""
    slide: float
    """Δt·K_t (17)"""
    creep: float
    """Δt·K_cr"""
    keep: float
    """1 − Δt·K_e (16)"""
    per_cover: float
    """share of the bedrock that a cell of loose soil hides"""
    cover_talus: float
    cover_slide: float
    """Δt·K_tc"""
    weather: float
    """Δt·K_w"""
    per_weather: float
    """1 / d_w"""
    bed_contrast: float
    per_bed: float
    """pairs of beds in a cell of height"""
    sea_level: float
    """height of the sea, if there is one"""
    hydraulic: bool
    eight_pipes: bool
    fall_line: bool
    collision: bool
    along_flow: bool
    rooted: bool
    """capacity grows with roots of the discharge too, or falls off on fans"""
    eight: bool
    """water runs to eight neighbours"""
    mean_depth: bool
    semi_lagrangian: bool
    graded: bool
    covered: bool
    """loose cover has laws of its own"""
    bedded: bool
    """without strata: R follows tilted beds"""
    sea: bool
    """the sea lies beyond open edges"""


def cover(m: VirtualPipes) -> float:
    """Depth of loose soil, in cells, that hides the bedrock completely."""
    return max(THINNEST_COVER, SLIDES * m.time_step * m.thermal_rate if m.slides else 0.0)


def coefficients(
    m: VirtualPipes,
    substeps: int,
    strength: float = 1.0,
    *,
    cell_size: float = 1.0,
    layered: bool = False,
    sea_level: float = -math.inf,
) -> Coefficients:
    """Coefficients of one of `substeps` equal sub-steps; `strength` scales the capacity to carry sediment.

    `cell_size` in metres matters to what is given in metres, the thickness of beds; strata take the place of beds.
    `sea_level` is in cells above the datum.
    """
    dt = m.time_step / substeps
    ramp_0, ramp_1 = _ramp(m)
    counts_mud = m.sediment_volume > 0
    c = m.maximum_concentration
    caps = counts_mud and c < 1
    hard_first = m.talus_law == "hard_stands_steeper"
    return Coefficients(
        dt=dt,
        rain=dt * m.rain_rate,
        push=dt * m.pipe_area * m.gravity,
        flow_kept=1 - dt * m.pipe_friction,
        kappa=m.sediment_volume,
        Kc=m.sediment_capacity * strength,
        Kc75=m.capacity_three_quarters * strength,
        Kc50=m.capacity_half * strength,
        per_fan=1 / m.fan_slope if m.fan_slope > 0 else NO_LIMIT,
        sin_min=m.minimum_tilt,
        ramp_0=ramp_0,
        ramp_1=ramp_1,
        take=dt * m.suspension_rate,
        drop=dt * m.deposition_rate,
        water_0=0.0 if counts_mud else NO_LIMIT,
        water_1=1.0 if counts_mud else 0.0,
        load_0=0.0 if caps else NO_LIMIT,
        load_1=c / (1 - c) if caps else 0.0,
        load_2=1 / (1 - c) if caps else 0.0,
        dig_0=NO_LIMIT if math.isinf(m.dig_limit) else 0.0,
        dig_1=0.0 if math.isinf(m.dig_limit) else m.dig_limit,
        rise_0=0.0 if m.deposit_below_surface else NO_LIMIT,
        rise_1=1.0 if m.deposit_below_surface else 0.0,
        Kh=0.0 if m.covered else m.softening_rate,
        talus_0=m.talus_slope_bias + (m.talus_slope_range if hard_first else 0.0),
        talus_1=-m.talus_slope_range if hard_first else m.talus_slope_range,
        slide=dt * m.thermal_rate,
        creep=dt * m.creep_rate,
        keep=1 - dt * m.evaporation_rate,
        per_cover=0.0 if m.covered else 1 / cover(m),
        cover_talus=m.cover_talus_slope,
        cover_slide=dt * m.cover_slide_rate,
        weather=dt * m.weathering_rate if m.slides else 0.0,
        per_weather=1 / m.weathering_depth,
        bed_contrast=m.bed_contrast,
        per_bed=cell_size / m.bed_thickness,
        sea_level=max(sea_level, -NO_LIMIT),
        hydraulic=m.erodes,
        eight_pipes=m.slides and m.hillslope == "eight_pipes",
        fall_line=m.slides and m.hillslope == "fall_line",
        collision=m.capacity == "collision",
        along_flow=m.capacity == "along_flow",
        rooted=m.capacity_three_quarters > 0 or m.capacity_half > 0 or m.fan_slope > 0,
        eight=m.pipes == "eight",
        mean_depth=m.velocity == "mean_depth",
        semi_lagrangian=m.transport == "semi_lagrangian",
        graded=m.edge_base == "graded",
        covered=m.covered,
        bedded=m.bed_contrast > 0 and not layered,
        sea=sea_level > -math.inf,
    )


def _ramp(m: VirtualPipes) -> tuple[float, float]:
    depth = m.maximum_erosion_depth
    if m.depth_ramp == "printed":
        return (0.0, 1 / depth) if 0 < depth < math.inf else (float(depth == 0), 0.0)
    if depth == 0:
        return 0.0, 0.0
    return 1.0, -1 / depth
