"""The height field and everything that lies on it."""

from slopewash.terrain.emitters import Emitter
from slopewash.terrain.erodibility import erodibility_from_elevation
from slopewash.terrain.mesh import TriangleMesh
from slopewash.terrain.sources import WaterSource
from slopewash.terrain.strata import LOOSE, Strata, Stratum
from slopewash.terrain.terrain import UNITS, Layer, Terrain

__all__ = [
    "LOOSE",
    "UNITS",
    "Emitter",
    "Layer",
    "Strata",
    "Stratum",
    "Terrain",
    "TriangleMesh",
    "WaterSource",
    "erodibility_from_elevation",
]
