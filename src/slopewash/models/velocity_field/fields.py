"""Every field of a run of water particles. Lengths are in cells inside; units are those users see."""

from __future__ import annotations

from slopewash.terrain.fields import LAYERS, FieldSpec


def _own(name: str, doc: str) -> FieldSpec:
    """An input that is no layer."""
    return FieldSpec(name=name, doc=doc, role="input", layer=False)


SHARES = ("capacity", "talus", "sliding")
"""Layers that multiply a parameter, each only in the state where it differs from place to place."""

FIELDS = (
    LAYERS["elevation"].replace(symbol="T", role="prognostic", editable=True),
    LAYERS["suspended"].replace(
        role="prognostic", editable=True, doc="Sediment that found no room to be deposited, as a depth of ground."
    ),
    LAYERS["flow"].replace(
        symbol="W",
        role="prognostic",
        doc="Water that passed in the last iteration per unit of width; time is one iteration.",
    ),
    LAYERS["velocity"].replace(symbol="|V|"),
    LAYERS["velocity_east"].replace(symbol="V_x", role="prognostic"),
    LAYERS["velocity_south"].replace(symbol="V_y", role="prognostic"),
    LAYERS["collision_energy"].replace(symbol="E", role="prognostic"),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic"),
    LAYERS["erodibility"].replace(symbol="R", role="input", editable=True, default=1.0),
    LAYERS["rainfall"].replace(role="input", editable=True),
    LAYERS["capacity"].replace(role="input", editable=True),
    LAYERS["talus"].replace(role="input", editable=True),
    LAYERS["sliding"].replace(role="input", editable=True),
    _own("start", "Ground at the start."),
    _own("nodata", "Where there is no ground."),
    _own("strata_top", "Top of the first stratum, in metres."),
)
