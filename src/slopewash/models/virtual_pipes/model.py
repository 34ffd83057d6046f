"""Parameters and laws of the virtual-pipe model."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.base import Footprint, Model, register
from slopewash.models.parameters import (
    Limit,
    Rule,
    finite,
    finite_or_none,
    fraction,
    law,
    not_negative,
    not_negative_or_infinite,
    parameter,
    positive,
    positive_fraction,
)
from slopewash.models.state import Array, Domain, Sides, State, Window
from slopewash.models.virtual_pipes import changes as _changes
from slopewash.models.virtual_pipes import derive as _derive
from slopewash.models.virtual_pipes import prepare as _prepare
from slopewash.models.virtual_pipes.base_level import base_of
from slopewash.models.virtual_pipes.coefficients import Coefficients, coefficients
from slopewash.models.virtual_pipes.fields import BUDGET, DEVICE_SUMS, FIELDS, SHARES, SUMS
from slopewash.models.virtual_pipes.prepare import ground, total
from slopewash.models.virtual_pipes.sea import level_in_cells
from slopewash.models.virtual_pipes.sea_parts import SeaParts
from slopewash.terrain import Layer, Place, Terrain

DEVICE_UNITS = 2**32
"""Units per cell³ in which a device sums."""


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class VirtualPipes(Model):
    """Hydraulic and thermal erosion by water and soil in virtual pipes [JakoToth11].

    Water flows through four pipes per cell, or eight. It erodes the ground, carries the sediment and deposits it; soil
    slides where slopes are too steep. The defaults are those of Table 2 of the paper; the `landscape` preset changes
    several laws. Lengths are in cells.

    Deviations from the paper:

    - Eq. 4 takes the minimum, because the text scales the outflow down.
    - Eq. 10's ramp decreases with depth, because according to the text deep water does not erode its bed
      (`depth_ramp="printed"` is as published).
    - The talus slope increases with hardness, because according to the text smaller R is harder (`talus_law="printed"`
      is as published).
    - Eq. 14 increases R, because deposited soil is softer; as published it decreases R.
    - Eq. 16 evaporates the water only; if it took the sediment too, the water depth would become negative.
    - `maximum_concentration` limits the sediment, because with Table 2 alone the water turns to mud.
    - Water and sediment are stored separately, and the pipes see the depth `w + sediment_volume * s` (Eqs. 12c and 13c
      have 1).
    - `pipe_friction` slows the flow in a pipe; the paper has none. Without it the surface of a deep river becomes
      level, so that nothing carries its sediment on, and fronts and hatching appear on its bed.

    On a terrain with strata, R is that of the layers exposed between a cell and its lowest neighbour, by their parts of
    that face, or 1 where loose soil covers the bedrock (the lowest level the ground has had). Soil thinner than what
    four iterations slide down a slope of one, or than a sixteenth of a cell, counts in part. R is looked up once per
    iteration: one that erodes beyond the bottom of a layer does so with the R it began with. Eq. 14 has no effect then,
    nor with tilted beds (`bed_contrast`) or `cover="loose"`. With loose cover R is always that of the rock, whatever
    lies on it.

    Water and solids are conserved to rounding. With `transport="semi_lagrangian"` (Eq. 15) the mass-balance error of
    solids is tens of percent.

    >>> VirtualPipes(rain_rate=0.02, processes="hydraulic")
    VirtualPipes(rain_rate=0.02, processes='hydraulic')
    """

    name: ClassVar = "virtual_pipes"
    summary: ClassVar = "Water and soil in virtual pipes: rain, rivers, lakes, valleys and talus slopes."
    paper: ClassVar = "Jákó & Tóth 2011; also Mei et al. 2007 and Salamin & Szénási"
    halo: ClassVar = 3
    footprints: ClassVar = {
        "cpu": Footprint(134, 170, 7.0),
        "reference": Footprint(210, 270, 190, shared=False),
    }
    backends: ClassVar = {"gpu": "gpu.GpuBackend", "cpu": "cpu.CpuBackend", "reference": "reference.ReferenceBackend"}
    fields: ClassVar = FIELDS
    sums: ClassVar = SUMS | DEVICE_SUMS
    adopted: ClassVar = frozenset(
        {"sea_level", "edge_base", "pipes", "cover"}
        | {"bed_contrast", "bed_thickness", "bed_dip", "bed_direction", "bed_datum"}
    )
    moved_by: ClassVar = {
        "rain": {"rain_rate": 3.0},
        "rock_strength": {"suspension_rate": 1 / 4, "weathering_rate": 1 / 3},
        "steepness": {"talus_slope_bias": 1.8, "talus_slope_range": 1.8, "cover_talus_slope": 1.5},
        "sediment": {"sediment_capacity": 2.5, "capacity_three_quarters": 2.5, "capacity_half": 2.5},
    }

    time_step: float = parameter(
        0.02, symbol="Δt", valid=positive, typical=(0.001, 0.05), group="time",
        doc="Model time that passes in one step.",
    )  # fmt: skip
    rain_rate: float = parameter(
        0.012, symbol="K_r", units="cells/time", valid=not_negative, typical=(0, 0.05), eq="1", group="water",
        mappable="rainfall",
        doc="Depth of rain per unit of time, multiplied by the `rainfall` layer if there is one.",
    )  # fmt: skip
    evaporation_rate: float = parameter(
        0.015, symbol="K_e", units="1/time", valid=not_negative, typical=(0, 0.05), eq="16", group="water",
        mappable="evaporation",
        doc="Share of the water that evaporates per unit of time.",
    )  # fmt: skip
    pipe_area: float = parameter(
        20.0, symbol="A", units="cells²", valid=positive, typical=(0.1, 60), eq="2", group="water", log=True,
        doc="Cross-section of the pipe between two cells: water flows faster through larger pipes.",
    )  # fmt: skip
    gravity: float = parameter(
        9.81, symbol="g", units="cells/time²", valid=positive, typical=(0.1, 20), eq="2", group="water",
        doc="Acceleration that drives water through the pipes.",
    )  # fmt: skip
    sea_level: float = parameter(
        -math.inf, symbol="z_s", units="m", valid=finite_or_none, typical=(0, 300), group="water", none=-math.inf,
        is_height=True,
        doc="Elevation of the sea beyond open edges: ground below it that the sea reaches is under water, and rivers "
        "deposit their sediment there. None for no sea.",
    )  # fmt: skip
    pipe_friction: float = parameter(
        0.0, symbol="K_f", units="1/time", valid=not_negative, typical=(0, 1), eq="2", group="water",
        doc="How quickly the flow in a pipe slows down by itself: calms deep rivers and lets their surface slope.",
    )  # fmt: skip
    sediment_capacity: float = parameter(
        1.0, symbol="K_c", valid=not_negative, typical=(0.1, 3), eq="10", group="erosion",
        mappable="capacity",
        doc="Sediment that water can carry, per unit of discharge and sine of the slope. A map of it scales the other "
        "terms of the capacity alike.",
    )  # fmt: skip
    capacity_three_quarters: float = parameter(
        0.0, symbol="K_c75", valid=not_negative, typical=(0, 30), group="erosion",
        doc="Sediment held per slope sine and discharge to the power 3/4, which favours small streams. Acts with "
        "capacity=\"along_flow\".",
    )  # fmt: skip
    capacity_half: float = parameter(
        0.0, symbol="K_c50", valid=not_negative, typical=(0, 10), group="erosion",
        doc="The same for the square root of the discharge: fine gullies up to the ridges. Only with "
        "capacity=\"along_flow\".",
    )  # fmt: skip
    fan_slope: float = parameter(
        0.0, symbol="sin α_f", valid=fraction, typical=(0, 0.5), group="erosion",
        doc="Below this sine of the slope the capacity falls off with its square root, which leaves sloping aprons "
        "instead of flat floors; 0 for none. Only with capacity=\"along_flow\".",
    )  # fmt: skip
    suspension_rate: float = parameter(
        0.5, symbol="K_s", units="1/time", valid=not_negative, typical=(0.1, 2), eq="12", group="erosion",
        doc="How quickly water that carries less than its capacity erodes the ground.",
    )  # fmt: skip
    deposition_rate: float = parameter(
        1.0, symbol="K_d", units="1/time", valid=not_negative, typical=(0.1, 3), eq="13", group="erosion",
        doc="How quickly sediment above the capacity is deposited.",
    )  # fmt: skip
    softening_rate: float = parameter(
        5.0, symbol="K_h", units="1/cell", valid=not_negative, typical=(0, 10), eq="14", group="erosion",
        doc="How much softer the ground becomes per cell of soil deposited on it; only without strata.",
    )  # fmt: skip
    maximum_erosion_depth: float = parameter(
        10.0, symbol="K_dmax", units="cells", valid=not_negative_or_infinite, typical=(0, 40), eq="10", group="erosion",
        doc="Water deeper than this does not erode its bed; 0 means no erosion under water, inf no limit.",
    )  # fmt: skip
    minimum_tilt: float = parameter(
        0.05, symbol="sin α_min", valid=fraction, typical=(0, 0.5), eq="9", group="erosion",
        doc="Smallest sine of the slope in the capacity, so that water erodes flat ground too.",
    )  # fmt: skip
    maximum_concentration: float = parameter(
        0.5, symbol="c", valid=positive_fraction, typical=(0.1, 0.9), group="erosion",
        doc="Largest share of sediment in the flow; 1 means no limit. Only with sediment_volume above 0.",
    )  # fmt: skip
    sediment_volume: float = parameter(
        1.0, symbol="κ", valid=fraction, typical=(0, 1), eq="12c", group="erosion",
        doc="Share of the suspended sediment that counts as water in the pipes.",
    )  # fmt: skip
    dig_limit: float = parameter(
        math.inf, symbol="λ", valid=not_negative_or_infinite, typical=(0, 2), group="erosion",
        doc="Largest erosion per iteration, as a share of the drop to the lowest neighbour; inf means no limit.",
    )  # fmt: skip
    thermal_rate: float = parameter(
        0.15, symbol="K_t", units="1/time", valid=not_negative, typical=(0, 3), eq="17", group="hillslope",
        mappable="sliding",
        doc="How quickly soil slides where the slope exceeds the talus.",
    )  # fmt: skip
    talus_slope_range: float = parameter(
        0.8, symbol="K_a", valid=not_negative, typical=(0, 1), eq="17", group="hillslope",
        doc="How much steeper the hardest ground can be than the softest, as a tangent.",
    )  # fmt: skip
    talus_slope_bias: float = parameter(
        0.1, symbol="K_i", valid=not_negative, typical=(0, 1), eq="17", group="hillslope",
        mappable="talus",
        doc="Tangent of the steepest stable slope of the softest ground. A map of it scales the talus of hard ground "
        "and of loose cover alike.",
    )  # fmt: skip
    creep_rate: float = parameter(
        0.0, symbol="K_cr", units="cells²/time", valid=not_negative, typical=(0, 0.1), group="hillslope",
        doc="Slow creep of soil down any slope, which rounds ridges. Only with hillslope=\"fall_line\".",
    )  # fmt: skip
    cover_talus_slope: float = parameter(
        0.5, symbol="K_ic", valid=not_negative, typical=(0, 1), group="cover",
        doc="Tangent of the steepest stable slope of loose cover. Only with cover=\"loose\".",
    )  # fmt: skip
    cover_slide_rate: float = parameter(
        3.0, symbol="K_tc", units="1/time", valid=not_negative, typical=(0, 5), group="cover",
        doc="How quickly loose cover slides where it is steeper than that. Only with cover=\"loose\".",
    )  # fmt: skip
    weathering_rate: float = parameter(
        0.004, symbol="K_w", units="cells/time", valid=not_negative, typical=(0, 0.02), group="cover",
        doc="Depth of bare rock that turns to loose cover per unit of time. Only with cover=\"loose\".",
    )  # fmt: skip
    weathering_depth: float = parameter(
        0.5, symbol="d_w", units="cells", valid=positive, typical=(0.1, 2), group="cover",
        doc="Depth of cover under which rock weathers e times more slowly. Only with cover=\"loose\".",
    )  # fmt: skip
    bed_contrast: float = parameter(
        0.0, symbol="a", valid=Rule(lambda v: 0 <= v <= 0.2, "between 0 and 0.2"), typical=(0, 0.2), group="rock",
        doc="How much the erodibility varies from bed to bed of tilted rock, which shows as ribs and ledges; 0 for no "
        "beds. Only without strata.",
    )  # fmt: skip
    bed_thickness: float = parameter(
        160.0, symbol="T", units="m", valid=positive, typical=(10, 1000), group="rock", log=True,
        doc="Thickness of a hard bed and a soft one together.",
    )  # fmt: skip
    bed_dip: float = parameter(
        7.0, symbol="θ", units="°", valid=Rule(lambda v: 0 <= v <= 80, "between 0 and 80"), typical=(0, 30),
        group="rock", doc="How steeply beds are tilted.",
    )  # fmt: skip
    bed_direction: float = parameter(
        120.0, symbol="φ", units="°", valid=finite, typical=(0, 360), group="rock",
        doc="Direction in which beds sink, clockwise from north.",
    )  # fmt: skip
    bed_datum: float = parameter(
        -math.inf, symbol="z_0", units="m", valid=finite_or_none, typical=(0, 3000), group="rock", none=-math.inf,
        is_height=True,
        doc="Elevation from which tilted beds, and those of the default rock, are counted. None for the lowest ground "
        "of the terrain; a recipe keeps that of its start on every level and stage.",
    )  # fmt: skip

    processes: str = law(
        "both", "both", "hydraulic", "thermal",
        doc="Which processes run: water and soil, water only, or soil only.",
    )  # fmt: skip
    pipes: str = law(
        "four", "four", "eight", eq="2",
        doc="Water runs to four neighbours as published, or to eight, without a preference for the grid's axes. Eight "
        "need capacity=\"along_flow\" and transport=\"donor_cell\".",
    )  # fmt: skip
    transport: str = law(
        "donor_cell", "donor_cell", "semi_lagrangian", eq="15",
        doc="How sediment moves: with the water that leaves (conserves mass), or traced back as in the papers.",
    )  # fmt: skip
    velocity: str = law(
        "discharge", "discharge", "mean_depth", eq="8",
        doc="Speed is the discharge per unit of width, or that divided by the mean depth as in [Mei07].",
    )  # fmt: skip
    capacity: str = law(
        "tilt", "tilt", "collision", "along_flow", eq="9-11",
        doc="What the capacity increases with: tilt of the bed, water striking the bed, or the drop along the outflow.",
    )  # fmt: skip
    hillslope: str = law(
        "eight_pipes", "eight_pipes", "fall_line", eq="17-18",
        doc="Soil slides through eight pipes as in the paper, or as one flux per face along the true fall line.",
    )  # fmt: skip
    cover: str = law(
        "none", "none", "loose",
        doc="Ground is all of a piece, or bedrock below loose cover: creep and a lower talus act on the cover alone, "
        "water erodes it first, and bare rock weathers to it. Loose cover needs hillslope=\"fall_line\".",
    )  # fmt: skip
    talus_law: str = law(
        "hard_stands_steeper", "hard_stands_steeper", "printed", eq="17",
        doc="Talus slope (1 - R) K_a + K_i, or R K_a + K_i as published.",
    )  # fmt: skip
    depth_ramp: str = law(
        "decreasing", "decreasing", "printed", eq="10",
        doc="Erosion decreases with depth, or increases with depth as published.",
    )  # fmt: skip
    deposit_below_surface: bool = law(False, doc="Keep deposits from rising above the water surface.")
    edge_base: str = law(
        "initial", "initial", "graded",
        doc="Base level of open edges: their initial height, or a smooth profile below it without deposits.",
    )  # fmt: skip
    default_erodibility: str = law(
        "from_elevation", "from_elevation", "from_elevation_fine", "rock", "uniform",
        doc="Erodibility where the terrain has none: hard summits with noise, the same with fine noise, tilted beds of "
        "rock that are the same at every resolution, or 1.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, needed in (("capacity", "along_flow"), ("transport", "donor_cell"), ("velocity", "discharge")):
            if self.pipes == "eight" and getattr(self, name) != needed:
                raise InvalidParameter(
                    f'pipes is "eight" and {name} "{getattr(self, name)}"; eight pipes need {name}="{needed}"'
                )
        if self.covered and self.hillslope != "fall_line":
            raise InvalidParameter(
                f'cover is "loose" and hillslope "{self.hillslope}"; loose cover needs hillslope="fall_line"'
            )

    @property
    def pipe_count(self) -> int:
        """Neighbours to which water flows."""
        return 8 if self.pipes == "eight" else 4

    @property
    def covered(self) -> bool:
        """Whether loose cover has laws of its own."""
        return self.cover == "loose"

    @property
    def erodes(self) -> bool:
        """Whether there is water."""
        return self.processes != "thermal"

    @property
    def slides(self) -> bool:
        """Whether soil slides."""
        return self.processes != "hydraulic"

    @property
    def conserved(self) -> frozenset[str]:
        """Water always; solids unless they are traced back along the flow, which makes and loses some (Eq. 15)."""
        return frozenset({"water"} if self.transport == "semi_lagrangian" else {"water", "solids"})

    @property
    def water_beyond(self) -> float:
        """Elevation in metres of the sea beyond open edges; -inf for no sea."""
        return self.sea_level

    @property
    def fills_diagonally(self) -> bool:
        """Whether the sea passes between two cells that touch at a corner only."""
        return self.pipe_count == 8

    def with_sea(self, level: float) -> Self:
        """Return the same with a sea at that level, in metres."""
        return self.replace(sea_level=level)

    def foot(self, lowest: float) -> float:
        """Elevation from which beds are counted on a terrain with that lowest ground."""
        return lowest if self.bed_datum == -math.inf else self.bed_datum

    def anchored(self, lowest: float) -> Self:
        """Return the same, its beds counted from that elevation where none was given."""
        has_beds = self.bed_contrast > 0 or self.default_erodibility == "rock"
        return self.replace(bed_datum=self.foot(lowest)) if has_beds else self

    def limits(self) -> tuple[Limit, ...]:
        """Stability limits: gravity waves in two dimensions, soil feeding a pit, and rates below one per step."""
        dt = self.time_step
        limits: list[Limit] = []
        if self.erodes:
            # Once both pipes of a link are open, a wave of wavenumber k has ω² = 2gA·λ(k) and needs Δt·ω ≤ 2. With
            # x = cos k_x and y = cos k_y, λ = 4 - 2x - 2y through four pipes and 6 - 2x - 2y - 2xy through eight, whose
            # diagonals are half as wide. Either is 8 at most: Δt ≤ 1/√(4gA).
            limits.append(Limit("Δt·√(4·g·A)", dt * math.sqrt(4 * self.gravity * self.pipe_area), 1.0))
            limits += [
                Limit(f"Δt·{symbol}", dt * rate, 0.99)
                for symbol, rate in (
                    ("K_d", self.deposition_rate),
                    ("K_s", self.suspension_rate),
                    ("K_e", self.evaporation_rate),
                    ("K_f", self.pipe_friction),
                )
            ]
        if self.slides and self.hillslope == "eight_pipes":
            limits.append(Limit("Δt·K_t", dt * self.thermal_rate, 2 / 9))  # eight cells may feed one pit
        elif self.slides and self.covered:
            rates = self.creep_rate + self.thermal_rate + self.cover_slide_rate
            limits.append(Limit("Δt·(K_cr + K_t + K_tc)", dt * rates, 0.25))
        elif self.slides:
            limits.append(Limit("Δt·(K_cr + K_t)", dt * (self.creep_rate + self.thermal_rate), 0.25))
        return tuple(limits)

    adopt = _changes.adopt
    begin_settling = _changes.begin_settling
    lay_down = _changes.lay_down
    edit = _changes.edit
    follow = _changes.follow

    def prepare(self, terrain: Terrain, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert a terrain in metres to a state in cells."""
        return _prepare.prepare(terrain, self, sides=sides, seed=seed)

    def prepare_part(self, terrain: Terrain, place: Place, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert part of a terrain."""
        return _prepare.prepare(terrain, self, sides=sides, seed=seed, place=place)

    def draws(self, given: Collection[str], *, layered: bool) -> int:
        """How many random fields of one sequence over the whole the erodibility needs."""
        if layered or "erodibility" in given or not self.default_erodibility.startswith("from_elevation"):
            return 0
        return 2 if self.default_erodibility == "from_elevation_fine" else 1

    def border_fields(self, heights: Mapping[str, Array], domain: Domain) -> dict[str, Array]:
        """Base level from the ground along the four sides."""
        sides = {f"base_{name}": _prepare.in_cells(z, domain) for name, z in heights.items()}
        return base_of(sides, graded=self.edge_base == "graded", sea_level=level_in_cells(self, domain))

    def sea(self, domain: Domain) -> SeaParts | None:
        """Return the sea beyond open edges; None without one."""
        return SeaParts(self, domain) if self.sea_level > -math.inf and domain.sides.any_open else None

    def needs(self, domain: Domain) -> tuple[str, ...]:
        """Fields that a state must hold with these parameters."""
        beds = ("rock_erodibility", "bed_phase") if self.bed_contrast and not domain.strata else ()
        return (*beds, *(("bedrock",) if self.covered or domain.strata else ()), *super().needs(domain))

    def check_state(self, state: State, domain: Domain) -> None:
        """Refuse a state that kernels may not trust."""
        super().check_state(state, domain)
        for name, count in (("outflow", self.pipe_count), ("base_version", 1), ("budget", None)):
            found = len(state[name])
            if found != (count or max(found, 1)):
                raise InvalidParameter(f"{name} has {found} values; these parameters need {count or 'one at least'}")

    def coefficients(self, domain: Domain, *, substeps: int, strength: float = 1.0) -> Coefficients:
        """Numbers of one iteration.

        Settling reduces the capacity step by step. Stopping the rain instead would build towers, because there may be
        tens of cells of sediment; stopping only the erosion would leave every uneven deposit in the stream beds (half
        as many pits again).
        """
        return coefficients(
            self, substeps, strength, cell_size=domain.cell_size, layered=bool(domain.strata),
            sea_level=level_in_cells(self, domain),
        )  # fmt: skip

    def fill(self, name: str, state: State, domain: Domain) -> Array:
        """What multiplies a parameter begins as 1 everywhere."""
        return np.ones(domain.shape, np.float32) if name in SHARES else super().fill(name, state, domain)

    def amounts(self, state: State, domain: Domain) -> Mapping[str, float]:
        """Amounts of the mass budget in cubic metres."""
        cubic, scalars = domain.cell_size**3, state.scalars
        b = ground(state["elevation"]) if "nodata" in state else state["elevation"]
        sums = dict(zip(BUDGET, state["budget"].sum(axis=0).tolist(), strict=True))
        cells: dict[str, float] = {
            **{name: amount + scalars.get(f"device_{name}", 0) / DEVICE_UNITS for name, amount in sums.items()},
            **{name: scalars[name] for name in ("water_start", "water_edited", "solids_start", "solids_edited")},
            "water_now": total(state["water"]),
            "solids_now": total(b) + total(state["suspended"]),
        }
        return {name: amount * cubic for name, amount in cells.items()}

    def derive(self, name: str, state: State, domain: Domain) -> Array:
        """Work a layer out in metres."""
        return _derive.derive(name, state, domain, coefficients(self, 1))

    def derive_all(self, names: Sequence[str], state: State, domain: Domain) -> dict[str, Array]:
        """Work several layers out."""
        return _derive.derive_all(names, state, domain, coefficients(self, 1))

    def metres(self, name: str, values: Array, window: Window, state: State, domain: Domain) -> Layer:
        """Convert part of a field to what users see; nodata counts as the lowest ground."""
        if name == "elevation" and "nodata" in state:
            values = ground(values)
        return super().metres(name, values, window, state, domain)
