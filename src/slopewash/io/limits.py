"""How much a file may decode to: decided from its header and its size, before anything is decoded."""

from __future__ import annotations

from pathlib import Path

from slopewash.errors import InvalidFile
from slopewash.remedies import by_file, option

MAXIMUM_PIXELS = 16384**2
"""Largest grid read by default, so that a forged header cannot exhaust memory."""

MAXIMUM_LAYERS = 64
MAXIMUM_DIRECTORIES = 256
"""Directories of a TIFF: the image, its smaller copies and their masks."""

LARGEST_TILE = 4096**2
"""Pixels of a tile larger than its image; tiles in use have 64 to 1024 pixels a side."""

LARGEST_ARRAY_HEADER = 1 << 16
"""Bytes; NumPy writes 128."""

WIDEST_SAMPLE = 8
"""Bytes of a float64."""

_USUAL_SAMPLE = 4
"""Bytes of a float32, in which layers are kept."""

_OWN_SIZE = 4
"""Times its own size that a file may always decode to: whatever is stored uncompressed is honest about its size."""


class Allowance:
    """Bytes that a file may still decode to; `take` them before they are decoded.

    >>> allowance = Allowance(Path("hill.npz"), 100, "split it")
    >>> allowance.take(60)
    >>> allowance.take(60)
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.npz decodes to more than 100 bytes; split it
    """

    def __init__(self, path: Path, most: int, remedy: str) -> None:
        self.path, self.most, self.remedy = path, most, remedy
        self._left = most

    def take(self, count: int) -> None:
        """Count bytes that are about to be decoded; raises where they are too many."""
        self._left -= count
        if self._left < 0:
            size = f"{self.most} bytes" if self.most < 1 << 20 else f"{self.most >> 20} MB"
            raise InvalidFile(f"{self.path} decodes to more than {size}; {self.remedy}")


def grid_allowance(path: Path, max_pixels: int) -> Allowance:
    """What a grid may decode to in all its layers."""
    most = max(_USUAL_SAMPLE * max_pixels, _OWN_SIZE * path.stat().st_size)
    return Allowance(path, most, larger_grid())


def larger_grid() -> str:
    """Remedy for a file of more cells than are read."""
    return by_file(ground=f"raise {option('max_pixels')} if this is intended", other="give it fewer cells")


def mesh_allowance(path: Path) -> Allowance:
    """What the parts of a mesh may decode to: they may share data, but not without end."""
    return Allowance(path, max(1 << 26, 16 * path.stat().st_size), "its parts share too much data; merge them first")
