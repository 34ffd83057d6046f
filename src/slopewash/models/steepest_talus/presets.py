"""Named parameter sets of the steepest-neighbour talus model."""

from __future__ import annotations

from slopewash.models.catalogue import Preset, register_preset
from slopewash.models.steepest_talus.model import SteepestTalus

register_preset(
    Preset(
        name="outerrain",
        doc="The Outerrain post as published: drops above 0.6 cells slide, to diagonal neighbours too.",
        model=SteepestTalus(diagonals="printed"),
        edges="closed",
        steps=300,
        generator="diamond_square",
    )
)
