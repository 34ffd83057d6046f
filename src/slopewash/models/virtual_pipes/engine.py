"""What the engines of all backends share: how a state becomes a terrain again, and the books."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models.base import Edges, Ledger
from slopewash.models.editing import OF_STRATA, EditedEngine, Window
from slopewash.models.ground import change_layers, slope_degrees
from slopewash.models.virtual_pipes.base_level import EdgeBase, border_ring, edge_base, lowered
from slopewash.models.virtual_pipes.coefficients import SHALLOW, Coefficients, coefficients
from slopewash.models.virtual_pipes.layers import cover, expose
from slopewash.models.virtual_pipes.model import VirtualPipes
from slopewash.models.virtual_pipes.reference import discharge
from slopewash.models.virtual_pipes.state import Field, State, datum, ground, springs, total
from slopewash.terrain import Layer, Terrain, WaterSource


class PipesEngine(EditedEngine):
    """A run of `VirtualPipes`; backends provide the abstract methods."""

    def __init__(self, model: VirtualPipes, terrain: Terrain, *, edges: Edges, substeps: int) -> None:
        super().__init__()
        self._start = terrain
        self._datum = datum(terrain)
        self._edges: Edges = edges
        self._model = model
        self._substeps = substeps
        self._coefficients = coefficients(model, substeps)

    @abstractmethod
    def _iterate(self, c: Coefficients, iterations: int) -> None:
        """Advance the state on the device."""

    @abstractmethod
    def state(self) -> State:
        """Download the state; its arrays may be views of the device's own. Whoever changes them puts them back."""

    def _put_back(self, state: State) -> None:
        """Take over what was changed in a downloaded state."""

    def _held(self) -> State:
        """Return the state for what of it never lies on the device alone: base level, strata, sources."""
        return self.state()

    def _solids(self) -> State:
        """Download at least the ground, the water, the load and the tally."""
        return self.state()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._start.shape

    @abstractmethod
    def _book(self, evaporated: float, solids_exported: float, moved: float) -> None:
        """Add to the books what happened between iterations."""

    def set_model(self, model: VirtualPipes, substeps: int) -> None:
        """Go on with other parameter values."""
        if model.edge_base != self._model.edge_base:
            state = self.state()
            state.base = edge_base(state.b0, graded=model.edge_base == "graded")
            self._put_back(state)
        held = self._held()
        if held.layers is not None:
            held.layers = replace(held.layers, per_cover=held.layers.top.dtype.type(1 / cover(model)))
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

    def lay_down(self, *, dry: bool) -> None:
        """Let the whole load fall where it is; with `dry`, let the water dry up.

        Graded open edges take no deposits: what is carried there leaves.
        """
        state = self.state()
        if self._edges == "open" and self._coefficients.graded:
            y, x = border_ring(*self.shape)
            self._book(0.0, total(state.s[y, x]), 0.0)
            state.s[y, x] = 0
        self._book(0.0, 0.0, total(state.s))
        state.b += state.s
        state.s[:] = 0
        if state.layers is not None and state.rock is not None:
            state.R[:] = expose(state.b, state.rock, state.layers)
        if dry:
            self._book(total(state.w), 0.0, 0.0)
            state.w[:] = 0
            state.f[:] = 0
        self._put_back(state)

    def ledger(self) -> Ledger:
        """Amounts in cubic metres."""
        state = self._solids()
        tally = state.tally
        cubic = self._start.cell_size**3
        return Ledger(
            water_start=state.water_start * cubic,
            water_rain=tally.rain * cubic,
            water_sources=tally.sources * cubic,
            water_evaporated=tally.evaporated * cubic,
            water_exported=tally.water_exported * cubic,
            water_edited=self._edited["water"] * cubic,
            water_now=total(state.w) * cubic,
            solids_start=state.solids_start * cubic,
            solids_exported=tally.solids_exported * cubic,
            solids_moved=tally.moved * cubic,
            solids_edited=self._edited["solids"] * cubic,
            solids_now=(total(ground(state.b)) + total(state.s)) * cubic,
        )

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Find the first value that is not finite."""
        state = self._solids()
        for name, layer in (("elevation", state.b), ("water", state.w), ("suspended", state.s)):
            # A sum is finite whenever every term is: far cheaper than looking at each.
            if not np.isfinite(layer.sum(dtype=np.float64)):
                row, column = np.argwhere(~np.isfinite(layer))[0]
                return name, int(row), int(column)
        return None

    def _velocity(self, state: State) -> Field:
        """Eq. 8 for the state as it is, in cells per unit of time."""
        discharged = by_rows(speed, state.f, self._edges)
        if not self._coefficients.mean_depth:
            return discharged
        return discharged / np.maximum(state.w + self._coefficients.kappa * state.s, np.float32(SHALLOW))

    def _measures(self) -> dict[str, Callable[[], Field]]:
        """How to obtain each layer in metres, worked out only when asked for."""
        state, size = self.state(), np.float32(self._start.cell_size)

        def change(name: str) -> Callable[[], Field]:
            return lambda: change_layers((ground(state.b) - ground(state.b0)) * size)[name]

        measures: dict[str, Callable[[], Field]] = {
            "elevation": lambda: self._elevation(state.b),
            "water": lambda: state.w * size,
            "suspended": lambda: state.s * size,
            "erodibility": lambda: state.R.astype(np.float32),
            "flow": lambda: state.flow * np.float32(self._start.cell_size**2 / max(state.iterations, 1)),
            "velocity": lambda: self._velocity(state) * size,
            "wear": change("wear"),
            "deposit": change("deposit"),
            "difference": change("difference"),
            "slope": lambda: by_rows(slope_degrees, state.b, self._edges),
        }
        rock = state.rock
        if rock is not None:
            measures["bedrock"] = lambda: self._elevation(rock)
        return measures

    def _elevation(self, b: Field) -> Layer:
        heights = np.multiply(b if self._start.nodata is None else ground(b), self._start.cell_size, dtype=np.float64)
        heights += self._datum
        return heights.astype(np.float32)

    def layers(self, names: Sequence[str]) -> dict[str, Layer]:
        """Download these layers only, in metres."""
        measures = self._measures()
        layers: dict[str, Layer] = {}
        for name in names:
            if name == "rainfall":
                layers[name] = self.state().r.astype(np.float32)
            elif name not in measures:
                raise unknown_name("layer", name, [*measures, "rainfall"])
            else:
                layers[name] = np.ascontiguousarray(measures[name](), np.float32)
        return layers

    def terrain(self) -> Terrain:
        """Download as a terrain in metres, with what the run changed as layers of their own."""
        state = self.state()
        rained = "rainfall" in self._start or not (state.r == 1).all()
        layers = self.layers([*self._measures(), *(["rainfall"] if rained else [])])
        for layer in layers.values():
            layer.setflags(write=False)  # then the terrain keeps it without a copy
        return self._start.replace(**layers)

    def set_sources(self, sources: Sequence[WaterSource]) -> None:
        """Replace all springs."""
        self._start = self._start.replace(sources=sources)
        state = self.state()
        state.source = springs(self._start, state.b.dtype.type)

    def _inputs(self) -> Sequence[str]:
        return VirtualPipes.editable

    def _input(self, layer: str) -> Field:
        state = self.state()
        if layer == "erodibility" and state.layers is not None:
            raise InvalidParameter(OF_STRATA)
        if layer == "bedrock" and state.rock is not None:
            return state.rock
        return {"elevation": state.b, "water": state.w, "suspended": state.s,
                "erodibility": state.R, "rainfall": state.r}[layer]  # fmt: skip

    def _metres(self, layer: str, values: Field, window: Window) -> Layer:
        if layer == "elevation":
            return self._elevation(values) if self._start.nodata is None else self._elevation(ground(values))
        scale = self._start.cell_size if layer in ("water", "suspended") else 1.0
        return (values * np.float32(scale)).astype(np.float32)

    def _units(self, layer: str, metres: Field, window: Window) -> Field:
        scale = 1.0 if layer in ("erodibility", "rainfall") else self._start.cell_size
        return ((metres - (self._datum if layer == "elevation" else 0.0)) / scale).astype(self.state().b.dtype)

    @property
    def _layered(self) -> bool:
        return self._start.strata is not None

    def _walls_in(self, window: Window) -> NDArray[np.bool_] | None:
        return None if self._start.nodata is None else self._start.nodata[window]

    def _beside(self, layer: str) -> EdgeBase | None:
        return self._held().base if layer == "elevation" else None

    def _after_edit(self, layer: str, beside: EdgeBase | None) -> None:
        if layer == "elevation":
            state = self.state()
            # Ground dug below the base level of an open edge would be lifted back to it at once.
            state.base = lowered(state.base, state.b) if beside is None else beside
            if state.layers is not None and state.rock is not None:
                state.R[:] = expose(state.b, state.rock, state.layers)


def by_rows(measure: Callable[[Field, Edges], Field], a: Field, edges: Edges, block: int = 256) -> Field:
    """Apply a measure of neighbouring cells to blocks of rows: whole fields would need several times the memory."""
    height = a.shape[-2]
    result = np.empty(a.shape[-2:], np.float32)
    for y0 in range(0, height, block):
        y1 = min(y0 + block, height)
        if edges == "periodic":
            rows, first = np.arange(y0 - 1, y1 + 1) % height, 1
        else:
            rows, first = np.arange(max(y0 - 1, 0), min(y1 + 1, height)), min(y0, 1)
        result[y0:y1] = measure(a[..., rows, :], edges)[first : first + y1 - y0]
    return result


def speed(f: Field, edges: Edges) -> Field:
    """Discharge per unit width, in any direction."""
    u, v = discharge(f, edges)
    return np.hypot(u, v)
