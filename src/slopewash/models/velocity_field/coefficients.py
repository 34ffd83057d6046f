"""The model's parameters as the numbers one iteration uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slopewash.models.velocity_field.hillslope import Hillslope
from slopewash.models.velocity_field.reference import Motion

if TYPE_CHECKING:
    from slopewash.models.velocity_field.model import VelocityField


class Coefficients(NamedTuple):
    """One iteration's numbers; letters are the paper's."""

    motion: Motion
    hillslope: Hillslope
    breadth: int
    stop_in_pits: bool
    v_max: float
    Kq: float
    Ke: float
    Kc: float
    f: float
    """power of the flow quantity in the capacity"""
    delta: float
    """height of a unit of sediment deposited on one cell"""
    margin: float
    strength: float
    """share of the power to erode"""


def coefficients(m: VelocityField, strength: float = 1.0) -> Coefficients:
    """Numbers of a parameter set."""
    dt = m.particle_time_step
    return Coefficients(
        motion=Motion(
            pull=m.gravity * dt * dt,
            slowest=m.minimum_speed * dt,
            most_steps=int(m.maximum_steps),
            longest_stay=int(m.longest_stay),
            downhill=m.steering == "gradient",
        ),
        hillslope=Hillslope(creep=m.creep_rate, slide=m.slide_rate, talus=m.talus_slope),
        breadth=int(m.breadth),
        stop_in_pits=m.pits == "stop",
        v_max=m.maximum_speed,
        Kq=m.flow_erosion,
        Ke=m.collision_erosion,
        Kc=m.transport_capacity,
        f=m.capacity_exponent,
        delta=m.height_per_load,
        margin=m.margin,
        strength=strength,
    )
