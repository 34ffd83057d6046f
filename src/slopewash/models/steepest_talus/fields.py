"""Every field of a run of the talus model. Heights are whole units inside; units are those users see."""

from __future__ import annotations

from typing import Any

from slopewash.terrain.fields import LAYERS, FieldSpec

HEIGHTS: dict[str, Any] = {"dtypes": ("int32",), "within": (-(2**28), 2**28 - 1)}
"""Heights in units, up to that of nodata."""
SHARES: dict[str, Any] = {"dtypes": ("float32",)}


def _own(name: str, doc: str, **facts: Any) -> FieldSpec:
    """An input that is no layer."""
    return FieldSpec(name=name, doc=doc, role="input", layer=False, **facts)


FIELDS = (
    LAYERS["elevation"].replace(symbol="n", role="prognostic", editable=True, required=True, **HEIGHTS),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic", **HEIGHTS),
    LAYERS["erodibility"].replace(symbol="R", role="input", editable=True, **SHARES),
    LAYERS["talus"].replace(role="input", editable=True, **SHARES),
    _own("start", "Ground at the start, in units above the datum.", required=True, **HEIGHTS),
    _own(
        "start_elevation",
        "Ground at the start in metres: where nothing moved, it is returned to the bit.",
        required=True,
        dtypes=("float32",),
    ),
    _own("nodata", "Where there is no ground.", dtypes=("bool",)),
    _own(
        "strata_top",
        "Top of the first stratum, in units above the datum.",
        dtypes=("int64",),
        within=(-(2**50), 2**50),
    ),
)

SUMS = {"solids_start": int, "solids_edited": int, "solids_moved": int}
"""Sums in a state, in units."""
