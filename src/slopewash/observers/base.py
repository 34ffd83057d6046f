"""What every observer is: something that looks at a run now and then, and never changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash.simulation import Simulation


class Observer:
    """Base of observers: counts the steps, and leaves the rest to its heirs.

    A simulation calls `start` when a phase begins, `observe` whenever its `steps_taken` is a multiple of `every` and at
    the phase's end, and `finish` when the phase is over, also when it was interrupted. Observers only read.

    Parameters
    ----------
    every
        Steps between two looks.
    """

    def __init__(self, every: int) -> None:
        if every < 1:
            raise InvalidParameter(f"every is {every}; an observer looks every 1 or more steps")
        self.every = int(every)
        self.steps = 0
        """Steps of the present phase."""
        self.done = 0
        """How many of them were done at the last look."""
        self._before = 0

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Prepare for a phase of `steps` steps, named `label`."""
        self.steps, self.done = steps, 0
        self._before = simulation.steps_taken

    def observe(self, simulation: Simulation) -> None:
        """Look at the state after some steps."""
        self.done = min(simulation.steps_taken - self._before, self.steps)  # others may take steps of the run too

    def finish(self, simulation: Simulation) -> None:
        """End the phase."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(every={self.every})"
