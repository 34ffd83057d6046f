"""One iteration of the model, shared by the backends: they differ in how particles run and how load is routed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.models.base import Ledger
from slopewash.models.editing import OF_STRATA, EditedEngine, Window
from slopewash.models.velocity_field import reference
from slopewash.models.velocity_field.hillslope import Hillslope, slide
from slopewash.models.velocity_field.model import VelocityField
from slopewash.models.velocity_field.reference import SCALE, Integers, Motion, Routed, Sums
from slopewash.models.velocity_field.surface import (
    STEPS,
    Field,
    Surface,
    felt,
    find_pits,
    freeze,
    room_to_fill,
    room_to_wear,
    spread,
    way_down,
)
from slopewash.terrain import LOOSE, Layer, Terrain


@dataclass
class State:
    """Fields of one run, `[row, column]`, all lengths in cells; letters are the paper's."""

    T: Field
    """elevation above the datum"""
    s: Field
    """load that found no room to fall"""
    bedrock: Field
    """lowest elevation so far: what lies above it was laid down"""
    rain: Field
    """rainfall, relative"""
    R: Field | None
    """erodibility, if it is not 1 everywhere"""
    T0: Field
    """elevation at the start"""
    s0: float = field(init=False)
    """load at the start, of all cells"""
    w: Field = field(init=False)
    """water of the particle that starts here, 1 where it rains most"""
    wettest: float = field(init=False)
    """rainfall where it rains most: particle sums are in fixed point, so water is counted in that"""
    W: Field = field(init=False)
    """water that passed in the last iteration"""
    Vy: Field = field(init=False)
    Vx: Field = field(init=False)
    E: Field = field(init=False)
    """collision energy of the last iteration"""
    rained: float = 0.0
    left: float = 0.0
    sunk: float = 0.0
    exported: float = 0.0
    moved: float = 0.0
    particle_steps: int = 0

    def __post_init__(self) -> None:
        self.s0 = float(self.s.sum())
        self.W, self.Vy, self.Vx, self.E = np.zeros((4, *self.T.shape))
        self.share_rain()

    def share_rain(self) -> None:
        """Find `w` from the rainfall."""
        self.wettest = float(self.rain.max()) or 1.0
        self.w = self.rain / self.wettest


@dataclass(frozen=True)
class Ground:
    """What the exposed layer says, as numbers or fields."""

    Kq: float | Field
    Ke: float | Field
    Kc: float | Field
    R: float | Field = 1.0
    """erodibility, which scales creep and slides"""
    floor: float | Field = -np.inf
    """bottom of the exposed layer"""


class FieldEngine(EditedEngine):
    """A run of `VelocityField`; backends provide the abstract methods."""

    def __init__(self, model: VelocityField, terrain: Terrain) -> None:
        super().__init__()
        self._start = terrain
        self._datum = terrain.range("elevation")[0]
        self._wall = terrain.nodata
        self.state = self._enter(terrain)
        self.set_model(model, 1)

    @abstractmethod
    def _trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        """Run the particles."""

    @abstractmethod
    def _route(
        self, direction: Integers, down: Integers, T: Field, load: Field, capacity: Field, room: Field
    ) -> Routed:
        """Pass the load on downstream."""

    def _enter(self, terrain: Terrain) -> State:
        def cells(name: str, datum: float = 0.0) -> Field:
            return (terrain[name].astype(np.float64) - datum) / terrain.cell_size

        T = cells("elevation", self._datum)
        rain = terrain["rainfall"].astype(np.float64) if "rainfall" in terrain else np.ones(T.shape)
        R = terrain["erodibility"].astype(np.float64) if "erodibility" in terrain else None
        s = cells("suspended") if "suspended" in terrain else np.zeros(T.shape)
        if self._wall is not None:
            for a in (T, rain, s):
                a[self._wall] = 0
        bedrock = np.minimum(cells("bedrock", self._datum), T) if "bedrock" in terrain else T.copy()
        return State(T=T, s=s, bedrock=bedrock, rain=rain, R=R, T0=T.copy())

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._start.shape

    def set_model(self, model: VelocityField, substeps: int) -> None:
        """Go on with other parameter values."""
        self._model = model
        dt = model.particle_time_step
        self._motion = Motion(
            pull=model.gravity * dt * dt,
            slowest=model.minimum_speed * dt,
            most_steps=int(model.maximum_steps),
            longest_stay=int(model.longest_stay),
            downhill=model.steering == "gradient",
        )
        self._breadth = int(model.breadth)
        self._hillslope = Hillslope(creep=model.creep_rate, slide=model.slide_rate, talus=model.talus_slope)

    def advance(self, steps: int) -> None:
        """Advance by whole iterations."""
        self._iterate(steps, 1.0)

    def carry(self, steps: int, strength: float) -> None:
        """Iterate while the power to erode has faded to `strength`."""
        self._iterate(steps, strength)

    def _iterate(self, steps: int, strength: float) -> None:
        for _ in range(steps):
            self._find_velocity_field()
            self._erode(strength)
            if self._hillslope.creep > 0 or self._hillslope.slide > 0:
                self._slide()

    def _find_velocity_field(self) -> None:
        """Step 2(a): W, V and E on the frozen surface; V is divided by the water that passed."""
        state, v_max = self.state, self._model.maximum_speed
        T = felt(state.T, self._wall, self._breadth)
        surface = freeze(T, self._wall, self._motion.pull, stop_in_pits=self._model.pits == "stop")
        sums = self._trace(surface, state.w, self._motion)
        W, Vy, Vx, E = (
            spread(a.astype(np.float64), self._wall, self._breadth) for a in (sums.W, sums.Vy, sums.Vx, sums.E)
        )
        state.W = W * (state.wettest / SCALE)
        state.Vy, state.Vx = (v_max * (V / np.maximum(W, 1)) for V in (Vy, Vx))
        state.E = E * (state.wettest * v_max * v_max / SCALE)
        state.rained += float(state.w.sum()) * state.wettest
        state.left += sums.left * (state.wettest / SCALE)
        state.sunk += sums.sunk * (state.wettest / SCALE)
        state.particle_steps += sums.particle_steps

    def _erode(self, strength: float) -> None:
        """Step 2(b): wear the ground, pass the load on, lay down what is too much."""
        state, model, ground = self.state, self._model, self._ground()
        Q = state.W * np.sqrt(state.Vy * state.Vy + state.Vx * state.Vx)
        wear = strength * model.height_per_load * (ground.Kq * Q + ground.Ke * state.E)  # δ(S_q + S_e)
        wear = np.minimum(wear, np.minimum(room_to_wear(state.T, self._wall, model.margin), state.T - ground.floor))
        if self._wall is not None:
            wear[self._wall] = 0
        T = state.T - wear
        wear = state.T - T  # what the ground really lost, after rounding
        pits = find_pits(T, self._wall)
        room = room_to_fill(T, self._wall, pits, model.margin)
        down = way_down(T, self._wall)
        direction = self._away_from_walls(reference.downstream(state.Vy, state.Vx))
        direction = np.where(direction < 0, down, direction)
        most = model.height_per_load * (ground.Kc * Q**model.capacity_exponent)  # δ S_max
        capacity = np.where(pits, 0.0, most)
        routed = self._route(direction, down, T, wear + state.s, capacity, room)
        state.bedrock = np.minimum(state.bedrock, T)
        state.T = T + routed.laid
        state.s = routed.kept
        state.exported += routed.exported
        state.moved += float(wear.sum()) + float(routed.laid.sum())

    def _slide(self) -> None:
        """Let soil creep and steep ground slide."""
        state = self.state
        slid = slide(state.T, self._wall, self._ground().R, self._hillslope)
        state.T = state.T + slid.gain
        state.bedrock = np.minimum(state.bedrock, state.T)
        state.exported += slid.exported
        state.moved += slid.moved

    def _away_from_walls(self, direction: Integers) -> Integers:
        if self._wall is not None:
            wall = np.pad(self._wall, 1)
            rows, columns = self._wall.shape
            for k, (i, j) in enumerate(STEPS):
                direction[(direction == k) & wall[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]] = -1
        return direction

    def _ground(self) -> Ground:
        model, strata, l = self._model, self._start.strata, self._start.cell_size  # noqa: E741
        own = Ground(model.flow_erosion, model.collision_erosion, model.transport_capacity)
        if strata is None:
            soft = self.state.R
            if soft is None:
                return own
            return Ground(own.Kq * soft, own.Ke * soft, own.Kc, R=soft)
        elevation = self._datum + self.state.T * l
        exposed = strata.exposed(elevation, self._datum + self.state.bedrock * l)
        hardness = strata.lookup("erodibility", exposed, otherwise=1.0)
        return Ground(
            Kq=strata.lookup("flow_erosion", exposed, otherwise=own.Kq * hardness),
            Ke=strata.lookup("collision_erosion", exposed, otherwise=own.Ke * hardness),
            Kc=strata.lookup("transport_capacity", exposed, otherwise=own.Kc),
            R=hardness,
            floor=np.where(exposed == LOOSE, self.state.bedrock, (strata.bottom(exposed) - self._datum) / l),
        )

    def lay_down(self, *, dry: bool) -> None:
        """Let the load that is still suspended fall where it is."""
        state = self.state
        T = state.T + state.s
        state.moved += float((T - state.T).sum())
        state.T, state.s = T, np.zeros_like(state.s)

    def ledger(self) -> Ledger:
        """Amounts in cubic metres; water that comes to rest on the ground counts as evaporated."""
        state, cubic = self.state, self._start.cell_size**3
        return Ledger(
            water_rain=state.rained * cubic,
            water_evaporated=state.sunk * cubic,
            water_exported=state.left * cubic,
            solids_start=(float(state.T0.sum()) + state.s0) * cubic,
            solids_exported=state.exported * cubic,
            solids_moved=state.moved * cubic,
            solids_edited=self._edited["solids"] * cubic,
            solids_now=(float(state.T.sum()) + float(state.s.sum())) * cubic,
        )

    def first_bad_cell(self) -> tuple[str, int, int] | None:
        """Find the first value that is not finite."""
        for name, layer in (("elevation", self.state.T), ("suspended", self.state.s)):
            if not np.isfinite(layer.sum()):
                row, column = np.argwhere(~np.isfinite(layer))[0]
                return name, int(row), int(column)
        return None

    def _measures(self) -> dict[str, Callable[[], Field]]:
        """How to obtain each layer in metres, worked out only when asked for."""
        state, l = self.state, self._start.cell_size  # noqa: E741
        measures: dict[str, Callable[[], Field]] = {
            "elevation": lambda: self._datum + state.T * l,
            "suspended": lambda: state.s * l,
            "flow": lambda: state.W * l,
            "velocity": lambda: np.sqrt(state.Vy * state.Vy + state.Vx * state.Vx) * l,
            "velocity_east": lambda: state.Vx * l,
            "velocity_south": lambda: state.Vy * l,
            "collision_energy": lambda: state.E * l * l,
            "wear": lambda: np.maximum((state.T0 - state.T) * l, 0),
            "deposit": lambda: np.maximum((state.T - state.T0) * l, 0),
            "difference": lambda: (state.T - state.T0) * l,
            "slope": self._slope,
        }
        if self._start.strata is not None:
            measures["bedrock"] = lambda: self._datum + state.bedrock * l
            measures["erodibility"] = lambda: np.broadcast_to(self._ground().R, self.shape)
        elif state.R is not None:
            measures["erodibility"] = lambda: self._input("erodibility")
        if "rainfall" in self._start or not (state.rain == 1).all():
            measures["rainfall"] = lambda: state.rain
        return measures

    def _slope(self) -> Field:
        gy, gx = (_slope_along(self.state.T, axis) for axis in (0, 1))
        return np.degrees(np.arctan(np.sqrt(gy * gy + gx * gx)))

    def layers(self, names: Sequence[str]) -> dict[str, Layer]:
        """Download these layers only, in metres."""
        measures = self._measures()
        for name in VelocityField.editable:
            measures.setdefault(name, lambda name=name: self._input(name))  # type: ignore[misc]
        for name in names:
            if name not in measures:
                raise unknown_name("layer", name, measures)
        return {name: measures[name]().astype(np.float32) for name in names}

    def terrain(self) -> Terrain:
        """Download as a terrain in metres, with the velocity field and what the run changed as layers of their own."""
        return self._start.replace(**self.layers(list(self._measures())))

    def _inputs(self) -> Sequence[str]:
        return VelocityField.editable

    def _input(self, layer: str) -> Field:
        state = self.state
        if layer == "erodibility":
            if self._start.strata is not None:
                raise InvalidParameter(OF_STRATA)
            if state.R is None:
                state.R = np.ones(self.shape)
            return state.R
        return {"elevation": state.T, "bedrock": state.bedrock, "suspended": state.s, "rainfall": state.rain}[layer]

    def _metres(self, layer: str, values: Field, window: Window) -> Layer:
        scale = self._start.cell_size if layer in ("elevation", "suspended") else 1.0
        return ((self._datum if layer == "elevation" else 0.0) + values * scale).astype(np.float32)

    def _units(self, layer: str, metres: Field, window: Window) -> Field:
        scale = self._start.cell_size if layer in ("elevation", "suspended") else 1.0
        return (metres - (self._datum if layer == "elevation" else 0.0)) / scale

    @property
    def _layered(self) -> bool:
        return self._start.strata is not None

    def _walls_in(self, window: Window) -> NDArray[np.bool_] | None:
        return None if self._wall is None else self._wall[window]

    def _after_edit(self, layer: str, beside: Any) -> None:
        if layer == "rainfall":
            self.state.share_rain()


def _slope_along(T: Field, axis: int) -> Field:
    return np.gradient(T, axis=axis) if T.shape[axis] > 1 else np.zeros_like(T)


class ReferenceEngine(FieldEngine):
    """Steps the state with the specification."""

    def _trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        return reference.velocity_field(surface, w, motion)

    def _route(
        self, direction: Integers, down: Integers, T: Field, load: Field, capacity: Field, room: Field
    ) -> Routed:
        return reference.route(direction, down, T, load, capacity, room)
