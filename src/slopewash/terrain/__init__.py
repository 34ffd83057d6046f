"""The height field and everything that lies on it."""

from slopewash.terrain.emitters import Emitter, emitter_table, emitters_of
from slopewash.terrain.erodibility import erodibility_from_elevation
from slopewash.terrain.gullies import add_gullies
from slopewash.terrain.mesh import TriangleMesh
from slopewash.terrain.place import Place, TerrainPart
from slopewash.terrain.rock import bed_phase, rock_erodibility
from slopewash.terrain.sources import WaterSource, source_table, sources_of
from slopewash.terrain.strata import LOOSE, Strata, Stratum
from slopewash.terrain.terrain import Layer, Terrain, check_terrain

__all__ = [
    "LOOSE",
    "Emitter",
    "Layer",
    "Place",
    "Strata",
    "Stratum",
    "Terrain",
    "TerrainPart",
    "TriangleMesh",
    "WaterSource",
    "add_gullies",
    "bed_phase",
    "check_terrain",
    "emitter_table",
    "emitters_of",
    "erodibility_from_elevation",
    "rock_erodibility",
    "source_table",
    "sources_of",
]
