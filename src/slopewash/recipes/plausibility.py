"""What `slopewash run --check` questions without a run: values and seas, on a coarse look at the ground."""

from __future__ import annotations

from slopewash.models.unusual import question
from slopewash.recipes.definition import Recipe
from slopewash.recipes.levels import expanded
from slopewash.recipes.maps import check_maps, place_maps
from slopewash.recipes.sources import FromFile, FromTerrain
from slopewash.terrain import Terrain

COARSE = 64
"""Cells along the longer side of the ground that is looked at: its lowest and highest are what matters."""
LONGEST = 4096
"""Cells along a side of the largest file that is read for it."""


def question_recipe(recipe: Recipe) -> None:
    """Warn of what is unusual in a recipe, as its run would; files that take long to read are not looked at."""
    terrain = _coarse(recipe)
    if terrain is None:
        question([stage.model for stage in recipe.stages], (0.0, -1.0))
        return
    stages, terrain = place_maps(recipe.stages, terrain)
    check_maps(stages, terrain, terrain.range)
    models = [level.model for stage in stages for level in expanded(stage, terrain)]
    question(models, terrain.range("elevation"), terrain.range)


def _coarse(recipe: Recipe) -> Terrain | None:
    """The ground on few cells, or None where that would take long."""
    source = recipe.source
    if isinstance(source, FromFile) and (source.path.suffix.lower() == ".zarr" or source.longest > LONGEST):
        return None
    if not isinstance(source, FromTerrain):
        recipe = recipe.replace(source=source.resized(COARSE))
    return recipe.terrain()
