"""Which rows a sweep uses, by whether parameters differ from cell to cell.

`shares` is None where they do not. Numba compiles a function for each type of its arguments and drops the branches that
a type rules out: what is here costs nothing, and is not even compiled, until a run has maps.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import stage_kernel
from slopewash.models.virtual_pipes import mapped_rows, rock_rows, rows

EVAPORATION, CAPACITY, TALUS, SLIDING = range(4)
"""Planes of `shares`, in the order of `fields.SHARES`."""
HALF = np.float32(0.5)


@stage_kernel
def scale_capacity(shares, at, C):
    if shares is not None:
        mapped_rows.scale(C, shares[CAPACITY, at])


@stage_kernel
def keeping(shares, keep):
    """Share of the water that stays, as far as transport is concerned."""
    if shares is None:
        return keep
    else:  # a branch that can be dropped
        return np.float32(1)


@stage_kernel
def evaporate(shares, at, keep, w, dried):
    if shares is not None:
        mapped_rows.evaporate(shares[EVAPORATION, at], keep, w, dried)


@stage_kernel
def weigh_slides(shares, at, b_n, b, b_s, R, c, weight, sent, talus):
    if shares is None:
        rows.weigh_slides(b_n, b, b_s, R, c.talus_0, c.talus_1, HALF * c.slide, weight, sent, talus)
    else:
        mapped_rows.weigh_slides(
            b_n, b, b_s, R, shares[TALUS, at], shares[SLIDING, at], c.talus_0, c.talus_1, HALF * c.slide, weight, sent,
            talus,
        )  # fmt: skip


@stage_kernel
def flux_faces(shares, at, at_s, b, b_s, R, R_s, gx, gx_s, gy, c, east, south):
    if shares is None:
        rows.flux_faces(b, b_s, R, R_s, gx, gx_s, gy, c.talus_0, c.talus_1, c.slide, c.creep, east, south)
    else:
        T, T_s, K, K_s = shares[TALUS, at], shares[TALUS, at_s], shares[SLIDING, at], shares[SLIDING, at_s]
        mapped_rows.flux_east(b, R, T, K, gy, c.talus_0, c.talus_1, c.slide, c.creep, east)
        mapped_rows.flux_south(b, b_s, R, R_s, T, T_s, K, K_s, gx, gx_s, c.talus_0, c.talus_1, c.slide, c.creep, south)


@stage_kernel
def fluxes_east(shares, at, b, R, gy, c, rock, soil):
    if shares is None:
        rock_rows.fluxes_east(b, R, gy, c, rock, soil)
    else:
        mapped_rows.fluxes_east(b, R, shares[TALUS, at], shares[SLIDING, at], gy, c, rock, soil)


@stage_kernel
def fluxes_south(shares, at, at_s, b, b_s, R, R_s, gx, gx_s, c, rock, soil):
    if shares is None:
        rock_rows.fluxes_south(b, b_s, R, R_s, gx, gx_s, c, rock, soil)
    else:
        mapped_rows.fluxes_south(
            b, b_s, R, R_s, shares[TALUS, at], shares[TALUS, at_s], shares[SLIDING, at], shares[SLIDING, at_s], gx,
            gx_s, c, rock, soil,
        )  # fmt: skip
