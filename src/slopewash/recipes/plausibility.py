"""What is questioned in a recipe: parts that have no effect, and by `slopewash run --check` also values and seas."""

from __future__ import annotations

import math
from collections.abc import Iterator

from slopewash.models.maps import maps_of
from slopewash.models.state import Sides
from slopewash.models.unusual import ask, question
from slopewash.recipes.bedrock import BEDROCK
from slopewash.recipes.definition import Recipe
from slopewash.recipes.levels import expanded
from slopewash.recipes.maps import check_maps, place_maps
from slopewash.recipes.masking import MASK
from slopewash.recipes.sources import FromFile, FromTerrain
from slopewash.terrain import Terrain

COARSE = 64
"""Cells along the longer side of the ground that is looked at: its lowest and highest are what matters."""
LONGEST = 4096
"""Cells along a side of the largest file that is read for it."""


def question_recipe(recipe: Recipe) -> None:
    """Warn of what is unusual in a recipe, as its run would; files that take long to read are not looked at."""
    question_parts(recipe)
    terrain = _coarse(recipe)
    if terrain is None:
        question([stage.model for stage in recipe.stages], (0.0, -1.0))
        return
    stages, terrain = place_maps(recipe.stages, terrain)
    check_maps(stages, terrain, terrain.range)
    models = [level.model for stage in stages for level in expanded(stage, terrain)]
    question(models, terrain.range("elevation"), terrain.range)


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
    mapped = _mapped(recipe)
    names = list(dict.fromkeys(model.name for model in models))
    for name in recipe.layers:
        if name not in read | mapped | {MASK}:
            yield f"layer {name} has no effect: {' and '.join(names)} {'does' if len(names) == 1 else 'do'} not read it"
    for stage in recipe.stages:
        if stage.model.water_beyond > -math.inf and not Sides.of(stage.edges).any_open:
            yield f"sea_level is {stage.model.water_beyond:g} m, but no edge is open: there is no sea"


def _coarse(recipe: Recipe) -> Terrain | None:
    """The ground on few cells, or None where that would take long."""
    source = recipe.source
    if isinstance(source, FromFile) and (source.path.suffix.lower() == ".zarr" or source.longest > LONGEST):
        return None
    if not isinstance(source, FromTerrain):
        # On coarse ground, nothing can be said of bedrock that is to lie below fine ground.
        layers = {name: layer for name, layer in recipe.layers.items() if name != BEDROCK or name in _mapped(recipe)}
        recipe = recipe.replace(source=source.resized(COARSE), layers=layers)
    return recipe.terrain()


def _mapped(recipe: Recipe) -> set[str | None]:
    """Layers that are maps of parameters."""
    return {given.layer for stage in recipe.stages for given in maps_of(stage.model).values()}
