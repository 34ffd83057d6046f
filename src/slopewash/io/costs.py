"""What reading and writing a value takes, by format, as measured."""

from __future__ import annotations

from pathlib import Path

from slopewash.needs import Cost

READING = {
    ".exr": Cost(8, 18e-9, fixed=35e6), ".npz": Cost(8, 8e-9), ".npy": Cost(8, 5e-9), ".png": Cost(8, 30e-9),
    ".asc": Cost(40, 900e-9),
    ".hgt": Cost(10, 20e-9), ".r16": Cost(8, 10e-9), ".raw": Cost(8, 10e-9),
    ".tif": Cost(8, 20e-9), ".tiff": Cost(8, 20e-9),
}  # fmt: skip
"""Bytes of a value while its file is read, the layer that it becomes included, and seconds."""
WRITING = {
    ".exr": Cost(1, 40e-9), ".npz": Cost(1, 10e-9), ".npy": Cost(1, 5e-9), ".png": Cost(6, 100e-9),
    ".asc": Cost(40, 900e-9),
    ".hgt": Cost(6, 20e-9), ".r16": Cost(4, 20e-9), ".raw": Cost(4, 20e-9),
    ".tif": Cost(6, 10e-9), ".tiff": Cost(6, 10e-9),
}  # fmt: skip
"""The same beside the terrain that is written, for each cell of it and for each value."""
MESH = Cost(90, 500e-9)


def reading_cost(path: Path) -> Cost:
    """Memory and time of each value that is read.

    >>> reading_cost(Path("dem.exr")).memory
    8
    """
    return READING.get(path.suffix.lower(), MESH)


def writing_cost(path: Path) -> Cost:
    """Memory of each cell and time of each value that is written; a folder is one of 16-bit pictures."""
    suffix = path.suffix.lower()
    return WRITING.get(suffix or ".png", MESH)
