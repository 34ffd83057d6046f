"""Kernels of the drainage: flooding from the edges, D-infinity directions, and the areas that drain through each cell.

Cells are numbered row by row in a grid that has a frame of nodata around it, so that every cell has eight neighbours.
The eight are counted clockwise from the east.
"""

from __future__ import annotations

import math

from slopewash.backends.compiled import kernel, stage_kernel

FAR, NEAR, DRAINED, MISSING = 0, 1, 2, 3
"""State of a cell in the flood: not reached, in the queue, drained, or nodata."""
DIAGONAL = math.sqrt(2.0)
QUARTER = math.pi / 4


@stage_kernel
def comes_first(a, b, level, detour):
    """Whether cell a leaves the queue before cell b: the lower, then the one nearer to its outlet, then the number."""
    if level[a] != level[b]:
        return level[a] < level[b]
    if detour[a] != detour[b]:
        return detour[a] < detour[b]
    return a < b


@stage_kernel
def move_up(slot, queue, place, level, detour):
    """Let the cell in a slot of the heap rise to where it belongs."""
    cell = queue[slot]
    while slot > 0:
        above = (slot - 1) // 2
        if not comes_first(cell, queue[above], level, detour):
            break
        queue[slot] = queue[above]
        place[queue[slot]] = slot
        slot = above
    queue[slot] = cell
    place[cell] = slot


@stage_kernel
def move_down(slot, length, queue, place, level, detour):
    """Let the cell in a slot of the heap sink to where it belongs."""
    cell = queue[slot]
    while True:
        below = 2 * slot + 1
        if below >= length:
            break
        if below + 1 < length and comes_first(queue[below + 1], queue[below], level, detour):
            below += 1
        if not comes_first(queue[below], cell, level, detour):
            break
        queue[slot] = queue[below]
        place[queue[slot]] = slot
        slot = below
    queue[slot] = cell
    place[cell] = slot


@kernel
def flood(ground, outlet, state, steps, depth_scale, level, detour, parent, order, queue, place):
    """Raise the water from all outlets at once, lowest cell first; return the number of cells drained.

    `level` becomes the height to which water stands or flows, the lowest pass on any way out. On a level stretch,
    `detour` counts the way to its outlet, with deep ground shorter than shallow ground, so that a stream which crosses
    a filled hollow keeps to its bottom. Each cell has a `parent`, through which the flood reached it, and `order` holds
    the cells as they drained: a cell never drains to one that comes later.
    """
    length = 0
    for cell in range(ground.size):
        if outlet[cell]:
            state[cell] = NEAR
            level[cell] = ground[cell]
            queue[length] = cell
            move_up(length, queue, place, level, detour)
            length += 1
    done = 0
    while length > 0:
        cell = queue[0]
        length -= 1
        queue[0] = queue[length]
        if length > 0:
            move_down(0, length, queue, place, level, detour)
        state[cell] = DRAINED
        order[done] = cell
        done += 1
        for k in range(8):
            other = cell + steps[k]
            if state[other] >= DRAINED:
                continue
            if ground[other] > level[cell]:
                # The flood reaches the cell from its lowest neighbour first: nothing can lower it later.
                if state[other] == FAR:
                    level[other] = ground[other]
                    detour[other] = 0.0
                    parent[other] = cell
                    state[other] = NEAR
                    queue[length] = other
                    move_up(length, queue, place, level, detour)
                    length += 1
                continue
            length_of_step = DIAGONAL if k % 2 else 1.0
            way = detour[cell] + length_of_step / (1.0 + (level[cell] - ground[other]) * depth_scale)
            if state[other] == FAR:
                state[other] = NEAR
                queue[length] = other
                place[other] = length
                length += 1
            elif level[other] < level[cell] or detour[other] <= way:
                continue
            level[other] = level[cell]
            detour[other] = way
            parent[other] = cell
            move_up(place[other], queue, place, level, detour)
    return done


@kernel
def carve(order, outlet, parent, level, fall, ground):
    """Let the way out of every hollow fall from cell to cell, from the innermost cells outwards."""
    for position in range(order.size - 1, -1, -1):
        cell = order[position]
        if not outlet[cell] and ground[cell] < level[cell]:
            below = parent[cell]
            ground[below] = min(ground[below], ground[cell] - fall)


@kernel
def widen(missing, steps, rise, before, ground):
    """Let banks climb by `rise` per cell beside lowered ground, none lowered by more than the cell it climbs from."""
    changed = True
    while changed:
        changed = False
        for turn in range(2):
            for position in range(ground.size):
                cell = ground.size - 1 - position if turn else position
                if missing[cell]:
                    continue
                for k in range(8):
                    near = cell + steps[k]
                    if missing[near] or ground[near] >= before[near]:
                        continue
                    bank = ground[near] + rise * (DIAGONAL if k % 2 else 1.0)
                    bank = max(bank, before[cell] - (before[near] - ground[near]))
                    if bank < ground[cell]:
                        ground[cell] = bank
                        changed = True


@stage_kernel
def heights_around(cell, state, steps, level, detour, heights):
    """Fill `heights` with the cell (last) and its neighbours as water sees them; unreachable ones stand above it.

    Water on a level stretch, without a lower neighbour, follows the way to the outlet instead of the height.
    """
    here = level[cell]
    lowest = here
    for k in range(8):
        other = cell + steps[k]
        heights[k] = level[other] if state[other] == DRAINED and level[other] <= here else here + 1.0
        lowest = min(lowest, heights[k])
    heights[8] = here
    if lowest < here:
        return
    heights[8] = detour[cell]
    for k in range(8):
        other = cell + steps[k]
        joined = heights[k] == here and state[other] == DRAINED
        heights[k] = detour[other] if joined else detour[cell] + 1.0


@stage_kernel
def facet(k, heights):
    """Steepest descent within one of the eight facets [Tarboton97]: its slope, and its angle from the axis.

    Facet k lies between the axis k/2 and the diagonal next to it, counted as in `axis_of` and `diagonal_of`.
    """
    middle, axis, diagonal = heights[8], heights[axis_of(k)], heights[diagonal_of(k)]
    along, across = middle - axis, axis - diagonal
    angle = math.atan2(across, along)
    if across <= 0.0 and along <= 0.0:
        return 0.0, 0.0
    if angle <= 0.0:
        return along, 0.0
    if angle >= QUARTER:
        return (middle - diagonal) / DIAGONAL, QUARTER
    return math.sqrt(along * along + across * across), angle


@stage_kernel
def axis_of(k):
    return ((k + 1) // 2 * 2) % 8


@stage_kernel
def diagonal_of(k):
    return k // 2 * 2 + 1


@kernel
def spread(order, done, outlet, state, steps, level, detour, parent, heights, straight, area):
    """Send the area of every cell down its steepest facets, shared between two neighbours by angle [Tarboton97].

    With `straight` it is shared by the place where the line of steepest descent passes between the two, which keeps the
    direction of flow; by angle, it is up to 4 degrees off, and areas do not converge as cells become small. Equally
    steep facets share equally, so that a mirrored terrain has a mirrored drainage.
    """
    for position in range(done - 1, -1, -1):
        cell = order[position]
        if outlet[cell]:
            continue
        heights_around(cell, state, steps, level, detour, heights)
        steepest, ties = 0.0, 0
        for k in range(8):
            slope, _ = facet(k, heights)
            if slope > steepest:
                steepest, ties = slope, 1
            elif slope == steepest:
                ties += 1
        if steepest <= 0.0:
            area[parent[cell]] += area[cell]
            continue
        portion = area[cell] / ties
        for k in range(8):
            slope, angle = facet(k, heights)
            if slope == steepest:
                towards_diagonal = math.tan(angle) if straight else angle / QUARTER
                area[cell + steps[axis_of(k)]] += portion * (1.0 - towards_diagonal)
                area[cell + steps[diagonal_of(k)]] += portion * towards_diagonal


@kernel
def connect(order, done, outlet, state, steps, level, detour, parent, heights, area, receiver, donor, aside):
    """Choose one neighbour for the water of every cell, so that lines keep the direction of steepest descent.

    Of the two neighbours beside that direction, the one is taken which leaves the line as a whole nearer to it:
    the least transversal deviation of [Orlandini03], which the largest inflow passes on. `donor` is that inflow.
    """
    for position in range(done - 1, -1, -1):
        cell = order[position]
        if outlet[cell]:
            continue
        heights_around(cell, state, steps, level, detour, heights)
        steepest, best, turned = 0.0, 0, 0.0
        for k in range(8):
            slope, angle = facet(k, heights)
            if slope > steepest:
                steepest, best, turned = slope, k, angle
        target = parent[cell]
        away = aside[cell]
        if steepest > 0.0:
            # Even facets turn clockwise from axis to diagonal, odd ones against it.
            hand = 1.0 if best % 2 == 0 else -1.0
            by_axis = away + hand * math.sin(turned)
            by_diagonal = away - hand * DIAGONAL * math.sin(QUARTER - turned)
            if turned < QUARTER and (turned == 0.0 or abs(by_axis) <= abs(by_diagonal)):
                target, away = cell + steps[axis_of(best)], by_axis
            else:
                target, away = cell + steps[diagonal_of(best)], by_diagonal
        receiver[cell] = target
        area[target] += area[cell]
        if donor[target] < 0 or area[cell] > area[donor[target]]:
            donor[target] = cell
            aside[target] = away
