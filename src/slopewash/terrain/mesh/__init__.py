"""Terrain as a triangle mesh: made by refining a height field, converted back by rasterising."""

from slopewash.terrain.mesh.mesh import TriangleMesh

__all__ = ["TriangleMesh"]
