"""Tilted beds as the equations see them: rock that is harder and softer by turns, at whatever height it lies bare now.

`R = R_rock + a·(sin 2πu + 0.6·sin(4.6πu + 1))`, where u counts pairs of beds upwards. Sines are parabolas here, within
0.1 % of their range: a row of them is vectorised, and every backend rounds alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.ground import IS_WALL
from slopewash.models.state import Domain
from slopewash.terrain import bed_phase
from slopewash.terrain.rock import LEAST, PERIOD, SECOND, SECOND_PER_BED

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.coefficients import Coefficients
    from slopewash.models.virtual_pipes.model import VirtualPipes

Field = NDArray[Any]

SECOND_SHIFT = 0.5 / math.pi
"""Where they begin: one radian."""
ROUNDING = 0.225
"""Share of its square in a half wave: makes a sine of a parabola."""


def sine(turns: Field) -> Field:
    """Sine of an angle in turns.

    >>> bool(np.abs(sine(np.linspace(-3, 3, 1000)) - np.sin(2 * np.pi * np.linspace(-3, 3, 1000))).max() < 1.2e-3)
    True
    """
    t = turns - np.floor(turns + 0.5)
    half_wave = t * (8 - 16 * np.abs(t))
    return half_wave * ((1 - ROUNDING) + ROUNDING * np.abs(half_wave))


def banding(surface: Field, phase: Field, c: Coefficients) -> Field:
    """How much softer the bed at the surface is than the rock on the whole."""
    u = surface * c.per_bed + phase
    return c.bed_contrast * (sine(u) + SECOND * sine(u * SECOND_PER_BED + SECOND_SHIFT))


def expose_beds(surface: Field, rock: Field, phase: Field, c: Coefficients) -> Field:
    """Erodibility of the bed at the surface; `rock` is that of the rock without its beds."""
    R = np.minimum(np.maximum(rock + banding(surface, phase, c), LEAST), 1)
    return np.where(surface < IS_WALL, R, surface.dtype.type(0))


def phase_of(model: VirtualPipes, domain: Domain, dtype: Any = np.float32) -> Field:
    """Where in the beds the heights of a state begin in each cell."""
    start = bed_phase(
        domain.shape, domain.cell_size, thickness=model.bed_thickness, dip=model.bed_dip,
        direction=model.bed_direction, seed=domain.seed, origin=domain.origin,
    )  # fmt: skip
    return (start + (domain.datum - model.foot(domain.datum)) / model.bed_thickness % PERIOD).astype(dtype)
