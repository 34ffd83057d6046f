"""Parameters and laws of the particle fluid over a triangle mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from slopewash.models.base import (
    Edges,
    Engine,
    Limit,
    Model,
    Rule,
    fraction,
    law,
    not_negative,
    parameter,
    positive,
    register,
)
from slopewash.terrain import Terrain

whole = Rule(lambda v: 1 <= v <= 100_000_000 and v == int(v), "a whole number, 1 .. 100000000")

STANDARD_GRAVITY = 9.81
"""What stiffness is measured in, whatever gravity is set to."""
STEPS_PER_CONTACT = 10
"""Least sub-steps in the period of two particles swinging against each other."""


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class MeshParticles(Model):
    """A fluid of particles that erodes an adaptive triangle mesh [Bezin10].

    Soft spheres (spring, damper, friction) start from the terrain's emitters, run down the mesh and slip along it. A
    particle that touches a triangle lowers it by `C = K_c sin α |v|` (Eq. 1), the highest corner most. What a vertex
    loses becomes a grain, carried by the nearest particle for `ε` steps (Eq. 2), after which it raises the triangle
    below. Vertices are moved every n steps. Lengths are in metres.

    Departs from print, where it is silent or cannot be run:

    - Eq. 1 is taken per second, so that wear does not depend on the time step, and is multiplied by the erodibility
      of the ground exposed (the terrain's layer, or its strata; deposits have 1).
    - A corner's share of C is multiplied by `6 a / A`, a the area of the triangle and A that of all around the corner,
      which is 1 on a mesh of like triangles. Print adds all shares up as they are: corners where eight triangles meet
      would sink twice as fast as those where four do, and bisected meshes have both, side by side.
    - The volume of a grain is what the mesh really loses, `dz A / 3` with A the plan area of the triangles around the
      vertex, not that of a cone; so volumes balance to rounding.
    - Eq. 2 has an exponent `x = 1/s_M`, so that s and s_M have a unit: here it is the shortest edge of the mesh, which
      makes coarse and fine meshes behave alike. ε is at least 1.
    - A vertex is worn by at most `dig_limit` of its height above its lowest neighbour at a time, and raised above its
      highest neighbour by at most a fiftieth of the shortest edge; print can make spikes. Soil that finds no room
      waits; wear beyond the limit is not done.
    - A vertex moves once its wear makes a grain of `smallest_grain`, else every particle would carry hundreds.
    - Vertices on the border are base level and never move; grains that fall where all corners are such are exported.
    - Water that lies on the terrain takes no part; load in it is laid down at the first move of the vertices.
    - A drag slows particles down; without any, water would fall down a mountain at 100 m/s.

    Keeps solids to rounding: eroded = carried + deposited + exported. Water is counted in particles. Pair forces are
    equal and opposite. The same bits for any number of threads: nothing is summed but in a fixed order.

    >>> MeshParticles(erosion_rate=0.01)
    MeshParticles(erosion_rate=0.01)
    """

    name: ClassVar = "mesh_particles"
    summary: ClassVar = "Streams of particles that cut channels into an adaptive triangle mesh and lay grains down."
    paper: ClassVar = "Bézin et al. 2010"
    halo: ClassVar = 1_000_000  # particles and grains may cross the whole terrain
    backends: ClassVar = ("gpu", "cpu", "reference")
    edges: ClassVar[tuple[Edges, ...]] = ("open",)
    layers: ClassVar = ("elevation", "water", "suspended", "velocity", "wear", "deposit", "difference", "slope")
    emits: ClassVar = True

    time_step: float = parameter(
        0.05, symbol="Δt", units="s", valid=positive, typical=(0.01, 0.1), group="fluid",
        doc="Time per step; taken in parts where that is more than a tenth of a contact's period.",
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
        doc="Height worn off by a particle per metre it slides down a wall.",
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
        doc="Wear gathers at a vertex until it makes a grain of this diameter.",
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
        doc="Wear takes most from the highest corner of a triangle, or from all alike.",
    )  # fmt: skip
    displacement: str = law(
        "vertical", "vertical", "lateral",
        doc="Wear moves vertices straight down, or into the ground along their normal.",
    )  # fmt: skip

    def limits(self) -> tuple[Limit, ...]:
        """None that hold for every mesh: the engine knows the radius in metres and splits steps itself."""
        return ()

    def contact_substeps(self, radius: float) -> int:
        """Parts of a time step that resolve the contact of two particles of that radius in metres."""
        period = 2 * math.pi / math.sqrt(2 * self.spring(radius))
        return max(1, math.ceil(self.time_step * STEPS_PER_CONTACT / period - 1e-9))

    def spring(self, radius: float) -> float:
        """Acceleration of a particle per metre of overlap, in 1/s²."""
        return self.stiffness * STANDARD_GRAVITY / (2 * radius)

    def engine(self, terrain: Terrain, *, backend: str, edges: Edges, substeps: int, seed: int) -> Engine:
        """Refine the terrain into a mesh and return the engine that steps it."""
        if backend == "reference":
            from slopewash.models.mesh_particles.reference_engine import ReferenceEngine

            return ReferenceEngine(self, terrain, substeps=substeps, seed=seed)
        if backend == "gpu":
            from slopewash.models.mesh_particles.gpu import GpuEngine

            return GpuEngine(self, terrain, substeps=substeps, seed=seed)
        from slopewash.models.mesh_particles.cpu import CpuEngine

        return CpuEngine(self, terrain, substeps=substeps, seed=seed)
