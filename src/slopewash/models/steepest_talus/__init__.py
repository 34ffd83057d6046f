"""Thermal erosion: soil slides to the steepest neighbour until every slope stands."""

import slopewash.models.steepest_talus.presets  # noqa: F401, registers them
from slopewash.models.steepest_talus.model import SteepestTalus

__all__ = ["SteepestTalus"]
