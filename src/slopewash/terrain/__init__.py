"""The height field and everything that lies on it."""

from slopewash.terrain.erodibility import erodibility_from_elevation
from slopewash.terrain.sources import WaterSource
from slopewash.terrain.strata import LOOSE, Strata, Stratum
from slopewash.terrain.terrain import UNITS, Layer, Terrain

__all__ = ["LOOSE", "UNITS", "Layer", "Strata", "Stratum", "Terrain", "WaterSource", "erodibility_from_elevation"]
