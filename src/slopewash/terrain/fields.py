"""What is known of a field: one declaration for engines, files, pictures, the studio and the docs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["prognostic", "input", "accumulated", "derived"]
"""What a run does with a field: steps it, only reads it, sums it up, or works it out from the others."""
Scale = Literal["linear", "log", "diverging"]
Place = Literal["cells", "rows", "columns", "list"]
"""What there is one value for: each cell, row or column of the grid, or each item of a list."""


@dataclass(frozen=True, kw_only=True)
class FieldSpec:
    """One field of a model, or one layer of a terrain.

    `units` are those users see: lengths in metres, time in the model's own unit.
    """

    name: str
    doc: str
    symbol: str = ""
    units: str = ""
    role: Role = "derived"
    place: Place = "cells"
    layer: bool = True
    """Whether users see it as a layer of the terrain; the rest is a model's own."""
    height: bool = False
    """Whether it is an elevation, which models count from a datum, and not an amount."""
    editable: bool = False
    """Whether it can be painted between steps."""
    mass: Literal["water", "solids"] | None = None
    """Which mass budget an edit of it counts in."""
    lowest: float = -math.inf
    highest: float = math.inf
    """Range that a layer of a terrain must lie in."""
    painted: tuple[float, float] = (-1e7, 1e7)
    """Range that edits must stay in: far beyond any landscape, and far below what counts as nodata."""
    default: float | None = None
    """Value where a terrain has no such layer; without one, the model works it out."""
    colour_map: str = "batlow"
    scale: Scale = "linear"

    # How a state holds it, which states that come from files are checked against (`models/soundness.py`).
    required: bool = False
    """Whether every state holds it."""
    stands_for: str = ""
    """The field that it replaces on some devices."""
    dtypes: tuple[str, ...] = ()
    """Types that it may have; any real number if none is named."""
    planes: tuple[int, ...] = ()
    """How many values a cell may have; none for a single one."""
    columns: int = 0
    """How many numbers an item of a list has; 0 for a single one."""
    each: str = ""
    """What a list has one item for: all lists of these are as long."""
    points_to: str = ""
    """What its whole numbers count: they are places in the lists of these."""
    within: tuple[float, float] = (-1e30, 1e30)
    """Range of its values, in the units of the state: farther out, single precision overflows."""

    def replace(self, **changes: Any) -> FieldSpec:
        """Return a copy as one model declares it."""
        return dataclasses.replace(self, **changes)


_LAYERS = (
    FieldSpec(
        name="elevation", units="m", height=True, colour_map="oleron", mass="solids", doc="Height of the ground.",
    ),
    FieldSpec(name="water", units="m", lowest=0, painted=(0, 1e7), default=0, mass="water", doc="Depth of water."),
    FieldSpec(
        name="suspended", units="m", lowest=0, painted=(0, 1e7), default=0, mass="solids",
        doc="Sediment in the water, as a depth of ground.",
    ),
    FieldSpec(
        name="erodibility", lowest=0, highest=1, painted=(0, 1), doc="How easily the ground erodes: 0 hard, 1 soft.",
    ),
    FieldSpec(
        name="rainfall", lowest=0, painted=(0, 1e6), default=1, doc="Rain relative to the model's rain rate.",
    ),
    FieldSpec(
        name="evaporation", lowest=0, highest=1, painted=(0, 1), default=1,
        doc="Evaporation relative to the model's evaporation rate.",
    ),
    FieldSpec(
        name="capacity", lowest=0, painted=(0, 1e6), default=1,
        doc="Sediment that water can carry relative to the model's capacity.",
    ),
    FieldSpec(
        name="talus", lowest=0, painted=(0, 1e6), default=1,
        doc="Steepest slope at which ground stands, relative to the model's.",
    ),
    FieldSpec(
        name="sliding", lowest=0, highest=1, painted=(0, 1), default=1,
        doc="How quickly ground slides, relative to the model's rate.",
    ),
    FieldSpec(name="bedrock", units="m", height=True, colour_map="oleron", doc="Top of the bedrock, below loose soil."),
    FieldSpec(
        name="flow", units="m²/time", scale="log",
        doc="Water that passes per unit of width, on average over the run; time is model time.",
    ),
    FieldSpec(name="velocity", units="m/time", doc="Speed of the water; time is model time."),
    FieldSpec(
        name="velocity_east", units="m/time", colour_map="vik", scale="diverging",
        doc="Speed of the water to the east; time is model time.",
    ),
    FieldSpec(
        name="velocity_south", units="m/time", colour_map="vik", scale="diverging",
        doc="Speed of the water to the south; time is model time.",
    ),
    FieldSpec(
        name="collision_energy", units="m²/time²", scale="log",
        doc="Energy lost by water that hits the ground; time is model time.",
    ),
    FieldSpec(name="wear", units="m", doc="Ground eroded since the start."),
    FieldSpec(name="deposit", units="m", doc="Ground deposited since the start."),
    FieldSpec(
        name="difference", units="m", colour_map="vik", scale="diverging", doc="Change of the ground since the start.",
    ),
    FieldSpec(
        name="drainage", units="m²", lowest=0, scale="log",
        doc="Area that drains through a cell, itself included, shared between two neighbours (D-infinity); on level "
        "ground it may be less than that of the catchment.",
    ),
    FieldSpec(
        name="river", units="m", lowest=0, colour_map="oslo",
        doc="Depth of rivers to look at: narrow lines along the drainage, as wide as their catchment is large.",
    ),
    FieldSpec(
        name="lake", units="m", lowest=0, colour_map="oslo", doc="Depth of lakes to look at: water in depressions.",
    ),
    FieldSpec(name="slope", units="°", doc="Steepness of the ground."),
    FieldSpec(
        name="mask", lowest=0, highest=1,
        doc="How much of what a recipe does is kept: 0 leaves the ground as it was, 1 takes the result.",
    ),
)  # fmt: skip

LAYERS: Mapping[str, FieldSpec] = {spec.name: spec for spec in _LAYERS}
"""The layers users see, by name."""

ATTRIBUTES = ("cell_size", "nodata", "crs", "transform", "south_up", "sources", "emitters", "strata")
"""What a terrain has besides its layers."""
STRATA_TOP = "strata_top"
"""What files call the top of the first stratum."""
RESERVED = frozenset({*ATTRIBUTES, STRATA_TOP, "own_layers", "self"})
"""Names that no layer may have: files and keyword arguments mean something else by them."""


def layer_spec(name: str) -> FieldSpec:
    """What is known of a layer; one that a user added has its name and nothing else.

    >>> layer_spec("difference").scale, layer_spec("forest").units
    ('diverging', '')
    """
    return LAYERS.get(name) or FieldSpec(name=name, doc="")
