"""Parameters and laws of the steepest-neighbour talus model."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models import ground
from slopewash.models.base import Footprint, Model, register
from slopewash.models.maps import Mappable
from slopewash.models.parameters import Rule, law, not_negative, parameter, positive
from slopewash.models.state import Array, Domain, Sides, State, Window
from slopewash.models.steepest_talus.coefficients import Coefficients, beds
from slopewash.models.steepest_talus.fields import FIELDS, SUMS
from slopewash.models.steepest_talus.prepare import HIGHEST, LOWEST, TALUS_OF_STRATA, WALL, guessed_erodibility, prepare
from slopewash.terrain import Layer, Place, Terrain

below_upright = Rule(lambda v: 0 < v < 90, "above 0 and below 90")
cannot_swing = Rule(
    lambda v: 0 < v <= 1, "above 0 and at most 1, because more would swing back and forth between two cells forever"
)


def tangent(degrees: Array) -> Array:
    """Slope of an angle."""
    return np.tan(np.radians(degrees))


CALM = 2 / 9
"""Largest amplitude that comes to rest on any terrain."""


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class SteepestTalus(Model):
    """Thermal erosion after the Outerrain post [Riche18]: soil slides to the steepest neighbour.

    Each cell looks at its eight neighbours. If the steepest slope exceeds the talus slope, the cell sends a fixed
    height of soil, the amplitude, to that neighbour. Among equally steep neighbours it takes the first, row by row from
    north-west to south-east, and a straight one before a diagonal one. Lengths are in cells.

    All cells move at once, from one buffer to another; the post updates a single buffer in whatever order the threads
    run. Heights are whole numbers of a small unit, so solids are conserved exactly.

    With `amplitude` at most 2/9 every run comes to rest. A move decreases the sum of squared heights: N transfers, each
    down a drop of more than T, change it by less than -2·A·T·N + A²·Σ(in - out)², and Σ(in - out)² <= 9·N because a
    cell receives from at most eight neighbours and sends to one. That is negative while A <= 2·T/9, and a sum of
    squares of whole numbers cannot decrease forever. Larger amplitudes are faster, but some cells may keep flickering.

    On a terrain with strata, `talus_law="hard_stands_steeper"` uses the R of the layer exposed in each iteration, or 1
    where loose soil covers the bedrock (the lowest level the ground has had). A move is never split: the last of the
    soil may take a little of the rock with it. Runs come to rest as without strata, because no talus is smaller.

    Deviations from the post:

    - Diagonal neighbours are √2 away; in the post their distance is 1 (`diagonals="printed"`).
    - Rows are indexed by the number of columns; the post uses the number of rows, which is right for squares only.

    The amplitude is relative to the smallest talus of a map, so that runs come to rest with maps too. It takes no map
    itself: cells count how many neighbours send, not how much. A layer `talus` below 1 may leave some cells flickering.

    Open edges act like closed ones: the ground beyond has the edge cell's height, so no slope leads out.

    >>> SteepestTalus(talus_angle=35, amplitude=0.1)
    SteepestTalus(talus_angle=35.0, amplitude=0.1)
    """

    name: ClassVar = "steepest_talus"
    summary: ClassVar = "Soil slides to the steepest neighbour until every slope is stable: scree, cones, talus."
    paper: ClassVar = "Riche, Outerrain: Terrain Erosion on the GPU"
    halo: ClassVar = 2
    footprints: ClassVar = {
        "cpu": Footprint(25, 95, 1.2),
        "reference": Footprint(30, 85, 50, shared=False),
    }
    backends: ClassVar = {"gpu": "gpu.GpuBackend", "cpu": "cpu.CpuBackend", "reference": "reference.ReferenceBackend"}
    fields: ClassVar = FIELDS
    sums: ClassVar = SUMS
    adopted: ClassVar = frozenset({"talus_law"})
    moved_by: ClassVar = {
        "rain": "the model has no water",
        "rock_strength": "the model moves loose soil; what slides depends on the steepness alone",
        "steepness": {"talus_angle": 1.7, "talus_slope_bias": 1.7, "talus_slope_range": 1.7},
        "sediment": "the model has no water that could carry any",
    }

    talus_angle: float = parameter(
        math.degrees(math.atan(0.6)), symbol="φ", units="°", valid=below_upright, typical=(10, 60), group="talus",
        mappable=Mappable("talus", of=tangent, least=True),
        doc="Steepest stable slope, as an angle. Only with talus_law=\"uniform\".",
    )  # fmt: skip
    amplitude: float = parameter(
        CALM, symbol="a", units="T", valid=cannot_swing, typical=(0.02, CALM), group="talus",
        doc="Height that slides in one iteration, relative to the largest stable drop T between two cells; "
        "up to 2/9 every run comes to rest.",
    )  # fmt: skip
    talus_slope_range: float = parameter(
        0.4, symbol="K_a", valid=not_negative, typical=(0, 1), group="talus",
        doc="How much steeper the hardest ground can be than the softest, as a tangent.",
    )  # fmt: skip
    talus_slope_bias: float = parameter(
        0.3, symbol="K_i", valid=positive, typical=(0.05, 1), group="talus",
        mappable=Mappable("talus", least=True),
        doc="Tangent of the steepest stable slope of the softest ground. A map of it scales that of hard ground alike.",
    )  # fmt: skip

    talus_law: str = law(
        "uniform", "uniform", "hard_stands_steeper",
        doc="The talus_angle everywhere, or the tangent (1 - R) K_a + K_i with the erodibility R of what is exposed.",
    )  # fmt: skip
    diagonals: str = law(
        "true_distance", "true_distance", "printed",
        doc="Diagonal neighbours are √2 cells away, or 1 as published.",
    )  # fmt: skip

    @property
    def smallest_talus(self) -> float:
        """Tangent of the steepest stable slope of the softest ground; the amplitude is relative to it."""
        if self.talus_law == "uniform":
            return math.tan(math.radians(self.talus_angle))
        return self.talus_slope_bias

    @property
    def strata_note(self) -> str | None:
        """Note that strata have no effect on a uniform talus."""
        if self.talus_law != "uniform":
            return None
        return "talus_law=uniform ignores strata; use --set talus_law=hard_stands_steeper"

    def prepare(self, terrain: Terrain, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert a terrain in metres to heights in whole units."""
        return prepare(terrain, sides=sides, seed=seed, guess_erodibility=self.talus_law != "uniform")

    def prepare_part(self, terrain: Terrain, place: Place, *, sides: Sides, seed: int) -> tuple[Domain, State]:
        """Convert part of a terrain."""
        return prepare(terrain, sides=sides, seed=seed, guess_erodibility=self.talus_law != "uniform", place=place)

    def draws(self, given: Collection[str], *, layered: bool) -> int:
        """How many random fields of one sequence over the whole the erodibility needs."""
        return int(self.talus_law != "uniform" and not layered and "erodibility" not in given)

    def needs(self, domain: Domain) -> tuple[str, ...]:
        """Fields that a state must hold with these parameters."""
        return ("bedrock", "strata_top") if domain.strata else ()

    def coefficients(self, domain: Domain, *, substeps: int, strength: float = 1.0) -> Coefficients:
        """Numbers of one iteration; there is no water whose power could fade."""
        amplitude = math.floor(self.amplitude * self.smallest_talus * domain.scale)
        if amplitude < 1:
            least = 1 / (self.smallest_talus * domain.scale)
            raise InvalidParameter(
                f"amplitude (a) is {self.amplitude:g} of a talus of {self.smallest_talus:.3g}; for the relief of this "
                f"terrain and cells of {domain.cell_size:g} m it must be at least {least:.2g}"
            )
        return Coefficients(
            # No ground ever drops by the height of nodata: an amplitude above it is never sent.
            amplitude=min(amplitude, WALL),
            printed=self.diagonals == "printed",
            steepness=self.smallest_talus,
            varied=self.talus_law != "uniform",
            hard=self.talus_slope_range,
            soft=self.talus_slope_bias,
        )

    def adopt(self, before: SteepestTalus, state: State, domain: Domain) -> None:
        """Guess the erodibility if the talus now depends on it."""
        if self.talus_law != "uniform" and not domain.strata and "erodibility" not in state:
            state["erodibility"] = guessed_erodibility(state, domain)

    def fill(self, name: str, state: State, domain: Domain) -> Array:
        """Work out the erodibility when it is first painted; a talus begins as the model's own."""
        if name == "talus" and domain.strata:
            raise InvalidParameter(TALUS_OF_STRATA)
        if name == "talus":
            return np.ones(domain.shape, np.float32)
        return super().fill(name, state, domain) if domain.strata else guessed_erodibility(state, domain)

    def amounts(self, state: State, domain: Domain) -> Mapping[str, float]:
        """Amounts in cubic metres; whole units until the last moment, so mass is conserved exactly."""
        cubic = domain.cell_size**3 / domain.scale
        n, nodata = state["elevation"], state.get("nodata")
        now = int((n if nodata is None else n[~nodata]).sum(dtype=np.int64))
        return {name: units * cubic for name, units in {**state.scalars, "solids_now": now}.items()}

    def first_bad(self, state: State, domain: Domain) -> None:
        """Whole numbers are always finite."""

    def derive(self, name: str, state: State, domain: Domain) -> Array:
        """Work a layer out in metres; ground that never moved keeps its elevation to the bit."""
        if name == "slope":
            b = state["elevation"] / domain.scale
            if "nodata" in state:
                b[state["nodata"]] = ground.WALL
            return ground.slope_degrees(b, domain.sides)
        if name == "erodibility":
            if domain.strata:
                layers = beds(domain, self.coefficients(domain, substeps=1))
                return layers.R[layers.exposed(state["elevation"], state["bedrock"], state["strata_top"])]
            return state[name] if name in state else guessed_erodibility(state, domain)
        if name == "talus":
            return state[name]
        if name in ("elevation", "bedrock"):
            return self.metres(name, state[name], np.s_[:, :], state, domain)
        change = _change(state["elevation"], state["start"], domain).astype(np.float32)
        return ground.change_layers(change)[name]

    def metres(self, name: str, values: Array, window: Window, state: State, domain: Domain) -> Layer:
        """Convert part of a field: heights as changes from the start."""
        if name in ("erodibility", "talus"):
            return values.astype(np.float32)
        change = _change(values, state.part("start", window), domain)
        return (state.part("start_elevation", window) + change).astype(np.float32)

    def units(self, name: str, metres: Array, window: Window, state: State, domain: Domain) -> Array:
        """Convert to whole units, and refuse heights that do not fit the kernels' integers."""
        if name in ("erodibility", "talus"):
            return metres
        change = np.rint((metres - state.part("start_elevation", window)) * (domain.scale / domain.cell_size))
        n: Array = state.part("start", window) + change
        ground_only = n if "nodata" not in state else n[~state.part("nodata", window)]
        if ground_only.size and not (ground_only.min() >= LOWEST and ground_only.max() <= HIGHEST):
            low, high = (domain.datum + n * domain.cell_size / domain.scale for n in (LOWEST, HIGHEST))
            raise InvalidParameter(
                f"elevation would span {metres.min():g} .. {metres.max():g} m; in this run it must stay within "
                f"{low:g} .. {high:g} m"
            )
        return np.clip(n, LOWEST, HIGHEST)


def _change(n: Array, start: Array, domain: Domain) -> Array:
    return (n.astype(np.float64) - start) * (domain.cell_size / domain.scale)
