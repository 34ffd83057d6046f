"""Terrains in files: one module per format, gathered in a table keyed by suffix."""

from slopewash.io.files import probe, read, write
from slopewash.io.info import FileInfo
from slopewash.io.strata import read_strata

__all__ = ["FileInfo", "probe", "read", "read_strata", "write"]
