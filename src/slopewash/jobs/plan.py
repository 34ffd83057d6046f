"""What a recipe does, in order, on which grid: a tuple of steps, known before anything runs.

Runs in memory and on tiles take the same steps of a level, `slopewash run --plan` prints those of a recipe, and its
estimate of memory and time adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from slopewash.terrain.resampling import resampled_shape

if TYPE_CHECKING:
    from slopewash.recipes.definition import Stage


@dataclass(frozen=True)
class Prepare:
    """Make the ground of a level: the start on its grid, with what the level before has changed."""

    steps: ClassVar[int] = 0
    words: ClassVar[str] = "prepare"


@dataclass(frozen=True)
class Erode:
    """Step the model as it was asked for."""

    steps: int
    words: ClassVar[str] = "erode"


@dataclass(frozen=True)
class Settle:
    """Step the model while its power to erode fades, then lay down what the water carries; none is left where `dry`."""

    steps: int
    dry: bool = False
    words: ClassVar[str] = "settle"


@dataclass(frozen=True)
class Lower:
    """Change to the parameters of low water."""

    steps: ClassVar[int] = 0
    words: ClassVar[str] = "lower the water"


@dataclass(frozen=True)
class Recede:
    """Step the model at low water, until the flood has left."""

    steps: int
    words: ClassVar[str] = "recede"


@dataclass(frozen=True)
class Carve:
    """Draw gullies into what the model leaves."""

    depth: float
    steps: ClassVar[int] = 0
    words: ClassVar[str] = "draw gullies"


@dataclass(frozen=True)
class Blend:
    """Keep of a stage what the mask asks for."""

    steps: ClassVar[int] = 0
    words: ClassVar[str] = "blend by the mask"


Step = Prepare | Erode | Settle | Lower | Recede | Carve | Blend


@dataclass(frozen=True)
class Position:
    """How far a level has come: steps of its plan that are done, and how much of the next."""

    step: int = 0
    done: int = 0


@dataclass(frozen=True)
class Planned:
    """A step of a recipe, and where it is taken."""

    number: int
    """Of the level among those of all stages, from 0."""
    stage: Stage
    """That level."""
    shape: tuple[int, int]
    """Rows and columns of its grid."""
    step: Step


def first_level(stages: Sequence[Stage], number: int) -> int:
    """Number of the first level of the stage that a level belongs to: each is finer than the one before."""
    while number and (stages[number - 1].cells or 1 << 30) < (stages[number].cells or 0):
        number -= 1
    return number


def levels_of(stages: Sequence[Stage], number: int) -> Sequence[Stage]:
    """The levels of the stage that a level belongs to; itself alone where there are none."""
    first, end = first_level(stages, number), number + 1
    while end < len(stages) and first_level(stages, end) == first:
        end += 1
    return stages[first:end]


def grid_of(stage: Stage, shape: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of the grid that a level runs on, over a start of that shape."""
    return shape if stage.cells is None else resampled_shape(shape, stage.cells)


def steps_of_level(stage: Stage, shape: tuple[int, int]) -> tuple[Step, ...]:
    """What the model of a level does on a grid of that shape.

    >>> import slopewash as sw
    >>> [step.words for step in steps_of_level(sw.Stage.of("jako2011", steps=30, settle=8), (20, 16))]
    ['erode', 'settle']
    """
    steps: list[Step] = [Erode(stage.steps)] if stage.steps else []
    if stage.settle is not None:  # also of 0 steps: that lays down the sediment
        steps.append(Settle(stage.settle, stage.dry))
    receding = stage.receding_steps(shape)
    return (*steps, Lower(), Recede(receding)) if receding else tuple(steps)


def plan(stages: Sequence[Stage], shape: tuple[int, int], *, masked: bool = False) -> tuple[Planned, ...]:
    """All steps of levels, each a stage of its own, over a start of that shape.

    >>> import slopewash as sw
    >>> [f"{p.step.words} {p.step.steps}" for p in plan([sw.Stage.of("jako2011", steps=30)], (20, 16))]
    ['erode 30', 'settle 0']
    """
    found: list[Planned] = []
    for number, stage in enumerate(stages):
        grid = grid_of(stage, shape)
        steps: list[Step] = [] if stage.cells is None else [Prepare()]
        steps += steps_of_level(stage, grid)
        if stage.gullies:
            steps.append(Carve(stage.gullies))
        if masked and stage is levels_of(stages, number)[-1]:
            steps.append(Blend())
        found += [Planned(number, stage, grid, step) for step in steps]
    return tuple(found)
