"""Runs the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from slopewash.models.base import Edges
from slopewash.models.virtual_pipes.coefficients import Coefficients
from slopewash.models.virtual_pipes.engine import PipesEngine
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.reference import step
from slopewash.models.virtual_pipes.state import State, enter, total
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

    def lay_down(self, *, dry: bool) -> None:
        """Let the whole load fall where it is; with `dry`, let the water dry up."""
        state = self._state
        state.b = state.b + state.s
        state.tally.moved += total(state.s)
        state.s = np.zeros_like(state.s)
        if dry:
            state.tally.evaporated += total(state.w)
            state.w = np.zeros_like(state.w)
            state.f = np.zeros_like(state.f)
