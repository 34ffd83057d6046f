"""Five sliders that anybody understands, and the parameters of a model that each of them moves.

A model declares in `moved_by`, beside its parameters, what a slider multiplies them by at its right end. At position p,
from -1 to 1, a parameter is its usual value times that factor to the power p: the middle is the preset itself, and the
whole way is monotone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slopewash.errors import InvalidParameter, unknown_name

if TYPE_CHECKING:
    from slopewash.models.base import Model

SLIDERS = {
    "rain": ("dry", "wet", "How much rain falls."),
    "rock_strength": ("soft", "hard", "How well the rock resists erosion."),
    "age": ("young", "old", "How long the run lasts: at which step playing pauses."),
    "steepness": ("gentle", "steep", "How steep slopes stand before they slide."),
    "sediment": ("little", "much", "How much sediment the water carries."),
}
"""What the left and the right end of each slider mean, and what it is about."""
OLDEST = 4.0
"""Factor of the steps at the right end of the age, for every model."""

UNDECLARED = "the model names no parameter for it"

Moved = Mapping[str, float] | str
"""Factor of each parameter at the right end, or why the model has nothing for a slider."""


@dataclass(frozen=True)
class Slider:
    """One slider, as a model takes it."""

    name: str
    low: str
    high: str
    doc: str
    moves: Mapping[str, float]
    """Factor of each parameter at the right end."""
    absent: str = ""
    """Why the model has nothing for it, if so."""

    def values(self, usual: Model, position: float) -> dict[str, float]:
        """Parameters at a position, where the middle has those of `usual`."""
        if not -1 <= position <= 1:
            raise InvalidParameter(f"the position of {self.name} is {position:g}; it must be within -1 .. 1")
        if reason := self.why_not(usual):
            raise InvalidParameter(f"{self.name} cannot be moved: {reason}")
        return {name: _moved(usual, name, self.moves[name], position) for name in self._movable(usual)}

    def position(self, now: Model, usual: Model) -> float:
        """Where it stands with the parameters as they are; by the first one that it moves."""
        for name in self._movable(usual):
            value, middle = getattr(now, name), getattr(usual, name)
            if isinstance(value, float | int) and math.isfinite(value):
                if value <= 0:
                    return math.copysign(1.0, -math.log(self.moves[name]))
                way = math.log(value / middle) / math.log(self.moves[name])
                return min(max(round(way, 4), -1.0), 1.0)
        return 0.0

    def steps(self, usual: int, position: float) -> int:
        """Steps of a run at a position of the age."""
        return max(1, round(usual * OLDEST**position))

    def age(self, steps: int, usual: int) -> float:
        """Position of the age for so many steps."""
        return min(max(round(math.log(max(steps, 1) / usual) / math.log(OLDEST), 4), -1.0), 1.0)

    def why_not(self, usual: Model) -> str:
        """Why it cannot be moved, if so."""
        if self.absent or self._movable(usual):
            return self.absent
        return f"{' and '.join(self.moves)} {'are' if len(self.moves) > 1 else 'is'} 0 here, or a map; set them below"

    def _movable(self, usual: Model) -> list[str]:
        """Parameters with a number that can be multiplied."""
        numbers = ((name, getattr(usual, name)) for name in self.moves)
        return [name for name, value in numbers if isinstance(value, float | int) and 0 < value < math.inf]


def sliders_of(moved_by: Mapping[str, Moved]) -> tuple[Slider, ...]:
    """All five sliders of a model that declares this."""
    for name in moved_by:
        if name not in SLIDERS:
            raise unknown_name("slider", name, SLIDERS)
    made = []
    for name, (low, high, doc) in SLIDERS.items():
        moved: Moved = {} if name == "age" else moved_by.get(name, UNDECLARED)
        absent = moved if isinstance(moved, str) else ""
        made.append(Slider(name, low, high, doc, {} if isinstance(moved, str) else moved, absent))
    return tuple(made)


def _moved(usual: Model, name: str, factor: float, position: float) -> Any:
    value = getattr(usual, name)
    if position == 0:
        return value
    moved = value * factor**position
    return round(moved) if isinstance(usual.parameter(name).default, int) else float(f"{moved:.4g}")
