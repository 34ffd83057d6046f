"""The beginning of a run on little ground: `slopewash run --check` refuses and questions what the run would."""

from __future__ import annotations

from slopewash.models.unusual import question
from slopewash.recipes.bedrock import BEDROCK
from slopewash.recipes.definition import Recipe
from slopewash.recipes.needs import shape_of
from slopewash.recipes.plausibility import mapped_layers, question_parts
from slopewash.recipes.running import Running
from slopewash.recipes.sources import FromFile, FromTerrain
from slopewash.terrain import Terrain

LITTLE = 512
"""Cells along the longer side up to which the ground itself is taken; larger ground is taken with so many."""
LONGEST = 4096
"""Cells along a side of the largest file that is read for it."""


def rehearse(recipe: Recipe) -> None:
    """Begin a recipe as its run would, and end it before the first step; files that take long to read are left out."""
    ground = _little(recipe)
    if ground is None:
        question([stage.model for stage in recipe.stages], (0.0, -1.0))
        question_parts(recipe)
        return
    everywhere = all("reference" in stage.model.backends for stage in recipe.stages)
    Running(recipe.replace(backend="reference") if everywhere else recipe, ground).close()


def _little(recipe: Recipe) -> Terrain | None:
    """The ground, on few cells where it has many, or None where that would take long."""
    source = recipe.source
    if isinstance(source, FromFile) and (source.path.suffix.lower() == ".zarr" or source.longest > LONGEST):
        return None
    if not isinstance(source, FromTerrain) and max(shape_of(source)) > LITTLE:
        # On coarse ground, nothing can be said of bedrock that is to lie below fine ground.
        left_out = {BEDROCK} - mapped_layers(recipe)
        layers = {name: layer for name, layer in recipe.layers.items() if name not in left_out}
        recipe = recipe.replace(source=source.resized(LITTLE), layers=layers)
    return recipe.terrain()
