"""What a stage does, in order: iterations with their coefficients, and the end of settling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Position:
    """How far a stage has come: items of its program that are done, and iterations of the next."""

    item: int = 0
    done: int = 0


Item = Piece | LayDown | SeaDoes
Program = tuple[Item, ...]


def program_of(stage: Stage, shape: tuple[int, int]) -> Program:
    """Everything a stage does on a grid of that shape, as `Running` does it."""
    substeps = needed_substeps(stage.model.limits(), stacklevel=4)
    items: list[Item] = [_piece(stage.model, substeps, 1.0, stage.steps)]
    has_sea = stage.model.water_beyond > -math.inf and Sides.of(stage.edges).any_open
    if stage.settle is not None:
        if has_sea and stage.settle:
            items.append(SeaDoes("sink"))
        items += [
            _piece(stage.model, substeps, strength, length)
            for strength, length in fading(0, stage.settle, stage.settle)
        ]
        items += (
            [SeaDoes("sink"), SeaDoes("deposit"), *([SeaDoes("evaporate")] if stage.dry else [])]
            if has_sea
            else [LayDown(stage.dry)]
        )
    if stage.recedes:
        low = stage.receding(stage.model)
        low_substeps = needed_substeps(low.limits(), substeps, stacklevel=4)
        items.append(_piece(low, low_substeps, 1.0, stage.receding_steps(shape)))
    return tuple(item for item in items if not isinstance(item, Piece) or item.iterations)


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
    done = [item.iterations // item.substeps for item in program[: end.item] if isinstance(item, Piece)]
    item = program[end.item] if end.item < len(program) else None
    return sum(done) + (end.done // item.substeps if isinstance(item, Piece) else 0)


def next_round(
    program: Program, at: Position, most: int, *, source: str, target: str, before: int
) -> tuple[Round, Position]:
    """The round that comes next, of so many iterations at most, and how far it leads."""
    pieces: list[Piece] = []
    item, done, left = at.item, at.done, most
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
