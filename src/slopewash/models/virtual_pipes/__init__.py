"""Hydraulic and thermal erosion by water and soil in virtual pipes."""

from slopewash.models.virtual_pipes import presets as _presets  # registers them
from slopewash.models.virtual_pipes.model import VirtualPipes

__all__ = ["VirtualPipes"]
