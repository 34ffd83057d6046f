"""Every field of a run of water particles. Lengths are in cells inside; units are those users see."""

from __future__ import annotations

from typing import Any

from slopewash.terrain.fields import LAYERS, FieldSpec

DOUBLE: dict[str, Any] = {"dtypes": ("float64",)}
ALWAYS: dict[str, Any] = {"required": True, **DOUBLE}


def _own(name: str, doc: str, **facts: Any) -> FieldSpec:
    """An input that is no layer."""
    return FieldSpec(name=name, doc=doc, role="input", layer=False, **facts)


SHARES = ("capacity", "talus", "sliding")
"""Layers that multiply a parameter, each only in the state where it differs from place to place."""

FIELDS = (
    LAYERS["elevation"].replace(symbol="T", role="prognostic", editable=True, **ALWAYS),
    LAYERS["suspended"].replace(
        role="prognostic",
        editable=True,
        doc="Sediment that found no room to be deposited, as a depth of ground.",
        **ALWAYS,
    ),
    LAYERS["flow"].replace(
        symbol="W",
        role="prognostic",
        doc="Water that passed in the last iteration per unit of width; time is one iteration.",
        **ALWAYS,
    ),
    LAYERS["velocity"].replace(symbol="|V|"),
    LAYERS["velocity_east"].replace(symbol="V_x", role="prognostic", **ALWAYS),
    LAYERS["velocity_south"].replace(symbol="V_y", role="prognostic", **ALWAYS),
    LAYERS["collision_energy"].replace(symbol="E", role="prognostic", **ALWAYS),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic", **DOUBLE),
    LAYERS["erodibility"].replace(symbol="R", role="input", editable=True, default=1.0, **DOUBLE),
    LAYERS["rainfall"].replace(role="input", editable=True, **ALWAYS),
    LAYERS["capacity"].replace(role="input", editable=True, **DOUBLE),
    LAYERS["talus"].replace(role="input", editable=True, **DOUBLE),
    LAYERS["sliding"].replace(role="input", editable=True, **DOUBLE),
    _own("start", "Ground at the start.", **ALWAYS),
    _own("nodata", "Where there is no ground.", dtypes=("bool",)),
    _own("strata_top", "Top of the first stratum, in metres.", **DOUBLE),
)

SUMS = {
    "water_rain": float, "water_evaporated": float, "water_exported": float, "solids_start": float,
    "solids_exported": float, "solids_moved": float, "solids_edited": float, "particle_steps": int,
}  # fmt: skip
"""Sums and counts in a state, lengths in cells."""
