"""Terrains beyond one machine's memory: tiles on Dask and Zarr, the same bits as in one piece."""

from slopewash.tiles.api import erode_tiled, resume_tiled
from slopewash.tiles.run import TiledResult

__all__ = ["TiledResult", "erode_tiled", "resume_tiled"]
