"""Numbers of a step and of a sub-step."""

from __future__ import annotations

import math
from typing import NamedTuple

STANDARD_GRAVITY = 9.81
"""What stiffness is measured in, whatever gravity is set to."""
STEPS_PER_CONTACT = 10
"""Least sub-steps in the period of two particles swinging against each other."""
FURTHEST = 4.0
"""Radii that a particle moves at most in one sub-step."""


class Coefficients(NamedTuple):
    """Parameters of a run as backends need them; lengths relative to the shortest edge of the mesh."""

    time_step: float
    substeps: int
    strength: float
    """share of the power to erode that is left while a run settles"""
    gravity: float
    particle_radius: float
    stiffness: float
    damping: float
    friction: float
    drag: float
    bounce: float
    lifetime: float
    maximum_particles: int
    erosion_rate: float
    transport_time: float
    grain_size: float
    smallest_grain: float
    update_every: int
    dig_limit: float
    uniform: bool
    lateral: bool


class Physics(NamedTuple):
    """What moves and erodes during one sub-step; metres and seconds."""

    dt: float
    radius: float
    spring: float
    """acceleration per metre of overlap"""
    damper: float
    """acceleration per speed of approach"""
    friction: float
    """acceleration per speed of sliding"""
    gravity: float
    slowing: float
    """factor on speeds"""
    bounce: float
    fastest: float
    erosion: float
    """height eroded per speed and sin α in one sub-step"""


def spring(stiffness: float, radius: float) -> float:
    """Acceleration of a particle per metre of overlap, in 1/s²."""
    return stiffness * STANDARD_GRAVITY / (2 * radius)


def contact_period(stiffness: float, radius: float) -> float:
    """Period in seconds of two particles that swing against each other."""
    return 2 * math.pi / math.sqrt(2 * spring(stiffness, radius))


def physics_of(c: Coefficients, edge: float) -> Physics:
    """Numbers of a sub-step over a mesh whose shortest edge is so many metres."""
    dt, radius = c.time_step / c.substeps, c.particle_radius * edge
    k = spring(c.stiffness, radius)
    critical = math.sqrt(2 * k)
    return Physics(
        dt=dt,
        radius=radius,
        spring=k,
        damper=c.damping * critical,
        friction=c.friction * critical,
        gravity=c.gravity,
        slowing=1 / (1 + c.drag * dt),
        bounce=c.bounce,
        fastest=FURTHEST * radius / dt,
        erosion=c.erosion_rate * dt * c.strength,
    )
