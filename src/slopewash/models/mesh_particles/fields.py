"""Every field of a run of particles over a mesh. Lengths are in metres, heights above the datum, times in seconds."""

from __future__ import annotations

from typing import Any

from slopewash.terrain.fields import LAYERS, FieldSpec

DOUBLE, FLOAT, PLACE = ("float64",), ("float32", "float64"), ("int32",)


def _list(
    name: str, doc: str, each: str, dtypes: tuple[str, ...] = DOUBLE, *, required: bool = True, **facts: Any
) -> FieldSpec:
    """A field that is no layer: one value per vertex, triangle, particle, grain or emitter."""
    return FieldSpec(
        name=name, doc=doc, layer=False, place="list", each=each, dtypes=dtypes, required=required, **facts
    )


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
    FieldSpec(
        name="strata_top",
        units="m",
        doc="Top of the first stratum, absolute.",
        role="input",
        layer=False,
        dtypes=DOUBLE,
    ),
    _list("vertices", "East, south and height of each vertex.", "vertices", columns=3, units="m", role="prognostic"),
    _list(
        "triangles",
        "Vertices at the corners of each triangle.",
        "triangles",
        PLACE,
        columns=3,
        points_to="vertices",
        role="prognostic",
    ),
    _list(
        "areas_at_start", "Area of each triangle in plan when the mesh was made.", "triangles", units="m²", role="input"
    ),
    _list("height_at_start", "Ground at the start where each vertex was first.", "vertices", units="m", role="input"),
    _list(
        "first_vertices",
        "Vertices of the first mesh, with absolute heights.",
        "first vertices",
        columns=3,
        units="m",
        role="input",
    ),
    _list(
        "first_triangles",
        "Triangles of the first mesh.",
        "first triangles",
        PLACE,
        columns=3,
        points_to="first vertices",
        role="input",
    ),
    _list(
        "vertex_bedrock",
        "Top of the bedrock at each vertex: the lowest it ever was.",
        "vertices",
        units="m",
        role="prognostic",
    ),
    _list("pending_erosion", "Height to be eroded off each vertex.", "vertices", units="m", role="prognostic"),
    _list("pending_deposit", "Volume to be deposited on each vertex.", "vertices", units="m³", role="prognostic"),
    # The gpu adds erosion up in fixed point, which is exact in any order; `pending_erosion_scale` is a scalar.
    _list(
        "pending_erosion_units",
        "More height to be eroded, in 2⁻³² of the scale.",
        "vertices",
        ("int64",),
        required=False,
        role="prognostic",
    ),
    _list(
        "particle_position",
        "East, south and height of each particle.",
        "particles",
        FLOAT,
        columns=3,
        symbol="X",
        units="m",
        role="prognostic",
    ),
    _list(
        "particle_velocity",
        "Velocity of each particle.",
        "particles",
        FLOAT,
        columns=3,
        symbol="V",
        units="m/s",
        role="prognostic",
    ),
    _list("particle_birth", "Time at which each particle started.", "particles", units="s", role="prognostic"),
    _list(
        "particle_triangle",
        "Triangle below each particle.",
        "particles",
        PLACE,
        points_to="triangles",
        role="prognostic",
    ),
    _list(
        "particle_fate",
        "Whether each particle is there, left or gone.",
        "particles",
        ("int8",),
        within=(0, 2),
        role="prognostic",
    ),
    _list(
        "grain_carrier", "Particle that carries each grain.", "grains", PLACE, points_to="particles", role="prognostic"
    ),
    _list(
        "grain_steps", "Steps until each grain falls.", "grains", PLACE, symbol="ε", units="steps", role="prognostic"
    ),
    _list("grain_volume", "Volume of each grain.", "grains", units="m³", role="prognostic"),
    _list("emitters", "Emitters: x, y, radius, rate, speed, direction.", "emitters", columns=6, role="input"),
    _list(
        "emitter_due",
        "Particles that each emitter owes, less than one unless it pauses.",
        "emitters",
        role="prognostic",
    ),
    _list(
        "emitter_count",
        "Number of the next particle of each emitter.",
        "emitters",
        ("int64",),
        within=(0, 1 << 62),
        role="prognostic",
    ),
)

SUMS = {
    "step": int, "shifted": int, "born": int, "left": int, "evaporated": int, "time": float, "eroded": float,
    "deposited": float, "edge": float, "exported": float, "solids_start": float,
}  # fmt: skip
"""Sums and counts in a state."""
DEVICE_SUMS = {"pending_erosion_scale": float}
