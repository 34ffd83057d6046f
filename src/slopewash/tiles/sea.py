"""The sea on tiles: what it covers, and how what it carries sinks to its floor.

What the sea covers is found over all tiles (`reach`). Sediment without room below its surface is passed on from cell to
cell, as often as on the whole: tiles take some passes with a margin of as many cells, and where the whole would have
ended within them, they take those again up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from slopewash.models.base import SeaOnParts
from slopewash.models.state import Domain, Sides, Window, with_margin
from slopewash.tiles.arrays import Field
from slopewash.tiles.grid import TileGrid, inside, widened
from slopewash.tiles.ground import Ground, Survey
from slopewash.tiles.reach import OfGround, field_at, find_reached
from slopewash.tiles.rounds import Report
from slopewash.tiles.store import Store
from slopewash.tiles.turns import computing_seconds
from slopewash.tiles.work import Work

Array = NDArray[Any]
Mask = NDArray[np.bool_]
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
Deed = Literal["sink", "deposit", "evaporate"]

COVERED = "state/sea"
"""Array of the ground that the sea covers."""
ROOM = Field(path="state/sea-room", dtype="float32")
PASSES = 64
"""Between two exchanges."""
PASSES_ALONE = 250
"""At once where there is nothing to exchange."""


def sea_of(work: Work) -> SeaOnParts | None:
    """Return the sea of a stage, or None."""
    return work.model.sea(work.domain)


@dataclass(frozen=True)
class LowState:
    """Ground of a state below sea level; the sea comes in at open sides."""

    work: Work
    group: str

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self.work.store

    @property
    def grid(self) -> TileGrid:
        """Its tiles."""
        return self.work.grid

    @property
    def sides(self) -> Sides:
        """What lies beyond the whole."""
        return self.work.domain.sides

    @property
    def diagonally(self) -> bool:
        """Whether water passes between two cells that touch at a corner only."""
        return _sea(self.work).diagonally

    def look(self, core: Window) -> tuple[Mask, Mask]:
        """Low ground in a window, and where the sea comes in."""
        wide, sides = with_margin(core, 0, self.work.domain)
        with self.work.device(self.group, wide, self.work.domain.part(wide, sides)) as state:
            return _sea(self.work).low(np.array(state["elevation"])), open_border(
                core, self.work.domain.shape, self.work.domain.sides
            )


@dataclass(frozen=True)
class LowGround(OfGround):
    """Ground below sea level before it becomes a state."""

    sea: SeaOnParts
    domain: Domain

    @property
    def sides(self) -> Sides:
        """What lies beyond the whole."""
        return self.domain.sides

    @property
    def diagonally(self) -> bool:
        """Whether water passes between two cells that touch at a corner only."""
        return self.sea.diagonally

    def look(self, core: Window) -> tuple[Mask, Mask]:
        """Low ground in a window, and where the sea comes in."""
        part = self.ground.part(core, ["elevation"])
        z = part["elevation"]
        heights = z if part.nodata is None else np.where(part.nodata, np.float32(np.nan), z)
        return self.sea.low_ground(heights), open_border(core, self.domain.shape, self.domain.sides)


@dataclass(frozen=True)
class LowWays(OfGround):
    """Ground not above a level, from which a way may lead to the border or to nodata that is nowhere above it."""

    level: float
    sides = Sides.of("open")
    diagonally = True

    def look(self, core: Window) -> tuple[Mask, Mask]:
        """Low ground in a window, and where ways end."""
        wide = widened(core, 1, self.grid.shape)
        part = self.ground.part(wide, ["elevation"])
        missing = np.zeros(part.shape, bool) if part.nodata is None else part.nodata
        rows, columns = core
        # Beyond the border there is none; a window that ends at another tile has its cells there already.
        beyond = ((int(rows.start == 0), int(rows.stop == self.grid.shape[0])),
                  (int(columns.start == 0), int(columns.stop == self.grid.shape[1])))  # fmt: skip
        framed = np.pad(missing, beyond, constant_values=True)
        height, width = rows.stop - rows.start, columns.stop - columns.start
        beside = np.zeros((height, width), bool)
        for down in range(3):
            for right in range(3):
                beside |= framed[down : down + height, right : right + width]
        here = inside(core, wide)
        return (part["elevation"][here] <= self.level) & ~missing[here], beside


def open_border(core: Window, shape: tuple[int, int], sides: Sides) -> Mask:
    """Cells of a window along open sides of the whole."""
    (rows, columns), (height, width) = core, shape
    mask = np.zeros((rows.stop - rows.start, columns.stop - columns.start), bool)
    mask[0] |= rows.start == 0 and sides.north == "open"
    mask[-1] |= rows.stop == height and sides.south == "open"
    mask[:, 0] |= columns.start == 0 and sides.west == "open"
    mask[:, -1] |= columns.stop == width and sides.east == "open"
    return mask


# What happens to the state


def settle_sea(work: Work, deed: Deed, source: str, target: str, before: int, run: Run) -> list[Report]:
    """Take the state through one part of the end of settling; returns what the tiles have to say."""
    numbers = range(len(work.grid))
    find_reached(LowState(work, source), COVERED, run, "finding the sea")
    load = None
    if deed == "sink":
        load = _passed_on(work, source, run)
    work.create(target)
    calls = [(work, deed, source, target, before, load, n) for n in numbers]
    reports = run(sea_tile, calls, {"sink": "sinking", "deposit": "settling", "evaporate": "drying"}[deed])
    for path in (COVERED, ROOM.path, *(_load(turn).path for turn in (0, 1))):
        work.store.remove(path)
    return reports


def _passed_on(work: Work, source: str, run: Run) -> Field:
    """Pass on what has no room; returns the array of what each cell has in the end."""
    store, grid, sea, numbers = work.store, work.grid, _sea(work), range(len(work.grid))
    for field in (ROOM, _load(0), _load(1)):
        store.create(field, grid)
    run(load_tile, [(work, source, n) for n in numbers], "what the sea carries")
    done = turn = 0
    longest = PASSES_ALONE if len(grid) == 1 else min(PASSES, *grid.tile)

    def take(passes: int) -> list[float]:
        """Take passes; returns the most that any cell had to pass on before each."""
        calls = [(work, _load(turn), _load(1 - turn), passes, n) for n in numbers]
        most = run(pass_on_tile, calls, f"passing on sediment, {done} passes")
        return [max(found) for found in zip(*most, strict=True)]

    while done < sea.most_passes:
        passes = min(longest, sea.most_passes - done)
        found = take(passes)
        needed = next((k for k, most in enumerate(found) if most <= sea.fits), passes)
        if needed == 0:
            break
        if needed < passes:
            take(needed)
        turn, done = 1 - turn, done + needed
        if needed < passes:
            break
    return _load(turn)


def load_tile(work: Work, group: str, number: int) -> None:
    """Write what the sea carries in a tile, and how much fits below its surface."""
    core = work.grid.window(number)
    covered = work.store.read(field_at(COVERED), work.grid, core)
    wide, sides = with_margin(core, 0, work.domain)
    with work.device(group, wide, work.domain.part(wide, sides)) as state:
        load, room = _sea(work).carried(state, covered)
    work.store.write(_load(0), work.grid, number, load)
    work.store.write(ROOM, work.grid, number, room.astype(np.float32))


def pass_on_tile(work: Work, before: Field, after: Field, passes: int, number: int) -> list[float]:
    """Pass on sediment so many times; returns the most that a cell had to pass on before each."""
    core = work.grid.window(number)
    wide, sides = with_margin(core, passes + 1, work.domain)  # one more, for the neighbours that are counted
    own = inside(core, wide)
    load, room, covered = (work.store.read(field, work.grid, wide) for field in (before, ROOM, field_at(COVERED)))
    most = [0.0] * passes
    if (load > room).any():  # else nothing moves here
        load, most = _sea(work).pass_on(load, room, covered, sides, passes, own)
    work.store.write(after, work.grid, number, load[own])
    return most


def sea_tile(work: Work, deed: Deed, source: str, target: str, before: int, load: Field | None, number: int) -> Report:
    """Let the sea of one tile do what it does at the end of settling."""
    begin = computing_seconds()
    core, sea = work.grid.window(number), _sea(work)
    wide, sides = with_margin(core, 1, work.domain)  # what lies bare depends on the neighbours
    domain = work.domain.part(wide, sides, core)
    covered = work.store.read(field_at(COVERED), work.grid, wide)
    with work.device(source, wide, domain, iterations=before) as state:
        if deed == "sink":
            assert load is not None
            sea.sink(state, domain, covered, work.store.read(load, work.grid, wide))
        elif deed == "deposit":
            sea.deposit(state, domain, covered)
        else:
            sea.evaporate(state, domain, covered)
        own = work.own(state, domain.own)
        amounts, bad = work.model.balance(own, domain)
        return Report(
            amounts=amounts,
            bad=None if bad is None else (bad[0], bad[1] + core[0].start, bad[2] + core[1].start),
            written=work.write(target, number, state, domain.own),
            seconds=computing_seconds() - begin,
        )


def _sea(work: Work) -> SeaOnParts:
    sea = sea_of(work)
    assert sea is not None
    return sea


def _load(turn: int) -> Field:
    return Field(path=f"state/sea-load-{turn}", dtype="float64")


# Between levels


def without_sea(before: Ground, level: float, path: str, run: Run) -> Ground:
    """A level's ground without the sea, as `recipes.levels` takes it away before the next level brings its own."""
    find_reached(LowWays(before, level), COVERED, run, "finding the sea")
    made = Ground(**{**vars(before), "path": path})
    made.create()
    calls = [(made, before, level, n) for n in range(len(before.grid))]
    ground = made.known(run(without_sea_tile, calls, "taking the sea away"))[0]
    before.store.remove(COVERED)
    return ground


def without_sea_tile(made: Ground, before: Ground, level: float, number: int) -> Survey:
    """Write a tile without the sea."""
    from slopewash.recipes.levels import drop_sea

    core = before.grid.window(number)
    part = before.part(core)
    low = before.store.read(field_at(COVERED), before.grid, core)
    if part.nodata is not None:  # where nothing is filled either
        low = np.where(part.nodata, part["elevation"] <= level, low)
    return made.write(number, drop_sea(part, low, level))


# How much of it is left


def share_below(ground: Ground, level: float, run: Run) -> float:
    """Share of a ground that lies below a level, nodata left out."""
    counts: list[int] = run(count_below, [(ground, level, n) for n in range(len(ground.grid))], "measuring the sea")
    return sum(counts) / ground.cells


def count_below(ground: Ground, level: float, number: int) -> int:
    """Cells of a tile below a level."""
    part = ground.part(ground.grid.window(number), ["elevation"])
    below = part["elevation"] < level
    return int(np.count_nonzero(below if part.nodata is None else below & ~part.nodata))
