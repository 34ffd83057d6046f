"""The numbers that one iteration uses."""

from __future__ import annotations

from typing import NamedTuple

from slopewash.models.velocity_field.hillslope import Hillslope
from slopewash.models.velocity_field.reference import Motion


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
