"""Who may watch a run: anything with the methods of `Observer`, or a plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash.simulation.simulation import Simulation

LONGEST_CHUNK = 20
"""Steps taken in one go: Ctrl-C waits for no more."""


class Observer(Protocol):
    """Watches a run: reads, never changes anything."""

    every: int
    """Steps between two calls of `observe`, counted by the simulation's `steps_taken`."""

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """A phase of `steps` steps begins."""

    def observe(self, simulation: Simulation) -> None:
        """Called when `steps_taken` is a multiple of `every`, and at the end of the phase."""

    def finish(self, simulation: Simulation) -> None:
        """Called when the phase is over, or was interrupted."""


class Function:
    """A plain function as an observer: called after every stretch of steps."""

    every = LONGEST_CHUNK

    def __init__(self, function: Callable[[Simulation], object]) -> None:
        self.function = function

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Nothing to prepare."""

    def observe(self, simulation: Simulation) -> None:
        """Call it."""
        self.function(simulation)

    def finish(self, simulation: Simulation) -> None:
        """Nothing to end."""


def as_observer(given: Any) -> Observer:
    """Return an observer, or raise where it cannot be one."""
    if isinstance(given, type):
        raise InvalidParameter(f"{given.__name__} is a class; add an observer made from it, {given.__name__}(...)")
    if all(hasattr(given, name) for name in ("every", "start", "observe", "finish")):
        observer: Observer = given
        return observer
    if callable(given):
        return Function(given)
    raise InvalidParameter(f"{given!r} cannot observe a run; add an observer, such as Progress(), or a function")
