"""Parameters and laws of the particle fluid over a triangle mesh."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from slopewash.models.base import Footprint, Model, register
from slopewash.models.mesh_particles import changes as _changes
from slopewash.models.mesh_particles import derive as _derive
from slopewash.models.mesh_particles import prepare as _prepare
from slopewash.models.mesh_particles.fields import DEVICE_SUMS, FIELDS, SUMS
from slopewash.models.mesh_particles.physics import STANDARD_GRAVITY, STEPS_PER_CONTACT, Coefficients, contact_period
from slopewash.models.mesh_particles.surface import check_mesh, volume_of
from slopewash.models.parameters import Limit, Rule, fraction, law, not_negative, parameter, positive
from slopewash.models.state import Array, Domain, Patch, Side, State, Window

whole = Rule(lambda v: 1 <= v <= 100_000_000 and v == int(v), "a whole number, 1 .. 100000000")


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class MeshParticles(Model):
    """A fluid of particles that erodes an adaptive triangle mesh [Bezin10].

    Soft spheres (spring, damper, friction) start from the terrain's emitters, run down the mesh and slip along it. A
    particle that touches a triangle lowers it by `C = K_c sin α |v|` (Eq. 1), the highest corner most. What a vertex
    loses becomes a grain, carried by the nearest particle for `ε` steps (Eq. 2), after which it raises the triangle
    below. Vertices are moved every n steps. Lengths are in metres.

    Deviations from the paper, where it is silent or cannot be run:

    - Eq. 1 is taken per second, so that erosion does not depend on the time step, and is multiplied by the erodibility
      of the ground exposed (the terrain's layer, or its strata; deposits have 1).
    - A corner's share of C is multiplied by `6 a / A`, a the area of the triangle and A that of all around the corner,
      which is 1 on a mesh of like triangles. The paper adds all shares up as they are: corners where eight triangles
      meet would sink twice as fast as those where four do, and bisected meshes have both, side by side.
    - The volume of a grain is what the mesh really loses, `dz A / 3` with A the plan area of the triangles around the
      vertex, not that of a cone; so volumes balance to rounding.
    - Eq. 2 has an exponent `x = 1/s_M`, so that s and s_M have a unit: here it is the shortest edge of the mesh, which
      makes coarse and fine meshes behave alike. ε is at least 1.
    - A vertex loses at most `dig_limit` of its height above its lowest neighbour at a time, and is raised above its
      highest neighbour by at most a fiftieth of the shortest edge; as published there can be spikes. Soil that finds
      no room waits; erosion beyond the limit is not done.
    - A vertex moves once its erosion makes a grain of `smallest_grain`, else every particle would carry hundreds.
    - Vertices on the border are base level and never move; grains that fall where all corners are such are exported.
    - Water that lies on the terrain takes no part; sediment in it is deposited at the first move of the vertices.
    - A drag slows particles down; without any, water would fall down a mountain at 100 m/s.

    Solids are conserved to rounding: eroded = carried + deposited + exported. Water is counted in particles. Pair
    forces are equal and opposite. Deterministic for any number of threads: all sums have a fixed order.

    >>> MeshParticles(erosion_rate=0.01)
    MeshParticles(erosion_rate=0.01)
    """

    name: ClassVar = "mesh_particles"
    summary: ClassVar = "Streams of particles that cut channels into an adaptive triangle mesh and deposit grains."
    paper: ClassVar = "Bézin et al. 2010"
    halo: ClassVar = None  # particles and grains may cross the whole terrain
    footprints: ClassVar = {
        "cpu": Footprint(50, 375, 10),
        "reference": Footprint(50, 375, 100, shared=False),
    }
    backends: ClassVar = {"gpu": "gpu.GpuBackend", "cpu": "cpu.CpuBackend", "reference": "iteration.ReferenceBackend"}
    sides: ClassVar[tuple[Side, ...]] = ("open",)
    meshed: ClassVar = True
    divisible: ClassVar = False
    particles: ClassVar = True
    fields: ClassVar = FIELDS
    sums: ClassVar = SUMS | DEVICE_SUMS
    moved_by: ClassVar = {
        "rain": "its water comes from emitters; place them, and set their rate, with the tools on the left",
        "rock_strength": {"erosion_rate": 1 / 5},
        "steepness": "nothing slides in this model, however steep it is",
        "sediment": {"transport_time": 3.0},
    }

    time_step: float = parameter(
        0.05, symbol="Δt", units="s", valid=positive, typical=(0.01, 0.1), group="fluid",
        doc="Time per step; split into sub-steps where that is more than a tenth of a contact's period.",
    )  # fmt: skip
    gravity: float = parameter(
        STANDARD_GRAVITY, symbol="g", units="m/s²", valid=not_negative, typical=(0, 20), group="fluid",
        doc="Acceleration that drives the particles.",
    )  # fmt: skip
    particle_radius: float = parameter(
        0.5, symbol="r", units="finest edges", valid=positive, typical=(0.25, 1.5), group="fluid",
        doc="Radius of a particle relative to the shortest edge of the mesh.",
    )  # fmt: skip
    stiffness: float = parameter(
        50.0, symbol="k", units="weights/diameter", valid=positive, typical=(20, 200), group="fluid",
        doc="How many particles' weight it takes to press two into one: with 50, one layer overlaps by 2 %.",
    )  # fmt: skip
    damping: float = parameter(
        0.3, symbol="ζ", valid=fraction, typical=(0, 1), group="fluid",
        doc="Damper between particles, as a share of the critical one.",
    )  # fmt: skip
    friction: float = parameter(
        0.1, symbol="μ", valid=fraction, typical=(0, 1), group="fluid",
        doc="Friction between particles that slide past each other, as a share of the critical damper.",
    )  # fmt: skip
    drag: float = parameter(
        0.5, symbol="c", units="1/s", valid=not_negative, typical=(0, 2), group="fluid",
        doc="Rate at which particles slow down; the fastest they fall is g/c.",
    )  # fmt: skip
    bounce: float = parameter(
        0.0, symbol="e", valid=fraction, typical=(0, 0.9), eq="Fig. 1a", group="fluid",
        doc="Share of the speed into the ground that comes back; along the ground all of it is kept.",
    )  # fmt: skip
    lifetime: float = parameter(
        600.0, symbol="T", units="s", valid=positive, typical=(10, 2000), group="fluid",
        doc="Time after which a particle has evaporated.",
    )  # fmt: skip
    maximum_particles: float = parameter(
        130_000, symbol="N", valid=whole, typical=(1000, 500_000), group="fluid",
        doc="Emitters pause while there are so many particles.",
    )  # fmt: skip
    erosion_rate: float = parameter(
        0.02, symbol="K_c", units="1", valid=not_negative, typical=(0.001, 0.2), eq="1", group="erosion", log=True,
        doc="Height that a particle erodes per metre it slides down a vertical face.",
    )  # fmt: skip
    transport_time: float = parameter(
        1000, symbol="ε_M", units="steps", valid=whole, typical=(1, 5000), eq="2", group="erosion",
        doc="Steps for which the finest grains are carried.",
    )  # fmt: skip
    grain_size: float = parameter(
        1.0, symbol="s_M", units="finest edges", valid=positive, typical=(0.1, 4), eq="2", group="erosion",
        doc="Diameter of the largest grains, which are carried for one step.",
    )  # fmt: skip
    smallest_grain: float = parameter(
        0.1, symbol="s_m", units="finest edges", valid=not_negative, typical=(0, 0.5), group="erosion",
        doc="Erosion adds up at a vertex until it makes a grain of this diameter.",
    )  # fmt: skip
    update_every: float = parameter(
        10, symbol="n", units="steps", valid=whole, typical=(1, 50), group="erosion",
        doc="Steps between two moves of the vertices.",
    )  # fmt: skip
    dig_limit: float = parameter(
        0.5, symbol="q", valid=fraction, typical=(0, 1), group="erosion",
        doc="Share of its height above its lowest neighbour that a vertex may lose in one move.",
    )  # fmt: skip
    triangles: float = parameter(
        80_000, symbol="M", valid=whole, typical=(1000, 500_000), group="mesh",
        doc="Most triangles of the mesh.",
    )  # fmt: skip
    gradient_weight: float = parameter(
        8.0, symbol="w_g", valid=not_negative, typical=(0, 32), group="mesh",
        doc="How many times finer the mesh is on the steepest ground than on level ground.",
    )  # fmt: skip
    depth_weight: float = parameter(
        8.0, symbol="w_d", valid=not_negative, typical=(0, 32), group="mesh",
        doc="How many times finer the mesh is on the lowest ground than on the highest.",
    )  # fmt: skip
    weights: str = law(
        "height", "height", "uniform", eq="Fig. 1b-c",
        doc="Erosion takes most from the highest corner of a triangle, or from all alike.",
    )  # fmt: skip
    displacement: str = law(
        "vertical", "vertical", "lateral",
        doc="Erosion moves vertices straight down, or into the ground along their normal.",
    )  # fmt: skip

    def limits_in(self, state: State) -> tuple[Limit, ...]:
        """Stability limit of a run: the time step must resolve the contact of two particles."""
        radius = self.radius(state)
        share = self.time_step / contact_period(self.stiffness, radius)
        return (Limit(f"Δt / contact period of particles of radius {radius:.3g} m", share, 1 / STEPS_PER_CONTACT),)

    def radius(self, state: State) -> float:
        """Radius of a particle in metres."""
        return self.particle_radius * state.scalars["edge"]

    def particle_volume(self, state: State) -> float:
        """Cubic metres of water that a particle stands for."""
        return 4 / 3 * math.pi * self.radius(state) ** 3

    prepare = _prepare.prepare
    adopt = _changes.adopt
    lay_down = _changes.lay_down
    derive_all = _derive.derive_all
    mesh = staticmethod(_derive.mesh_of)
    positions = staticmethod(_derive.positions)
    first_bad = staticmethod(_derive.first_bad)

    def coefficients(self, domain: Domain, *, substeps: int, strength: float = 1.0) -> Coefficients:
        """Numbers of one step; those in metres follow from the mesh."""
        own = {name: value for name, value in self.values().items() if name in Coefficients._fields}
        own |= {"maximum_particles": int(self.maximum_particles), "update_every": int(self.update_every)}
        laws = {"uniform": self.weights == "uniform", "lateral": self.displacement == "lateral"}
        return Coefficients(substeps=substeps, strength=strength, **laws, **own)  # type: ignore[arg-type]

    def amounts(self, state: State, domain: Domain) -> Mapping[str, float]:
        """Amounts of the mass budget in cubic metres; a particle is a ball of water."""
        cubic, sums = self.particle_volume(state), state.scalars
        carried = float(state["grain_volume"].sum()) + float(state["pending_deposit"].sum())
        return {
            "water_sources": sums["born"] * cubic,
            "water_evaporated": sums["evaporated"] * cubic,
            "water_exported": sums["left"] * cubic,
            "water_now": int(_derive.living(state).sum()) * cubic,
            "solids_start": sums["solids_start"],
            "solids_exported": sums["exported"],
            "solids_moved": sums["eroded"] + sums["deposited"],
            "solids_now": volume_of(state) + carried,
        }

    def check_state(self, state: State, domain: Domain) -> None:
        """Refuse a state that loops over triangles and particles may not trust."""
        super().check_state(state, domain)
        check_mesh(state)

    def derive(self, name: str, state: State, domain: Domain) -> Array:
        """Work a layer out in metres."""
        return self.derive_all([name], state, domain)[name]

    def follow(self, name: str, window: Window | None, state: State, domain: Domain) -> Sequence[Patch]:
        """New emitters owe nothing, and none of their particles starts where one has started before."""
        if name != "emitters":
            return ()
        count = len(state["emitters"])
        born = np.full(count, state.scalars["born"], np.int64)
        return [Patch("emitter_due", np.zeros(count)), Patch("emitter_count", born)]
