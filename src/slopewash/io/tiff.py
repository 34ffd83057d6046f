"""TIFF and GeoTIFF: reads integers or floats of any depth, writes float32 metres."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from slopewash.drafts import staged
from slopewash.errors import InvalidFile
from slopewash.io.decoding import Damaged, decoding
from slopewash.io.geotiff import GDAL_NODATA, georeference_tags
from slopewash.io.heights import with_nan
from slopewash.io.info import FileInfo
from slopewash.io.notes import Notes, notes_from, notes_text
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.io.tiff_directories import subfile_types
from slopewash.terrain import Terrain

if TYPE_CHECKING:
    from tifffile import TiffPage

_PALETTE = 3
_ORIENTATION = 274
_ON_THEIR_SIDE = range(5, 9)
"""Orientations in which rows are stored as columns."""
_REDUCED_OR_MASK = 1 | 4
_ROWS_PER_STRIP = 64


def probe(path: Path, options: ReadOptions) -> FileInfo:
    """Read the tags of the first image."""
    with first_page(path) as page:
        width, height = int(page.imagewidth), int(page.imagelength)
        if page.tags.valueof(_ORIENTATION) in _ON_THEIR_SIDE:
            width, height = height, width
        channels = int(page.samplesperpixel)
        names = ("palette",) if page.photometric == _PALETTE else ("elevation",)
        described = page.tags.valueof("ImageDescription")
        return FileInfo(
            format="TIFF",
            made_by=notes_from(described if isinstance(described, str) else None),
            width=width,
            height=height,
            bits=int(page.bitspersample),
            dtype=str(np.dtype(page.dtype).name) if page.dtype is not None else "unknown",
            channels=channels,
            layers=names if channels == 1 else tuple(f"band {band + 1}" for band in range(channels)),
        )


def write(terrain: Terrain, path: Path, layer: str, height_range: HeightRange | None, notes: Notes) -> None:
    """Write one layer as float32 with its georeference, NaN in nodata cells."""
    import tifffile

    values = with_nan(terrain, layer)
    tags = georeference_tags(terrain)
    if terrain.nodata is not None:
        tags.append((GDAL_NODATA, "s", 0, "nan", True))
    with staged(path) as temporary, temporary.open("wb") as file:
        tifffile.imwrite(
            file,
            values,
            byteorder="<",
            photometric="minisblack",
            rowsperstrip=_ROWS_PER_STRIP,
            software="slopewash",
            description=notes_text(notes) if notes else None,
            metadata=None,
            extratags=tags,
        )


@contextmanager
def first_page(path: Path) -> Iterator[TiffPage]:
    """Open the full image; overviews and masks may follow it, other images may not."""
    import tifffile

    # Without a handler, the library's log messages about a damaged file would reach stderr.
    logger = logging.getLogger("tifffile")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    with decoding(path, "TIFF"):
        images = 1 + sum(not kind & _REDUCED_OR_MASK for kind in subfile_types(path)[1:])
        if images > 1:
            raise InvalidFile(f"{path} contains {images} images; a height field needs a single one")
        with tifffile.TiffFile(path) as file:
            page = file.pages.first
            if not (page.imagewidth > 0 and page.imagelength > 0) or page.imagedepth != 1:
                raise Damaged("its first image is not a flat grid")
            yield page
