"""What the engines of all backends share: how whole heights become a terrain again, and the books."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models import ground
from slopewash.models.base import Edges, Ledger
from slopewash.models.editing import OF_STRATA, EditedEngine, Field, Window
from slopewash.models.steepest_talus.model import SteepestTalus
from slopewash.models.steepest_talus.state import HIGHEST, LOWEST, Heights, State, enter, erodibility, talus
from slopewash.terrain import Layer, Terrain


class TalusEngine(EditedEngine):
    """A run of `SteepestTalus`; backends provide the abstract methods."""

    def __init__(self, model: SteepestTalus, terrain: Terrain, *, edges: Edges, substeps: int, seed: int) -> None:
        super().__init__()
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
        self._model = model
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
            solids_edited=self._edited["solids"] * cubic,
            solids_now=self._total(state.n) * cubic,
        )

    def _total(self, n: Heights) -> int:
        wall = self._state.wall
        return int(n.sum(dtype=np.int64) if wall is None else n[~wall].sum(dtype=np.int64))

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Whole numbers are always finite."""
        return None

    def _measures(self) -> dict[str, Callable[[], Field]]:
        """How to obtain each layer in metres, worked out only when asked for."""
        state = self.state()

        def change(name: str) -> Callable[[], Field]:
            return lambda: ground.change_layers(self._change(state.n, state.n0).astype(np.float32))[name]

        measures: dict[str, Callable[[], Field]] = {
            "elevation": lambda: (self._start["elevation"] + self._change(state.n, state.n0)).astype(np.float32),
            "wear": change("wear"),
            "deposit": change("deposit"),
            "difference": change("difference"),
            "slope": self._slope,
        }
        rock, layers = state.rock, self._talus.layers
        if rock is not None and layers is not None:
            measures["bedrock"] = lambda: (self._start["elevation"] + self._change(rock, state.n0)).astype(np.float32)
            measures["erodibility"] = lambda: layers.R[layers.exposed(state.n, rock)]
        elif state.R is not None:
            measures["erodibility"] = lambda: np.array(state.R)
        return measures

    def _change(self, n: Heights, n0: Heights) -> NDArray[np.float64]:
        return (n.astype(np.float64) - n0) * (self._start.cell_size / self._state.scale)

    def _slope(self) -> Field:
        state = self.state()
        b = state.n / state.scale
        if state.wall is not None:
            b[state.wall] = ground.WALL
        return ground.slope_degrees(b, self._edges)

    def layers(self, names: Sequence[str]) -> dict[str, Layer]:
        """Download these layers only; ground that never moved keeps its elevation to the bit."""
        if "erodibility" in names and self._start.strata is None:
            self._input("erodibility")
        measures = self._measures()
        for name in names:
            if name not in measures:
                raise unknown_name("layer", name, measures)
        return {name: measures[name]() for name in names}

    def terrain(self) -> Terrain:
        """Download as a terrain in metres; ground that never moved keeps its elevation to the bit."""
        return self._start.replace(**self.layers(list(self._measures())))

    def _inputs(self) -> Sequence[str]:
        return SteepestTalus.editable

    def _input(self, layer: str) -> Field:
        state = self.state()
        if layer == "elevation":
            return state.n
        if layer == "bedrock" and state.rock is not None:
            return state.rock
        if self._start.strata is not None:
            raise InvalidParameter(OF_STRATA)
        if state.R is None:
            state.R = erodibility(self._start, self._seed)
        if not state.R.flags.writeable:
            state.R = state.R.copy()
        return state.R

    def _metres(self, layer: str, values: Field, window: Window) -> Layer:
        if layer == "erodibility":
            return values.astype(np.float32)
        change = self._change(values, self._state.n0[window])
        return (self._start["elevation"][window] + change).astype(np.float32)

    def _units(self, layer: str, metres: Field, window: Window) -> Field:
        if layer == "erodibility":
            return metres.astype(np.float32)
        state, size = self._state, self._start.cell_size
        change = np.rint((metres - self._start["elevation"][window]) * (state.scale / size))
        n = state.n0[window] + change
        wall = self._walls_in(window)
        ground_only = n if wall is None else n[~wall]
        if ground_only.size and not (ground_only.min() >= LOWEST and ground_only.max() <= HIGHEST):
            datum = self._start.range("elevation")[0]
            low, high = (datum + n * size / state.scale for n in (LOWEST, HIGHEST))
            raise InvalidParameter(
                f"elevation would span {metres.min():g} .. {metres.max():g} m; in this run it must stay within "
                f"{low:g} .. {high:g} m"
            )
        return np.clip(n, LOWEST, HIGHEST).astype(np.int32)

    @property
    def _layered(self) -> bool:
        return self._state.rock is not None

    def _walls_in(self, window: Window) -> NDArray[np.bool_] | None:
        return None if self._state.wall is None else self._state.wall[window]

    def _after_edit(self, layer: str, beside: Any) -> None:
        if layer == "erodibility":
            self.set_model(self._model, self._substeps)
