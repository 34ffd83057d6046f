"""Colours of sun, sky and haze, by the height of the sun: white at noon, golden in the evening."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.rendering.colours import linear, smoothstep

Floats = NDArray[np.float32]

SUN_SHARE = 0.70
"""Fraction of the light on open flat ground under a high sun; the rest comes from the sky."""
EXPOSURE = 1.5
HIGH, LOW = 36.0, 8.0
"""Degrees of altitude at and above which the sun is white, and at and below which it is golden."""
DIMMING = 0.75
"""Power of the sun's sine by which its light on flat ground falls below HIGH; slopes that face it stay bright."""
ADAPTATION = 0.6
"""How far exposure makes up for that: 1 would make an evening as bright as noon."""


@dataclass(frozen=True)
class Daylight:
    """Linear light; colours of sun and sky have mean 1."""

    sun: Floats
    sky: Floats
    sun_share: float
    exposure: float
    air: Floats
    """What distance fades into."""
    glow: Floats
    """The same in the direction of the sun."""
    zenith: Floats


_NOON = {"sun": "#fff3e0", "sky": "#c6daf4", "air": "#b9cbdc", "glow": "#d5dcdf", "zenith": "#5c8cbf"}
_EVENING = {"sun": "#ffc58a", "sky": "#b7c8ec", "air": "#b4b6c8", "glow": "#f0cfa6", "zenith": "#5b7cab"}


def daylight(altitude: float) -> Daylight:
    """Light of a clear day with the sun at that altitude in degrees.

    >>> daylight(60.0).sun_share, daylight(10.0).sun_share < 0.4
    (0.7, True)
    """
    day = float(smoothstep(LOW, HIGH, np.array(altitude, dtype=np.float32)))
    colours = {name: linear(_EVENING[name]) * (1 - day) + linear(_NOON[name]) * day for name in _NOON}
    low = min(1.0, math.sin(math.radians(altitude)) / math.sin(math.radians(HIGH)))
    share = SUN_SHARE * low**DIMMING
    return Daylight(
        sun=(colours["sun"] / colours["sun"].mean()).astype(np.float32),
        sky=(colours["sky"] / colours["sky"].mean()).astype(np.float32),
        sun_share=share,
        exposure=EXPOSURE / (share + 1 - SUN_SHARE) ** ADAPTATION,
        air=colours["air"].astype(np.float32),
        glow=colours["glow"].astype(np.float32),
        zenith=colours["zenith"].astype(np.float32),
    )
