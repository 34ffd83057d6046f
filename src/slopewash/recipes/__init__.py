"""A whole job: where the terrain comes from, what is done to it, and what is written."""

from slopewash.recipes import export_kinds, output_kinds  # noqa: F401  (which register them)
from slopewash.recipes.calls import erode, resume
from slopewash.recipes.definition import Beds, Recipe, Stage, preset_beds, preset_source, recipe, usual_preset
from slopewash.recipes.layers import LayerFile
from slopewash.recipes.library import Look, looks
from slopewash.recipes.maps import Map
from slopewash.recipes.outputs import Output
from slopewash.recipes.recording import Recording
from slopewash.recipes.results import Result
from slopewash.recipes.running import Running
from slopewash.recipes.schema import recipe_schema
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, Source

__all__ = [
    "Beds",
    "FromFile",
    "FromTerrain",
    "Generated",
    "LayerFile",
    "Look",
    "Map",
    "Output",
    "Recipe",
    "Recording",
    "Result",
    "Running",
    "Source",
    "Stage",
    "erode",
    "looks",
    "preset_beds",
    "preset_source",
    "recipe",
    "recipe_schema",
    "resume",
    "usual_preset",
]
