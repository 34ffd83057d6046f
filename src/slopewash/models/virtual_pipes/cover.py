"""Loose cover on bedrock: soil that creeps and slides at an angle of its own, and rock that weathers to soil.

The cover is `c = b − rock`. Bare rock keeps its own, steeper talus and does not creep; what falls from it is cover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.ground import IS_WALL, WALL, around, gradient
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.coefficients import TINY

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.coefficients import Coefficients

Field = NDArray[Any]

DECAY = 16
"""A power of two: `((1 − x/DECAY)/(1 + x/DECAY))^(DECAY/2)` stands for exp(−x)."""


def slide_with_cover(
    b: Field, loose: Field, R: Field, c: Coefficients, sides: Sides, T: Field, K: Field
) -> tuple[Field, Field, Field]:
    """Net gain of each cell, what moved through its eastern and southern face, and the cover that stays.

    Rock falls as ground does without cover, at its own talus; soil follows besides, no more of it than there is.
    T and K multiply the talus and the rate of both.
    """
    gx, gy = gradient(b, sides)
    near_b, near_R, near_T, near_K = (around(a, sides, beyond) for a, beyond in ((b, WALL), (R, 0), (T, 1), (K, 1)))
    high_e, high_s = b > near_b.e, b > near_b.s
    rock_e, soil_e = face_fluxes(
        b, near_b.e, gy, around(gy, sides, 0).e, np.where(high_e, R, near_R.e), c,
        np.where(high_e, T, near_T.e), np.where(high_e, K, near_K.e),
    )  # fmt: skip
    safe_point()
    rock_s, soil_s = face_fluxes(
        b, near_b.s, gx, around(gx, sides, 0).s, np.where(high_s, R, near_R.s), c,
        np.where(high_s, T, near_T.s), np.where(high_s, K, near_K.s),
    )  # fmt: skip
    safe_point()
    to_w, to_n = np.maximum(0, -around(soil_e, sides, 0).w), np.maximum(0, -around(soil_s, sides, 0).n)
    out = (to_w + np.maximum(0, soil_e)) + (to_n + np.maximum(0, soil_s))
    share = np.minimum(loose / np.maximum(out, TINY), 1)
    east = rock_e + np.where(soil_e > 0, share, around(share, sides, 0).e) * soil_e
    south = rock_s + np.where(soil_s > 0, share, around(share, sides, 0).s) * soil_s
    gain = (around(east, sides, 0).w - east) + (around(south, sides, 0).n - south)
    return gain, np.abs(east) + np.abs(south), np.maximum(loose - share * out, 0)


def face_fluxes(
    b: Field, b_n: Field, gt: Field, gt_n: Field, R_high: Field, c: Coefficients, T_high: Field, K_high: Field
) -> tuple[Field, Field]:
    """Rock through one face along the true fall line, and soil if there were enough of it."""
    gn = b - b_n
    along = 0.5 * (gt + gt_n)
    per_g = 1 / np.maximum(np.sqrt(gn * gn + along * along), TINY)
    talus = c.talus_0 * T_high + (c.talus_1 * T_high) * R_high
    rock = (c.slide * K_high) * R_high * np.maximum(0, 1 - talus * per_g)
    soil = c.creep + (c.cover_slide * K_high) * np.maximum(0, 1 - (c.cover_talus * T_high) * per_g)
    none = b.dtype.type(0)
    ground = (b < IS_WALL) & (b_n < IS_WALL)
    return np.where(ground, rock * gn, none), np.where(ground, soil * gn, none)


def dig(wanted: Field, loose: Field, R: Field) -> Field:
    """What water takes that would take `wanted` of soft ground: cover first, as soft as can be, then rock."""
    soil = np.minimum(wanted, loose)
    return soil + R * (wanted - soil)


def weather(b: Field, rock: Field, c: Coefficients) -> Field:
    """Bedrock after weathering, the slower the more cover protects it: `d rock/dt = −K_w·exp(−c/d_w)`."""
    return rock - c.weather * decay((b - rock) * c.per_weather)


def decay(x: Field) -> Field:
    """The exponential of −x, for x of zero or more, without calling one: within 0.2 % of 1.

    >>> x = np.linspace(0, 30, 1000)
    >>> bool(np.abs(decay(x) - np.exp(-x)).max() < 2e-3)
    True
    """
    part = x * (1 / DECAY)
    t = np.maximum(1 - part, 0) / (1 + part)
    t = t * t
    t = t * t
    return t * t
