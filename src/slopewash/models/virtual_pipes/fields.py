"""Every field of a run of virtual pipes. Lengths are in cells inside; units are those users see."""

from __future__ import annotations

from slopewash.terrain.fields import LAYERS, FieldSpec


def _own(name: str, doc: str, **facts: object) -> FieldSpec:
    """A field that is no layer."""
    return FieldSpec(name=name, doc=doc, layer=False, **facts)  # type: ignore[arg-type]


FIELDS = (
    LAYERS["elevation"].replace(symbol="b", role="prognostic", editable=True),
    LAYERS["water"].replace(symbol="w", role="prognostic", editable=True),
    LAYERS["suspended"].replace(symbol="s", role="prognostic", editable=True),
    LAYERS["erodibility"].replace(symbol="R", role="prognostic", editable=True),
    LAYERS["flow"].replace(role="accumulated"),
    LAYERS["velocity"].replace(symbol="v"),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic"),
    LAYERS["rainfall"].replace(symbol="r", role="input", editable=True),
    LAYERS["evaporation"].replace(role="input", editable=True),
    LAYERS["capacity"].replace(role="input", editable=True),
    LAYERS["talus"].replace(role="input", editable=True),
    LAYERS["sliding"].replace(role="input", editable=True),
    _own(
        "outflow",
        "Flow through the pipes: west, east, north, south and, where there are eight, nw, ne, sw, se.",
        symbol="f",
        role="prognostic",
    ),
    _own("start", "Ground at the start.", role="input"),
    _own("nodata", "Where there is no ground.", role="input"),
    _own("sources", "Water sources: x, y, radius, rate.", role="input", place="list"),
    _own("source_rate", "Depth that all water sources add per unit of time.", role="input"),
    _own("strata_top", "Top of the first stratum.", role="input"),
    _own("rock_erodibility", "With tilted beds: erodibility of the rock without them.", role="input"),
    _own("bed_phase", "With tilted beds: where in them the datum lies.", role="input"),
    _own("base_north", "Base level of the northern edge.", role="input", place="columns"),
    _own("base_south", "Base level of the southern edge.", role="input", place="columns"),
    _own("base_west", "Base level of the western edge.", role="input", place="rows"),
    _own("base_east", "Base level of the eastern edge.", role="input", place="rows"),
    _own("base_version", "Changes of its law before the base level was found.", role="input", place="list"),
    # Some backends sum by rows, others all at once: no part of the grid has a part of it.
    _own("budget", "What happened, in cells³: one column for each of `BUDGET`.", role="accumulated", place="list"),
    # The gpu counts changes of height from a level, because they are small beside it and float32 is coarse.
    _own("level", "Elevation that changes are counted from: the start, on open edges base level.", role="input"),
    _own("elevation_change", "Ground above the level.", role="prognostic"),
    _own("bedrock_change", "Bedrock above the level.", role="prognostic"),
)

SHARES = ("evaporation", "capacity", "talus", "sliding")
"""Layers that multiply a parameter, each only in the state where it differs from place to place."""

BUDGET = (
    "water_rain", "water_sources", "water_evaporated", "water_exported", "solids_exported", "solids_moved", "water_sea",
)  # fmt: skip
RAIN, SOURCES, EVAPORATED, WATER_EXPORTED, SOLIDS_EXPORTED, MOVED, SEA = range(len(BUDGET))
"""Columns of `budget`; each amount is summed where it happens."""
BASES = ("base_north", "base_south", "base_west", "base_east")
