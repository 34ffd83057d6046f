"""What models and export targets of your own are made of.

The guides "Your own model" and "Your own export target" make one of each with these names.
"""

from __future__ import annotations

from slopewash.exports.card import Card, Entry
from slopewash.exports.job import Job
from slopewash.exports.sizes import Sizes
from slopewash.exports.targets import Target, register_target
from slopewash.models.backend import HostBackend
from slopewash.models.base import Model
from slopewash.models.base import register as register_model
from slopewash.models.catalogue import Preset, register_preset
from slopewash.models.ground import around, change_layers, slope_degrees
from slopewash.models.parameters import Limit, finite, fraction, law, not_negative, parameter, positive
from slopewash.models.state import Domain, Sides, State
from slopewash.terrain import Terrain
from slopewash.terrain.fields import LAYERS, FieldSpec

__all__ = [
    "LAYERS",
    "Card",
    "Domain",
    "Entry",
    "FieldSpec",
    "HostBackend",
    "Job",
    "Limit",
    "Model",
    "Preset",
    "Sides",
    "Sizes",
    "State",
    "Target",
    "Terrain",
    "around",
    "change_layers",
    "finite",
    "fraction",
    "law",
    "not_negative",
    "parameter",
    "positive",
    "register_model",
    "register_preset",
    "register_target",
    "slope_degrees",
]
