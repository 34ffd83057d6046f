"""Runs the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from slopewash.models.base import Edges
from slopewash.models.virtual_pipes.coefficients import Coefficients
from slopewash.models.virtual_pipes.engine import PipesEngine
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.reference import step
from slopewash.models.virtual_pipes.state import State, enter
from slopewash.terrain import Terrain


class ReferenceEngine(PipesEngine):
    """Steps a `State` with the reference; `dtype` float64 gives the yardstick for rounding."""

    def __init__(
        self, model: VirtualPipes, terrain: Terrain, *, edges: Edges, substeps: int, seed: int, dtype: Any = np.float32
    ) -> None:
        super().__init__(model, terrain, edges=edges, substeps=substeps)
        self._state = enter(terrain, model, edges=edges, seed=seed, dtype=dtype)

    def _iterate(self, c: Coefficients, iterations: int) -> None:
        for _ in range(iterations):
            step(self._state, c, self._edges)

    def state(self) -> State:
        """Return the state itself."""
        return self._state

    def _book(self, evaporated: float, solids_exported: float, moved: float) -> None:
        tally = self._state.tally
        tally.evaporated += evaporated
        tally.solids_exported += solids_exported
        tally.moved += moved
