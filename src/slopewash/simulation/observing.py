"""Who may watch a run: observers, which read it at intervals and never change it, or a plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash.simulation.simulation import Simulation

LONGEST_CHUNK = 20
"""Steps taken in one go: Ctrl-C waits for no more."""


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


class Function(Observer):
    """A plain function as an observer: called after every stretch of steps."""

    def __init__(self, function: Callable[[Simulation], object]) -> None:
        super().__init__(LONGEST_CHUNK)
        self.function = function

    def observe(self, simulation: Simulation) -> None:
        """Call it."""
        self.function(simulation)


def as_observer(given: Any) -> Observer:
    """Return an observer, or raise where it cannot be one; a class of the user's own needs only the same methods."""
    if isinstance(given, type):
        raise InvalidParameter(f"{given.__name__} is a class; add an observer made from it, {given.__name__}(...)")
    if all(hasattr(given, name) for name in ("every", "start", "observe", "finish")):
        return given
    if callable(given):
        return Function(given)
    raise InvalidParameter(f"{given!r} cannot observe a run; add an observer, such as Progress(), or a function")
