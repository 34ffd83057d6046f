"""Named parameter sets of the particle fluid over a mesh."""

from __future__ import annotations

from slopewash.models.mesh_particles.model import MeshParticles
from slopewash.models.presets import Preset, register_preset

register_preset(
    Preset(
        name="bezin2010",
        doc="Figure 3 of Bézin et al.: streams fall down a mountain, cut channels and build fans at its foot.",
        model=MeshParticles(erosion_rate=0.04, transport_time=1500, drag=0.8),
        edges="open",
        steps=3000,
        generator="dome",
        start={"size": 257, "cell_size": 10.0},
    )
)
