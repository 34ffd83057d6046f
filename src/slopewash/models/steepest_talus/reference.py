"""The post in NumPy, on whole numbers: the specification every other backend equals bit for bit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slopewash.models.base import Edges
from slopewash.models.ground import around
from slopewash.models.steepest_talus.state import WALL, Heights, State, Talus

NOWHERE = -1
"""Direction of a cell that sends nothing."""
SCAN = ("nw", "n", "ne", "w", "e", "sw", "s", "se")
"""Directions 0 to 7 in scan order: the opposite of k is 7 - k."""
STRAIGHT, DIAGONAL = (1, 3, 4, 6), (0, 2, 5, 7)
CLOSER = np.float32(1 / math.sqrt(2))
"""Slope per drop of a diagonal neighbour, against a straight one."""


def step(state: State, t: Talus, edges: Edges) -> None:
    """One iteration: every cell chooses, then every cell gathers what it is sent. In place."""
    to = choose(state.n, state.wall, expose(state, t), edges)
    state.n = gather(state.n, to, t.amplitude, edges)
    if state.rock is not None:
        state.rock = np.minimum(state.rock, state.n)
    state.transfers += int((to != NOWHERE).sum()) * t.amplitude


def expose(state: State, t: Talus) -> Talus:
    """Thresholds of what is exposed."""
    if t.layers is None or state.rock is None:
        return t
    layer = t.layers.exposed(state.n, state.rock)
    return replace(t, straight=t.layers.straight[layer], diagonal=t.layers.diagonal[layer])


def choose(n: Heights, wall: NDArray[np.bool_] | None, t: Talus, edges: Edges) -> NDArray[np.int8]:
    """Direction of the steepest neighbour where its slope exceeds the talus, else `NOWHERE`."""
    if t.printed:
        drop, to = largest_drop(n, range(8), edges)
        slides = drop > t.straight
    else:
        straight, to_straight = largest_drop(n, STRAIGHT, edges)
        diagonal, to_diagonal = largest_drop(n, DIAGONAL, edges)
        slides_straight, slides_diagonal = straight > t.straight, diagonal > t.diagonal
        steeper = diagonal.astype(np.float32) * CLOSER > straight.astype(np.float32)
        to = np.where(slides_diagonal & (steeper | ~slides_straight), to_diagonal, to_straight)
        slides = slides_straight | slides_diagonal
    if wall is not None:
        slides &= ~wall
    return np.where(slides, to, np.int8(NOWHERE))


def largest_drop(n: Heights, directions: range | tuple[int, ...], edges: Edges) -> tuple[Heights, NDArray[np.int8]]:
    """Largest drop to a neighbour in one of `directions`, and the first of them that has it."""
    near = around(n, edges, WALL)
    drops = np.stack([n - getattr(near, SCAN[k]) for k in directions])
    first = drops.argmax(axis=0)
    return drops.max(axis=0), np.array(directions, np.int8)[first]


def gather(n: Heights, to: NDArray[np.int8], amplitude: int, edges: Edges) -> Heights:
    """Heights after every cell has sent and received."""
    near = around(to, edges, NOWHERE)
    received = sum((getattr(near, SCAN[k]) == 7 - k).astype(np.int32) for k in range(8))
    return n + np.int32(amplitude) * (received - (to != NOWHERE).astype(np.int32))
