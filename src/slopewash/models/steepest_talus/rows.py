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
from slopewash.models.steepest_talus.prepare import WALL

KEY_BITS = 3
"""Low bits of a stored height, free for a direction."""
ONE, THREE = np.uintp(1), np.uintp(3)
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
NODATA = np.int32(WALL << KEY_BITS)
NW, N, NE, W, E, SW, S, SE = (np.int32(k) for k in range(8))


@kernel
def seen(h, direction):
    return np.int32(h + direction)


@kernel
def lower(a, b):
    return a if a < b else b


@kernel
def layers_within(begin, stop, rock, top, depths):
    """The layers between the least and the greatest depth of some cells: the first, and what follows the last."""
    least, most = SHALLOWEST, DEEPEST
    for x in range(begin, stop):
        depth = np.int32(top[x] - np.int32(rock[x] >> BITS))
        least, most = min(least, depth), max(most, depth)
    count, k = np.uintp(depths.size), ONE
    while k < count and depths[k] <= least:
        k += ONE
    first = k - ONE
    while k < count and depths[k] <= most:
        k += ONE
    return first, k


@kernel
def expose_cells(begin, stop, first, beyond, h, rock, top, depths, straight, diagonal, t_straight, t_diagonal):
    soil_s, soil_d = straight[straight.size - 1], diagonal[diagonal.size - 1]
    s, d = straight[first], diagonal[first]
    for x in range(begin, stop):
        t_straight[x], t_diagonal[x] = s, d
    for k in range(first + ONE, beyond):
        begins, s, d = depths[k], straight[k], diagonal[k]
        for x in range(begin, stop):
            deeper = np.int32(top[x] - np.int32(rock[x] >> BITS)) >= begins
            t_straight[x] = s if deeper else t_straight[x]
            t_diagonal[x] = d if deeper else t_diagonal[x]
    for x in range(begin, stop):
        t_straight[x] = STANDS if h[x] == NODATA else soil_s if h[x] > rock[x] else t_straight[x]
        t_diagonal[x] = STANDS if h[x] == NODATA else soil_d if h[x] > rock[x] else t_diagonal[x]


@row_kernel
def expose(h, rock, top, depths, straight, diagonal, t_straight, t_diagonal):
    """Thresholds of what is exposed; the last of the tables are loose soil's. Tops and depths are in units."""
    end = np.uintp(h.size - 1)
    for begin in range(ONE, end, BLOCK):
        stop = min(begin + BLOCK, end)
        first, beyond = layers_within(begin, stop, rock, top, depths)
        expose_cells(begin, stop, first, beyond, h, rock, top, depths, straight, diagonal, t_straight, t_diagonal)


@row_kernel
def expose_far(h, rock, top, depths, straight, diagonal, t_straight, t_diagonal):
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
        t_straight[x] = STANDS if h[x] == NODATA else s if loose else t_straight[x]
        t_diagonal[x] = STANDS if h[x] == NODATA else d if loose else t_diagonal[x]


@row_kernel
def slide_to_rock(h, net, amplitude, rock, h2, rock2):
    """Slide, and lay rock bare."""
    for x in range(ONE, np.uintp(h.size - 1)):
        h2[x] = np.int32(h[x] + amplitude * np.int32(net[x]))
        rock2[x] = lower(h2[x], rock[x])


@kernel
def steepest(nw, n, ne, w, h, e, sw, s, se, t_straight, t_diagonal):
    """Where a cell sends soil: to its steepest neighbour, if the drop to it is above the threshold."""
    straight = lower(lower(seen(n, N), seen(w, W)), lower(seen(e, E), seen(s, S)))
    diagonal = lower(lower(seen(nw, NW), seen(ne, NE)), lower(seen(sw, SW), seen(se, SE)))
    drop_straight = np.int32(h - (straight & HEIGHT))
    drop_diagonal = np.int32(h - (diagonal & HEIGHT))
    slides_straight = drop_straight > t_straight
    slides_diagonal = drop_diagonal > t_diagonal
    steeper = np.float32(drop_diagonal) * CLOSER > np.float32(drop_straight)
    lowest = diagonal if slides_diagonal & (steeper | (not slides_straight)) else straight
    return np.int8((lowest & DIRECTION) if slides_straight | slides_diagonal else NOWHERE)


@row_kernel
def choose(h_n, h, h_s, t_straight, t_diagonal, to):
    for x in range(ONE, np.uintp(h.size - 1)):
        w, e = x - ONE, x + ONE
        to[x] = steepest(h_n[w], h_n[x], h_n[e], h[w], h[x], h[e], h_s[w], h_s[x], h_s[e], t_straight[x], t_diagonal[x])


@row_kernel
def choose_in_layers(h_n, h, h_s, rock, top, depths, straight, diagonal, t_straight, t_diagonal, to):
    """`expose` and `choose` in one: few layers lie within a block, and the thresholds of three need not be stored."""
    soil_s, soil_d = straight[straight.size - 1], diagonal[diagonal.size - 1]
    end = np.uintp(h.size - 1)
    for begin in range(ONE, end, BLOCK):
        stop = min(begin + BLOCK, end)
        first, beyond = layers_within(begin, stop, rock, top, depths)
        if beyond - first > THREE:
            expose_cells(begin, stop, first, beyond, h, rock, top, depths, straight, diagonal, t_straight, t_diagonal)
            for x in range(begin, stop):
                w, e = x - ONE, x + ONE
                to[x] = steepest(
                    h_n[w], h_n[x], h_n[e], h[w], h[x], h[e], h_s[w], h_s[x], h_s[e], t_straight[x], t_diagonal[x]
                )
            continue
        last = beyond - ONE
        second = min(first + ONE, last)
        middle, s, d = depths[second], straight[second], diagonal[second]
        lowest, lowest_s, lowest_d = depths[last], straight[last], diagonal[last]
        upper_s, upper_d = straight[first], diagonal[first]
        for x in range(begin, stop):
            w, e = x - ONE, x + ONE
            depth = np.int32(top[x] - np.int32(rock[x] >> BITS))
            t_s, t_d = s if depth >= middle else upper_s, d if depth >= middle else upper_d
            t_s, t_d = lowest_s if depth >= lowest else t_s, lowest_d if depth >= lowest else t_d
            loose, nodata = h[x] > rock[x], h[x] == NODATA
            t_s, t_d = soil_s if loose else t_s, soil_d if loose else t_d
            t_s, t_d = STANDS if nodata else t_s, STANDS if nodata else t_d
            to[x] = steepest(h_n[w], h_n[x], h_n[e], h[w], h[x], h[e], h_s[w], h_s[x], h_s[e], t_s, t_d)


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
