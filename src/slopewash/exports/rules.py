"""Which ground is painted with what: a table of rules over what a terrain knows of itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.exports.quantities import Quantities

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Ramp:
    """Rises from 0 where a quantity is `begin` to 1 where it is `full`; falls if `full` is the smaller one."""

    quantity: str
    begin: float
    full: float

    def of(self, quantities: Quantities) -> Floats | None:
        """Strength in every cell; None where the terrain does not know the quantity."""
        values = quantities.get(self.quantity)
        if values is None:
            return None
        t = np.clip((values - np.float32(self.begin)) / np.float32(self.full - self.begin), 0, 1)
        smooth: Floats = t * t * (3 - 2 * t)
        return smooth


@dataclass(frozen=True)
class Rule:
    """One paint: as strong as the strongest ramp of `any_of`, times every ramp of `where`."""

    name: str
    doc: str
    any_of: tuple[Ramp, ...] = ()
    where: tuple[Ramp, ...] = ()

    def strength(self, quantities: Quantities) -> Floats | None:
        """Strength 0 .. 1 in every cell; None where nothing is known of it."""
        known = [ramp for ramp in (ramp.of(quantities) for ramp in self.any_of) if ramp is not None]
        if not known:
            return None
        strength: Floats = np.maximum.reduce(known)
        for ramp in self.where:
            limit = ramp.of(quantities)
            if limit is not None:
                strength = strength * limit
        return strength


RULES = (
    Rule("ground", "soil and plants: what no other rule paints"),
    Rule(
        "sediment", "sand and gravel that the run deposited",
        any_of=(Ramp("deposit", 0.02, 0.4),), where=(Ramp("slope", 32, 20),),
    ),
    Rule(
        "rock", "steep ground, and slopes that lost much to erosion",
        any_of=(Ramp("slope", 30, 42), Ramp("wear", 0.55, 1.0)), where=(Ramp("slope", 18, 30),),
    ),
    Rule("channel", "gravel where water gathers", any_of=(Ramp("flow", 0.7, 1.0),), where=(Ramp("slope", 45, 30),)),
    Rule("water", "beds of rivers and lakes", any_of=(Ramp("water", 0.02, 0.09),)),
    Rule("snow", "snow above the snow line, unless too steep", any_of=(Ramp("snow", -0.06, 0.07),),
         where=(Ramp("slope", 52, 38), Ramp("water", 0.05, 0.02))),
)  # fmt: skip
"""From bottom to top: each paint covers those before it. Units of the quantities are in `quantities.py`."""
