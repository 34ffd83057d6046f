"""Parameters and laws of the velocity-field model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.base import Footprint, Model, in_metres, register
from slopewash.models.parameters import Rule, law, not_negative, parameter, positive
from slopewash.models.state import Array, Domain, Side, State
from slopewash.models.velocity_field import prepare as _prepare
from slopewash.models.velocity_field.coefficients import Coefficients
from slopewash.models.velocity_field.fields import FIELDS, SHARES, SUMS
from slopewash.models.velocity_field.hillslope import Hillslope
from slopewash.models.velocity_field.reference import Motion

whole = Rule(lambda v: 1 <= v <= 1_000_000 and v == int(v), "a whole number, 1 .. 1000000")


STRONGEST_PULL = 10
"""g·Δt² in cells: above it, sums of collision energy in fixed point could overflow on large grids."""


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class VelocityField(Model):
    """Erosion by the velocity field of water particles [Chiba98].

    In one iteration a particle of water runs down from every grid point over a frozen surface. Sums are taken of the
    water that passes each cell (W), its velocity (V) and the energy it loses in collisions with the ground (E). Both
    flow and collisions erode the ground; the sediment is carried along V and deposited where it exceeds what the flow
    can carry. K_q, K_e and K_c are by default those of figure 2 of the paper. Lengths are in cells, and the grid
    interval C is 1.

    Deviations from the paper, where it is silent or cannot be run:

    - `v += a Δt`, which the paper omits, is the equation of motion that the text describes. Speed is limited to
      `maximum_speed`, and Δt is the time in which that speed crosses one cell, so a step covers at most two cells. The
      limit stands for friction, of which the paper has none.
    - A particle counts once each time it enters a cell, so that W counts passing particles, as in the text.
    - Sediment is carried once per iteration, each cell after all that feed it, instead of "as many times as needed".
      Where V goes in circles, the lowest cell of the circle passes its sediment to its lowest neighbour, as does any
      cell where V is zero; in a pit the sediment is deposited.
    - In one iteration no cell is eroded by more than half the drop to its lowest neighbour, or raised by more than half
      the rise to its lowest higher neighbour (in a pit, all of it), plus `margin`, and never below the lowest cell of
      the start by more than `margin`; as published, there is no limit.
      Sediment that finds no room is passed on; in a pit it stays suspended until the next iteration.
    - Pits pass nothing on until they are full. Otherwise inertia would carry all sediment across, and they would never
      fill.
    - The ground between grid points consists of triangles that meet along the lower diagonal. Bilinear ground has a
      saddle across every diagonal valley, behind which water collects.
    - `steering="gradient"` accelerates particles down the gradient at their position. The paper accelerates them
      towards the steepest of eight neighbours (`steering="steepest"`), so that only eight directions are possible.
    - Particles have a width, `breadth`: the ground they see and the W, V and E they leave are averaged over that many
      rounds of the weights 1 2 1. Points (`breadth=0`) cut slots one cell wide, where water stalls and digs pits.
    - Soil creeps, and ground steeper than `talus_slope` slides (`creep_rate`, `slide_rate`; 0 as published), compared
      with the true gradient as in `VirtualPipes`. Without it nothing widens a valley, and its banks become spikes.
    - δ, for which the paper gives no value, is `height_per_load`, the same for figures 2 to 4. The laws as published
      are `steering="steepest", breadth=0, creep_rate=0, slide_rate=0`.

    Solids are conserved to rounding of float64 sums. Deterministic for any number of threads, because particle sums are
    whole numbers. The terrain's `erodibility` scales K_q and K_e. With `Strata` the exposed layer has its own K_q, K_e
    and K_c instead; soil above the bedrock has the model's.

    >>> VelocityField(flow_erosion=1e-3)
    VelocityField(flow_erosion=0.001)
    """

    name: ClassVar = "velocity_field"
    summary: ClassVar = "Water particles with inertia: flow and collisions erode ridges and valleys; strata."
    paper: ClassVar = "Chiba, Muraoka & Fujita 1998"
    halo: ClassVar = None  # a particle may cross the whole grid
    footprints: ClassVar = {
        "cpu": Footprint(255, 310, 5400, growth=1.1),
        "reference": Footprint(400, 460, 120_000, growth=1.1, shared=False),
    }
    backends: ClassVar = {"gpu": "gpu.GpuBackend", "cpu": "cpu.CpuBackend", "reference": "iteration.ReferenceBackend"}
    sides: ClassVar[tuple[Side, ...]] = ("open",)
    fields: ClassVar = FIELDS
    sums: ClassVar = SUMS
    moved_by: ClassVar = {
        "rain": "every cell sends one drop of water in every step; for more rain, make the run older",
        "rock_strength": {"flow_erosion": 1 / 10, "collision_erosion": 1 / 10},
        "steepness": {"talus_slope": 1.8},
        "sediment": {"transport_capacity": 4.0},
    }

    flow_erosion: float = parameter(
        1e-5, symbol="K_q", valid=not_negative, typical=(1e-6, 1e-2), eq="S_q", group="erosion", log=True,
        doc="Height eroded per unit of flow quantity Q = C·W·|V|.",
    )  # fmt: skip
    collision_erosion: float = parameter(
        1e-5, symbol="K_e", valid=not_negative, typical=(1e-6, 1e-2), eq="S_e", group="erosion", log=True,
        doc="Height eroded per unit of energy that water loses when it hits the ground.",
    )  # fmt: skip
    transport_capacity: float = parameter(
        1.0, symbol="K_c", valid=not_negative, typical=(1e-4, 10), eq="S_max", group="erosion", log=True,
        mappable="capacity", doc="Sediment that a unit of flow quantity can carry.",
    )  # fmt: skip
    capacity_exponent: float = parameter(
        1.5, symbol="f", valid=Rule(lambda v: 0 <= v <= 4, "between 0 and 4"), typical=(1, 2), eq="S_max",
        group="erosion", doc="Power of the flow quantity in the capacity; with 1 almost nothing is deposited.",
    )  # fmt: skip
    margin: float = parameter(
        0.0, symbol="m", units="cells", valid=Rule(lambda v: 0 <= v <= 10, "between 0 and 10"), typical=(0, 1),
        group="erosion", doc="Added to the largest height that an iteration may erode from or deposit on a cell.",
    )  # fmt: skip
    height_per_load: float = parameter(
        2.0, symbol="δ", valid=Rule(lambda v: 0 < v <= 1000, "above 0 and at most 1000"), typical=(0.5, 50), eq="2(b)",
        group="erosion", log=True, doc="Height of a unit of sediment deposited on one cell; the paper gives no value.",
    )  # fmt: skip
    breadth: float = parameter(
        2, symbol="n_b", valid=Rule(lambda v: 0 <= v <= 32 and v == int(v), "a whole number, 0 .. 32"), typical=(0, 4),
        group="water", doc="Width of a particle's water, in rounds of the weights 1 2 1; 0 is a point, as published.",
    )  # fmt: skip
    creep_rate: float = parameter(
        0.01, symbol="K_cr", valid=Rule(lambda v: 0 <= v <= 0.05, "between 0 and 0.05"), typical=(0, 0.02),
        group="hillslope", doc="Share of the drop to each neighbour that creeps down per iteration; 0 as published.",
    )  # fmt: skip
    slide_rate: float = parameter(
        0.1, symbol="K_t", valid=Rule(lambda v: 0 <= v <= 0.2, "between 0 and 0.2"), typical=(0, 0.2),
        group="hillslope", mappable="sliding",
        doc="Share of the drop beyond the talus that slides down per iteration; 0 as published.",
    )  # fmt: skip
    talus_slope: float = parameter(
        1.8, symbol="tan α", valid=not_negative, typical=(0.5, 3), group="hillslope", mappable="talus",
        doc="Steepest slope that does not slide.",
    )  # fmt: skip
    gravity: float = parameter(
        9.81, symbol="G", units="cells/time²", valid=positive, typical=(0.1, 20), eq="|a|", group="water",
        doc="Acceleration that drives the particles.",
    )  # fmt: skip
    maximum_speed: float = parameter(
        14.0, symbol="v_max", units="cells/time", valid=positive, typical=(1, 60), group="water",
        doc="Largest speed of a particle (14: free fall over 10 cells); its time step is 1/v_max.",
    )  # fmt: skip
    minimum_speed: float = parameter(
        0.001, symbol="v_min", units="cells/time", valid=not_negative, typical=(0, 0.1), group="water",
        doc="A particle slower than this stops.",
    )  # fmt: skip
    maximum_steps: float = parameter(
        4000, symbol="n_max", valid=whole, typical=(100, 10000), group="water",
        doc="A particle stops after this many time steps of 1/v_max.",
    )  # fmt: skip
    longest_stay: float = parameter(
        200, symbol="n_stay", valid=whole, typical=(50, 1000), group="water",
        doc="A particle stops if it does not leave a cell within this many steps.",
    )  # fmt: skip
    steering: str = law(
        "gradient", "gradient", "steepest", eq="|a|",
        doc="Particles accelerate down the gradient at their position, or as published towards the steepest neighbour.",
    )  # fmt: skip
    pits: str = law(
        "trap", "trap", "stop",
        doc="A pit stops particles too slow to climb out of it, or every particle.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        pull = self.gravity * self.particle_time_step**2
        if pull > STRONGEST_PULL:
            raise InvalidParameter(
                f"gravity (g) is {self.gravity:g} and maximum_speed {self.maximum_speed:g}: particles would gain "
                f"{pull:.3g} cells per step in each step, more than {STRONGEST_PULL}; use less gravity or more speed"
            )

    @property
    def particle_time_step(self) -> float:
        """Δt: the time in which the fastest particle crosses one cell."""
        return 1 / self.maximum_speed

    prepare = staticmethod(_prepare.prepare)

    def needs(self, domain: Domain) -> tuple[str, ...]:
        """Fields that a state must hold with these parameters."""
        return ("bedrock", "strata_top") if domain.strata else ("erodibility",)

    def coefficients(self, domain: Domain, *, substeps: int, strength: float = 1.0) -> Coefficients:
        """Numbers of one iteration."""
        dt = self.particle_time_step
        return Coefficients(
            motion=Motion(
                pull=self.gravity * dt * dt,
                slowest=self.minimum_speed * dt,
                most_steps=int(self.maximum_steps),
                longest_stay=int(self.longest_stay),
                downhill=self.steering == "gradient",
            ),
            hillslope=Hillslope(creep=self.creep_rate, slide=self.slide_rate, talus=self.talus_slope),
            breadth=int(self.breadth),
            stop_in_pits=self.pits == "stop",
            v_max=self.maximum_speed,
            Kq=self.flow_erosion,
            Ke=self.collision_erosion,
            Kc=self.transport_capacity,
            f=self.capacity_exponent,
            delta=self.height_per_load,
            margin=self.margin,
            strength=strength,
        )

    def fill(self, name: str, state: State, domain: Domain) -> Array:
        """What multiplies a parameter begins as 1 everywhere."""
        return np.ones(domain.shape) if name in SHARES else super().fill(name, state, domain)

    def lay_down(self, state: State, domain: Domain, *, dry: bool) -> None:
        """Deposit the sediment that is still suspended where it is."""
        T = state["elevation"] + state["suspended"]
        state.scalars["solids_moved"] += float((T - state["elevation"]).sum())
        state["elevation"], state["suspended"] = T, np.zeros_like(T)

    def amounts(self, state: State, domain: Domain) -> Mapping[str, float]:
        """Amounts in cubic metres; water that comes to rest on the ground counts as evaporated."""
        cells = {name: amount for name, amount in state.scalars.items() if name != "particle_steps"}
        cells["solids_now"] = float(state["elevation"].sum()) + float(state["suspended"].sum())
        return {name: amount * domain.cell_size**3 for name, amount in cells.items()}

    def derive(self, name: str, state: State, domain: Domain) -> Array:
        """Work a layer out in metres."""
        l, T = domain.cell_size, state["elevation"]  # noqa: E741, the paper's letter
        if name == "velocity":
            Vy, Vx = state["velocity_south"], state["velocity_east"]
            return np.sqrt(Vy * Vy + Vx * Vx) * l
        if name in ("velocity_east", "velocity_south"):
            return state[name] * l
        if name in ("collision_energy", "flow"):
            return state[name] * l * l
        if name == "slope":
            gy, gx = (_slope_along(T, axis) for axis in (0, 1))
            return np.degrees(np.arctan(np.sqrt(gy * gy + gx * gx)))
        if name == "erodibility" and domain.strata:
            from slopewash.models.velocity_field.iteration import exposed_ground

            return np.broadcast_to(exposed_ground(state, domain, self.coefficients(domain, substeps=1)).R, domain.shape)
        change = {"wear": (state["start"] - T) * l, "deposit": (T - state["start"]) * l}
        if name in change:
            return np.maximum(change[name], 0)
        return change["deposit"] if name == "difference" else in_metres(self.layer(name), state[name], domain)


def _slope_along(T: Array, axis: int) -> Array:
    return np.gradient(T, axis=axis) if T.shape[axis] > 1 else np.zeros_like(T)
