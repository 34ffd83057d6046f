"""The sea beyond open edges: its level, and the ground it covers.

A border cell below sea level is part of the sea. No pipe leads out of it: what stands above sea level there leaves,
with its share of the sediment, and what is missing comes in. Other ground below sea level is under water at the start
if the sea reaches it; after that, water gets there through the pipes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.models.ground import IS_WALL, around
from slopewash.models.sea import Mask, covered
from slopewash.models.state import Domain, Sides, State
from slopewash.models.virtual_pipes.fields import MOVED, SEA

if TYPE_CHECKING:
    from slopewash.models.virtual_pipes.model import VirtualPipes

Field = NDArray[Any]

DIGITS = 23
"""Binary digits of the level, one less than float32 has: then ground plus depth up to the level is the level exactly,
and still water does not move."""
MOST_PASSES, FITS = 2000, 1e-3
"""In which sediment without room is passed on, and how much may stand out of the sea after all, in cells."""


def level_in_cells(m: VirtualPipes, domain: Domain) -> float:
    """Sea level above the datum; -inf for no sea."""
    if m.sea_level == -math.inf:
        return -math.inf
    share, exponent = math.frexp((m.sea_level - domain.datum) / domain.cell_size)
    return math.ldexp(round(share * 2**DIGITS), exponent - DIGITS)


def check_land(m: VirtualPipes, b: Field, domain: Domain) -> None:
    """Refuse a sea that leaves no land."""
    highest = float(b.max(where=b < IS_WALL, initial=-math.inf))
    if domain.sides.any_open and level_in_cells(m, domain) >= highest:
        top = domain.datum + highest * domain.cell_size
        raise InvalidParameter(
            f"sea_level is {m.sea_level:g} m and the highest ground {top:g} m: all of it would be under water; "
            "choose a lower sea level"
        )


def flooded(
    b: Field, w: Field, m: VirtualPipes, domain: Domain, s: Field | float = 0.0, sea: Mask | None = None
) -> Field:
    """Depth of water where the sea stands up to its level, at least; water that stands higher stays."""
    level = level_in_cells(m, domain)
    if sea is None:
        if level == -math.inf or not domain.sides.any_open:
            return w
        sea = covered(b, level, domain.sides, diagonally=m.fills_diagonally)
    depth = (b.dtype.type(level) - b) - m.sediment_volume * s
    result: Field = np.where(sea, np.maximum(w, depth), w).astype(w.dtype)
    return result


def flood(state: State, m: VirtualPipes, domain: Domain) -> None:
    """Let the sea in, when a run goes on with another sea level."""
    before = np.array(state["water"])
    after = flooded(state["elevation"], before, m, domain, state["suspended"])
    budget = np.array(state["budget"])
    budget[0, SEA] -= float((after - before).sum(dtype=np.float64))
    state["water"], state["budget"] = after, budget


def sink(state: State, m: VirtualPipes, domain: Domain, budget: Field) -> None:
    """Lay what the sea carries on its floor, nowhere above its surface: where there is no room, further out.

    Standing water holds far more than fits below it, because little flows away. Deposited in place, that would rise
    from the sea as a rampart along the coast.
    """
    sea = sea_in(state, m, domain)
    if not state["suspended"][sea].any():
        return
    load, room = carried(state, sea, m, domain)
    load = pass_on(load, room, sea, domain.sides, MOST_PASSES)[0]
    put_down(state, load, sea, m, domain, budget)


def sea_in(state: State, m: VirtualPipes, domain: Domain) -> Mask:
    """Ground of a whole terrain that the sea covers now."""
    return covered(state["elevation"], level_in_cells(m, domain), domain.sides, diagonally=m.fills_diagonally)


def carried(state: State, sea: Mask, m: VirtualPipes, domain: Domain) -> tuple[Field, Field]:
    """What the sea carries in each cell, and how much of it fits below its surface."""
    b = state["elevation"]
    level = b.dtype.type(level_in_cells(m, domain))
    return np.where(sea, state["suspended"], 0).astype(np.float64), np.where(sea, level - b, 0)


def pass_on(
    load: Field, room: Field, sea: Mask, sides: Sides, passes: int, *, until: float = FITS, own: Any = np.s_[:, :]
) -> tuple[Field, list[float]]:
    """Pass on what has no room, in equal parts to the neighbours in the sea; none leaves it.

    It ends when no cell has more than `until` to pass on. Returns what each cell has in the end, and the most that a
    cell of `own` had to pass on before each pass.
    """
    neighbours = np.sum([n & sea for n in around(sea, sides, False)[:4]], axis=0)
    share = np.where(sea, 1 / np.maximum(neighbours, 1), 0)
    most: list[float] = []
    for _ in range(passes):
        excess: Field = np.where(neighbours > 0, np.maximum(load - room, 0), 0)
        most.append(float(excess[own].max()))
        if most[-1] <= until:
            break
        given = around(excess * share, sides, 0)
        load = load - excess + np.where(sea, (given.w + given.e) + (given.n + given.s), 0)
    return load, most


def put_down(state: State, load: Field, sea: Mask, m: VirtualPipes, domain: Domain, budget: Field) -> None:
    """Raise the floor of the sea by what came to rest there; it takes the place of water."""
    s, own = np.array(state["suspended"]), domain.own
    placed = load.astype(s.dtype)
    budget[0, MOVED] += float(placed[own].sum(dtype=np.float64))
    water = np.array(state["water"])
    rest = np.where(sea, np.maximum(water + m.sediment_volume * s - placed, 0), water).astype(water.dtype)
    budget[0, SEA] += float((water - rest)[own].sum(dtype=np.float64))
    state["elevation"], state["water"] = state["elevation"] + placed, rest
    state["suspended"] = np.where(sea, 0, s).astype(s.dtype)


def displaced(state: State, s: Field, sea: Mask, m: VirtualPipes, domain: Domain, budget: Field) -> Field:
    """Depth of water after sediment has settled on the floor of the sea, which takes the water's place."""
    before = np.array(state["water"])
    rises = s * s.dtype.type(1 - m.sediment_volume)  # the rest counted as water all the time
    after: Field = np.where(sea, np.maximum(before - rises, 0), before)
    budget[0, SEA] += float((before - after)[domain.own].sum(dtype=np.float64))
    return after
