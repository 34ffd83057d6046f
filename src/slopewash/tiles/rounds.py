"""The tasks of a run on tiles: each is a pure function of the store, a round and a tile.

A task writes its own tile and nothing else. Done twice, or after its worker was killed, it writes the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from slopewash.models import Model
from slopewash.models.state import with_margin
from slopewash.tiles.memory import lent
from slopewash.tiles.turns import aside, computing_seconds
from slopewash.tiles.work import Work

ALL = (slice(None), slice(None))


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Iterations with the same coefficients."""

    model: Model
    substeps: int
    strength: float
    iterations: int


@dataclass(frozen=True, kw_only=True)
class Round:
    """Iterations between two exchanges."""

    source: str
    """Group of the state before."""
    target: str
    """Group of the state after."""
    before: int
    """Iterations before."""
    pieces: tuple[Piece, ...] = ()
    lay_down: bool = False
    """Deposit what the water carries, after the iterations."""
    dry: bool = False

    @property
    def iterations(self) -> int:
        """Iterations of this round."""
        return sum(piece.iterations for piece in self.pieces)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a tile has to say after a task."""

    amounts: Mapping[str, float]
    """Of the budget, in m³: what happened in the round, and what is there now."""
    bad: tuple[str, int, int] | None
    """Layer, row and column of the first value that is not finite."""
    written: int
    """Bytes."""
    seconds: float
    """CPU time of the task."""
    kernel: float = 0.0
    """CPU time of the iterations, and of the rest."""

    @property
    def rest(self) -> float:
        """CPU time of everything but the iterations."""
        return self.seconds - self.kernel


def advance_tile(work: Work, round: Round, number: int) -> Report:
    """Take one tile through a round."""
    core = work.grid.window(number)
    assert work.model.halo is not None
    margin = work.model.halo * round.iterations + round.lay_down  # what lies bare depends on the neighbours
    wide, sides = with_margin(core, margin, work.domain)
    domain = work.domain.part(wide, sides, core)
    widest = math.prod(side + 2 * margin for side in work.grid.tile)
    with lent(reserve=widest / math.prod(domain.shape)) as memory:
        with aside() as reading:
            backend = work.model.backend(work.backend)
            stepped = {cells.name: cells.planes for cells in work.cells if cells.stepped}
            ready = backend.room(stepped, domain, memory)
            state = work.read(
                round.source,
                wide,
                iterations=round.before,
                places=ready.places if ready else {},
                without=backend.unused,
            )
        begin = computing_seconds()
        device = backend(state, domain) if ready is None else ready.begin(state)
        del state, ready  # the backend has all of it
        try:
            kernel = computing_seconds()
            for piece in round.pieces:
                coefficients = piece.model.coefficients(domain, substeps=piece.substeps, strength=piece.strength)
                device.advance(coefficients, piece.iterations)
            kernel = computing_seconds() - kernel
            if round.lay_down:
                work.model.lay_down(device.state, domain, dry=round.dry)
            own = work.own(device.state, domain.own)  # from a GPU, it is downloaded here
            amounts, bad = work.model.balance(own, domain)
            computing = computing_seconds() - begin
            with aside() as writing:
                written = work.write(round.target, number, own, ALL)
            return Report(
                amounts=amounts,
                bad=None if bad is None else (bad[0], bad[1] + core[0].start, bad[2] + core[1].start),
                written=written,
                seconds=reading.seconds + computing + writing.seconds,
                kernel=kernel,
            )
        finally:
            device.close()
