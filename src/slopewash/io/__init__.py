"""Terrains in files: one module per format, gathered in a table keyed by suffix."""

from slopewash.io.files import probe, read, write
from slopewash.io.info import FileInfo

__all__ = ["FileInfo", "probe", "read", "write"]
