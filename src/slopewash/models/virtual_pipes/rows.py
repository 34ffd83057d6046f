"""The equations as loops along one row: what the fused kernel is built of.

Rows have a ghost cell at either end (index 0 and the last). Sums over neighbours are paired
`(west + east) + (north + south)`. Operations stand in the order of `reference.py`, so the results are the same bits.
Indices are unsigned: with signed ones every load would first test for Python's negative indexing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from slopewash.backends.compiled import kernel, row_kernel, summing_kernel
from slopewash.backends.sums import add_in_any_order
from slopewash.models import ground as _g
from slopewash.models.virtual_pipes import coefficients as _c
from slopewash.models.virtual_pipes.fields import RAIN

ONE = np.uintp(1)
ZERO = np.float32(0)
HALF = np.float32(0.5)
UNIT = np.float32(1)
DIAGONAL = np.float32(math.sqrt(2))
SHORTENING = np.float32(_c.SHORTENING)
SLANTED_WIDTH = np.float32(_c.SLANTED_WIDTH)
IS_WALL = np.float32(_g.IS_WALL)
TINY = np.float32(_c.TINY)
SHALLOW = np.float32(_c.SHALLOW)


class Carrying(NamedTuple):
    """Coefficients of the capacity. A row is given those it needs: passing all of them costs as much as many cells."""

    Kc: float
    Kc75: float
    Kc50: float
    sin_min: float
    per_fan: float
    ramp_0: float
    ramp_1: float


class Exchange(NamedTuple):
    """Coefficients of what the ground and the water exchange."""

    take: float
    drop: float
    water_0: float
    water_1: float
    load_0: float
    load_1: float
    load_2: float
    dig_0: float
    dig_1: float
    rise_0: float
    rise_1: float
    Kh: float


@kernel
def surface(b, w1, s, kappa):
    """Water, the depth that the pipes see, and the height it reaches."""
    d1 = w1 + kappa * s
    return w1, d1, b + d1


@row_kernel
def pour(b, w, s, r, rain, kappa, w1, d1, h, begin, end, counted, sums):  # Eq. 1
    """Sums the rain of the cells that count, from `begin` up to `end`: loads and stores leave this loop time to."""
    for x in range(ONE, np.uintp(begin)):
        w1[x], d1[x], h[x] = surface(b[x], w[x] + rain * r[x], s[x], kappa)
    rained = np.float64(0)
    for x in range(np.uintp(begin), np.uintp(end)):
        w1[x], d1[x], h[x] = surface(b[x], w[x] + rain * r[x], s[x], kappa)
        rained = add_in_any_order(rained, w1[x] - w[x])
    for x in range(np.uintp(end), np.uintp(b.size - 1)):
        w1[x], d1[x], h[x] = surface(b[x], w[x] + rain * r[x], s[x], kappa)
    if counted:
        sums[RAIN] += rained


@row_kernel
def pour_with_source(b, w, s, r, source, rain, dt, kappa, w1, d1, h):  # Eq. 1
    for x in range(ONE, np.uintp(b.size - 1)):
        w1[x], d1[x], h[x] = surface(b[x], (w[x] + rain * r[x]) + dt * source[x], s[x], kappa)


@row_kernel
def rain_alone(w, r, rain, w1):  # Eq. 1
    for x in range(ONE, np.uintp(w.size - 1)):
        w1[x] = w[x] + rain * r[x]


@kernel
def pipes(h, h_w, h_e, h_n, h_s, d1, fw, fe, fn, fs, push, flow_kept, dt):  # Eqs. 2-5
    """Outflow to the four neighbours, scaled down to what is there."""
    fw = max(ZERO, flow_kept * fw + push * (h - h_w))
    fe = max(ZERO, flow_kept * fe + push * (h - h_e))
    fn = max(ZERO, flow_kept * fn + push * (h - h_n))
    fs = max(ZERO, flow_kept * fs + push * (h - h_s))
    leaving = dt * ((fw + fe) + (fn + fs))
    K = d1 / max(leaving, TINY) if d1 < leaving else UNIT
    return fw * K, fe * K, fn * K, fs * K


@row_kernel
def push_pipes(h_n, h, h_s, d1, fw0, fe0, fn0, fs0, push, flow_kept, dt, fw1, fe1, fn1, fs1, share):  # Eqs. 2-5
    for x in range(ONE, np.uintp(h.size - 1)):
        w, e = x - ONE, x + ONE
        fw1[x], fe1[x], fn1[x], fs1[x] = pipes(
            h[x], h[w], h[e], h_n[x], h_s[x], d1[x], fw0[x], fe0[x], fn0[x], fs0[x], push, flow_kept, dt
        )
        share[x] = dt / max(d1[x], TINY)


@kernel
def capacity_along_flow(Q, S, d1, c):  # Eq. 10, with roots of the discharge and fans
    sine = max(S / np.sqrt(UNIT + S * S), c.sin_min)
    root = np.sqrt(Q)
    held = c.Kc * sine * Q + sine * (c.Kc75 * (root * np.sqrt(root)) + c.Kc50 * root)
    ramp = min(max(c.ramp_0 + c.ramp_1 * d1, ZERO), UNIT)
    return held * np.sqrt(min(sine * c.per_fan, UNIT)) * ramp


@row_kernel
def push_pipes_along_flow(
    h_n, h, h_s, d1, fw0, fe0, fn0, fs0, push, flow_kept, dt, c, fw1, fe1, fn1, fs1, share, C
):  # Eqs. 2-5, and the capacity of the flow as it leaves
    for x in range(ONE, np.uintp(h.size - 1)):
        w, e = x - ONE, x + ONE
        fw, fe, fn, fs = pipes(
            h[x], h[w], h[e], h_n[x], h_s[x], d1[x], fw0[x], fe0[x], fn0[x], fs0[x], push, flow_kept, dt
        )
        lost_we = fw * max(ZERO, h[x] - h[w]) + fe * max(ZERO, h[x] - h[e])
        lost_ns = fn * max(ZERO, h[x] - h_n[x]) + fs * max(ZERO, h[x] - h_s[x])
        Q = np.sqrt((fw * fw + fe * fe) + (fn * fn + fs * fs))
        S = (lost_we + lost_ns) / max(Q, TINY)
        ramp = min(max(c.ramp_0 + c.ramp_1 * d1[x], ZERO), UNIT)
        C[x] = c.Kc * max(S / np.sqrt(UNIT + S * S), c.sin_min) * Q * ramp
        fw1[x], fe1[x], fn1[x], fs1[x] = fw, fe, fn, fs
        share[x] = dt / max(d1[x], TINY)


@row_kernel
def push_pipes_by_roots(
    h_n, h, h_s, d1, fw0, fe0, fn0, fs0, push, flow_kept, dt, c, fw1, fe1, fn1, fs1, share, C
):  # the same, the capacity with roots of the discharge and fans
    for x in range(ONE, np.uintp(h.size - 1)):
        w, e = x - ONE, x + ONE
        fw, fe, fn, fs = pipes(
            h[x], h[w], h[e], h_n[x], h_s[x], d1[x], fw0[x], fe0[x], fn0[x], fs0[x], push, flow_kept, dt
        )
        lost_we = fw * max(ZERO, h[x] - h[w]) + fe * max(ZERO, h[x] - h[e])
        lost_ns = fn * max(ZERO, h[x] - h_n[x]) + fs * max(ZERO, h[x] - h_s[x])
        Q = np.sqrt((fw * fw + fe * fe) + (fn * fn + fs * fs))
        C[x] = capacity_along_flow(Q, (lost_we + lost_ns) / max(Q, TINY), d1[x], c)
        fw1[x], fe1[x], fn1[x], fs1[x] = fw, fe, fn, fs
        share[x] = dt / max(d1[x], TINY)


@row_kernel
def push_eight_pipes(
    h_n, h, h_s, d1, fw0, fe0, fn0, fs0, fnw0, fne0, fsw0, fse0, push, flow_kept, dt, c,
    fw1, fe1, fn1, fs1, fnw1, fne1, fsw1, fse1, share, C, Q1,
):  # Eqs. 2-5 to eight neighbours, and the capacity of the flow as it leaves  # fmt: skip
    slanted = SLANTED_WIDTH * push
    for x in range(ONE, np.uintp(h.size - 1)):
        w, e = x - ONE, x + ONE
        dw, de, dn, ds = h[x] - h[w], h[x] - h[e], h[x] - h_n[x], h[x] - h_s[x]
        dnw, dne, dsw, dse = h[x] - h_n[w], h[x] - h_n[e], h[x] - h_s[w], h[x] - h_s[e]
        fw, fe = max(ZERO, flow_kept * fw0[x] + push * dw), max(ZERO, flow_kept * fe0[x] + push * de)
        fn, fs = max(ZERO, flow_kept * fn0[x] + push * dn), max(ZERO, flow_kept * fs0[x] + push * ds)
        fnw, fne = max(ZERO, flow_kept * fnw0[x] + slanted * dnw), max(ZERO, flow_kept * fne0[x] + slanted * dne)
        fsw, fse = max(ZERO, flow_kept * fsw0[x] + slanted * dsw), max(ZERO, flow_kept * fse0[x] + slanted * dse)
        leaving = dt * (((fw + fe) + (fn + fs)) + ((fnw + fne) + (fsw + fse)))
        K = d1[x] / max(leaving, TINY) if d1[x] < leaving else UNIT
        fw, fe, fn, fs = fw * K, fe * K, fn * K, fs * K
        fnw, fne, fsw, fse = fnw * K, fne * K, fsw * K, fse * K
        straight = (fw * max(ZERO, dw) + fe * max(ZERO, de)) + (fn * max(ZERO, dn) + fs * max(ZERO, ds))
        across = (fnw * max(ZERO, dnw) + fne * max(ZERO, dne)) + (fsw * max(ZERO, dsw) + fse * max(ZERO, dse))
        Q = ((fw + fe) + (fn + fs)) + ((fnw + fne) + (fsw + fse))
        C[x] = capacity_along_flow(Q, (straight + across * SHORTENING) / max(Q, TINY), d1[x], c)
        fw1[x], fe1[x], fn1[x], fs1[x] = fw, fe, fn, fs
        fnw1[x], fne1[x], fsw1[x], fse1[x] = fnw, fne, fsw, fse
        share[x] = dt / max(d1[x], TINY)
        Q1[x] = Q


@row_kernel
def move_depth_eight(
    d1, fe, fw, fs_n, fn_s, fse_n, fsw_n, fne_s, fnw_s, Q, dt, d2, flow
):  # Eqs. 6-7; n and s: of the rows to the north and south
    for x in range(ONE, np.uintp(d1.size - 1)):
        w, e = x - ONE, x + ONE
        come = ((fe[w] + fw[e]) + (fs_n[x] + fn_s[x])) + ((fse_n[w] + fsw_n[e]) + (fne_s[w] + fnw_s[e]))
        d2[x] = max(ZERO, d1[x] + dt * (come - Q[x]))
        flow[x] += Q[x]


@row_kernel
def move_depth(d1, fe, fw, fs_n, fn, fs, fn_s, dt, d2, u, v, flow):  # Eqs. 6-8
    for x in range(ONE, np.uintp(d1.size - 1)):
        come = (fe[x - ONE] + fw[x + ONE]) + (fs_n[x] + fn_s[x])
        d2[x] = max(ZERO, d1[x] + dt * (come - ((fw[x] + fe[x]) + (fn[x] + fs[x]))))
        u[x] = HALF * ((fe[x - ONE] - fw[x]) + (fe[x] - fw[x + ONE]))
        v[x] = HALF * ((fs_n[x] - fn[x]) + (fs[x] - fn_s[x]))
        flow[x] += np.sqrt(u[x] * u[x] + v[x] * v[x])


@row_kernel
def divide_by_depth(d1, d2, u, v):  # [Mei07]
    for x in range(ONE, np.uintp(d1.size - 1)):
        depth = max(HALF * (d1[x] + d2[x]), SHALLOW)
        u[x] = u[x] / depth
        v[x] = v[x] / depth


@kernel
def difference(before, here, after):
    """Central difference; one-sided beside nodata and walls."""
    has_before = before < IS_WALL
    has_after = after < IS_WALL
    span = HALF if has_before and has_after else UNIT
    return ((after if has_after else here) - (before if has_before else here)) * span


@row_kernel
def gradient(b_n, b, b_s, gx, gy):
    for x in range(ONE, np.uintp(b.size - 1)):
        gx[x] = difference(b[x - ONE], b[x], b[x + ONE])
        gy[x] = difference(b_n[x], b[x], b_s[x])


@kernel
def tilted_capacity(b, b_w, b_e, b_n, b_s, speed, d1, Kc, sin_min, ramp_0, ramp_1):  # Eqs. 9-10
    gx, gy = difference(b_w, b, b_e), difference(b_n, b, b_s)
    steep = gx * gx + gy * gy
    ramp = min(max(ramp_0 + ramp_1 * d1, ZERO), UNIT)
    return Kc * max(np.sqrt(steep / (UNIT + steep)), sin_min) * speed * ramp


@row_kernel
def capacity_by_tilt(b_n, b, b_s, u, v, d1, Kc, sin_min, ramp_0, ramp_1, C):  # Eqs. 9-10
    for x in range(ONE, np.uintp(d1.size - 1)):
        w, e = x - ONE, x + ONE
        speed = np.sqrt(u[x] * u[x] + v[x] * v[x])
        C[x] = tilted_capacity(b[x], b[w], b[e], b_n[x], b_s[x], speed, d1[x], Kc, sin_min, ramp_0, ramp_1)


@row_kernel
def capacity_by_collision(b_n, b, b_s, u, v, d1, Kc, sin_min, ramp_0, ramp_1, C):  # Eq. 11
    for x in range(ONE, np.uintp(d1.size - 1)):
        gx, gy = difference(b[x - ONE], b[x], b[x + ONE]), difference(b_n[x], b[x], b_s[x])
        steep = gx * gx + gy * gy
        speed = np.sqrt(u[x] * u[x] + v[x] * v[x])
        tilt = (gx * u[x] + gy * v[x]) / (max(speed, TINY) * np.sqrt(UNIT + steep))
        ramp = min(max(ramp_0 + ramp_1 * d1[x], ZERO), UNIT)
        C[x] = Kc * max(tilt, sin_min) * speed * ramp


@kernel
def exchange(drop, s, R, C, d2, c):  # Eqs. 12-13
    """What the ground loses to the water; negative where it gains."""
    take = min(c.take * R * (C - s), c.water_0 + c.water_1 * d2)
    take = min(take, c.load_0 + c.load_1 * d2 - c.load_2 * s)
    take = min(take, c.dig_0 + c.dig_1 * max(ZERO, drop))
    fall = min(min(c.drop * (s - C), s), c.rise_0 + c.rise_1 * d2)
    return max(ZERO, take) if s < C else -fall


@kernel
def wear(b, s, R, delta, slid, Kh):  # Eqs. 12-14
    """Ground, sediment and erodibility after the exchange and the slides, and what the water eroded."""
    b1 = b - delta
    lost = b - b1  # what the ground really lost, after rounding
    R2 = min(UNIT, R - Kh * lost) if lost < ZERO else R
    return b1 + slid, max(s + lost, ZERO), R2, max(lost, ZERO)


@kernel
def drop_to_four(b, b_w, b_e, b_n, b_s):
    """Height above the lowest of four neighbours."""
    return b - min(min(b_w, b_e), min(b_n, b_s))


@row_kernel
def work_ground(b_n, b, b_s, s, R, C, d2, slid, sent, c, delta, b2, s1, R2, moved):  # Eqs. 12-14
    for x in range(ONE, np.uintp(b.size - 1)):
        drop = drop_to_four(b[x], b[x - ONE], b[x + ONE], b_n[x], b_s[x])
        delta[x] = exchange(drop, s[x], R[x], C[x], d2[x], c)
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid[x], c.Kh)
        moved[x] = sent[x] + taken


@row_kernel
def work_ground_eight(b_n, b, b_s, s, R, C, d2, slid, sent, c, delta, b2, s1, R2, moved):  # Eqs. 12-14
    for x in range(ONE, np.uintp(b.size - 1)):
        straight = drop_to_four(b[x], b[x - ONE], b[x + ONE], b_n[x], b_s[x])
        slanted = drop_to_four(b[x], b_n[x - ONE], b_n[x + ONE], b_s[x - ONE], b_s[x + ONE])
        drop = max(straight, slanted * SHORTENING)
        delta[x] = exchange(drop, s[x], R[x], C[x], d2[x], c)
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid[x], c.Kh)
        moved[x] = sent[x] + taken


@row_kernel
def exchange_on_tilt(
    b_n, b, b_s, s, R, d1, fe, fw, fs_n, fn, fs, fn_s, dt, Kc, sin_min, ramp_0, ramp_1, c, delta, flow
):  # Eqs. 6-10, 12-13: `move_depth`, `capacity_by_tilt` and `exchange` in one
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        come = (fe[w] + fw[e]) + (fs_n[x] + fn_s[x])
        d2 = max(ZERO, d1[x] + dt * (come - ((fw[x] + fe[x]) + (fn[x] + fs[x]))))
        u = HALF * ((fe[w] - fw[x]) + (fe[x] - fw[e]))
        v = HALF * ((fs_n[x] - fn[x]) + (fs[x] - fn_s[x]))
        speed = np.sqrt(u * u + v * v)
        flow[x] += speed
        C = tilted_capacity(b[x], b[w], b[e], b_n[x], b_s[x], speed, d1[x], Kc, sin_min, ramp_0, ramp_1)
        delta[x] = exchange(drop_to_four(b[x], b[w], b[e], b_n[x], b_s[x]), s[x], R[x], C, d2, c)


@kernel
def between_faces(west, east, north, south):
    """Soil that a cell gains through its faces, and what passes the two that belong to it."""
    return (west - east) + (north - south), abs(east) + abs(south)


@row_kernel
def work_between_faces(
    b_n, b, b_s, s, R, C, d1, fe, fw, fs_n, fn, fs, fn_s, dt, east, south_n, south, c,
    delta, b2, s1, R2, moved, flow,
):  # `move_depth`, `gather_faces` and `work_ground` in one  # fmt: skip
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        come = (fe[w] + fw[e]) + (fs_n[x] + fn_s[x])
        d2 = max(ZERO, d1[x] + dt * (come - ((fw[x] + fe[x]) + (fn[x] + fs[x]))))
        u = HALF * ((fe[w] - fw[x]) + (fe[x] - fw[e]))
        v = HALF * ((fs_n[x] - fn[x]) + (fs[x] - fn_s[x]))
        flow[x] += np.sqrt(u * u + v * v)
        slid, sent = between_faces(east[w], east[x], south_n[x], south[x])
        drop = drop_to_four(b[x], b[w], b[e], b_n[x], b_s[x])
        delta[x] = exchange(drop, s[x], R[x], C[x], d2, c)
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid, c.Kh)
        moved[x] = sent + taken


@row_kernel
def work_between_faces_eight(
    b_n, b, b_s, s, R, C, d1, fe, fw, fs_n, fn_s, fse_n, fsw_n, fne_s, fnw_s, Q, dt, east, south_n, south, c,
    delta, b2, s1, R2, moved, flow,
):  # `move_depth_eight`, `gather_faces` and `work_ground_eight` in one  # fmt: skip
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        come = ((fe[w] + fw[e]) + (fs_n[x] + fn_s[x])) + ((fse_n[w] + fsw_n[e]) + (fne_s[w] + fnw_s[e]))
        d2 = max(ZERO, d1[x] + dt * (come - Q[x]))
        flow[x] += Q[x]
        slid, sent = between_faces(east[w], east[x], south_n[x], south[x])
        straight = drop_to_four(b[x], b[w], b[e], b_n[x], b_s[x])
        slanted = drop_to_four(b[x], b_n[w], b_n[e], b_s[w], b_s[e])
        drop = max(straight, slanted * SHORTENING)
        delta[x] = exchange(drop, s[x], R[x], C[x], d2, c)
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid, c.Kh)
        moved[x] = sent + taken


@row_kernel
def slide_ground(b, slid, b2):
    for x in range(ONE, np.uintp(b.size - 1)):
        b2[x] = b[x] + slid[x]


@kernel
def steeper(drop, limit):
    """The drop where soil slides down it, else nothing."""
    return drop if drop > limit else ZERO


@row_kernel
def weigh_slides(b_n, b, b_s, R, talus_0, talus_1, half_slide, weight, sent, talus):  # Eq. 17
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        t = max(talus_0 + talus_1 * R[x], ZERO)
        td = t * DIAGONAL
        dw, de, dn, ds = b[x] - b[w], b[x] - b[e], b[x] - b_n[x], b[x] - b_s[x]
        dnw, dne, dsw, dse = b[x] - b_n[w], b[x] - b_n[e], b[x] - b_s[w], b[x] - b_s[e]
        H = max(max(max(dw, de), max(dn, ds)), max(max(dnw, dne), max(dsw, dse)))
        straight = (steeper(dw, t) + steeper(de, t)) + (steeper(dn, t) + steeper(ds, t))
        skew = (steeper(dnw, td) + steeper(dne, td)) + (steeper(dsw, td) + steeper(dse, td))
        whole = straight + skew
        weight[x] = half_slide * R[x] * max(H, ZERO) / max(whole, TINY)
        sent[x] = weight[x] * whole
        talus[x] = t


@kernel
def slid_into(b, b_w, b_e, k_w, k_e, t_w, t_e):
    """Soil that slides into a cell from two neighbours."""
    return k_w * steeper(b_w - b, t_w) + k_e * steeper(b_e - b, t_e)


@row_kernel
def receive_slides(b_n, b, b_s, k_n, k, k_s, t_n, t, t_s, sent, slid, begin, end):  # Eq. 18
    for x in range(np.uintp(begin), np.uintp(end)):
        w, e = x - ONE, x + ONE
        straight = slid_into(b[x], b[w], b[e], k[w], k[e], t[w], t[e]) + slid_into(
            b[x], b_n[x], b_s[x], k_n[x], k_s[x], t_n[x], t_s[x]
        )
        north = slid_into(b[x], b_n[w], b_n[e], k_n[w], k_n[e], t_n[w] * DIAGONAL, t_n[e] * DIAGONAL)
        south = slid_into(b[x], b_s[w], b_s[e], k_s[w], k_s[e], t_s[w] * DIAGONAL, t_s[e] * DIAGONAL)
        slid[x] = (straight + (north + south)) - sent[x]


@row_kernel
def slide_and_wear(
    b_n, b, b_s, k_n, k, k_s, t_n, t, t_s, sent, s, R, delta, Kh, b2, s1, R2, moved
):  # Eqs. 18 and 12-14: `receive_slides` and `wear` in one
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        straight = slid_into(b[x], b[w], b[e], k[w], k[e], t[w], t[e]) + slid_into(
            b[x], b_n[x], b_s[x], k_n[x], k_s[x], t_n[x], t_s[x]
        )
        north = slid_into(b[x], b_n[w], b_n[e], k_n[w], k_n[e], t_n[w] * DIAGONAL, t_n[e] * DIAGONAL)
        south = slid_into(b[x], b_s[w], b_s[e], k_s[w], k_s[e], t_s[w] * DIAGONAL, t_s[e] * DIAGONAL)
        slid = (straight + (north + south)) - sent[x]
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid, Kh)
        moved[x] = sent[x] + taken


@kernel
def face_flux(b, b_n, R, R_n, gt, gt_n, talus_0, talus_1, slide, creep):
    """Soil through one face along the true fall line."""
    gn = b - b_n
    along = HALF * (gt + gt_n)
    g = np.sqrt(gn * gn + along * along)
    R_high = R if gn > ZERO else R_n
    talus = talus_0 + talus_1 * R_high
    rate = creep + slide * R_high * max(ZERO, UNIT - talus / max(g, TINY))
    return rate * gn if b < IS_WALL and b_n < IS_WALL else ZERO


@row_kernel
def flux_faces(b, b_s, R, R_s, gx, gx_s, gy, talus_0, talus_1, slide, creep, east, south):
    """Through the eastern and southern faces; the first eastern one apart, or vectors would straddle cache lines."""
    first = np.uintp(0)
    east[first] = face_flux(b[first], b[ONE], R[first], R[ONE], gy[first], gy[ONE], talus_0, talus_1, slide, creep)
    for x in range(ONE, np.uintp(b.size - 1)):
        e = x + ONE
        east[x] = face_flux(b[x], b[e], R[x], R[e], gy[x], gy[e], talus_0, talus_1, slide, creep)
        south[x] = face_flux(b[x], b_s[x], R[x], R_s[x], gx[x], gx_s[x], talus_0, talus_1, slide, creep)


@row_kernel
def gather_faces(east, south_n, south, slid, sent):
    for x in range(ONE, np.uintp(east.size - 1)):
        slid[x], sent[x] = between_faces(east[x - ONE], east[x], south_n[x], south[x])


@row_kernel
def gradient_east(b, gx):
    for x in range(ONE, np.uintp(b.size - 1)):
        gx[x] = difference(b[x - ONE], b[x], b[x + ONE])


@row_kernel
def gradient_south(b_n, b, b_s, gy):
    for x in range(ONE, np.uintp(b.size - 1)):
        gy[x] = difference(b_n[x], b[x], b_s[x])


@kernel
def donate(a, a_w, a_e, a_n, a_s, ow, oe, on, os, iw, ie, in_, is_):  # step 6
    """What is left of a cell's own, and the shares of its neighbours' that come in."""
    leave = (ow * a + oe * a) + (on * a + os * a)
    return max(ZERO, a - leave) + ((iw * a_w + ie * a_e) + (in_ * a_n + is_ * a_s))


@row_kernel
def carry_water(w_n, w, w_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, new, dried):  # steps 6-7
    for x in range(ONE, np.uintp(w.size - 1)):
        a, e = x - ONE, x + ONE
        w2 = donate(
            w[x], w[a], w[e], w_n[x], w_s[x], fw[x] * q[x], fe[x] * q[x], fn[x] * q[x], fs[x] * q[x],
            fe[a] * q[a], fw[e] * q[e], fs_n[x] * q_n[x], fn_s[x] * q_s[x],
        )  # fmt: skip
        new[x] = w2 * keep  # Eq. 16
        dried[x] = w2 - new[x]


@row_kernel
def carry_both(w_n, w, w_s, s_n, s, s_s, q_n, q, q_s, fw, fe, fn, fs, fs_n, fn_s, keep, new, dried, load):  # steps 6-7
    for x in range(ONE, np.uintp(w.size - 1)):
        a, e = x - ONE, x + ONE
        ow, oe, on, os = fw[x] * q[x], fe[x] * q[x], fn[x] * q[x], fs[x] * q[x]
        iw, ie, in_, is_ = fe[a] * q[a], fw[e] * q[e], fs_n[x] * q_n[x], fn_s[x] * q_s[x]
        w2 = donate(w[x], w[a], w[e], w_n[x], w_s[x], ow, oe, on, os, iw, ie, in_, is_)
        load[x] = donate(s[x], s[a], s[e], s_n[x], s_s[x], ow, oe, on, os, iw, ie, in_, is_)
        new[x] = w2 * keep  # Eq. 16
        dried[x] = w2 - new[x]


@row_kernel
def carry_both_eight(
    w_n, w, w_s, s_n, s, s_s, q_n, q, q_s, fw, fe, fn, fs, fnw, fne, fsw, fse,
    fs_n, fn_s, fse_n, fsw_n, fne_s, fnw_s, keep, new, dried, load,
):  # steps 6-7  # fmt: skip
    for x in range(ONE, np.uintp(w.size - 1)):
        a, e = x - ONE, x + ONE
        ow, oe, on, os = fw[x] * q[x], fe[x] * q[x], fn[x] * q[x], fs[x] * q[x]
        onw, one, osw, ose = fnw[x] * q[x], fne[x] * q[x], fsw[x] * q[x], fse[x] * q[x]
        iw, ie, in_, is_ = fe[a] * q[a], fw[e] * q[e], fs_n[x] * q_n[x], fn_s[x] * q_s[x]
        inw, ine, isw, ise = fse_n[a] * q_n[a], fsw_n[e] * q_n[e], fne_s[a] * q_s[a], fnw_s[e] * q_s[e]
        leave = ((ow * w[x] + oe * w[x]) + (on * w[x] + os * w[x])) + (
            (onw * w[x] + one * w[x]) + (osw * w[x] + ose * w[x])
        )
        come = ((iw * w[a] + ie * w[e]) + (in_ * w_n[x] + is_ * w_s[x])) + (
            (inw * w_n[a] + ine * w_n[e]) + (isw * w_s[a] + ise * w_s[e])
        )
        w2 = max(ZERO, w[x] - leave) + come
        leave = ((ow * s[x] + oe * s[x]) + (on * s[x] + os * s[x])) + (
            (onw * s[x] + one * s[x]) + (osw * s[x] + ose * s[x])
        )
        come = ((iw * s[a] + ie * s[e]) + (in_ * s_n[x] + is_ * s_s[x])) + (
            (inw * s_n[a] + ine * s_n[e]) + (isw * s_s[a] + ise * s_s[e])
        )
        load[x] = max(ZERO, s[x] - leave) + come
        new[x] = w2 * keep  # Eq. 16
        dried[x] = w2 - new[x]


@kernel
def at_sea_level(b, w, s, sea_level, kappa):
    """Water and sediment of a border cell in the sea: what stands above its level leaves, what lacks comes in."""
    depth = sea_level - b
    s2 = s * min(depth / max(w + kappa * s, TINY), UNIT)
    return max(ZERO, depth - kappa * s2), s2


@kernel
def tap(b, s, own):
    """A neighbour's sediment; nodata and walls count as the cell's own."""
    return s if b < IS_WALL else own


@row_kernel
def trace_back(b_n, b, b_s, s_n, s, s_s, u, v, dt, new):  # Eq. 15
    for i in range(ONE, np.uintp(s.size - 1)):
        w, e = i - ONE, i + ONE
        x = min(max(-dt * u[i], -UNIT), UNIT)
        y = min(max(-dt * v[i], -UNIT), UNIT)
        west, east, middle = max(ZERO, -x), max(ZERO, x), UNIT - abs(x)
        north, south, centre = max(ZERO, -y), max(ZERO, y), UNIT - abs(y)
        own = s[i]
        above = north * (
            (west * tap(b_n[w], s_n[w], own) + east * tap(b_n[e], s_n[e], own)) + middle * tap(b_n[i], s_n[i], own)
        )
        below = south * (
            (west * tap(b_s[w], s_s[w], own) + east * tap(b_s[e], s_s[e], own)) + middle * tap(b_s[i], s_s[i], own)
        )
        level = centre * ((west * tap(b[w], s[w], own) + east * tap(b[e], s[e], own)) + middle * own)
        new[i] = (above + below) + level if b[i] < IS_WALL else own


@row_kernel
def copy(a, to):
    for x in range(np.uintp(a.size)):
        to[x] = a[x]


@summing_kernel
def total(a):
    t = np.float64(0)
    for x in range(ONE, np.uintp(a.size - 1)):
        t += a[x]
    return t


@summing_kernel
def total_gain(after, before):
    t = np.float64(0)
    for x in range(ONE, np.uintp(after.size - 1)):
        t += after[x] - before[x]
    return t
