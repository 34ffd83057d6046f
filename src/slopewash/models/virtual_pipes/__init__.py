"""Hydraulic and thermal erosion by water and soil in virtual pipes."""

import slopewash.models.virtual_pipes.presets  # noqa: F401, registers them
from slopewash.models.virtual_pipes.model import VirtualPipes

__all__ = ["VirtualPipes"]
