"""The published systems, side by side behind one interface."""

from slopewash.models.base import Model, find_model, model_names
from slopewash.models.catalogue import Preset, find_preset, preset, presets
from slopewash.models.mesh_particles import MeshParticles
from slopewash.models.state import Sides
from slopewash.models.steepest_talus import SteepestTalus
from slopewash.models.velocity_field import VelocityField
from slopewash.models.virtual_pipes import VirtualPipes

__all__ = [
    "MeshParticles",
    "Model",
    "Preset",
    "Sides",
    "SteepestTalus",
    "VelocityField",
    "VirtualPipes",
    "find_model",
    "find_preset",
    "model_names",
    "preset",
    "presets",
]
