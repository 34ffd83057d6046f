"""Erosion of a triangle mesh by a fluid of particles."""

import slopewash.models.mesh_particles.presets  # noqa: F401, registers them
from slopewash.models.mesh_particles.model import MeshParticles

__all__ = ["MeshParticles"]
