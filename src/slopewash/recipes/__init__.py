"""A whole job: where the terrain comes from, what is done to it, and what is written."""

from slopewash.recipes.definition import Beds, Output, Recipe, Stage, preset_beds, preset_source, recipe, usual_preset
from slopewash.recipes.library import Look, looks
from slopewash.recipes.recording import Recording
from slopewash.recipes.running import Result, Running, erode, resume
from slopewash.recipes.sources import FromFile, FromTerrain, Generated, Source

__all__ = [
    "Beds",
    "FromFile",
    "FromTerrain",
    "Generated",
    "Look",
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
    "resume",
    "usual_preset",
]
