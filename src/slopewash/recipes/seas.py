"""The sea from stage to stage: which one a stage ends with, and what it leaves to the next.

A stage ends with a level sea, whatever its model does to the ground below: also one whose model knows no water, in
which the sea of the stage before goes on standing. A model with water takes over the sea of the stage before where it
has none of its own and an open edge; where all edges are closed or periodic, that sea becomes a lake that may move.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from slopewash.errors import InvalidParameter
from slopewash.models import Model
from slopewash.models.sea import Sea
from slopewash.models.state import Sides
from slopewash.recipes.definition import Stage
from slopewash.terrain import Terrain


def holds_water(model: Model) -> bool:
    """Whether water that lies on the ground moves in a model; in others it stands, or is the model's own."""
    water = model.layers().get("water")
    return water is not None and water.role == "prognostic"


def check_dry(stages: Sequence[Stage], layers: Iterable[str]) -> None:
    """Refuse to dry ground in a stage whose model has no water, where a stage before, or the start, leaves some.

    >>> check_dry([Stage.of("single_grid"), Stage.of("outerrain", dry=True)], ())
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidParameter: dry is set in stage 2, but steepest_talus has no water that could evaporate; ...
    """
    wet = "water" in layers
    for number, stage in enumerate(stages, 1):
        if "water" in stage.model.layers():
            wet = not stage.dry
        elif stage.dry and wet:
            where = f" in stage {number}" if len(stages) > 1 else ""
            raise InvalidParameter(
                f"dry is set{where}, but {stage.model.name} has no water that could evaporate; leave it out"
                + (", or set it in the stage that leaves the water" if number > 1 else "")
            )


def sea_after(stages: Sequence[Stage]) -> Sea | None:
    """The sea in which some stages end; None for none.

    >>> coast = Stage.of("landscape", strength=0.1).with_parameters(sea_level=40.0)
    >>> talus = Stage.of("outerrain", steps=3)
    >>> sea_after([coast, talus]).level, sea_after([talus])
    (40.0, None)
    """
    sea = None
    for stage in stages:
        level = stage.sea_left
        if level is not None:
            sea = Sea(level=level, sides=Sides.of(stage.edges), diagonally=stage.model.fills_diagonally)
        elif holds_water(stage.model):
            sea = None
    return sea


def brings_sea(stage: Stage) -> bool:
    """Whether a stage begins with a sea of its own."""
    return dataclasses.replace(stage, low_water={}).sea_left is not None


def inherited(stages: Sequence[Stage], number: int, end: int) -> list[Stage]:
    """Return the same stages, those from a number to an end with the sea of those before where they have none."""
    sea = sea_after(stages[:number])
    return [
        dataclasses.replace(stage, model=stage.model.with_sea(sea.level))
        if sea is not None and number <= n < end and not brings_sea(stage) and Sides.of(stage.edges).any_open
        else stage
        for n, stage in enumerate(stages)
    ]


def handed_on(terrain: Terrain, sea: Sea | None, following: Stage) -> Terrain:
    """Return the terrain that a stage begins with: without a sea before it where the stage brings its own."""
    return sea.gone(terrain) if sea is not None and brings_sea(following) else terrain
