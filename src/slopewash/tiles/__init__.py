"""Terrains beyond one machine's memory: tiles on Dask and Zarr, the same bits as in one piece."""

from slopewash.tiles.adding import add_lakes_tiled
from slopewash.tiles.api import erode_tiled, resume_tiled
from slopewash.tiles.geotiff import write_tiled_geotiff
from slopewash.tiles.opening import open_result as open
from slopewash.tiles.opening import read_tiled, tiled_facts
from slopewash.tiles.run import TiledResult

__all__ = [
    "TiledResult",
    "add_lakes_tiled",
    "erode_tiled",
    "open",
    "read_tiled",
    "resume_tiled",
    "tiled_facts",
    "write_tiled_geotiff",
]
