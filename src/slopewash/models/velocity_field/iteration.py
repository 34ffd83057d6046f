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
from slopewash.models.velocity_field.bands import Fields, in_bands
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
        host, scalars = self.host, self._scalars
        # Particle sums are in fixed point, so water is counted in what falls where it rains most.
        wettest = float(host["rainfall"].max()) or 1.0
        w = host["rainfall"] / wettest
        (T,) = in_bands(
            lambda some: (felt(some["elevation"], some.get("nodata"), c.breadth),), self._ground(), reach=c.breadth
        )
        surface = freeze(T, host.get("nodata"), c.motion.pull, stop_in_pits=c.stop_in_pits)
        safe_point()
        sums = self.trace(surface, w, c.motion)

        def averaged(some: Fields) -> tuple[Field, ...]:
            W, Vy, Vx, E = (
                spread(some[name].astype(np.float64), some.get("nodata"), c.breadth) for name in ("W", "Vy", "Vx", "E")
            )
            water, passed = wettest / SCALE, np.maximum(W, 1)
            return (
                W * water,
                c.v_max * (Vy / passed),
                c.v_max * (Vx / passed),
                E * (wettest * c.v_max * c.v_max / SCALE),
            )

        fields = {"W": sums.W, "Vy": sums.Vy, "Vx": sums.Vx, "E": sums.E, **self._ground()}
        found = in_bands(averaged, fields, reach=c.breadth)
        host |= dict(zip(("flow", "velocity_south", "velocity_east", "collision_energy"), found, strict=True))
        scalars["water_rain"] += float(w.sum()) * wettest
        scalars["water_exported"] += sums.left * (wettest / SCALE)
        scalars["water_evaporated"] += sums.sunk * (wettest / SCALE)
        scalars["particle_steps"] += sums.particle_steps

    def _ground(self) -> Fields:
        """The ground and where there is none."""
        return {name: self.host[name] for name in ("elevation", "nodata") if name in self.host}

    def _erode(self, c: Coefficients) -> None:
        """Step 2(b): erode the ground, pass the sediment on, deposit what is too much."""
        host, scalars = self.host, self._scalars
        T, eroded, most = in_bands(lambda some: erosion(some, self.domain, c), host, reach=1)
        direction, down, capacity, room = in_bands(
            lambda some: ways_and_limits(some, c), host | {"elevation": T, "most": most}, reach=1
        )
        sediment = eroded + host["suspended"]
        safe_point()
        routed = self.route(direction, down, T, sediment, capacity, room)
        safe_point()
        if self.domain.strata:
            host["bedrock"] = np.minimum(host["bedrock"], T)
        host["elevation"] = T + routed.deposited
        host["suspended"] = routed.kept
        scalars["solids_exported"] += routed.exported
        scalars["solids_moved"] += float(eroded.sum()) + float(routed.deposited.sum())

    def _slide(self, c: Coefficients) -> None:
        """Let soil creep and steep ground slide."""
        host, scalars = self.host, self._scalars
        R = host.get("erodibility")
        if R is None:
            (R,) = in_bands(lambda some: (_exposed_erodibility(some, self.domain, c),), host, reach=0)
        talus, sliding = (host.get(name, 1.0) for name in ("talus", "sliding"))
        slid = slide(host["elevation"], host.get("nodata"), R, c.hillslope, talus=talus, sliding=sliding)
        host["elevation"] = host["elevation"] + slid.gain
        if self.domain.strata:
            host["bedrock"] = np.minimum(host["bedrock"], host["elevation"])
        scalars["solids_exported"] += slid.exported
        scalars["solids_moved"] += slid.moved


def _exposed_erodibility(fields: Fields, domain: Domain, c: Coefficients) -> Field:
    return np.broadcast_to(exposed_ground(State(dict(fields)), domain, c).R, fields["elevation"].shape)


def erosion(fields: Fields, domain: Domain, c: Coefficients) -> tuple[Field, Field, Field]:
    """Return the eroded ground, what it lost, and δ S_max."""
    ground, T0, nodata = exposed_ground(State(dict(fields)), domain, c), fields["elevation"], fields.get("nodata")
    Vy, Vx = fields["velocity_south"], fields["velocity_east"]
    Q = fields["flow"] * np.sqrt(Vy * Vy + Vx * Vx)
    eroded = c.strength * c.delta * (ground.Kq * Q + ground.Ke * fields["collision_energy"])  # δ(S_q + S_e)
    eroded = np.minimum(eroded, np.minimum(room_to_erode(T0, nodata, c.margin), T0 - ground.floor))
    if c.margin > 0:  # else nothing can sink below its lowest neighbour, and so not below the lowest cell
        eroded = np.maximum(0, np.minimum(eroded, T0 + c.margin))
    if nodata is not None:
        eroded[nodata] = 0
    T = T0 - eroded
    most = c.delta * (ground.Kc * Q**c.f)
    if "capacity" in fields:
        most = most * fields["capacity"]
    return T, T0 - T, most  # what the ground really lost, after rounding


def ways_and_limits(fields: Fields, c: Coefficients) -> tuple[Integers, Integers, Field, Field]:
    """Return where the sediment goes, the way down, how much is carried on, and how much may be deposited."""
    T, nodata = fields["elevation"], fields.get("nodata")
    pits, down = find_pits(T, nodata), way_down(T, nodata)
    direction = away_from_nodata(reference.downstream(fields["velocity_south"], fields["velocity_east"]), nodata)
    direction = np.where(direction < 0, down, direction)
    return direction, down, np.where(pits, 0.0, fields["most"]), room_to_fill(T, nodata, pits, c.margin)


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
