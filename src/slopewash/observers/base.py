"""The base class of observers, which read a run at intervals and never change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash.simulation import Simulation


class Observer:
    """Base class of observers: counts the steps, and leaves the rest to subclasses.

    A simulation calls `start` when a phase begins, `observe` whenever its `steps_taken` is a multiple of `every` and at
    the phase's end, and `finish` when the phase is over, even if it was interrupted. Observers only read.

    Parameters
    ----------
    every
        Steps between two calls of `observe`.

    >>> import slopewash as sw
    >>> class Depths(sw.Observer):
    ...     def observe(self, simulation):
    ...         print(simulation.step, "water" in simulation.terrain)
    >>> simulation = sw.Simulation(sw.generate("cone", size=8), sw.VirtualPipes(), backend="reference")
    >>> simulation.add(Depths(every=2)).run(4)
    2 True
    4 True
    """

    def __init__(self, every: int) -> None:
        if every < 1:
            raise InvalidParameter(f"every is {every}; it must be 1 or more")
        self.every = int(every)
        self.steps = 0
        """Steps of the current phase."""
        self.done = 0
        """How many of them were done at the last call of `observe`."""
        self._before = 0

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Prepare for a phase of `steps` steps, named `label`."""
        self.steps, self.done = steps, 0
        self._before = simulation.steps_taken

    def observe(self, simulation: Simulation) -> None:
        """Read the state after some steps."""
        self.done = min(simulation.steps_taken - self._before, self.steps)  # other callers may advance the same run

    def finish(self, simulation: Simulation) -> None:
        """End the phase."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(every={self.every})"
