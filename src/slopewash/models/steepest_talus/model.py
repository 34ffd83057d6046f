"""Parameters and laws of the steepest-neighbour talus model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from slopewash.models.base import Edges, Engine, Limit, Model, Rule, law, not_negative, parameter, positive, register
from slopewash.terrain import Terrain

below_upright = Rule(lambda v: 0 < v < 90, "above 0 and below 90")
cannot_swing = Rule(
    lambda v: 0 < v <= 1, "above 0 and at most 1, because more swings back and forth between two cells for ever"
)
CALM = 2 / 9
"""Largest amplitude that comes to rest on any terrain."""


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class SteepestTalus(Model):
    """Thermal erosion after the Outerrain post [Riche18]: soil slides to the steepest neighbour.

    Each cell looks at its eight neighbours. If the largest slope exceeds the talus it sends a fixed height of soil,
    the amplitude, down to that neighbour. Equally steep neighbours: the first from north-west to south-east, row by
    row, and a straight one before a diagonal one. Lengths are in cells.

    All cells move at once, from one buffer to the other, where the post updates one buffer in whatever order the
    threads run. Heights are whole numbers of a small unit, so solids are kept exactly.

    With `amplitude` at most 2/9 every run comes to rest. A move lowers the sum of squared heights: N transfers, each
    down a drop of more than T, change it by less than -2·A·T·N + A²·Σ(in - out)², and Σ(in - out)² <= 9·N because a
    cell receives from at most eight neighbours and sends to one. That is negative while A <= 2·T/9, and a sum of
    squares of whole numbers cannot fall for ever. Larger amplitudes are quicker and may end in flickering cells.

    On a terrain with strata `talus_law="hard_stands_steeper"` takes the R of the exposed layer, anew in each iteration,
    or 1 where loose soil covers the bedrock (the lowest the ground ever was). A move is never split: the last of the
    soil may take a little of the rock along. Runs come to rest as without strata, for no talus is smaller.

    Departs from print:

    - Diagonal neighbours are √2 away; print takes them for 1 (`diagonals="printed"` keeps print).
    - Rows are indexed by the number of columns; print uses the number of rows, which is right for squares only.

    Open edges are as closed ones: the ground beyond is taken to go on at the edge cell's height, so no slope leads out.

    >>> SteepestTalus(talus_angle=35, amplitude=0.1)
    SteepestTalus(talus_angle=35.0, amplitude=0.1)
    """

    name: ClassVar = "steepest_talus"
    summary: ClassVar = "Soil slides to the steepest neighbour until every slope stands: scree, cones, talus."
    paper: ClassVar = "Riche, Outerrain: Terrain Erosion on the GPU"
    halo: ClassVar = 2
    backends: ClassVar = ("gpu", "cpu", "reference")
    editable: ClassVar = ("elevation", "erodibility")

    talus_angle: float = parameter(
        math.degrees(math.atan(0.6)), symbol="φ", units="°", valid=below_upright, typical=(10, 60), group="talus",
        doc="Steepest slope that stands, as an angle. Acts with talus_law=\"uniform\".",
    )  # fmt: skip
    amplitude: float = parameter(
        CALM, symbol="a", units="T", valid=cannot_swing, typical=(0.02, CALM), group="talus",
        doc="Height that slides in one iteration, relative to the drop T that just stands between two cells; "
        "up to 2/9 every run comes to rest.",
    )  # fmt: skip
    talus_slope_range: float = parameter(
        0.4, symbol="K_a", valid=not_negative, typical=(0, 1), group="talus",
        doc="How much steeper the hardest ground stands than the softest, as a tangent.",
    )  # fmt: skip
    talus_slope_bias: float = parameter(
        0.3, symbol="K_i", valid=positive, typical=(0.05, 1), group="talus",
        doc="Tangent of the slope at which the softest ground comes to rest.",
    )  # fmt: skip

    talus_law: str = law(
        "uniform", "uniform", "hard_stands_steeper",
        doc="The talus_angle everywhere, or the tangent (1 - R) K_a + K_i of the erodibility R of what is exposed.",
    )  # fmt: skip
    diagonals: str = law(
        "true_distance", "true_distance", "printed",
        doc="Diagonal neighbours are √2 cells away, or 1 as printed.",
    )  # fmt: skip

    @property
    def smallest_talus(self) -> float:
        """Tangent at which the softest ground stands; the amplitude is relative to it."""
        if self.talus_law == "uniform":
            return math.tan(math.radians(self.talus_angle))
        return self.talus_slope_bias

    def limits(self) -> tuple[Limit, ...]:
        """No limits: the amplitude's range keeps every run stable."""
        return ()

    def engine(self, terrain: Terrain, *, backend: str, edges: Edges, substeps: int, seed: int) -> Engine:
        """Upload a terrain and return the engine that steps it."""
        if backend == "reference":
            from slopewash.models.steepest_talus.reference_engine import ReferenceEngine

            return ReferenceEngine(self, terrain, edges=edges, substeps=substeps, seed=seed)
        if backend == "gpu":
            from slopewash.models.steepest_talus.gpu import GpuEngine

            return GpuEngine(self, terrain, edges=edges, substeps=substeps, seed=seed)
        from slopewash.models.steepest_talus.cpu import CpuEngine

        return CpuEngine(self, terrain, edges=edges, substeps=substeps, seed=seed)
