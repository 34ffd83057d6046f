"""One iteration of the model, shared by the backends: they differ in how particles run and sediment is routed."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.backend import Backend
from slopewash.models.state import Domain, State
from slopewash.models.velocity_field import reference
from slopewash.models.velocity_field.coefficients import Coefficients
from slopewash.models.velocity_field.hillslope import slide
from slopewash.models.velocity_field.reference import SCALE, Integers, Motion, Routed, Sums
from slopewash.models.velocity_field.surface import (
    STEPS,
    Field,
    Surface,
    felt,
    find_pits,
    freeze,
    room_to_erode,
    room_to_fill,
    spread,
    way_down,
)
from slopewash.terrain import LOOSE, Strata


class Ground(NamedTuple):
    """Rates of what is exposed, as numbers or fields."""

    Kq: float | Field
    Ke: float | Field
    Kc: float | Field
    R: float | Field = 1.0
    """erodibility, which scales creep and slides"""
    floor: float | Field = -np.inf
    """bottom of the exposed layer"""


def exposed_ground(state: State, domain: Domain, c: Coefficients) -> Ground:
    """Rates of the exposed layers, or the model's own times the erodibility."""
    if not domain.strata:
        R = state["erodibility"]
        return Ground(c.Kq * R, c.Ke * R, c.Kc, R=R)
    l, datum = domain.cell_size, domain.datum  # noqa: E741, the paper's letter
    strata = Strata(domain.strata, top=state["strata_top"])
    exposed = strata.exposed(datum + state["elevation"] * l, datum + state["bedrock"] * l)
    R = strata.lookup("erodibility", exposed, otherwise=1.0)
    return Ground(
        Kq=strata.lookup("flow_erosion", exposed, otherwise=c.Kq * R),
        Ke=strata.lookup("collision_erosion", exposed, otherwise=c.Ke * R),
        Kc=strata.lookup("transport_capacity", exposed, otherwise=c.Kc),
        R=R,
        floor=np.where(exposed == LOOSE, state["bedrock"], (strata.bottom(exposed) - datum) / l),
    )


class FieldBackend(Backend):
    """Steps a state in the machine's memory; subclasses run the particles and route the sediment."""

    @abstractmethod
    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        """Run the particles."""

    @abstractmethod
    def route(
        self, direction: Integers, down: Integers, T: Field, sediment: Field, capacity: Field, room: Field
    ) -> Routed:
        """Pass the sediment on downstream."""

    def advance(self, coefficients: Coefficients, iterations: int) -> None:
        """Take the state through some iterations."""
        for done in range(iterations):
            with self.forgotten_if_stopped(done):
                self._find_velocity_field(coefficients)
                self._erode(coefficients)
                if coefficients.hillslope.creep > 0 or coefficients.hillslope.slide > 0:
                    self._slide(coefficients)

    def _find_velocity_field(self, c: Coefficients) -> None:
        """Step 2(a): W, V and E on the frozen surface; V is divided by the water that passed."""
        host, scalars, nodata = self.host, self._scalars, self.host.get("nodata")
        # Particle sums are in fixed point, so water is counted in what falls where it rains most.
        wettest = float(host["rainfall"].max()) or 1.0
        w = host["rainfall"] / wettest
        surface = freeze(felt(host["elevation"], nodata, c.breadth), nodata, c.motion.pull, stop_in_pits=c.stop_in_pits)
        safe_point()
        sums = self.trace(surface, w, c.motion)
        W, Vy, Vx, E = (self._spread(a, c) for a in (sums.W, sums.Vy, sums.Vx, sums.E))
        host["flow"] = W * (wettest / SCALE)
        host["velocity_south"], host["velocity_east"] = (c.v_max * (V / np.maximum(W, 1)) for V in (Vy, Vx))
        host["collision_energy"] = E * (wettest * c.v_max * c.v_max / SCALE)
        scalars["water_rain"] += float(w.sum()) * wettest
        scalars["water_exported"] += sums.left * (wettest / SCALE)
        scalars["water_evaporated"] += sums.sunk * (wettest / SCALE)
        scalars["particle_steps"] += sums.particle_steps

    def _spread(self, a: Integers, c: Coefficients) -> Field:
        """Sums over the breadth of the particles' water."""
        safe_point()
        return spread(a.astype(np.float64), self.host.get("nodata"), c.breadth)

    def _erode(self, c: Coefficients) -> None:
        """Step 2(b): erode the ground, pass the sediment on, deposit what is too much."""
        host, scalars, nodata = self.host, self._scalars, self.host.get("nodata")
        ground = exposed_ground(State(host), self.domain, c)
        Vy, Vx, T0 = host["velocity_south"], host["velocity_east"], host["elevation"]
        Q = host["flow"] * np.sqrt(Vy * Vy + Vx * Vx)
        eroded = c.strength * c.delta * (ground.Kq * Q + ground.Ke * host["collision_energy"])  # δ(S_q + S_e)
        eroded = np.minimum(eroded, np.minimum(room_to_erode(T0, nodata, c.margin), T0 - ground.floor))
        if c.margin > 0:  # else nothing can sink below its lowest neighbour, and so not below the lowest cell
            eroded = np.maximum(0, np.minimum(eroded, T0 + c.margin))
        if nodata is not None:
            eroded[nodata] = 0
        safe_point()
        T = T0 - eroded
        eroded = T0 - T  # what the ground really lost, after rounding
        pits = find_pits(T, nodata)
        room = room_to_fill(T, nodata, pits, c.margin)
        safe_point()
        down = way_down(T, nodata)
        safe_point()
        direction = away_from_nodata(reference.downstream(Vy, Vx), nodata)
        direction = np.where(direction < 0, down, direction)
        most = c.delta * (ground.Kc * Q**c.f)  # δ S_max
        if "capacity" in host:
            most = most * host["capacity"]
        safe_point()
        routed = self.route(direction, down, T, eroded + host["suspended"], np.where(pits, 0.0, most), room)
        if self.domain.strata:
            host["bedrock"] = np.minimum(host["bedrock"], T)
        host["elevation"] = T + routed.deposited
        host["suspended"] = routed.kept
        scalars["solids_exported"] += routed.exported
        scalars["solids_moved"] += float(eroded.sum()) + float(routed.deposited.sum())

    def _slide(self, c: Coefficients) -> None:
        """Let soil creep and steep ground slide."""
        safe_point()
        host, scalars = self.host, self._scalars
        R = exposed_ground(State(host), self.domain, c).R
        talus, sliding = (host.get(name, 1.0) for name in ("talus", "sliding"))
        slid = slide(host["elevation"], host.get("nodata"), R, c.hillslope, talus=talus, sliding=sliding)
        host["elevation"] = host["elevation"] + slid.gain
        if self.domain.strata:
            host["bedrock"] = np.minimum(host["bedrock"], host["elevation"])
        scalars["solids_exported"] += slid.exported
        scalars["solids_moved"] += slid.moved


def away_from_nodata(direction: Integers, nodata: NDArray[np.bool_] | None) -> Integers:
    """Directions, -1 where they lead to nodata."""
    if nodata is not None:
        missing = np.pad(nodata, 1)
        rows, columns = nodata.shape
        for k, (i, j) in enumerate(STEPS):
            direction[(direction == k) & missing[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]] = -1
    return direction


class ReferenceBackend(FieldBackend):
    """Steps the state with the specification."""

    def trace(self, surface: Surface, w: Field, motion: Motion) -> Sums:
        """Run the particles side by side."""
        return reference.velocity_field(surface, w, motion)

    def route(
        self, direction: Integers, down: Integers, T: Field, sediment: Field, capacity: Field, room: Field
    ) -> Routed:
        """Pass the sediment on cell by cell."""
        return reference.route(direction, down, T, sediment, capacity, room)
