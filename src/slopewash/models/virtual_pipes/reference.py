"""The paper in NumPy: one small function per equation, called in the paper's order.

This is the specification; every other backend is tested against it. Sums over neighbours are paired
`(west + east) + (north + south)`, so that a mirrored terrain gives the mirrored result bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from slopewash.interrupts import safe_point
from slopewash.models.backend import HostBackend
from slopewash.models.ground import IS_WALL, WALL, Around, around, gradient
from slopewash.models.sea import border_mask
from slopewash.models.state import Domain, Sides, State
from slopewash.models.virtual_pipes.bedding import expose_beds
from slopewash.models.virtual_pipes.coefficients import SHALLOW, SHORTENING, SLANTED_WIDTH, TINY, Coefficients
from slopewash.models.virtual_pipes.cover import dig, slide_with_cover, weather
from slopewash.models.virtual_pipes.fields import (
    EVAPORATED,
    MOVED,
    RAIN,
    SEA,
    SOLIDS_EXPORTED,
    SOURCES,
    WATER_EXPORTED,
)
from slopewash.models.virtual_pipes.prepare import Field, total
from slopewash.models.virtual_pipes.strata import expose, exposed_step

WEST, EAST, NORTH, SOUTH, NW, NE, SW, SE = range(8)
OPPOSITE = (EAST, WEST, SOUTH, NORTH, SE, SW, NE, NW)
"""The pipe through which a neighbour sends what comes from that direction."""
WIDTHS = (1.0, 1.0, 1.0, 1.0, SLANTED_WIDTH, SLANTED_WIDTH, SLANTED_WIDTH, SLANTED_WIDTH)
"""Widths of the pipes."""


def step(state: State, c: Coefficients, domain: Domain) -> None:
    """One iteration in the order of [JakoToth11, Sec. 2], in place."""
    b, s, R, sides, budget = state["elevation"], state["suspended"], state["erodibility"], domain.sides, state["budget"]
    loose, T, K = b - state["bedrock"] if c.covered else None, shares(state, "talus"), shares(state, "sliding")
    if loose is not None and c.fall_line:
        slid, sent, loose = slide_with_cover(b, loose, R, c, sides, T, K)
    else:
        slid, sent = slide(b, R, c, sides, T, K)  # 17-18, from the ground before erosion
    safe_point()
    if c.hydraulic:
        w1 = add_water(state, c, domain)  # 1
        d1 = w1 + c.kappa * s
        h = b + d1
        f = push_pipes(state["outflow"], b, h, d1, c, sides)  # 2-5
        safe_point()
        d2 = move_depth(d1, f, c, sides)  # 6-7
        u, v = velocity(f, d1, d2, c, sides)  # 8
        safe_point()
        C = capacity(b, h, f, u, v, d1, c, sides) * shares(state, "capacity")  # 9-11
        safe_point()
        delta = exchange(b, s, R, C, d2, c, sides, loose)  # 12-13
        safe_point()
        delta = hold_edges(delta, state, c, sides)
    else:
        delta = np.zeros_like(b)
    b1 = b - delta
    delta = b - b1  # what the ground really lost, after rounding
    s1 = np.maximum(s + delta, 0)
    state["elevation"] = apply_slides(b, b1, slid, state, c, domain)
    budget[0, MOVED] += counted(sent, domain) + counted(np.maximum(delta, 0), domain)
    if "bedrock" in state:
        state["bedrock"] = np.minimum(state["bedrock"], state["elevation"])
    if c.covered:
        state["bedrock"] = weather(state["elevation"], state["bedrock"], c)
    if domain.strata:
        state["erodibility"] = expose(
            state["elevation"], state["bedrock"], state["strata_top"], domain, c.per_cover, exposed_step(b, sides)
        )
    elif c.bedded:
        surface = state["bedrock"] if c.covered else state["elevation"]
        state["erodibility"] = expose_beds(surface, state["rock_erodibility"], state["bed_phase"], c)
    elif c.hydraulic:
        state["erodibility"] = np.where(delta < 0, np.minimum(1, R - c.Kh * delta), R)  # 14
    safe_point()
    if c.hydraulic:
        w2, state["suspended"] = transport(w1, s1, d1, f, u, v, b, state, c, domain)  # 15
        safe_point()
        state["water"] = w2 * kept(state, c)  # 16
        budget[0, EVAPORATED] += counted(w2 - state["water"], domain)
        if c.sea:
            meet_sea(state, c, domain)
            safe_point()
        state["outflow"] = f
        state["flow"] = state["flow"] + passing(f, c, sides)
    state.scalars["iterations"] += 1


def shares(state: State, name: str) -> Field:
    """What a parameter is multiplied by in each cell: 1 where it is the same everywhere."""
    given = state.get(name)
    return np.ones_like(state["elevation"]) if given is None else given


def kept(state: State, c: Coefficients) -> Field | float:
    """Share of the water that does not evaporate; exactly `c.keep` and exactly 1 at either end of the map."""
    e = state.get("evaporation")
    return c.keep if e is None else c.keep * e + (1 - e)


def counted(a: Field, domain: Domain) -> float:
    """Sum over the cells that this part of the grid answers for."""
    return total(a[domain.own])


def add_water(state: State, c: Coefficients, domain: Domain) -> Field:
    """Eq. 1: rain and water sources. The budget counts what the water really gained."""
    rained: Field = state["water"] + c.rain * state["rainfall"]
    state["budget"][0, RAIN] += counted(rained - state["water"], domain)
    source = state.get("source_rate")
    if source is None:
        return rained
    fed: Field = rained + c.dt * source
    state["budget"][0, SOURCES] += counted(fed - rained, domain)
    return fed


def push_pipes(f: Field, b: Field, h: Field, d1: Field, c: Coefficients, sides: Sides) -> Field:
    """Eqs. 2-5: pressure drives the pipes; outflow is scaled down to what is there.

    Beyond a closed edge lies a wall, beyond an open one what `beyond_open_edges` says.
    """
    out = around(h, sides, WALL, beyond_open_edges(b, c))
    push = [c.push * h.dtype.type(width) for width in WIDTHS]
    pushed = [np.maximum(0, c.flow_kept * f[i] + push[i] * (h - out[i])) for i in pipes_of(f)]
    safe_point()
    f = np.stack(pushed)
    safe_point()
    leaving = c.dt * paired(f)
    safe_point()
    K = np.where(d1 < leaving, d1 / np.maximum(leaving, TINY), 1)  # max as published; the text scales down
    return f * K


def pipes_of(f: Field) -> Iterator[int]:
    """Numbers of the pipes; each takes long on large grids, so signals are answered before it."""
    for i in range(len(f)):
        safe_point()
        yield i


def beyond_open_edges(b: Field, c: Coefficients) -> Field:
    """Surface that a border cell's pipes see outside: dry ground at the cell's own bed.

    No pipe leads out of the sea: the border itself is held at sea level (`meet_sea`).
    """
    return np.where(b < c.sea_level, b.dtype.type(WALL), b) if c.sea else b


def paired(x: Sequence[Field] | Field) -> Field:
    """Sum over four or eight neighbours, in an order that mirrors do not change."""
    straight: Field = (x[0] + x[1]) + (x[2] + x[3])
    return straight if len(x) == 4 else straight + ((x[4] + x[5]) + (x[6] + x[7]))


def inflow(f: Field, sides: Sides) -> list[Field]:
    """What comes in from each neighbour."""
    return [around(f[OPPOSITE[i]], sides, 0)[i] for i in range(len(f))]


def move_depth(d1: Field, f: Field, c: Coefficients, sides: Sides) -> Field:
    """Eqs. 6-7: depth after the flow."""
    return np.maximum(0, d1 + c.dt * (paired(inflow(f, sides)) - paired(f)))


def discharge(f: Field, sides: Sides) -> tuple[Field, Field]:
    """Eq. 8: mean flow through the cell to the east and to the south."""
    w, e, n, s = inflow(f[:4], sides)
    u = 0.5 * ((w - f[WEST]) + (f[EAST] - e))
    v = 0.5 * ((n - f[NORTH]) + (f[SOUTH] - s))
    return u, v


def passing(f: Field, c: Coefficients, sides: Sides) -> Field:
    """Discharge per unit width, in any direction: what the `flow` layer sums up."""
    if c.eight:
        return paired(f)
    u, v = discharge(f, sides)
    return np.sqrt(u * u + v * v)


def velocity(f: Field, d1: Field, d2: Field, c: Coefficients, sides: Sides) -> tuple[Field, Field]:
    """Eq. 8: discharge per unit of width, as published; [Mei07] divides by the mean depth too."""
    u, v = discharge(f, sides)
    if not c.mean_depth:
        return u, v
    depth = np.maximum(0.5 * (d1 + d2), SHALLOW)
    return u / depth, v / depth


def capacity(b: Field, h: Field, f: Field, u: Field, v: Field, d1: Field, c: Coefficients, sides: Sides) -> Field:
    """Eqs. 9-11: how much sediment the water can hold."""
    ramp = np.clip(c.ramp_0 + c.ramp_1 * d1, 0, 1)  # 10
    if c.along_flow:
        Q, S = along_flow(b, h, f, c, sides)
        safe_point()
        sine = np.maximum(S / np.sqrt(1 + S * S), c.sin_min)
        root = np.sqrt(Q)
        held = c.Kc * sine * Q + sine * (c.Kc75 * (root * np.sqrt(root)) + c.Kc50 * root)
        return held * np.sqrt(np.minimum(sine * c.per_fan, 1)) * ramp
    gx, gy = gradient(b, sides)
    steep = gx * gx + gy * gy
    speed = np.sqrt(u * u + v * v)
    if c.collision:  # 11: the flow strikes rising ground
        tilt = (gx * u + gy * v) / (np.maximum(speed, TINY) * np.sqrt(1 + steep))
    else:  # 9: sin α
        tilt = np.sqrt(steep / (1 + steep))
    return c.Kc * np.maximum(tilt, c.sin_min) * speed * ramp


def along_flow(b: Field, h: Field, f: Field, c: Coefficients, sides: Sides) -> tuple[Field, Field]:
    """Discharge of a cell and the mean slope of the surface along its outflows."""
    out = around(h, sides, WALL, beyond_open_edges(b, c))
    lost = [f[i] * np.maximum(0, h - out[i]) for i in pipes_of(f)]
    if c.eight:
        straight, slanted = paired(lost[:4]), paired(lost[4:]) * h.dtype.type(SHORTENING)
        Q = paired(f)
        return Q, (straight + slanted) / np.maximum(Q, TINY)
    Q = np.sqrt(paired([f[i] * f[i] for i in range(4)]))
    return Q, paired(lost) / np.maximum(Q, TINY)


def steepest_drop(b: Field, c: Coefficients, sides: Sides) -> Field:
    """Largest drop to a neighbour, per unit of distance."""
    drop = exposed_step(b, sides)
    if not c.eight:
        return drop
    near = around(b, sides, WALL)
    slanted = b - np.minimum(np.minimum(near.nw, near.ne), np.minimum(near.sw, near.se))
    return np.maximum(drop, slanted * b.dtype.type(SHORTENING))


def exchange(
    b: Field, s: Field, R: Field, C: Field, d2: Field, c: Coefficients, sides: Sides, loose: Field | None = None
) -> Field:
    """Eqs. 12-13: what the ground loses to the water; negative where it gains. Cover that is set apart goes first."""
    wanted = c.take * R * (C - s) if loose is None else dig(c.take * (C - s), loose, R)
    take = np.minimum(wanted, c.water_0 + c.water_1 * d2)
    take = np.minimum(take, c.load_0 + c.load_1 * d2 - c.load_2 * s)
    take = np.minimum(take, c.dig_0 + c.dig_1 * steepest_drop(b, c, sides))
    fall = np.minimum(np.minimum(c.drop * (s - C), s), c.rise_0 + c.rise_1 * d2)
    return np.where(s < C, np.maximum(0, take), -fall)


def slide(
    b: Field, R: Field, c: Coefficients, sides: Sides, T: Field | None = None, K: Field | None = None
) -> tuple[Field, Field]:
    """Eqs. 17-18: net gain of each cell from sliding soil, and how much slid from each.

    T and K multiply the talus and the rate of the cell from which soil slides.
    """
    T, K = (np.ones_like(b) if share is None else share for share in (T, K))
    if c.eight_pipes:
        return _slide_eight_pipes(b, R, c, sides, T, K)
    if c.fall_line:
        return _slide_fall_line(b, R, c, sides, T, K)
    return np.zeros_like(b), np.zeros_like(b)


DISTANCES = (1.0, 1.0, 1.0, 1.0, math.sqrt(2), math.sqrt(2), math.sqrt(2), math.sqrt(2))
"""To the neighbours, in the order of `Around`."""


def _slide_eight_pipes(b: Field, R: Field, c: Coefficients, sides: Sides, T: Field, K: Field) -> tuple[Field, Field]:
    talus = c.talus_0 * T + (c.talus_1 * T) * R
    reach = [np.maximum(talus * d, 0) for d in DISTANCES]
    safe_point()
    drops = [b - n for n in around(b, sides, WALL)]
    safe_point()
    H = np.maximum.reduce(drops)
    safe_point()
    share = [np.where(drop > limit, drop, 0) for drop, limit in zip(drops, reach, strict=True)]
    safe_point()
    whole = paired(share)
    safe_point()
    weight = ((0.5 * c.slide) * K) * R * np.maximum(H, 0) / np.maximum(whole, TINY)
    sent = weight * whole
    safe_point()
    weights, taluses = around(weight, sides, 0), around(talus, sides, 0)
    heights = around(b, sides, WALL)  # nodata and walls have weight 0: nothing slides in from there
    gains = []
    for n, weight_n, talus_n, d in zip(heights, weights, taluses, DISTANCES, strict=True):
        safe_point()
        drop = n - b
        gains.append(np.where(drop > np.maximum(talus_n * d, 0), weight_n * drop, 0))
    return paired(gains) - sent, sent


def _slide_fall_line(b: Field, R: Field, c: Coefficients, sides: Sides, T: Field, K: Field) -> tuple[Field, Field]:
    gx, gy = gradient(b, sides)
    near, near_R, near_T, near_K = around(b, sides, WALL), around(R, sides, 0), around(T, sides, 1), around(K, sides, 1)
    high_e, high_s = b > near.e, b > near.s
    east = _face_flux(
        b, near.e, gy, around(gy, sides, 0).e, np.where(high_e, R, near_R.e), c,
        np.where(high_e, T, near_T.e), np.where(high_e, K, near_K.e),
    )  # fmt: skip
    south = _face_flux(
        b, near.s, gx, around(gx, sides, 0).s, np.where(high_s, R, near_R.s), c,
        np.where(high_s, T, near_T.s), np.where(high_s, K, near_K.s),
    )  # fmt: skip
    gain = (around(east, sides, 0).w - east) + (around(south, sides, 0).n - south)
    return gain, np.abs(east) + np.abs(south)


def _face_flux(
    b: Field, b_n: Field, gt: Field, gt_n: Field, R_high: Field, c: Coefficients, T_high: Field, K_high: Field
) -> Field:
    gn = b - b_n
    along = 0.5 * (gt + gt_n)
    g = np.sqrt(gn * gn + along * along)
    talus = c.talus_0 * T_high + (c.talus_1 * T_high) * R_high
    rate = c.creep + (c.slide * K_high) * R_high * np.maximum(0, 1 - talus / np.maximum(g, TINY))
    return np.where((b < IS_WALL) & (b_n < IS_WALL), rate * gn, b.dtype.type(0))


def hold_edges(delta: Field, state: State, c: Coefficients, sides: Sides) -> Field:
    """Open edges are base level: no erosion below it, and no deposits on a graded one, except on the floor of a sea."""
    b = state["elevation"]
    for side, base in _open_edges(state, sides):
        held = np.minimum(delta[side], np.maximum(0, b[side] - base))
        delta[side] = np.maximum(held, b[side] - highest_border(b[side], c)) if c.graded else held
    return delta


def highest_border(b: Field, c: Coefficients) -> Field:
    """How high a graded border may rise: not at all, or up to sea level, or else a trench would run along its edge."""
    return np.maximum(b, c.sea_level)


def apply_slides(b: Field, b1: Field, slid: Field, state: State, c: Coefficients, domain: Domain) -> Field:
    """Ground after erosion and slides; what keeps open edges at base level comes from outside the terrain."""
    b2, sides = b1 + slid, domain.sides
    if not sides.any_open:
        return b2
    held = b2.copy()
    for side, base in _open_edges(state, sides):
        held[side] = np.maximum(held[side], base)
        if c.graded:
            held[side] = np.minimum(held[side], highest_border(b[side], c))
    state["budget"][0, SOLIDS_EXPORTED] += counted(b2 - held, domain)
    return held


def _open_edges(state: State, sides: Sides) -> list[tuple[Any, Field]]:
    edges = {"north": np.s_[0], "south": np.s_[-1], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    return [(edges[name], state[f"base_{name}"]) for name, side in sides.items() if side == "open"]


def transport(
    w1: Field,
    s1: Field,
    d1: Field,
    f: Field,
    u: Field,
    v: Field,
    b: Field,
    state: State,
    c: Coefficients,
    domain: Domain,
) -> tuple[Field, Field]:
    """Step 6: the share of water and sediment that leaves through each pipe goes to that neighbour."""
    sides = domain.sides
    share = f * (c.dt / np.maximum(d1, TINY))
    safe_point()
    w2 = donate(w1, share, sides)
    safe_point()
    state["budget"][0, WATER_EXPORTED] += exported(w1, share, domain)
    safe_point()
    if c.semi_lagrangian:
        return w2, trace_back(s1, u, v, b, c, sides)
    state["budget"][0, SOLIDS_EXPORTED] += exported(s1, share, domain)
    return w2, donate(s1, share, sides)


def donate(a: Field, share: Field, sides: Sides) -> Field:
    """What a cell gives is exactly what its neighbours take."""
    out = share * a
    safe_point()
    rest, comes = np.maximum(0, a - paired(out)), inflow(out, sides)
    safe_point()
    return rest + paired(comes)


def meet_sea(state: State, c: Coefficients, domain: Domain) -> None:
    """Hold border cells below sea level at sea level; water above it leaves with its share of the sediment."""
    b, w, s = state["elevation"], state["water"], state["suspended"]
    at_sea = border_mask(b.shape, domain.sides) & (b < c.sea_level)
    depth = np.where(at_sea, c.sea_level - b, b.dtype.type(0))
    stays = np.minimum(depth / np.maximum(w + c.kappa * s, TINY), 1)
    s2 = np.where(at_sea, s * stays, s)
    w2 = np.where(at_sea, np.maximum(0, depth - c.kappa * s2), w)
    state["budget"][0, SEA] += counted(w - w2, domain)
    state["budget"][0, SOLIDS_EXPORTED] += counted(s - s2, domain)
    state["water"], state["suspended"] = w2, s2


LEADING_OUT = {"west": (WEST, NW, SW), "east": (EAST, NE, SE), "north": (NORTH, NW, NE), "south": (SOUTH, SW, SE)}
"""Pipes that lead over each edge."""


def exported(a: Field, share: Field, domain: Domain) -> float:
    """What leaves through the pipes of open edges; an edge beyond a margin is another part's."""
    out = (share * a)[:, *domain.own]
    edges: dict[str, Any] = {"north": np.s_[0], "south": np.s_[-1], "west": np.s_[:, 0], "east": np.s_[:, -1]}
    kinds = dict(domain.sides.items())
    ours = [name for name, margin in zip(edges, domain.margins, strict=True) if kinds[name] == "open" and not margin]
    return sum((total(out[i][edges[name]]) for name in ours for i in LEADING_OUT[name] if i < len(out)), start=0.0)


def trace_back(s: Field, u: Field, v: Field, b: Field, c: Coefficients, sides: Sides) -> Field:
    """Eq. 15: sediment from where the water came from, at most one cell away; nodata counts as the cell's own."""
    x = np.clip(-c.dt * u, -1, 1)
    y = np.clip(-c.dt * v, -1, 1)
    walls, near = around(b, sides, WALL), around(s, sides, 0)
    near = Around(*(np.where(wall < IS_WALL, n, s) for wall, n in zip(walls, near, strict=True)))
    west, east, middle = np.maximum(0, -x), np.maximum(0, x), 1 - np.abs(x)
    north, south, centre = np.maximum(0, -y), np.maximum(0, y), 1 - np.abs(y)
    rows = (
        north * ((west * near.nw + east * near.ne) + middle * near.n),
        south * ((west * near.sw + east * near.se) + middle * near.s),
        centre * ((west * near.w + east * near.e) + middle * s),
    )
    return np.where(b < IS_WALL, (rows[0] + rows[1]) + rows[2], s)


class ReferenceBackend(HostBackend):
    """Steps the state with the specification."""

    adds_into: ClassVar = ("budget",)

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain, step)
