"""The post as loops along one row: what the fused kernel is built of.

Heights are stored times eight, so that a height plus the direction in which it is seen is one number: the smallest of
those is the lowest neighbour, and among equals the first in scan order. Rows have a ghost cell at either end (index 0
and the last). Whole numbers are cut back to their width after each operation, because Numba widens them to 64 bits.
Indices are unsigned: with signed ones every load would first test for Python's negative indexing.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, row_kernel, summing_kernel
from slopewash.models.steepest_talus import reference as _r

KEY_BITS = 3
"""Low bits of a stored height, free for a direction."""
ONE = np.uintp(1)
BITS = np.int32(KEY_BITS)
BLOCK = np.uintp(128)
SHALLOWEST, DEEPEST = np.int32(2**31 - 1), np.int32(-(2**31))
DIRECTION = np.int32(7)
HEIGHT = np.int32(~7)
NOWHERE = np.int32(_r.NOWHERE)
NOT_SENT = np.int8(_r.NOWHERE)
CLOSER = np.float32(_r.CLOSER)
STANDS = np.int32(np.iinfo(np.int32).max)
"""Threshold of nodata, which never slides."""
NW, N, NE, W, E, SW, S, SE = (np.int32(k) for k in range(8))


@kernel
def seen(h, direction):
    return np.int32(h + direction)


@kernel
def lower(a, b):
    return a if a < b else b


@row_kernel
def expose(h, rock, top, depths, straight, diagonal, wall, t_straight, t_diagonal):
    """Thresholds of what is exposed; the last of the tables are loose soil's. Tops and depths are in units.

    Few layers are found within a block of cells: only those between its least and its greatest depth are compared.
    """
    soil_s, soil_d = straight[straight.size - 1], diagonal[diagonal.size - 1]
    count, end = np.uintp(depths.size), np.uintp(h.size - 1)
    for begin in range(ONE, end, BLOCK):
        stop = min(begin + BLOCK, end)
        least, most = SHALLOWEST, DEEPEST
        for x in range(begin, stop):
            depth = np.int32(top[x] - np.int32(rock[x] >> BITS))
            least, most = min(least, depth), max(most, depth)
        k = ONE
        while k < count and depths[k] <= least:
            k += ONE
        s, d = straight[k - ONE], diagonal[k - ONE]
        if k == count or depths[k] > most:
            for x in range(begin, stop):
                t_straight[x] = STANDS if h[x] == wall[x] else soil_s if h[x] > rock[x] else s
                t_diagonal[x] = STANDS if h[x] == wall[x] else soil_d if h[x] > rock[x] else d
            continue
        for x in range(begin, stop):
            t_straight[x], t_diagonal[x] = s, d
        while k < count and depths[k] <= most:
            begins, s, d = depths[k], straight[k], diagonal[k]
            for x in range(begin, stop):
                deeper = np.int32(top[x] - np.int32(rock[x] >> BITS)) >= begins
                t_straight[x] = s if deeper else t_straight[x]
                t_diagonal[x] = d if deeper else t_diagonal[x]
            k += ONE
        for x in range(begin, stop):
            t_straight[x] = STANDS if h[x] == wall[x] else soil_s if h[x] > rock[x] else t_straight[x]
            t_diagonal[x] = STANDS if h[x] == wall[x] else soil_d if h[x] > rock[x] else t_diagonal[x]


@row_kernel
def expose_far(h, rock, top, depths, straight, diagonal, wall, t_straight, t_diagonal):
    """The same for tops so far from the ground that depths need 64 bits."""
    for x in range(ONE, np.uintp(h.size - 1)):
        t_straight[x] = straight[0]
        t_diagonal[x] = diagonal[0]
    for k in range(ONE, np.uintp(depths.size)):
        begins, s, d = depths[k], straight[k], diagonal[k]
        for x in range(ONE, np.uintp(h.size - 1)):
            deeper = top[x] - np.int64(rock[x] >> KEY_BITS) >= begins
            t_straight[x] = s if deeper else t_straight[x]
            t_diagonal[x] = d if deeper else t_diagonal[x]
    s, d = straight[straight.size - 1], diagonal[diagonal.size - 1]
    for x in range(ONE, np.uintp(h.size - 1)):
        loose = h[x] > rock[x]
        t_straight[x] = STANDS if h[x] == wall[x] else s if loose else t_straight[x]
        t_diagonal[x] = STANDS if h[x] == wall[x] else d if loose else t_diagonal[x]


@row_kernel
def bare(h, rock, rock2):
    for x in range(ONE, np.uintp(h.size - 1)):
        rock2[x] = lower(h[x], rock[x])


@row_kernel
def choose(h_n, h, h_s, t_straight, t_diagonal, to):
    for x in range(ONE, np.uintp(h.size - 1)):
        straight = lower(
            lower(seen(h_n[x], N), seen(h[x - ONE], W)),
            lower(seen(h[x + ONE], E), seen(h_s[x], S)),
        )
        diagonal = lower(
            lower(seen(h_n[x - ONE], NW), seen(h_n[x + ONE], NE)),
            lower(seen(h_s[x - ONE], SW), seen(h_s[x + ONE], SE)),
        )
        drop_straight = np.int32(h[x] - (straight & HEIGHT))
        drop_diagonal = np.int32(h[x] - (diagonal & HEIGHT))
        slides_straight = drop_straight > t_straight[x]
        slides_diagonal = drop_diagonal > t_diagonal[x]
        steeper = np.float32(drop_diagonal) * CLOSER > np.float32(drop_straight)
        lowest = diagonal if slides_diagonal & (steeper | (not slides_straight)) else straight
        to[x] = np.int8((lowest & DIRECTION) if slides_straight | slides_diagonal else NOWHERE)


@row_kernel
def choose_printed(h_n, h, h_s, t_straight, to):
    for x in range(ONE, np.uintp(h.size - 1)):
        north = lower(lower(seen(h_n[x - ONE], NW), seen(h_n[x], N)), seen(h_n[x + ONE], NE))
        south = lower(lower(seen(h_s[x - ONE], SW), seen(h_s[x], S)), seen(h_s[x + ONE], SE))
        lowest = lower(lower(north, south), lower(seen(h[x - ONE], W), seen(h[x + ONE], E)))
        slides = np.int32(h[x] - (lowest & HEIGHT)) > t_straight[x]
        to[x] = np.int8((lowest & DIRECTION) if slides else NOWHERE)


@row_kernel
def count(to_n, to, to_s, net):
    """Amplitudes received less the one sent."""
    for x in range(ONE, np.uintp(to.size - 1)):
        net[x] = np.int8(
            ((to_n[x - ONE] == 7) + (to_n[x] == 6) + (to_n[x + ONE] == 5))
            + ((to[x - ONE] == 4) + (to[x + ONE] == 3))
            + ((to_s[x - ONE] == 2) + (to_s[x] == 1) + (to_s[x + ONE] == 0))
            - (to[x] != NOT_SENT)
        )


@row_kernel
def slide(h, net, amplitude, h2):
    for x in range(ONE, np.uintp(h.size - 1)):
        h2[x] = np.int32(h[x] + amplitude * np.int32(net[x]))


@summing_kernel
def senders(to):
    n = np.int32(0)
    for x in range(ONE, np.uintp(to.size - 1)):
        n = np.int32(n + (to[x] != NOT_SENT))
    return n
