"""Numbers of a sub-step."""

from __future__ import annotations

from typing import NamedTuple


class Physics(NamedTuple):
    """What moves and wears during one sub-step; metres and seconds."""

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
    wear: float
    """height worn off per speed and sin α in one sub-step"""
