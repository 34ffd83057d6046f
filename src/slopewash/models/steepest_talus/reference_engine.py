"""Runs the NumPy reference."""

from __future__ import annotations

from slopewash.models.steepest_talus.engine import TalusEngine
from slopewash.models.steepest_talus.reference import step
from slopewash.models.steepest_talus.state import State


class ReferenceEngine(TalusEngine):
    """Steps a `State` with the reference."""

    def _iterate(self, iterations: int) -> None:
        for _ in range(iterations):
            step(self._state, self._talus, self._edges)

    def state(self) -> State:
        """Return the state itself."""
        return self._state
