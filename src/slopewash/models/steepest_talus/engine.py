"""What the engines of all backends share: how whole heights become a terrain again, and the books."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from slopewash.models import ground
from slopewash.models.base import Edges, Engine, Ledger
from slopewash.models.steepest_talus.model import SteepestTalus
from slopewash.models.steepest_talus.state import Heights, State, enter, talus
from slopewash.terrain import Terrain


class TalusEngine(Engine):
    """A run of `SteepestTalus`; backends provide the abstract methods."""

    def __init__(self, model: SteepestTalus, terrain: Terrain, *, edges: Edges, substeps: int, seed: int) -> None:
        self._start = terrain
        self._edges: Edges = edges
        self._seed = seed
        self._state = enter(terrain)
        self.set_model(model, substeps)

    @abstractmethod
    def _iterate(self, iterations: int) -> None:
        """Advance the state on the device."""

    @abstractmethod
    def state(self) -> State:
        """Download the state; its arrays may be views of the device's own and are only to be read."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._start.shape

    def set_model(self, model: SteepestTalus, substeps: int) -> None:
        """Go on with other parameter values."""
        self._talus = talus(self._state, model, self._start, self._seed)
        self._substeps = substeps

    def advance(self, steps: int) -> None:
        """Advance by whole steps."""
        self._iterate(steps * self._substeps)

    def ledger(self) -> Ledger:
        """Amounts in cubic metres; whole units until the last moment, so the books are exact."""
        state = self.state()
        cubic = self._start.cell_size**3 / state.scale
        return Ledger(
            solids_start=self._total(state.n0) * cubic,
            solids_moved=state.transfers * cubic,
            solids_now=self._total(state.n) * cubic,
        )

    def _total(self, n: Heights) -> int:
        wall = self._state.wall
        return int(n.sum(dtype=np.int64) if wall is None else n[~wall].sum(dtype=np.int64))

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Whole numbers are always finite."""
        return None

    def terrain(self) -> Terrain:
        """Download as a terrain in metres; ground that never moved keeps its elevation to the bit."""
        state, size = self.state(), self._start.cell_size
        change = (state.n.astype(np.float64) - state.n0) * (size / state.scale)
        b = state.n / state.scale
        if state.wall is not None:
            b[state.wall] = ground.WALL
        layers = {
            "elevation": (self._start["elevation"] + change).astype(np.float32),
            **ground.change_layers(change.astype(np.float32)),
            "slope": ground.slope_degrees(b, self._edges),
        }
        if state.rock is not None:
            deep = (state.rock.astype(np.float64) - state.n0) * (size / state.scale)
            layers["bedrock"] = (self._start["elevation"] + deep).astype(np.float32)
        if self._talus.layers is not None and state.rock is not None:
            layers["erodibility"] = self._talus.layers.R[self._talus.layers.exposed(state.n, state.rock)]
        elif state.R is not None:
            layers["erodibility"] = state.R
        return self._start.replace(**layers)
