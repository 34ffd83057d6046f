"""Kernels of the D8 flow: one neighbour for the water of each cell, and what follows from these lines.

Cells are numbered row by row in a grid with a frame of nodata around it; the neighbours are counted clockwise from the
east, and `NOWHERE` stands in cells where water leaves and in nodata.
"""

from __future__ import annotations

import math

import numpy as np

from slopewash.analysis.priority_flood import NOWHERE
from slopewash.backends.compiled import kernel

DIAGONAL = math.sqrt(2.0)
SOURCE_DONE = 255
"""In place of a number of donors: the cell has been passed on."""


@kernel
def steepest(level, closed, steps, across, rows, columns, way):
    """Choose the neighbour of steepest descent [OCallaghan84]; on level ground, `way` already leads out.

    Of equally steep ones the first counts, clockwise from the east. `closed` are nodata and outlets.
    """
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            cell = row * across + column
            if closed[cell]:
                continue
            here = level[cell]
            best, chosen = np.float32(0.0), -1
            for k in range(8):
                drop = here - level[cell + steps[k]]
                if k & 1:
                    drop *= np.float32(1.0 / DIAGONAL)
                if drop > best:
                    best, chosen = drop, k
            if chosen >= 0:
                way[cell] = chosen


@kernel
def count_donors(way, steps, donors):
    """Count the neighbours that drain into each cell."""
    for cell in range(way.size):
        if way[cell] != NOWHERE:
            donors[cell + steps[way[cell]]] += 1


@kernel
def accumulate(way, steps, donors, closed, amount):
    """Add the amount of every cell to all cells below it; `donors` are used up.

    A line is followed from its source to the first cell that still waits for another line: no order is needed.
    """
    for start in range(way.size):
        if donors[start] != 0 or closed[start]:
            continue
        donors[start] = SOURCE_DONE
        cell = start
        while way[cell] != NOWHERE:
            below = cell + steps[way[cell]]
            amount[below] += amount[cell]
            donors[below] -= 1
            if donors[below] != 0:
                break
            donors[below] = SOURCE_DONE
            cell = below


@kernel
def sort_downstream(way, steps, donors, closed, order):
    """List the cells so that each comes after all that drain into it; return how many there are."""
    count = 0
    for start in range(way.size):
        if donors[start] != 0 or closed[start]:
            continue
        donors[start] = SOURCE_DONE
        cell = start
        while True:
            order[count] = cell
            count += 1
            if way[cell] == NOWHERE:
                break
            below = cell + steps[way[cell]]
            donors[below] -= 1
            if donors[below] != 0:
                break
            donors[below] = SOURCE_DONE
            cell = below
    return count


@kernel
def measure_length(order, way, steps, length):
    """Longest way down to each cell, in cells."""
    for i in range(order.size):
        cell = order[i]
        if way[cell] != NOWHERE:
            below = cell + steps[way[cell]]
            step = DIAGONAL if way[cell] & 1 else 1.0
            length[below] = max(length[below], length[cell] + step)


@kernel
def label(order, way, steps, number):
    """Give every cell the number of the outlet it drains to, which has one already."""
    for i in range(order.size - 1, -1, -1):
        cell = order[i]
        if way[cell] != NOWHERE:
            number[cell] = number[cell + steps[way[cell]]]


@kernel
def rank_streams(order, way, steps, channel, highest, ties, rank, begins):
    """Strahler's order of every channel cell [Strahler57]; `begins` marks where a stream of that order begins.

    Where two streams of the same order meet, one of the next begins; a lower one does not change it.
    """
    for i in range(order.size):
        cell = order[i]
        if not channel[cell]:
            continue
        if highest[cell] == 0:
            rank[cell] = 1
            begins[cell] = True
        elif ties[cell] > 1:
            rank[cell] = highest[cell] + 1
            begins[cell] = True
        else:
            rank[cell] = highest[cell]
        if way[cell] == NOWHERE:
            continue
        below = cell + steps[way[cell]]
        if rank[cell] > highest[below]:
            highest[below] = rank[cell]
            ties[below] = 1
        elif rank[cell] == highest[below]:
            ties[below] += 1
