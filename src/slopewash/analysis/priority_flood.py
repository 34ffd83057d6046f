"""Kernel that fills depressions: a priority flood that queues only the cells over which water may spill.

Every cell gets the height of the lowest pass on any way out [Barnes14]. Ground that climbs from a drained cell needs no
queue, since it keeps its height; only a cell with lower ground behind it waits for its turn [Zhou16]. The flood never
falls, so that cells wait in slices of height, and only the slice under way is kept in order, by a heap.

Cells are numbered row by row in a grid with a frame of nodata around it, and the eight neighbours are counted clockwise
from the east.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, stage_kernel

UNSEEN, NOWHERE = 254, 255
"""In place of a neighbour's number: not reached by the flood, or nothing to go back to."""
NONE = -1
SLICES = 1 << 18
"""Slices of height: enough that a heap of one slice stays in the cache, few enough to look through."""


@stage_kernel
def rank(cell, bits):
    """Sort key of a cell: its height, as an integer in the same order, and its number below it."""
    high = np.int64(bits[cell])
    if high < 0:
        high ^= np.int64(0x7FFFFFFF)
    return (high << np.int64(32)) | np.int64(cell)


@stage_kernel
def push(key, heap, length):
    """Let a key rise in the heap from its end."""
    slot = length
    while slot > 0:
        above = (slot - 1) >> 1
        if heap[above] <= key:
            break
        heap[slot] = heap[above]
        slot = above
    heap[slot] = key


@stage_kernel
def pop(heap, length):
    """Take the lowest key; the last of the `length` keys sinks from the top instead."""
    lowest = heap[0]
    key = heap[length - 1]
    slot, below, last = 0, 1, length - 1
    while below < last:
        if below + 1 < last and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= key:
            break
        heap[slot] = heap[below]
        slot = below
        below = 2 * slot + 1
    heap[slot] = key
    return lowest


@kernel
def fill(outlets, steps, lowest, slices_per_metre, level, bits, back, waiting, following, heap, pool, climb):
    """Raise `level`, which begins as the ground, to the lowest pass on any way to an outlet.

    `bits` are the same numbers as integers. `back` begins as UNSEEN, with NOWHERE in nodata, and becomes, in flooded
    and level cells, the neighbour through which the flood came: a way out that never leads in a circle. `waiting` is
    the first cell of each slice and `following` the next of the same slice; the rest is room for all cells.
    """
    last = waiting.size - 1
    for i in range(outlets.size):
        cell = outlets[i]
        back[cell] = NOWHERE
        slice_ = min(np.int64((level[cell] - lowest) * slices_per_metre), last)
        following[cell] = waiting[slice_]
        waiting[slice_] = cell
    for current in range(waiting.size):
        length = 0
        cell = waiting[current]
        while cell != NONE:
            push(rank(cell, bits), heap, length)
            length += 1
            cell = following[cell]
        while length > 0:
            first = pop(heap, length) & np.int64(0xFFFFFFFF)
            length -= 1
            here = level[first]
            climbing = 0
            pool[0] = first
            head, tail = 0, 1
            while head < tail:
                cell = np.int64(pool[head])
                head += 1
                for k in range(8):
                    other = cell + steps[k]
                    if back[other] != UNSEEN:
                        continue
                    if level[other] <= here:
                        level[other] = here
                        back[other] = (k + 4) & 7
                        pool[tail] = other
                        tail += 1
                    else:
                        back[other] = NOWHERE
                        climb[climbing] = other
                        climbing += 1
            climbed = 0
            while climbed < climbing:
                cell = np.int64(climb[climbed])
                climbed += 1
                height = level[cell]
                spills = False
                for k in range(8):
                    other = cell + steps[k]
                    if back[other] == UNSEEN:
                        if level[other] > height:
                            back[other] = NOWHERE
                            climb[climbing] = other
                            climbing += 1
                        else:
                            spills = True
                if spills:
                    slice_ = min(np.int64((height - lowest) * slices_per_metre), last)
                    if slice_ == current:
                        push(rank(cell, bits), heap, length)
                        length += 1
                    else:
                        following[cell] = waiting[slice_]
                        waiting[slice_] = cell
