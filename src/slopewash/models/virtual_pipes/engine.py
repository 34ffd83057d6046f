"""What the engines of all backends share: how a state becomes a terrain again, and the books."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from slopewash.models.base import Edges, Engine, Ledger
from slopewash.models.ground import change_layers, slope_degrees
from slopewash.models.virtual_pipes.coefficients import Coefficients, coefficients
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.reference import discharge
from slopewash.models.virtual_pipes.state import Field, State, datum, ground, total
from slopewash.terrain import Terrain


class PipesEngine(Engine):
    """A run of `VirtualPipes`; backends provide the abstract methods."""

    def __init__(self, model: VirtualPipes, terrain: Terrain, *, edges: Edges, substeps: int) -> None:
        self._start = terrain
        self._edges: Edges = edges
        self.set_model(model, substeps)

    @abstractmethod
    def _iterate(self, c: Coefficients, iterations: int) -> None:
        """Advance the state on the device."""

    @abstractmethod
    def state(self) -> State:
        """Download the state; its arrays may be views of the device's own and are only to be read."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._start.shape

    def set_model(self, model: VirtualPipes, substeps: int) -> None:
        """Go on with other parameter values."""
        self._model = model
        self._substeps = substeps
        self._coefficients = coefficients(model, substeps)

    def advance(self, steps: int) -> None:
        """Advance by whole time steps."""
        self._iterate(self._coefficients, steps * self._substeps)

    def carry(self, steps: int, strength: float) -> None:
        """Let the water run on while it still rains, with its capacity faded to `strength`.

        Stopping the rain instead would build towers, for loads reach tens of cells; stopping only the erosion leaves
        every uneven deposit in the stream beds (half as many pits again as fading does).
        """
        if self._coefficients.hydraulic:
            faded = self._coefficients._replace(Kc=self._coefficients.Kc * strength)
            self._iterate(faded, steps * self._substeps)

    def ledger(self) -> Ledger:
        """Amounts in cubic metres."""
        state, tally = self.state(), self.state().tally
        cubic = self._start.cell_size**3
        return Ledger(
            water_start=state.water_start * cubic,
            water_rain=tally.rain * cubic,
            water_sources=tally.sources * cubic,
            water_evaporated=tally.evaporated * cubic,
            water_exported=tally.water_exported * cubic,
            water_now=total(state.w) * cubic,
            solids_start=state.solids_start * cubic,
            solids_exported=tally.solids_exported * cubic,
            solids_moved=tally.moved * cubic,
            solids_now=(total(ground(state.b)) + total(state.s)) * cubic,
        )

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Find the first value that is not finite."""
        state = self.state()
        for name, layer in (("elevation", state.b), ("water", state.w), ("suspended", state.s)):
            # A sum is finite whenever every term is: far cheaper than looking at each.
            if not np.isfinite(layer.sum(dtype=np.float64)):
                row, column = np.argwhere(~np.isfinite(layer))[0]
                return name, int(row), int(column)
        return None

    def terrain(self) -> Terrain:
        """Download as a terrain in metres, with what the run changed as layers of their own."""
        state, size = self.state(), self._start.cell_size

        def metres(a: Field) -> Field:
            return (a.astype(np.float64) * size).astype(np.float32)

        b = ground(state.b)
        change = metres(b.astype(np.float64) - ground(state.b0))
        u, v = discharge(state.f, self._edges)
        layers = {
            "elevation": (datum(self._start) + b.astype(np.float64) * size).astype(np.float32),
            "water": metres(state.w),
            "suspended": metres(state.s),
            "erodibility": state.R.astype(np.float32),
            "flow": metres(state.flow.astype(np.float64) * (size / max(state.iterations, 1))),
            "velocity": metres(np.hypot(u, v)),
            **change_layers(change),
            "slope": slope_degrees(state.b, self._edges),
        }
        return self._start.replace(**layers)
