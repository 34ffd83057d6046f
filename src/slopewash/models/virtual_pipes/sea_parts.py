"""The sea on parts of a grid: what it covers is found over all parts first, and then given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.sea import Mask
from slopewash.models.state import Domain, Sides, State, Window
from slopewash.models.virtual_pipes.changes import deposit, evaporate, expose_again
from slopewash.models.virtual_pipes.prepare import in_cells
from slopewash.models.virtual_pipes.sea import (
    FITS,
    MOST_PASSES,
    carried,
    check_land,
    level_in_cells,
    pass_on,
    put_down,
)

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.model import VirtualPipes

Field = NDArray[Any]


@dataclass(frozen=True)
class SeaParts:
    """What a run on tiles asks of the sea; `domain` is that of the whole."""

    model: VirtualPipes
    domain: Domain
    fits = FITS
    most_passes = MOST_PASSES

    @property
    def diagonally(self) -> bool:
        """Whether the sea passes between two cells that touch at a corner only."""
        return self.model.fills_diagonally

    def check(self, highest: float) -> None:
        """Refuse a sea that leaves no land, given the highest ground in metres."""
        check_land(self.model, in_cells(np.array([highest]), self.domain), self.domain)

    def low(self, b: Field) -> Mask:
        """Ground of a state that the sea covers where it reaches it."""
        low: Mask = b < level_in_cells(self.model, self.domain)
        return low

    def low_ground(self, heights: Field) -> Mask:
        """The same from heights in metres, NaN where there is no ground."""
        return self.low(in_cells(heights, self.domain))

    def carried(self, state: State, sea: Mask) -> tuple[Field, Field]:
        """What the sea carries, and how much fits below its surface."""
        return carried(state, sea, self.model, self.domain)

    def pass_on(
        self, load: Field, room: Field, sea: Mask, sides: Sides, passes: int, own: Window
    ) -> tuple[Field, list[float]]:
        """Pass on what has no room so many times, whether or not everything fits here already."""
        return pass_on(load, room, sea, sides, passes, until=-1.0, own=own)

    def sink(self, state: State, domain: Domain, sea: Mask, load: Field) -> None:
        """Lay what the sea carries on its floor, after it was passed on."""
        budget = np.array(state["budget"])
        put_down(state, load, sea, self.model, domain, budget)
        state["budget"] = budget
        expose_again(self.model, state, domain)

    def deposit(self, state: State, domain: Domain, sea: Mask) -> None:
        """Deposit all sediment where it is."""
        deposit(self.model, state, domain, sea)

    def evaporate(self, state: State, domain: Domain, sea: Mask) -> None:
        """Let all water evaporate, except for the sea."""
        evaporate(self.model, state, domain, sea)
