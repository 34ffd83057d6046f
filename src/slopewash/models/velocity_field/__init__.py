"""Erosion by the velocity field of water particles."""

import slopewash.models.velocity_field.presets  # noqa: F401, registers them
from slopewash.models.velocity_field.model import VelocityField

__all__ = ["VelocityField"]
