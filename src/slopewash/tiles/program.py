"""The plan of a stage as tiles carry it out: iterations with their coefficients, and the end of settling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slopewash.jobs.plan import Lower, Position, Settle, steps_of_level
from slopewash.models import Model
from slopewash.models.state import Sides
from slopewash.recipes.definition import Stage
from slopewash.simulation.pacing import fading, needed_substeps
from slopewash.tiles.rounds import Piece, Round
from slopewash.tiles.sea import Deed

LARGEST_SHARE = 0.25
"""Of a tile that its margin may take on each side."""
COST_OF_EXCHANGE = 5.0
"""Iterations that reading and writing a tile costs, until it was measured."""
LONGEST_ALONE = 2**29
"""Cells times iterations of a round where there is nothing to exchange: some seconds, after which it is committed."""


@dataclass(frozen=True)
class LayDown:
    """Deposit everything that the water carries."""

    dry: bool


@dataclass(frozen=True)
class SeaDoes:
    """One part of the end of settling where there is a sea, for which all tiles must have come as far."""

    deed: Deed


Item = Piece | LayDown | SeaDoes
Program = tuple[Item, ...]


def program_of(stage: Stage, shape: tuple[int, int]) -> Program:
    """The plan of a stage on a grid of that shape, in iterations, and in what a sea does at the end of settling."""
    model, substeps = stage.model, needed_substeps(stage.model.limits(), stacklevel=4)
    items: list[Item] = []
    for step in steps_of_level(stage, shape):
        if isinstance(step, Settle):
            items += _settling(step, stage, substeps)
        elif isinstance(step, Lower):
            model = stage.receding(model)
            substeps = needed_substeps(model.limits(), substeps, stacklevel=4)
        else:
            items.append(_piece(model, substeps, 1.0, step.steps))
    return tuple(items)


def _settling(step: Settle, stage: Stage, substeps: int) -> Iterator[Item]:
    has_sea = stage.model.water_beyond > -math.inf and Sides.of(stage.edges).any_open
    if has_sea and step.steps:
        yield SeaDoes("sink")
    for strength, length in fading(0, step.steps, step.steps):
        yield _piece(stage.model, substeps, strength, length)
    if has_sea:
        yield from (SeaDoes("sink"), SeaDoes("deposit"))
        if step.dry:
            yield SeaDoes("evaporate")
    else:
        yield LayDown(step.dry)


def _piece(model: Model, substeps: int, strength: float, steps: int) -> Piece:
    return Piece(model=model, substeps=substeps, strength=strength, iterations=steps * substeps)


def iterations_of(program: Sequence[Item]) -> int:
    """All iterations of a program."""
    return sum(item.iterations for item in program if isinstance(item, Piece))


def steps_of(program: Sequence[Item], at: Position | None = None) -> int:
    """Whole steps of a program, of its settling too, up to a position or all of them; a step may be several iterations.

    >>> from slopewash.models import find_model
    >>> program = (_piece(find_model("virtual_pipes")(), 2, 1.0, 30), LayDown(dry=False))
    >>> steps_of(program), steps_of(program, Position(0, 9)), iterations_of(program)
    (30, 4, 60)
    """
    end = Position(len(program)) if at is None else at
    done = [item.iterations // item.substeps for item in program[: end.step] if isinstance(item, Piece)]
    item = program[end.step] if end.step < len(program) else None
    return sum(done) + (end.done // item.substeps if isinstance(item, Piece) else 0)


def next_round(
    program: Program, at: Position, most: int, *, source: str, target: str, before: int
) -> tuple[Round, Position]:
    """The round that comes next, of so many iterations at most, and how far it leads."""
    pieces: list[Piece] = []
    item, done, left = at.step, at.done, most
    while left and item < len(program):
        piece = program[item]
        if not isinstance(piece, Piece):
            break
        length = min(left, piece.iterations - done)
        pieces.append(Piece(model=piece.model, substeps=piece.substeps, strength=piece.strength, iterations=length))
        left, done = left - length, done + length
        if done == piece.iterations:
            item, done = item + 1, 0
    end = program[item] if item < len(program) else None
    if isinstance(end, LayDown):
        item += 1
    made = Round(
        source=source, target=target, before=before, pieces=tuple(pieces), lay_down=isinstance(end, LayDown),
        dry=isinstance(end, LayDown) and end.dry,
    )  # fmt: skip
    return made, Position(item, done)


def best_iterations(
    tile: tuple[int, int], counts: tuple[int, int], halo: int, exchange: float = COST_OF_EXCHANGE
) -> int:
    """Iterations between two exchanges at which a cell costs least.

    A margin of `halo` cells for each iteration is computed twice, and an exchange costs as much as so many iterations
    of a tile without margin.

    >>> best_iterations((2048, 2048), (8, 8), 3), best_iterations((128, 128), (2, 2), 3)
    (28, 6)
    """
    if counts == (1, 1):
        return max(16, LONGEST_ALONE // (tile[0] * tile[1]))

    def cost(k: int) -> float:
        wide = 1.0
        for cells, count in zip(tile, counts, strict=True):
            wide *= 1.0 if count == 1 else 1 + 2 * halo * k / cells
        return wide + exchange / k

    cut = [cells for cells, count in zip(tile, counts, strict=True) if count > 1]
    most = max(1, int(LARGEST_SHARE * min(cut) / halo))
    return min(range(1, most + 1), key=cost)
