"""What reading and writing a value takes, by format, as measured."""

from __future__ import annotations

from pathlib import Path

from slopewash.io.info import FileInfo
from slopewash.io.mesh_files import is_mesh_file
from slopewash.needs import Cost

READING = {
    ".exr": Cost(8.6, 15e-9, fixed=35e6), ".npz": Cost(8.6, 15e-9), ".asc": Cost(16, 95e-9), ".hgt": Cost(12.8, 20e-9),
}  # fmt: skip
"""Bytes of a value while its file is read, the layer that it becomes included, and seconds."""
SAMPLES = {1: 11.0, 2: 12.8, 4: 14.0, 8: 18.4}
"""The same bytes in other formats, by those of a sample, the mask of cells without data included."""
FLOATS = 10.7
"""The same of 32-bit floats, which need no conversion."""
SAMPLE_TIME = 25e-9
"""Seconds of a sample, compressed or not."""
WRITING = {
    ".exr": Cost(1, 40e-9), ".npz": Cost(1, 10e-9), ".npy": Cost(1, 5e-9), ".png": Cost(6, 100e-9),
    ".asc": Cost(40, 900e-9),
    ".hgt": Cost(6, 20e-9), ".r16": Cost(4, 20e-9), ".raw": Cost(4, 20e-9),
    ".tif": Cost(6, 10e-9), ".tiff": Cost(6, 10e-9),
}  # fmt: skip
"""The same beside the terrain that is written, for each cell of it and for each value."""
MESH = Cost(90, 500e-9)


def reading_cost(path: Path, info: FileInfo) -> Cost:
    """Memory and time of each value that is read."""
    suffix = path.suffix.lower()
    if suffix in READING:
        return READING[suffix]
    if is_mesh_file(path):
        return MESH
    # Samples of other widths are refused when they are read.
    bytes_held = next((held for width, held in SAMPLES.items() if 8 * width >= info.bits), SAMPLES[8])
    return Cost(FLOATS if info.dtype == "float32" else bytes_held, SAMPLE_TIME)


def writing_cost(path: Path) -> Cost:
    """Memory of each cell and time of each value that is written; a folder is one of 16-bit pictures."""
    suffix = path.suffix.lower()
    return WRITING.get(suffix or ".png", MESH)
