"""Rows of equations whose parameters differ from cell to cell; conventions are those of `rows`.

T and K multiply the talus and the rate of slides in the cell that soil slides from.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, row_kernel
from slopewash.models.virtual_pipes.rows import DIAGONAL, HALF, IS_WALL, ONE, TINY, UNIT, ZERO, face_flux, steeper


@row_kernel
def scale(a, share):
    for x in range(ONE, np.uintp(a.size - 1)):
        a[x] = a[x] * share[x]


@row_kernel
def evaporate(share, keep, w, dried):  # Eq. 16
    for x in range(ONE, np.uintp(w.size - 1)):
        w2 = w[x]
        w[x] = w2 * (keep * share[x] + (UNIT - share[x]))
        dried[x] = w2 - w[x]


@row_kernel
def weigh_slides(b_n, b, b_s, R, T, K, talus_0, talus_1, half_slide, weight, sent, talus):  # Eq. 17
    for x in range(ONE, np.uintp(b.size - 1)):
        w, e = x - ONE, x + ONE
        t = max(talus_0 * T[x] + (talus_1 * T[x]) * R[x], ZERO)
        td = t * DIAGONAL
        dw, de, dn, ds = b[x] - b[w], b[x] - b[e], b[x] - b_n[x], b[x] - b_s[x]
        dnw, dne, dsw, dse = b[x] - b_n[w], b[x] - b_n[e], b[x] - b_s[w], b[x] - b_s[e]
        H = max(max(max(dw, de), max(dn, ds)), max(max(dnw, dne), max(dsw, dse)))
        straight = (steeper(dw, t) + steeper(de, t)) + (steeper(dn, t) + steeper(ds, t))
        skew = (steeper(dnw, td) + steeper(dne, td)) + (steeper(dsw, td) + steeper(dse, td))
        whole = straight + skew
        weight[x] = (half_slide * K[x]) * R[x] * max(H, ZERO) / max(whole, TINY)
        sent[x] = weight[x] * whole
        talus[x] = t


@row_kernel
def flux_east(b, R, T, K, gy, talus_0, talus_1, slide, creep, east):
    for x in range(np.uintp(0), np.uintp(b.size - 1)):
        e = x + ONE
        t, k = (T[x], K[x]) if b[x] > b[e] else (T[e], K[e])
        east[x] = face_flux(b[x], b[e], R[x], R[e], gy[x], gy[e], talus_0 * t, talus_1 * t, slide * k, creep)


@row_kernel
def flux_south(b, b_s, R, R_s, T, T_s, K, K_s, gx, gx_s, talus_0, talus_1, slide, creep, south):
    for x in range(ONE, np.uintp(b.size - 1)):
        t, k = (T[x], K[x]) if b[x] > b_s[x] else (T_s[x], K_s[x])
        south[x] = face_flux(b[x], b_s[x], R[x], R_s[x], gx[x], gx_s[x], talus_0 * t, talus_1 * t, slide * k, creep)


@kernel
def face_fluxes(b, b_n, R, R_n, t, k, gt, gt_n, c):
    """Rock through one face along the true fall line, and soil if there were enough of it."""
    gn = b - b_n
    along = HALF * (gt + gt_n)
    per_g = UNIT / max(np.sqrt(gn * gn + along * along), TINY)
    R_high = R if gn > ZERO else R_n
    rock = (c.slide * k) * R_high * max(ZERO, UNIT - (c.talus_0 * t + (c.talus_1 * t) * R_high) * per_g)
    soil = c.creep + (c.cover_slide * k) * max(ZERO, UNIT - (c.cover_talus * t) * per_g)
    ground = b < IS_WALL and b_n < IS_WALL
    return rock * gn if ground else ZERO, soil * gn if ground else ZERO


@row_kernel
def fluxes_east(b, R, T, K, gy, c, rock, soil):
    for x in range(np.uintp(0), np.uintp(b.size - 1)):
        e = x + ONE
        t, k = (T[x], K[x]) if b[x] > b[e] else (T[e], K[e])
        rock[x], soil[x] = face_fluxes(b[x], b[e], R[x], R[e], t, k, gy[x], gy[e], c)


@row_kernel
def fluxes_south(b, b_s, R, R_s, T, T_s, K, K_s, gx, gx_s, c, rock, soil):
    for x in range(ONE, np.uintp(b.size - 1)):
        t, k = (T[x], K[x]) if b[x] > b_s[x] else (T_s[x], K_s[x])
        rock[x], soil[x] = face_fluxes(b[x], b_s[x], R[x], R_s[x], t, k, gx[x], gx_s[x], c)
