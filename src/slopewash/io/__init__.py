"""Terrains and meshes in files: one module per format, gathered in tables keyed by suffix."""

from slopewash.io.files import probe, read, write
from slopewash.io.info import FileInfo
from slopewash.io.mesh_files import is_mesh_file, read_mesh
from slopewash.io.strata import read_strata

__all__ = ["FileInfo", "is_mesh_file", "probe", "read", "read_mesh", "read_strata", "write"]
