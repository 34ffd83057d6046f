"""Every field of a run of virtual pipes. Lengths are in cells inside; units are those users see."""

from __future__ import annotations

from typing import Any

from slopewash.terrain.fields import LAYERS, FieldSpec

FLOAT: dict[str, Any] = {"dtypes": ("float32", "float64")}
"""The reference also runs in double precision."""
ALWAYS: dict[str, Any] = {"required": True, **FLOAT}

BUDGET = (
    "water_rain", "water_sources", "water_evaporated", "water_exported", "solids_exported", "solids_moved", "water_sea",
)  # fmt: skip
RAIN, SOURCES, EVAPORATED, WATER_EXPORTED, SOLIDS_EXPORTED, MOVED, SEA = range(len(BUDGET))
"""Columns of `budget`; each amount is summed where it happens."""


def _own(name: str, doc: str, **facts: Any) -> FieldSpec:
    """A field that is no layer."""
    return FieldSpec(name=name, doc=doc, layer=False, **facts)


FIELDS = (
    LAYERS["elevation"].replace(symbol="b", role="prognostic", editable=True, **ALWAYS),
    LAYERS["water"].replace(symbol="w", role="prognostic", editable=True, **ALWAYS),
    LAYERS["suspended"].replace(symbol="s", role="prognostic", editable=True, **ALWAYS),
    LAYERS["erodibility"].replace(symbol="R", role="prognostic", editable=True, **ALWAYS),
    LAYERS["flow"].replace(role="accumulated", **ALWAYS),
    LAYERS["velocity"].replace(symbol="v"),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic", **FLOAT),
    LAYERS["rainfall"].replace(symbol="r", role="input", editable=True, **ALWAYS),
    LAYERS["evaporation"].replace(role="input", editable=True, **FLOAT),
    LAYERS["capacity"].replace(role="input", editable=True, **FLOAT),
    LAYERS["talus"].replace(role="input", editable=True, **FLOAT),
    LAYERS["sliding"].replace(role="input", editable=True, **FLOAT),
    _own(
        "outflow",
        "Flow through the pipes: west, east, north, south and, where there are eight, nw, ne, sw, se.",
        symbol="f",
        role="prognostic",
        planes=(4, 8),
        **ALWAYS,
    ),
    _own("start", "Ground at the start.", role="input", **ALWAYS),
    _own("nodata", "Where there is no ground.", role="input", dtypes=("bool",)),
    _own(
        "sources",
        "Water sources: x, y, radius, rate.",
        role="input",
        place="list",
        columns=4,
        required=True,
        dtypes=("float64",),
    ),
    _own("source_rate", "Depth that all water sources add per unit of time.", role="input", **FLOAT),
    _own("strata_top", "Top of the first stratum.", role="input", **FLOAT),
    _own("rock_erodibility", "With tilted beds: erodibility of the rock without them.", role="input", **FLOAT),
    _own("bed_phase", "With tilted beds: where in them the datum lies.", role="input", **FLOAT),
    _own("base_north", "Base level of the northern edge.", role="input", place="columns", **ALWAYS),
    _own("base_south", "Base level of the southern edge.", role="input", place="columns", **ALWAYS),
    _own("base_west", "Base level of the western edge.", role="input", place="rows", **ALWAYS),
    _own("base_east", "Base level of the eastern edge.", role="input", place="rows", **ALWAYS),
    _own(
        "base_version",
        "Changes of its law before the base level was found.",
        role="input",
        place="list",
        required=True,
        dtypes=("int64",),
    ),
    # Some backends sum by rows, others all at once: no part of the grid has a part of it.
    _own(
        "budget",
        "What happened, in cells³: one column for each of `BUDGET`.",
        role="accumulated",
        place="list",
        columns=len(BUDGET),
        required=True,
        dtypes=("float64",),
    ),
    # The gpu counts changes of height from a level, because they are small beside it and float32 is coarse.
    _own(
        "level", "Elevation that changes are counted from: the start, on open edges base level.", role="input", **FLOAT
    ),
    _own("elevation_change", "Ground above the level.", role="prognostic", stands_for="elevation", **FLOAT),
    _own("bedrock_change", "Bedrock above the level.", role="prognostic", stands_for="bedrock", **FLOAT),
)

SHARES = ("evaporation", "capacity", "talus", "sliding")
"""Layers that multiply a parameter, each only in the state where it differs from place to place."""

BASES = ("base_north", "base_south", "base_west", "base_east")
SUMS = {
    "iterations": int, "base_changes": int, "water_start": float, "water_edited": float, "solids_start": float,
    "solids_edited": float,
}  # fmt: skip
"""Sums and counts in a state besides its budget, lengths in cells."""
DEVICE_SUMS = dict.fromkeys((f"device_{name}" for name in BUDGET), int)
"""What a device has summed of the budget, in units of its own."""
