"""What is questioned in a recipe: parts that have no effect."""

from __future__ import annotations

import math
from collections.abc import Iterator

from slopewash.models.maps import maps_of
from slopewash.models.state import Sides
from slopewash.models.unusual import ask
from slopewash.recipes.definition import Recipe
from slopewash.recipes.masking import MASK


def question_parts(recipe: Recipe) -> None:
    """Warn of what a recipe holds to no effect: layers that no stage reads, and seas that no edge lets in."""
    ask(parts_without_effect(recipe), stacklevel=3)


def parts_without_effect(recipe: Recipe) -> Iterator[str]:
    """Sentences about them.

    >>> import slopewash as sw
    >>> [*parts_without_effect(sw.recipe("outerrain").replace(layers={"rainfall": 2.0}))]
    ['layer rainfall has no effect: steepest_talus does not read it']
    >>> [*parts_without_effect(sw.recipe("jako2011", sea_level=90.0))]
    ['sea_level is 90 m, but no edge is open: there is no sea']
    """
    models = [stage.model for stage in recipe.stages]
    read = {name for m in models for name, field in m.layers().items() if field.role in ("prognostic", "input")}
    mapped = mapped_layers(recipe)
    names = list(dict.fromkeys(model.name for model in models))
    for name in recipe.layers:
        if name not in read | mapped | {MASK}:
            yield f"layer {name} has no effect: {' and '.join(names)} {'does' if len(names) == 1 else 'do'} not read it"
    for stage in recipe.stages:
        if stage.model.water_beyond > -math.inf and not Sides.of(stage.edges).any_open:
            yield f"sea_level is {stage.model.water_beyond:g} m, but no edge is open: there is no sea"


def mapped_layers(recipe: Recipe) -> set[str | None]:
    """Layers that are maps of parameters."""
    return {given.layer for stage in recipe.stages for given in maps_of(stage.model).values()}
