"""The post in NumPy, on whole numbers: the specification every other backend equals bit for bit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import safe_point
from slopewash.models.backend import HostBackend
from slopewash.models.ground import around
from slopewash.models.state import Domain, Sides, State
from slopewash.models.steepest_talus.coefficients import Coefficients, Standing, beds, standing_ground
from slopewash.models.steepest_talus.prepare import WALL, Heights

NOWHERE = -1
"""Direction of a cell that sends nothing."""
SCAN = ("nw", "n", "ne", "w", "e", "sw", "s", "se")
"""Directions 0 to 7 in scan order: the opposite of k is 7 - k."""
STRAIGHT, DIAGONAL = (1, 3, 4, 6), (0, 2, 5, 7)
CLOSER = np.float32(1 / math.sqrt(2))
"""Slope per drop of a diagonal neighbour, against a straight one."""


def step(state: State, c: Coefficients, domain: Domain) -> None:
    """One iteration: every cell chooses, then every cell gathers what it is sent. In place."""
    n = state["elevation"]
    to = choose(n, state.get("nodata"), expose(state, domain, c), c, domain.sides)
    safe_point()
    state["elevation"] = gather(n, to, c.amplitude, domain.sides)
    if domain.strata:
        state["bedrock"] = np.minimum(state["bedrock"], state["elevation"])
    state.scalars["solids_moved"] += int((to[domain.own] != NOWHERE).sum()) * c.amplitude


def expose(state: State, domain: Domain, c: Coefficients) -> Standing:
    """Drops that stand on what is exposed."""
    if not domain.strata:
        return standing_ground(state, domain, c)
    layers = beds(domain, c)
    layer = layers.exposed(state["elevation"], state["bedrock"], state["strata_top"])
    return Standing(layers.straight[layer], layers.diagonal[layer])


def choose(
    n: Heights, nodata: NDArray[np.bool_] | None, stands: Standing, c: Coefficients, sides: Sides
) -> NDArray[np.int8]:
    """Direction of the steepest neighbour where its slope exceeds the talus, else `NOWHERE`."""
    if c.printed:
        drop, to = largest_drop(n, range(8), sides)
        slides = drop > stands.straight
    else:
        straight, to_straight = largest_drop(n, STRAIGHT, sides)
        diagonal, to_diagonal = largest_drop(n, DIAGONAL, sides)
        slides_straight, slides_diagonal = straight > stands.straight, diagonal > stands.diagonal
        steeper = diagonal.astype(np.float32) * CLOSER > straight.astype(np.float32)
        to = np.where(slides_diagonal & (steeper | ~slides_straight), to_diagonal, to_straight)
        slides = slides_straight | slides_diagonal
    if nodata is not None:
        slides &= ~nodata
    return np.where(slides, to, np.int8(NOWHERE))


def largest_drop(n: Heights, directions: range | tuple[int, ...], sides: Sides) -> tuple[Heights, NDArray[np.int8]]:
    """Largest drop to a neighbour in one of `directions`, and the first of them that has it."""
    near = around(n, sides, WALL)
    drops = np.stack([n - getattr(near, SCAN[k]) for k in directions])
    safe_point()  # whole grids take long
    first = drops.argmax(axis=0)
    safe_point()
    return drops.max(axis=0), np.array(directions, np.int8)[first]


def gather(n: Heights, to: NDArray[np.int8], amplitude: int, sides: Sides) -> Heights:
    """Heights after every cell has sent and received."""
    near = around(to, sides, NOWHERE)
    received = sum((getattr(near, SCAN[k]) == 7 - k).astype(np.int32) for k in range(8))
    return n + np.int32(amplitude) * (received - (to != NOWHERE).astype(np.int32))


class ReferenceBackend(HostBackend):
    """Steps the state with the specification."""

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain, step)
