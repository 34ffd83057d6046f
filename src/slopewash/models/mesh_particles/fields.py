"""Every field of a run of particles over a mesh. Lengths are in metres, heights above the datum, times in seconds."""

from __future__ import annotations

from slopewash.terrain.fields import LAYERS, FieldSpec


def _list(name: str, doc: str, **facts: object) -> FieldSpec:
    """A field that is no layer: one value per vertex, triangle, particle, grain or emitter."""
    return FieldSpec(name=name, doc=doc, layer=False, place="list", **facts)  # type: ignore[arg-type]


FIELDS = (
    LAYERS["elevation"],
    LAYERS["water"],
    LAYERS["suspended"],
    LAYERS["velocity"].replace(doc="Mean speed of the particles; this model's time is in seconds."),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    *(LAYERS[name].replace(role="input") for name in ("bedrock", "erodibility")),  # derived where there are strata
    FieldSpec(name="strata_top", units="m", doc="Top of the first stratum, absolute.", role="input", layer=False),
    _list("vertices", "East, south and height of each vertex.", units="m", role="prognostic"),
    _list("triangles", "Vertices at the corners of each triangle.", role="prognostic"),
    _list("areas_at_start", "Area of each triangle in plan when the mesh was made.", units="m²", role="input"),
    _list("height_at_start", "Ground at the start where each vertex was first.", units="m", role="input"),
    _list("first_vertices", "Vertices of the first mesh, with absolute heights.", units="m", role="input"),
    _list("first_triangles", "Triangles of the first mesh.", role="input"),
    _list("vertex_bedrock", "Top of the bedrock at each vertex: the lowest it ever was.", units="m", role="prognostic"),
    _list("pending_erosion", "Height to be eroded off each vertex.", units="m", role="prognostic"),
    _list("pending_deposit", "Volume to be deposited on each vertex.", units="m³", role="prognostic"),
    # The gpu adds erosion up in fixed point, which is exact in any order; `pending_erosion_scale` is a scalar.
    _list("pending_erosion_units", "More height to be eroded, in 2⁻³² of the scale.", role="prognostic"),
    _list("particle_position", "East, south and height of each particle.", symbol="X", units="m", role="prognostic"),
    _list("particle_velocity", "Velocity of each particle.", symbol="V", units="m/s", role="prognostic"),
    _list("particle_birth", "Time at which each particle started.", units="s", role="prognostic"),
    _list("particle_triangle", "Triangle below each particle.", role="prognostic"),
    _list("particle_fate", "Whether each particle is there, left or gone.", role="prognostic"),
    _list("grain_carrier", "Particle that carries each grain.", role="prognostic"),
    _list("grain_steps", "Steps until each grain falls.", symbol="ε", units="steps", role="prognostic"),
    _list("grain_volume", "Volume of each grain.", units="m³", role="prognostic"),
    _list("emitters", "Emitters: x, y, radius, rate, speed, direction.", role="input"),
    _list("emitter_due", "Particles that each emitter owes, less than one unless it pauses.", role="prognostic"),
    _list("emitter_count", "Number of the next particle of each emitter.", role="prognostic"),
)
