"""A level sea in what a stage on tiles leaves, as `recipes.seas` brings it about in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.models.sea import Sea
from slopewash.models.state import Sides, Window
from slopewash.tiles.arrays import Field
from slopewash.tiles.ground import Ground, span_of
from slopewash.tiles.output import Compressed
from slopewash.tiles.reach import OfGround, field_at, find_reached
from slopewash.tiles.sea import COVERED, open_border

Mask = NDArray[np.bool_]
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], str], list[Any]]
UNEVEN = Field(path="state/uneven-water", dtype="float32")


class Uneven(Ground):
    """A ground whose water is not level yet: it lies apart, so that a task that is repeated finds it as it was."""

    def field(self, name: str) -> Field:
        """Array of a layer."""
        return UNEVEN if name == "water" else super().field(name)


class UnevenCompressed(Uneven, Compressed):
    """The same of a result."""


@dataclass(frozen=True)
class Reach(OfGround):
    """Ground below the level of a sea, and where it comes in."""

    sea: Sea

    @property
    def sides(self) -> Sides:
        """What lies beyond the whole."""
        return self.sea.sides

    @property
    def diagonally(self) -> bool:
        """Whether water passes between two cells that touch at a corner only."""
        return self.sea.diagonally

    def look(self, core: Window) -> tuple[Mask, Mask]:
        """Low ground in a window, and where the sea comes in."""
        low = self.sea.low(self.ground.part(core, ["elevation"]))
        return low, open_border(core, self.ground.shape, self.sea.sides)


@dataclass(frozen=True)
class Levelled:
    """What a tile holds after the sea has come to its level: the range of depths, and volumes in cubic metres."""

    span: tuple[float, float]
    before: float
    after: float


def uneven(after: Ground) -> Ground:
    """The ground that a stage leaves, as it is written before its sea is level."""
    kind = UnevenCompressed if isinstance(after, Compressed) else Uneven
    return kind(**{f.name: getattr(after, f.name) for f in dataclasses.fields(after)})


def level_sea(after: Ground, sea: Sea, *, gone: bool, run: Run) -> tuple[Ground, list[Levelled]]:
    """Write the water of a ground with the sea at its level, or `gone` where the next stage brings its own."""
    rough = uneven(after)
    find_reached(Reach(rough, sea), COVERED, run, "finding the sea")
    tiles: list[Levelled] = run(
        level_tile, [(rough, after, sea, gone, n) for n in range(len(after.grid))], "levelling the sea"
    )
    for path in (COVERED, UNEVEN.path):
        after.store.remove(path)
    ranges = {**after.ranges, "water": span_of(tile.span for tile in tiles)}
    water = sum(tile.after for tile in tiles) / after.cell_size**2
    return dataclasses.replace(after, ranges=ranges, water=water), tiles


def level_tile(rough: Ground, after: Ground, sea: Sea, gone: bool, number: int) -> Levelled:
    """Write the water of one tile."""
    core = rough.grid.window(number)
    part = rough.part(core, ["elevation", "water"])
    reached = rough.store.read(field_at(COVERED), rough.grid, core)
    made = sea.gone(part, reached) if gone else sea.levelled(part, reached)
    after.store.write(after.field("water"), after.grid, number, made["water"])
    before, now = (float(terrain["water"].sum(dtype=np.float64)) * part.cell_size**2 for terrain in (part, made))
    return Levelled(made.range("water"), before, now)
