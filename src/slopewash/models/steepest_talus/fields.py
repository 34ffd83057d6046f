"""Every field of a run of the talus model. Heights are whole units inside; units are those users see."""

from __future__ import annotations

from slopewash.terrain.fields import LAYERS, FieldSpec


def _own(name: str, doc: str) -> FieldSpec:
    """An input that is no layer."""
    return FieldSpec(name=name, doc=doc, role="input", layer=False)


FIELDS = (
    LAYERS["elevation"].replace(symbol="n", role="prognostic", editable=True),
    LAYERS["wear"],
    LAYERS["deposit"],
    LAYERS["difference"],
    LAYERS["slope"],
    LAYERS["bedrock"].replace(role="prognostic"),
    LAYERS["erodibility"].replace(symbol="R", role="input", editable=True),
    LAYERS["talus"].replace(role="input", editable=True),
    _own("start", "Ground at the start, in units above the datum."),
    _own("start_elevation", "Ground at the start in metres: where nothing moved, it is returned to the bit."),
    _own("nodata", "Where there is no ground."),
    _own("strata_top", "Top of the first stratum, in units above the datum."),
)
