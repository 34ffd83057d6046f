"""The paper in NumPy: one small function per equation, called in the paper's order.

This is the specification; every other backend is tested against it. Sums over neighbours are paired
`(west + east) + (north + south)`, so that a mirrored terrain gives the mirrored result bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slopewash.models.base import Edges
from slopewash.models.ground import Around, around, gradient
from slopewash.models.virtual_pipes.coefficients import IS_WALL, SHALLOW, TINY, WALL, Coefficients
from slopewash.models.virtual_pipes.layers import expose
from slopewash.models.virtual_pipes.state import Field, State, total

WEST, EAST, NORTH, SOUTH = range(4)


def step(state: State, c: Coefficients, edges: Edges) -> None:
    """One iteration in the order of [JakoToth11, Sec. 2], in place."""
    b, s, R = state.b, state.s, state.R
    slid, moved = slide(b, R, c, edges)  # 17-18, from the ground before erosion
    if c.hydraulic:
        w1 = add_water(state, c)  # 1
        d1 = w1 + c.kappa * s
        h = b + d1
        f = push_pipes(state.f, b, h, d1, c, edges)  # 2-5
        d2 = move_depth(d1, f, c, edges)  # 6-7
        u, v = velocity(f, d1, d2, c, edges)  # 8
        C = capacity(b, h, f, u, v, d1, c, edges)  # 9-11
        delta = exchange(b, s, R, C, d2, c, edges)  # 12-13
        if edges == "open":
            delta = hold_edges(delta, state, c)
    else:
        delta = np.zeros_like(b)
    b1 = b - delta
    delta = b - b1  # what the ground really lost, after rounding
    s1 = np.maximum(s + delta, 0)
    state.b = apply_slides(b, b1, slid, state, c, edges)
    state.tally.moved += moved + total(np.maximum(delta, 0))
    if state.layers is not None and state.rock is not None:
        state.rock = np.minimum(state.rock, state.b)
        state.R = expose(state.b, state.rock, state.layers)
    elif c.hydraulic:
        state.R = np.where(delta < 0, np.minimum(1, R - c.Kh * delta), R)  # 14
    if c.hydraulic:
        w2, state.s = transport(w1, s1, d1, f, u, v, b, state, c, edges)  # 15
        state.w = w2 * c.keep  # 16
        state.tally.evaporated += total(w2 - state.w)
        state.f = f
        gx, gy = discharge(f, edges)
        state.flow += np.sqrt(gx * gx + gy * gy)
    state.iterations += 1


def add_water(state: State, c: Coefficients) -> Field:
    """Eq. 1: rain and springs. The books count what the water really gained."""
    rained = state.w + c.rain * state.r
    state.tally.rain += total(rained - state.w)
    if state.source is None:
        return rained
    fed = rained + c.dt * state.source
    state.tally.sources += total(fed - rained)
    return fed


def push_pipes(f: Field, b: Field, h: Field, d1: Field, c: Coefficients, edges: Edges) -> Field:
    """Eqs. 2-5: pressure drives the pipes; outflow is scaled down to what is there.

    Beyond an open edge lies dry ground at the edge cell's own bed; beyond a closed one a wall.
    """
    out = around(h, edges, b if edges == "open" else WALL)
    f = np.stack([np.maximum(0, c.flow_kept * f[i] + c.push * (h - out[i])) for i in range(4)])
    leaving = c.dt * ((f[WEST] + f[EAST]) + (f[NORTH] + f[SOUTH]))
    K = np.where(d1 < leaving, d1 / np.maximum(leaving, TINY), 1)  # print has max; the text wants min
    return f * K


def inflow(f: Field, edges: Edges) -> tuple[Field, Field, Field, Field]:
    """What comes in from the west, east, north and south cell."""
    return (
        around(f[EAST], edges, 0).w,
        around(f[WEST], edges, 0).e,
        around(f[SOUTH], edges, 0).n,
        around(f[NORTH], edges, 0).s,
    )


def move_depth(d1: Field, f: Field, c: Coefficients, edges: Edges) -> Field:
    """Eqs. 6-7: depth after the flow."""
    w, e, n, s = inflow(f, edges)
    return np.maximum(0, d1 + c.dt * (((w + e) + (n + s)) - ((f[WEST] + f[EAST]) + (f[NORTH] + f[SOUTH]))))


def discharge(f: Field, edges: Edges) -> tuple[Field, Field]:
    """Eq. 8: mean flow through the cell to the east and to the south."""
    w, e, n, s = inflow(f, edges)
    u = 0.5 * ((w - f[WEST]) + (f[EAST] - e))
    v = 0.5 * ((n - f[NORTH]) + (f[SOUTH] - s))
    return u, v


def velocity(f: Field, d1: Field, d2: Field, c: Coefficients, edges: Edges) -> tuple[Field, Field]:
    """Eq. 8: discharge per unit width, as printed; [Mei07] divides by the mean depth too."""
    u, v = discharge(f, edges)
    if not c.mean_depth:
        return u, v
    depth = np.maximum(0.5 * (d1 + d2), SHALLOW)
    return u / depth, v / depth


def capacity(b: Field, h: Field, f: Field, u: Field, v: Field, d1: Field, c: Coefficients, edges: Edges) -> Field:
    """Eqs. 9-11: how much sediment the water can hold."""
    ramp = np.clip(c.ramp_0 + c.ramp_1 * d1, 0, 1)  # 10
    if c.along_flow:
        out = around(h, edges, b if edges == "open" else WALL)
        lost = [f[i] * np.maximum(0, h - out[i]) for i in range(4)]
        P = (lost[WEST] + lost[EAST]) + (lost[NORTH] + lost[SOUTH])
        square = [f[i] * f[i] for i in range(4)]
        Q = np.sqrt((square[WEST] + square[EAST]) + (square[NORTH] + square[SOUTH]))
        S = P / np.maximum(Q, TINY)
        return c.Kc * np.maximum(S / np.sqrt(1 + S * S), c.sin_min) * Q * ramp
    gx, gy = gradient(b, edges)
    steep = gx * gx + gy * gy
    speed = np.sqrt(u * u + v * v)
    if c.collision:  # 11: the flow strikes rising ground
        tilt = (gx * u + gy * v) / (np.maximum(speed, TINY) * np.sqrt(1 + steep))
    else:  # 9: sin α
        tilt = np.sqrt(steep / (1 + steep))
    return c.Kc * np.maximum(tilt, c.sin_min) * speed * ramp


def exchange(b: Field, s: Field, R: Field, C: Field, d2: Field, c: Coefficients, edges: Edges) -> Field:
    """Eqs. 12-13: what the ground loses to the water; negative where it gains."""
    near = around(b, edges, WALL)
    lowest = np.minimum(np.minimum(near.w, near.e), np.minimum(near.n, near.s))
    take = np.minimum(c.take * R * (C - s), c.water_0 + c.water_1 * d2)
    take = np.minimum(take, c.load_0 + c.load_1 * d2 - c.load_2 * s)
    take = np.minimum(take, c.dig_0 + c.dig_1 * np.maximum(0, b - lowest))
    fall = np.minimum(np.minimum(c.drop * (s - C), s), c.rise_0 + c.rise_1 * d2)
    return np.where(s < C, np.maximum(0, take), -fall)


def slide(b: Field, R: Field, c: Coefficients, edges: Edges) -> tuple[Field, float]:
    """Eqs. 17-18: net gain of each cell from sliding soil, and how much slid in all."""
    if c.eight_pipes:
        return _slide_eight_pipes(b, R, c, edges)
    if c.fall_line:
        return _slide_fall_line(b, R, c, edges)
    return np.zeros_like(b), 0.0


DISTANCES = (1.0, 1.0, 1.0, 1.0, math.sqrt(2), math.sqrt(2), math.sqrt(2), math.sqrt(2))
"""To the neighbours, in the order of `Around`."""


def _slide_eight_pipes(b: Field, R: Field, c: Coefficients, edges: Edges) -> tuple[Field, float]:
    talus = c.talus_0 + c.talus_1 * R
    reach = [np.maximum(talus * d, 0) for d in DISTANCES]
    drops = [b - n for n in around(b, edges, WALL)]
    H = np.maximum.reduce(drops)
    share = [np.where(drop > limit, drop, 0) for drop, limit in zip(drops, reach, strict=True)]
    whole = _pair(share)
    weight = (0.5 * c.slide) * R * np.maximum(H, 0) / np.maximum(whole, TINY)
    sent = weight * whole
    weights, taluses = around(weight, edges, 0), around(talus, edges, 0)
    heights = around(b, edges, WALL)  # walls have weight 0: nothing slides in
    gains = []
    for n, weight_n, talus_n, d in zip(heights, weights, taluses, DISTANCES, strict=True):
        drop = n - b
        gains.append(np.where(drop > np.maximum(talus_n * d, 0), weight_n * drop, 0))
    return _pair(gains) - sent, total(sent)


def _pair(x: list[Field]) -> Field:
    total: Field = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
    return total


def _slide_fall_line(b: Field, R: Field, c: Coefficients, edges: Edges) -> tuple[Field, float]:
    gx, gy = gradient(b, edges)
    east = _face_flux(b, around(b, edges, WALL).e, R, around(R, edges, 0).e, gy, around(gy, edges, 0).e, c)
    south = _face_flux(b, around(b, edges, WALL).s, R, around(R, edges, 0).s, gx, around(gx, edges, 0).s, c)
    gain = (around(east, edges, 0).w - east) + (around(south, edges, 0).n - south)
    return gain, total(np.abs(east)) + total(np.abs(south))


def _face_flux(b: Field, b_n: Field, R: Field, R_n: Field, gt: Field, gt_n: Field, c: Coefficients) -> Field:
    gn = b - b_n
    along = 0.5 * (gt + gt_n)
    g = np.sqrt(gn * gn + along * along)
    R_high = np.where(gn > 0, R, R_n)
    talus = c.talus_0 + c.talus_1 * R_high
    rate = c.creep + c.slide * R_high * np.maximum(0, 1 - talus / np.maximum(g, TINY))
    return np.where((b < IS_WALL) & (b_n < IS_WALL), rate * gn, b.dtype.type(0))


def hold_edges(delta: Field, state: State, c: Coefficients) -> Field:
    """Open edges are base level: no erosion below it, and no deposits on a graded one."""
    delta = delta.copy()
    for side, base in _sides(state):
        held = np.minimum(delta[side], np.maximum(0, state.b[side] - base))
        delta[side] = np.maximum(held, 0) if c.graded else held
    return delta


def apply_slides(b: Field, b1: Field, slid: Field, state: State, c: Coefficients, edges: Edges) -> Field:
    """Ground after erosion and slides; what holds open edges at base level comes from outside."""
    b2 = b1 + slid
    if edges != "open":
        return b2
    held = b2.copy()
    for side, base in _sides(state):
        held[side] = np.maximum(held[side], base)
        if c.graded:
            held[side] = np.minimum(held[side], b[side])
    state.tally.solids_exported += total(b2 - held)
    return held


def _sides(state: State) -> list[tuple[Any, Field]]:
    base = state.base
    return [
        (np.s_[0, :], base.north),
        (np.s_[-1, :], base.south),
        (np.s_[:, 0], base.west),
        (np.s_[:, -1], base.east),
    ]


def transport(
    w1: Field, s1: Field, d1: Field, f: Field, u: Field, v: Field, b: Field, state: State, c: Coefficients, edges: Edges
) -> tuple[Field, Field]:
    """Step 6: the share of water and sediment that leaves through each pipe goes to that neighbour."""
    share = f * (c.dt / np.maximum(d1, TINY))
    w2 = donate(w1, share, edges)
    state.tally.water_exported += exported(w1, share, edges)
    if c.semi_lagrangian:
        return w2, trace_back(s1, u, v, b, c, edges)
    state.tally.solids_exported += exported(s1, share, edges)
    return w2, donate(s1, share, edges)


def donate(a: Field, share: Field, edges: Edges) -> Field:
    """Donor cells give, neighbours take the very same amounts."""
    out = share * a
    w, e, n, s = inflow(out, edges)
    return np.maximum(0, a - ((out[WEST] + out[EAST]) + (out[NORTH] + out[SOUTH]))) + ((w + e) + (n + s))


def exported(a: Field, share: Field, edges: Edges) -> float:
    """What leaves through the pipes of open edges."""
    if edges != "open":
        return 0.0
    out = share * a
    return total(out[WEST][:, 0]) + total(out[EAST][:, -1]) + total(out[NORTH][0]) + total(out[SOUTH][-1])


def trace_back(s: Field, u: Field, v: Field, b: Field, c: Coefficients, edges: Edges) -> Field:
    """Eq. 15: sediment from where the water came from, at most one cell away; walls answer with the cell's own."""
    x = np.clip(-c.dt * u, -1, 1)
    y = np.clip(-c.dt * v, -1, 1)
    walls, near = around(b, edges, WALL), around(s, edges, 0)
    near = Around(*(np.where(wall < IS_WALL, n, s) for wall, n in zip(walls, near, strict=True)))
    west, east, middle = np.maximum(0, -x), np.maximum(0, x), 1 - np.abs(x)
    north, south, centre = np.maximum(0, -y), np.maximum(0, y), 1 - np.abs(y)
    rows = (
        north * ((west * near.nw + east * near.ne) + middle * near.n),
        south * ((west * near.sw + east * near.se) + middle * near.s),
        centre * ((west * near.w + east * near.e) + middle * s),
    )
    return np.where(b < IS_WALL, (rows[0] + rows[1]) + rows[2], s)
